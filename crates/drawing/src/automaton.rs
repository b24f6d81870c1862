//! Automata as drawings, with the signs of [`crate::automaton`]: a double line for Büchi-accepting states,
//! a dashed one for livelock-accepting states, a color for finite acceptance, a dot with a number for
//! each mark. States that accept deadlocks are marked `dl`, unless those are the livelock states of a TA.

use automata::by_change::{Graph, PropSet, Ta, Tgta};
use automata::extended::Extended;
use automata::{AnyAutomaton, Marks, State, Tgba};
use base::{Budget, Limit};
use ltl::{Formulas, Prop};

use crate::{Bundle, Drawing, Fill, Node, NodeId, Shape};

/// Draws an automaton of any kind.
pub fn draw(
    automaton: &AnyAutomaton,
    formulas: &Formulas,
    title: &str,
    budget: &mut Budget<'_>,
) -> Result<Drawing, Limit> {
    let mut drawing = Drawing::new(title);
    let kind = match automaton {
        AnyAutomaton::Tgba(tgba) => {
            draw_tgba(tgba, formulas, &mut drawing, budget)?;
            "generalized Büchi automaton"
        }
        AnyAutomaton::Ta(ta) => {
            draw_ta(ta, formulas, &mut drawing, budget)?;
            "testing automaton"
        }
        AnyAutomaton::Tgta(tgta) => {
            draw_tgta(tgta, formulas, &mut drawing, budget)?;
            "generalized testing automaton"
        }
        AnyAutomaton::Extended(extended) => {
            draw_extended(extended, formulas, &mut drawing, budget)?;
            "Büchi automaton with values on states"
        }
    };
    let n_states = drawing.nodes().iter().filter(|node| node.shape != Shape::Point).count();
    drawing.description = format!("A {kind} with {}.", base::text::count(n_states as u64, "state"));
    Ok(drawing)
}

fn node(state: State) -> NodeId {
    NodeId::new(state.index())
}

fn draw_tgba(
    tgba: &Tgba,
    formulas: &Formulas,
    drawing: &mut Drawing,
    budget: &mut Budget<'_>,
) -> Result<(), Limit> {
    let on_states = tgba.n_marks() == 1 && tgba.is_state_based();
    for state in tgba.states() {
        let accepting = on_states && tgba.edges(state).iter().any(|edge| edge.marks != Marks::NONE);
        let shape = if accepting { Shape::Accepting } else { Shape::State };
        drawing.node(Node { root: state == tgba.initial(), ..Node::new(shape, state.index().to_string()) });
    }
    let literal = |&(prop, holds): &(Prop, bool)| literal(formulas.text(prop), holds);
    let mut bundle = Bundle::default();
    for state in tgba.states() {
        for edge in tgba.edges(state) {
            let marks = if on_states { String::new() } else { dots(edge.marks) };
            // A line for each alternative.
            for cube in tgba.labels().cubes(edge.label) {
                let text = cube.iter().map(literal).collect::<Vec<_>>().join(" & ");
                let text = if text.is_empty() { "true".to_owned() } else { text };
                bundle.add(node(state), node(edge.target), text + &marks, budget)?;
            }
        }
    }
    bundle.draw(drawing);
    if tgba.n_states() > 0 {
        drawing.start(node(tgba.initial()), "");
    }
    Ok(())
}

fn draw_ta(
    ta: &Ta,
    formulas: &Formulas,
    drawing: &mut Drawing,
    budget: &mut Budget<'_>,
) -> Result<(), Limit> {
    let own_deadlocks = !ta.accepts_deadlocks_like_stuttering();
    for state in ta.states() {
        let acceptance = ta.acceptance(state);
        let mark = if own_deadlocks && acceptance.deadlock { " dl" } else { "" };
        let shape = if acceptance.buchi { Shape::Accepting } else { Shape::State };
        let fill = if acceptance.finite { Fill::Final } else { Fill::Plain };
        let label = format!("{}{mark}", state.index());
        drawing.node(Node { fill, dashed: acceptance.livelock, ..Node::new(shape, label) });
    }
    draw_steps(ta, formulas, drawing, budget)
}

fn draw_tgta(
    tgta: &Tgta,
    formulas: &Formulas,
    drawing: &mut Drawing,
    budget: &mut Budget<'_>,
) -> Result<(), Limit> {
    for state in tgta.states() {
        drawing.node(Node::new(Shape::State, state.index().to_string()));
    }
    draw_steps(tgta, formulas, drawing, budget)
}

/// The steps of a testing automaton, by what changes.
fn draw_steps(
    graph: &Graph,
    formulas: &Formulas,
    drawing: &mut Drawing,
    budget: &mut Budget<'_>,
) -> Result<(), Limit> {
    let propositions = graph.propositions();
    let mut bundle = Bundle::default();
    for state in graph.states() {
        for step in graph.steps(state) {
            let inside = propositions.iter().enumerate().filter(|(index, _)| step.change.contains(*index));
            let names: Vec<&str> = inside.map(|(_, &prop)| formulas.text(prop)).collect();
            let change =
                if names.is_empty() { "∅".to_owned() } else { format!("{{{}}}", names.join(", ")) };
            bundle.add(node(state), node(step.target), change + &dots(step.marks), budget)?;
        }
    }
    bundle.draw(drawing);
    for (set, state) in graph.initial() {
        drawing.start(node(*state), literals(formulas, propositions, *set));
    }
    Ok(())
}

fn draw_extended(
    extended: &Extended,
    formulas: &Formulas,
    drawing: &mut Drawing,
    budget: &mut Budget<'_>,
) -> Result<(), Limit> {
    for (index, state) in extended.states.iter().enumerate() {
        let values = PropSet::of(&state.valuation, &extended.propositions);
        let values = literals(formulas, &extended.propositions, values);
        let mark = if state.deadlock { " dl" } else { "" };
        let shape = if state.infinite { Shape::Accepting } else { Shape::State };
        let fill = if state.finite { Fill::Final } else { Fill::Plain };
        drawing.node(Node { fill, ..Node::new(shape, format!("{index}: {values}{mark}")) });
        drawing.fits(budget)?;
    }
    let mut bundle = Bundle::default();
    for (index, state) in extended.states.iter().enumerate() {
        for &target in &state.successors {
            bundle.add(NodeId::new(index), NodeId::new(target), String::new(), budget)?;
        }
    }
    bundle.draw(drawing);
    for (index, _) in extended.states.iter().enumerate().filter(|(_, state)| state.initial) {
        drawing.start(NodeId::new(index), "");
    }
    Ok(())
}

/// All propositions, with `!` before those that do not hold.
pub fn literals(formulas: &Formulas, propositions: &[Prop], set: PropSet) -> String {
    let literal = |(at, &prop): (usize, &Prop)| literal(formulas.text(prop), set.contains(at));
    propositions.iter().enumerate().map(literal).collect::<Vec<_>>().join(" ")
}

/// A dot with its number for each mark.
fn dots(marks: Marks) -> String {
    marks.iter().map(|mark| format!(" \u{25cf}{mark}")).collect()
}

/// A proposition that holds, or what it says if it does not: of a comparison, the opposite one.
pub fn literal(text: &str, holds: bool) -> String {
    const OPPOSITES: [(&str, &str); 6] =
        [("==", "!="), ("!=", "=="), ("<=", ">"), (">=", "<"), ("<", ">="), (">", "<=")];
    if holds {
        return text.to_owned();
    }
    let is_part = |char: char| char.is_alphanumeric() || "_.:@[]()+-* ".contains(char);
    let comparison = OPPOSITES.iter().find_map(|(sign, opposite)| {
        let (left, right) = text.split_once(sign)?;
        let is_plain = |side: &str| !side.trim().is_empty() && side.chars().all(is_part);
        let is_balanced = |side: &str| side.matches('(').count() == side.matches(')').count();
        (is_plain(left)
            && is_plain(right)
            && is_balanced(left)
            && is_balanced(right)
            && !right.starts_with('-'))
        .then(|| format!("{left}{opposite}{right}"))
    });
    let is_name = |text: &str| {
        !text.contains(['&', '|', '<', '>', '=', '!'])
            && ![" + ", " - ", " * "].iter().any(|sign| text.contains(sign))
    };
    comparison.unwrap_or_else(|| if is_name(text) { format!("!{text}") } else { format!("!({text})") })
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn what_does_not_hold_is_said_by_the_opposite() {
        let opposites = [
            ("x != 2", "x == 2"),
            ("len(c) == 1", "len(c) != 1"),
            ("a[0] + b >= 3", "a[0] + b < 3"),
            ("x<3", "x>=3"),
            ("p", "!p"),
            ("Peer[0]@critical[*]", "!Peer[0]@critical[*]"),
            ("a == 1 && b == 2", "!(a == 1 && b == 2)"),
            ("!p", "!(!p)"),
            ("a <-> b", "!(a <-> b)"),
            ("(a == 1) == b", "!((a == 1) == b)"),
        ];
        for (text, opposite) in opposites {
            assert_eq!((literal(text, true), literal(text, false)), (text.to_owned(), opposite.to_owned()));
        }
    }
}
