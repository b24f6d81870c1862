//! How colors, bindings, multisets and guards are written.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{
    Atom, Bag, Base, BaseId, ColoredNet, ColoredPlace, ColoredTransition, Comparison, Guard, Operand, Part,
    parts,
};

impl ColoredNet {
    fn value(&self, base: BaseId, value: u32) -> Cow<'_, str> {
        match &self.bases[base.index()] {
            Base::Dot => Cow::Borrowed("dot"),
            Base::Enumeration(names) => Cow::Borrowed(&names[value as usize]),
            Base::Range { start, .. } => Cow::Owned((start + i64::from(value)).to_string()),
        }
    }

    /// The parts of a color with commas between them.
    pub(super) fn shown_color(&self, place: &ColoredPlace, color: u64) -> String {
        let mut values = Vec::new();
        parts(color, &place.sizes, &mut values);
        let texts = place.parts.iter().zip(values).map(|(&base, value)| self.value(base, value));
        texts.collect::<Vec<_>>().join(",")
    }

    /// Whether the tokens of a place have no color to speak of.
    pub(super) fn is_plain(&self, place: &ColoredPlace) -> bool {
        place.parts.iter().all(|part| matches!(self.bases[part.index()], Base::Dot))
    }

    /// A place and a color: `fork(2)`.
    pub(super) fn shown_place(&self, place: &ColoredPlace, color: u64) -> String {
        if self.is_plain(place) {
            return place.id.clone();
        }
        format!("{}({})", place.id, self.shown_color(place, color))
    }

    /// A transition and a binding: `take(x=2)`.
    pub(super) fn shown_transition(&self, transition: &ColoredTransition, binding: &[u32]) -> String {
        if transition.slots.is_empty() {
            return transition.id.clone();
        }
        let mut text = format!("{}(", transition.id);
        for (number, (slot, &value)) in transition.slots.iter().zip(binding).enumerate() {
            let comma = if number > 0 { "," } else { "" };
            let _ = write!(text, "{comma}{}={}", slot.name, self.value(slot.base, value));
        }
        text.push(')');
        text
    }

    fn atom(&self, transition: &ColoredTransition, atom: Atom, base: BaseId) -> String {
        match atom {
            Atom::Constant(value) => self.value(base, value).into_owned(),
            Atom::Slot { slot, shift, size } => {
                let name = &transition.slots[slot as usize].name;
                match (shift, size - shift) {
                    (0, _) => name.clone(),
                    (forth, back) if forth <= back => format!("{name}++{forth}"),
                    (_, back) => format!("{name}--{back}"),
                }
            }
        }
    }

    /// A multiset: `2'(x,y++1) + all`.
    pub(super) fn shown_bag(
        &self,
        transition: &ColoredTransition,
        place: &ColoredPlace,
        bag: &Bag,
    ) -> String {
        let term = |(count, pattern): &(i64, Vec<Part>)| {
            let times = if *count == 1 { String::new() } else { format!("{count}'") };
            if self.is_plain(place) {
                return count.to_string();
            }
            let part = |(part, &base): (&Part, &BaseId)| match part {
                Part::One(atom) => self.atom(transition, *atom, base),
                Part::All => "all".to_owned(),
            };
            let parts: Vec<String> = pattern.iter().zip(&place.parts).map(part).collect();
            if parts.len() == 1 {
                format!("{times}{}", parts[0])
            } else {
                format!("{times}({})", parts.join(","))
            }
        };
        match bag {
            Bag::Sum(patterns) if patterns.is_empty() => "0".to_owned(),
            Bag::Sum(patterns) => patterns.iter().map(term).collect::<Vec<_>>().join(" + "),
            Bag::Add(bags) => {
                let texts: Vec<String> =
                    bags.iter().map(|bag| self.shown_bag(transition, place, bag)).collect();
                texts.join(" + ")
            }
            Bag::Minus(from, what) => {
                let text = |bag: &Bag| self.shown_bag(transition, place, bag);
                format!("({}) - ({})", text(from), text(what))
            }
        }
    }

    /// All guards of a transition: `x = y & !(z = 0)`.
    pub(super) fn shown_guards(&self, transition: &ColoredTransition) -> String {
        self.joined(transition, &transition.guards, " & ")
    }

    fn joined(&self, transition: &ColoredTransition, guards: &[Guard], between: &str) -> String {
        guards.iter().map(|guard| self.guard(transition, guard)).collect::<Vec<_>>().join(between)
    }

    fn guard(&self, transition: &ColoredTransition, guard: &Guard) -> String {
        match guard {
            Guard::Constant(truth) => truth.to_string(),
            Guard::And(guards) => format!("({})", self.joined(transition, guards, " & ")),
            Guard::Or(guards) => format!("({})", self.joined(transition, guards, " | ")),
            Guard::Not(inner) => match &**inner {
                Guard::Compare(Comparison::Equal, left, right) => self.compared(transition, left, "≠", right),
                other => format!("!({})", self.guard(transition, other)),
            },
            Guard::Compare(comparison, left, right) => {
                let sign = match comparison {
                    Comparison::Equal => "=",
                    Comparison::Less => "<",
                    Comparison::LessEqual => "≤",
                };
                self.compared(transition, left, sign, right)
            }
        }
    }

    fn compared(
        &self,
        transition: &ColoredTransition,
        left: &Operand,
        sign: &str,
        right: &Operand,
    ) -> String {
        // A constant is of the sort of the variable that it is compared with.
        let base = |operand: &Operand| Some(transition.slots[operand.atom.slot()? as usize].base);
        let base = base(left).or_else(|| base(right));
        let text = |operand: &Operand| match (&operand.elements, base, operand.atom) {
            (Some(_), Some(base), atom) => format!("part({})", self.atom(transition, atom, base)),
            (None, _, Atom::Constant(value)) if left.elements.is_some() || right.elements.is_some() => {
                format!("part {value}")
            }
            (None, Some(base), atom @ Atom::Slot { .. }) => self.atom(transition, atom, base),
            (None, Some(base), Atom::Constant(value)) if operand.offset == 0 => {
                self.value(base, value).into_owned()
            }
            (_, _, Atom::Constant(value)) => (i64::from(value) + operand.offset).to_string(),
            (_, None, Atom::Slot { .. }) => String::new(),
        };
        format!("{} {sign} {}", text(left), text(right))
    }
}
