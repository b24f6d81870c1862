//! Lowered nets: what transitions do, places that outgrow their bounds, and expressions about
//! markings.

mod common;

use base::{Budget, SourceMap};
use common::{explore, lower, net_of};
use language::Model as _;
use model::{Expr, Fault, System as _, reference};
use stubborn_petri::{Bounds, Model};

/// A net in shorthand: `p=2 q` are places, `t: p 2*q -> q r` a transition.
fn net(text: &str) -> Model {
    let (mut pnml, mut arcs) = (String::new(), String::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((transition, rest)) = line.split_once(':') else {
            for place in line.split(' ') {
                let (id, initial) = place.split_once('=').unwrap_or((place, "0"));
                pnml += &format!(
                    "<place id='{id}'><name><text>the {id}</text></name><initialMarking><text>{initial}</text></initialMarking></place>"
                );
            }
            continue;
        };
        pnml += &format!("<transition id='{transition}'/>");
        let (inputs, outputs) = rest.split_once("->").unwrap();
        for (side, is_input) in [(inputs, true), (outputs, false)] {
            for arc in side.split_whitespace() {
                let (weight, place) = arc.split_once('*').unwrap_or(("1", arc));
                let (from, to) = if is_input { (place, transition) } else { (transition, place) };
                arcs += &format!(
                    "<arc source='{from}' target='{to}'><inscription><text>{weight}</text></inscription></arc>"
                );
            }
        }
    }
    lower(&net_of(&format!("<pnml><net id='n'>{pnml}{arcs}</net></pnml>")))
}

/// The values of an expression in the initial marking.
fn value(model: &mut Model, text: &str) -> i64 {
    let source = SourceMap::new().add("--ltl", text.into()).unwrap();
    let expr = model.resolve(text, source, 0).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let initial = reference::initial(&model.system).remove(0);
    reference::value(&model.system, expr, &initial).unwrap()
}

/// The code of the message about an expression, what it points at, and its help.
fn error(model: &mut Model, text: &str) -> (&'static str, String, Option<String>) {
    let mut sources = SourceMap::new();
    let padded = format!("__{text}");
    let source = sources.add("--ltl", padded.into()).unwrap();
    let errors = model.resolve(text, source, 2).unwrap_err();
    let [error] = &errors.iter().collect::<Vec<_>>()[..] else { panic!("{errors:?}") };
    (error.code, sources.slice(error.span.unwrap()).to_owned(), error.help.clone())
}

#[test]
fn transitions_take_and_give() {
    let mut model = net("p=3 q=0 r=1
        t: 2*p r -> q r
        u: q -> 2*p
        v: r -> 2*r q");
    let names: Vec<&str> = model.system.variables().iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["p", "q", "r"]);
    let [t, u, v] = [0, 1, 2].map(|index| &model.system.actions()[index]);
    assert_eq!((t.guards.len(), t.effect.len()), (2, 2), "r is tested, not changed");
    assert_eq!((u.guards.len(), u.effect.len()), (1, 2));
    assert_eq!((v.guards.len(), v.effect.len()), (1, 2));
    assert_eq!(model.system.processes().len(), 3, "each transition is a process");
    let initial = reference::initial(&model.system).remove(0);
    let after: Vec<Vec<i64>> = reference::successors(&model.system, &initial)
        .unwrap()
        .into_iter()
        .map(|(_, values)| values)
        .collect();
    assert_eq!(after, [[1, 1, 1], [3, 1, 2]]);
    // The net is unbounded: r grows for ever, and the search just stops at its limit.
    let (explored, _, _) = explore(&mut model, &[], 1000);
    assert!(matches!(explored.stop, Some(check::Stop::Limit(_))));
}

#[test]
fn places_grow_on_demand() {
    // The walk sees few of the places grow, so that bounds are met while searching.
    let net = net("a=300 b c=1 d
        t: a -> b
        u: b c -> c d")
    .net()
    .clone();
    let mut model = net.lower(Bounds::all(&net, 0), &mut Budget::unlimited()).unwrap();
    let source = SourceMap::new().add("--ltl", b"a + b + d == 300".to_vec()).unwrap();
    let expr = model.resolve("a + b + d == 300", source, 0).unwrap();
    let proposition = model.parts().0.add_proposition("sum", expr);
    let width = model.system.width();
    let (explored, _, restarts) = explore(&mut model, &[check::Goal::Invariant(proposition)], u64::MAX);
    assert_eq!(explored.stats.states, 301 * 302 / 2);
    assert!(explored.violations[0].is_none() && restarts >= 8, "{restarts}");
    assert!(model.system.width() >= width);
    let bound = |id| match net.find_place(id) {
        stubborn_petri::Lookup::Found(place) => model.bounds().get(place.iter().next().unwrap()),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        ["a", "b", "c", "d"].map(bound),
        [0, 1023, 0, 1023],
        "a and c never grow: the initial tokens fit"
    );
}

#[test]
fn token_counts_have_64_bits() {
    let mut model = net("a=9223372036854775806 b
        t: b -> a
        u: -> a");
    let (explored, _, _) = explore(&mut model, &[], u64::MAX);
    // One step is possible; the next one would need more than 63 bits, and widening does not help.
    let Some(check::Stop::Fault(error, run)) = explored.stop else { panic!("{explored:?}") };
    assert_eq!((error.fault, run.actions.len()), (Fault::Overflow, 1));
    assert!(!model.widen(&error, &mut Budget::unlimited()).unwrap());
}

#[test]
fn nets_without_places_or_transitions_have_one_state() {
    for text in ["", "p=5", "t: ->"] {
        let mut model = net(text);
        let (explored, _, _) = explore(&mut model, &[], u64::MAX);
        assert_eq!(explored.stats.states, 1);
        assert_eq!(explored.stats.deadlocks, u64::from(text != "t: ->"));
        assert_eq!(value(&mut model, "deadlock"), i64::from(text != "t: ->"));
    }
}

#[test]
fn expressions_mean_what_they_say() {
    let mut model = net("p=2 q=0 fireable=7 true=1
        t: p -> q
        u: 3*p -> q
        true.t: q -> p");
    for (text, expected) in [
        ("p", 2),
        ("p + q", 2),
        ("2 * p - 1", 3),
        ("-p + 5", 3),
        ("p - 1 - 1", 0),
        ("p - (1 - 1)", 2),
        ("p * 2 + q * 3 == 4", 1),
        ("p >= 2", 1),
        ("p > 2 || q == 0 && p != 3", 1),
        ("!p", 0),
        ("!q", 1),
        ("!p == 3", 1),
        ("!p + q == 3", 1),
        ("!!p", 1),
        ("p && p", 1),
        ("q -> p -> q", 1),
        ("(q -> p) -> q", 0),
        ("p <-> 1", 1),
        ("q <-> p", 0),
        ("p < 1 <-> q > 0", 1),
        ("'p' + \"q\"", 2),
        ("'the p' + 1", 3),
        ("fireable + 1", 8),
        ("fireable(t)", 1),
        ("fireable(u)", 0),
        ("fireable(u, t)", 1),
        ("fireable( u , true.t )", 0),
        ("!fireable(t) || deadlock", 0),
        ("deadlock()", 0),
        ("true && !false", 1),
        ("'true' == 1", 1),
        ("((((p))))", 2),
        ("9223372036854775807 > p", 1),
    ] {
        assert_eq!(value(&mut model, text), expected, "{text}");
    }
    let long = vec!["p"; 100_000].join(" + ");
    assert_eq!(value(&mut model, &long), 200_000);
    let long = vec!["p - q"; 10_000].join(" && ") + " && " + &vec!["q"; 10_000].join(" || ");
    assert_eq!(value(&mut model, &long), 0);
    assert_eq!(value(&mut model, &format!("{}p{}", "(".repeat(100_000), ")".repeat(100_000))), 2);
    let source = SourceMap::new().add("--ltl", b"1 + 1 == 2".to_vec()).unwrap();
    let constant = model.resolve("1 + 1 == 2", source, 0).unwrap();
    assert_eq!(model.system.exprs.get(constant), Expr::Int(1));
}

#[test]
fn mistakes_in_expressions_are_told_with_their_place() {
    let mut model = net("place=2 other=0 deadlock=0
        tick: place -> other
        tock: other -> place");
    let mut check = |text: &str, code: &str, at: &str, help: Option<&str>| {
        assert_eq!(error(&mut model, text), (code, at.to_owned(), help.map(str::to_owned)), "{text}");
    };
    check("palce >= 1", "unknown-place", "palce", Some("did you mean `place`?"));
    check("fireable(tikc)", "unknown-transition", "tikc", Some("did you mean `tick`?"));
    check("tick", "not-a-place", "tick", Some("whether it is enabled is written `fireable(tick)`"));
    check("fireable(place)", "not-a-transition", "place", None);
    check(
        "deadlock",
        "ambiguous-name",
        "deadlock",
        Some("write `'deadlock'` for the place, `deadlock()` if no transition is enabled"),
    );
    check("place >", "syntax", "", None);
    check("place > > 1", "syntax", ">", None);
    check("place 1", "syntax", "1", None);
    check("(place", "syntax", "(", None);
    check("place)", "syntax", ")", None);
    check("()", "syntax", ")", None);
    check("", "syntax", "", None);
    check("place = 1", "syntax", "=", None);
    check("1 < place < 3", "syntax", "<", Some("write `a < b && b < c`"));
    check("1 == !place", "syntax", "!", Some("add parentheses, as in `a == (!b)`"));
    check("fireable()", "syntax", ")", None);
    check("fireable(tick", "syntax", "", None);
    check("deadlock(tick)", "syntax", "tick", None);
    check("9223372036854775808", "too-large", "9223372036854775808", None);
    check("'open", "syntax", "'open", None);
    let deep = format!("{}place", "!".repeat(1000));
    assert_eq!(error(&mut model, &deep).0, "too-deep");
}

#[test]
fn formulas_find_their_propositions() {
    let mut model = net("Eat_1=0 Think_1=1
        take: Think_1 -> Eat_1
        put: Eat_1 -> Think_1");
    let text = r#"[]("Eat_1 >= 1" -> <> fireable(take)) && F Eat_1 + Think_1 == 1 && G "'the Eat_1' < 2" && X (fireable(take, put) || !deadlock && Eat_1)"#;
    let mut sources = SourceMap::new();
    let source = sources.add("--ltl", text.into()).unwrap();
    assert_eq!(model.formula(source, &sources).unwrap().propositions.len(), 7);
    let text = r#"G "Eta_1 >= 1" | F fireable(tkae)"#;
    let source = sources.add("--ltl", text.into()).unwrap();
    let errors = model.formula(source, &sources).unwrap_err();
    let places: Vec<&str> = errors.iter().map(|error| sources.slice(error.span.unwrap())).collect();
    assert_eq!(places, ["Eta_1", "tkae"]);
}

#[test]
fn units_are_processes() {
    let places =
        "<place id='a'><initialMarking><text>1</text></initialMarking></place><place id='b'/><place id='c'/>";
    let units = "<toolspecific tool='nupn'><structure safe='true'><unit id='u0'><places/><subunits>u1 u2</subunits></unit>
        <unit id='u1'><places>a b</places></unit><unit id='u2'><places>c</places></unit></structure></toolspecific>";
    let nodes = "<transition id='s'/><transition id='t'/><transition id='v'/>
        <arc source='a' target='t'/><arc source='t' target='b'/><arc source='t' target='c'/>
        <arc source='b' target='v'/><arc source='v' target='a'/>";
    let model = lower(&net_of(&format!("<pnml><net id='n'>{places}{nodes}{units}</net></pnml>")));
    let owners = |action: usize| -> Vec<&str> {
        let owners = model.system.actions()[action].owners.iter();
        owners.map(|owner| model.system.processes()[owner.index()].name.as_str()).collect()
    };
    assert_eq!([owners(0), owners(1), owners(2)], [vec!["s"], vec!["u1", "u2"], vec!["u1"]]);
    assert_eq!(model.system.width(), 1);
}
