//! Markings in the words of the colored net: places with multisets of colors.

use language::story::{Item, Position, Statement, Story, Unreached};
use model::{ActionId, VarId};

use super::{ColoredPlace, Colors};

impl Colors {
    /// Colors and how many there are of each: `{a, 2'b}`; of dots only how many.
    pub(super) fn multiset(&self, place: &ColoredPlace, colors: &[(u64, i64)]) -> String {
        if self.net.is_plain(place) {
            return colors.iter().map(|(_, count)| *count).sum::<i64>().to_string();
        }
        let one = |(color, count): &(u64, i64)| {
            let color = self.net.shown_color(place, *color);
            let color = if place.parts.len() == 1 { color } else { format!("({color})") };
            if *count == 1 { color } else { format!("{count}'{color}") }
        };
        format!("{{{}}}", colors.iter().map(one).collect::<Vec<_>>().join(", "))
    }
}

impl Story for Colors {
    /// A step is told by the name of its action: the transition and the binding.
    fn statements(&self, _action: ActionId, _before: &[i64]) -> Vec<Statement> {
        Vec::new()
    }

    fn items(&self, state: &[i64]) -> Vec<Item> {
        let item = |(number, place): (usize, &ColoredPlace)| {
            let group = self.places(number);
            let tokens = group.iter().map(|place| (self.color(place), state[place.index()]));
            let tokens: Vec<(u64, i64)> = tokens.filter(|(_, count)| *count != 0).collect();
            Item { name: place.id.clone(), value: self.multiset(place, &tokens), is_channel: false }
        };
        self.net.places.iter().enumerate().map(item).collect()
    }

    fn places(&self, _state: &[i64]) -> Vec<Position> {
        Vec::new()
    }

    /// Transitions that happen under no binding.
    fn unreached(&self, taken: &[bool]) -> Vec<Unreached> {
        let happens = |number: usize| self.transitions(number).iter().any(|binding| taken[binding.index()]);
        let idle = self.net.transitions.iter().enumerate().filter(|(number, _)| !happens(*number));
        idle.map(|(_, transition)| Unreached::Action { action: transition.id.clone() }).collect()
    }

    fn location(&self, _process: &str) -> Option<VarId> {
        None
    }

    fn has_processes(&self) -> bool {
        false
    }
}
