//! Runs in the words of their text: statements, what they print and send, and states.

mod common;

use base::Budget;
use common::model_of;
use language::story::{self, Item, Position, Statement, Unreached, Way};
use language::{Model as _, Purpose, Story, View};
use model::{ActionId, ActionSystem, VarId, reference};

/// A model that can be simulated.
fn view(text: &str) -> View {
    model_of(text).0.view(Purpose::Walk, &mut Budget::unlimited()).expect("it can be made")
}

fn story(view: &View) -> &dyn Story {
    view.story.as_deref().expect("there is always one")
}

/// Takes the first step again and again: all statements, what is printed, and the last state.
fn first_run(view: &View) -> (Vec<String>, String, Vec<i64>) {
    let system: &ActionSystem = &view.system;
    let mut state = reference::initial(system).remove(0);
    let (mut statements, mut output) = (Vec::new(), String::new());
    for _ in 0..100 {
        let Ok(Some((action, after))) =
            reference::successors(system, &state).map(|all| all.into_iter().next())
        else {
            break;
        };
        let mut here = state.clone();
        for part in reference::parts(system, action, &state).expect("no fault").expect("it is enabled").0 {
            for statement in story(view).statements(part, &here) {
                statements.push(format!("{}: {}", statement.process, statement.text));
                output.extend(statement.output);
            }
            here = reference::act(system, part, &here).expect("it is enabled");
        }
        assert_eq!(here, after, "the parts make the step");
        state = after;
    }
    (statements, output, state)
}

/// A story that tells all of both states.
struct Whole<'s>(&'s dyn Story);

impl Story for Whole<'_> {
    fn statements(&self, action: ActionId, before: &[i64]) -> Vec<Statement> {
        self.0.statements(action, before)
    }

    fn items(&self, state: &[i64]) -> Vec<Item> {
        self.0.items(state)
    }

    fn places(&self, state: &[i64]) -> Vec<Position> {
        self.0.places(state)
    }

    fn unreached(&self, taken: &[bool]) -> Vec<Unreached> {
        self.0.unreached(taken)
    }

    fn location(&self, process: &str) -> Option<VarId> {
        self.0.location(process)
    }
}

/// Between any two states, whether or not a step leads from one to the other: processes begin and end, with the same
/// variables and others.
#[test]
fn what_differs_is_told_without_what_is_equal() {
    let view = view(
        "byte a[3] = 2; chan c = [2] of { byte, bit };
         proctype P(byte n) { byte x = 3; byte y[2] = 3; x = n; c ! n, 1; y[1] = x; a[n] = 1 }
         proctype Q() { byte x = 3; c ? x, _; a[0] = x }
         init { run P(1); run P(2); run Q() }",
    );
    let system: &ActionSystem = &view.system;
    let mut states = reference::initial(system);
    let mut next = 0;
    while next < states.len() && states.len() < 300 {
        for (_, after) in reference::successors(system, &states[next]).expect("nothing goes wrong") {
            if !states.contains(&after) {
                states.push(after);
            }
        }
        next += 1;
    }
    let mut n_left_out = 0;
    for before in states.iter().step_by(3) {
        for after in states.iter().step_by(2) {
            let expected = story::changes(&Whole(story(&view)), before, after);
            assert_eq!(story::changes(story(&view), before, after), expected, "{before:?} {after:?}");
            let (items, _) = story(&view).different_items(before, after);
            n_left_out += story(&view).items(before).len() - items.len();
        }
    }
    assert!(states.len() > 100 && n_left_out > 10_000, "{} states, {n_left_out} left out", states.len());
}

#[test]
fn printf_prints_as_spin_does() {
    // `spin -T` prints the same.
    let view = view(
        "mtype = { red, green }; mtype m = green;
         active proctype P() {
             printf(\"%d %u %x %o %c %e %e 100%%\\n\", -1, -1, 255, 8, 65, red, m);
             printm(m);
             printf(\"\\ttab %e\\n\", 7)
         }",
    );
    let (_, output, _) = first_run(&view);
    assert_eq!(output, "-1 4294967295 ff 10 A red green 100%\ngreen\ttab 7\n");
}

#[test]
fn atomic_and_d_step_are_told_statement_by_statement() {
    let view = view(
        "byte x;
         active proctype P() {
             atomic { x = 1; x++ };
             d_step { x++; if :: x > 5 -> x = 0 :: else -> x = 9; printf(\"nine\\n\") fi }
         }",
    );
    let (statements, output, state) = first_run(&view);
    let expected = ["x = 1", "x++", "x++", "else", "x = 9", "printf(\"nine\\n\")", "ends"];
    let expected: Vec<String> = expected.iter().map(|text| format!("P(0): {text}")).collect();
    assert_eq!(statements, expected);
    assert_eq!(output, "nine\n");
    assert_eq!(story(&view).items(&state)[0].value, "9");
}

#[test]
fn a_handshake_has_two_statements_and_a_message() {
    let view = view(
        "mtype = { ping };
         chan c = [0] of { mtype, byte }, box = [2] of { byte };
         active proctype A() { c!ping(3); box!5; box!6 }
         active proctype B() { byte x; c?ping(x); box?x }",
    );
    let system = &*view.system;
    let mut state = reference::initial(system).remove(0);
    let step = |state: &mut Vec<i64>| {
        let (action, after) = reference::successors(system, state).expect("no fault").remove(0);
        let told = story(&view).statements(action, state);
        *state = after;
        told
    };
    let told = step(&mut state);
    assert_eq!(told.len(), 2);
    assert_eq!((told[0].process.as_str(), &*told[0].text), ("A(0)", "c!ping(3)"));
    assert_eq!((told[1].process.as_str(), &*told[1].text), ("B(1)", "c?ping(x)"));
    let message = told[0].message.as_ref().expect("there is one");
    assert_eq!((message.channel.as_str(), &message.way), ("c", &Way::Handed("B(1)".to_owned())));
    assert_eq!(message.values, ["ping", "3"]);
    step(&mut state);
    let told = step(&mut state);
    assert_eq!(told[0].message.as_ref().map(|message| message.way.clone()), Some(Way::Sent));
    let items: Vec<String> =
        story(&view).items(&state).iter().map(|item| format!("{} = {}", item.name, item.value)).collect();
    assert_eq!(items, ["box = [5,6]", "B(1):x = 3"]);
    assert!(story(&view).places(&state)[0].is_over);
}

#[test]
fn mistakes_are_faults_where_assertions_are() {
    // Each of them is an error in Spin, too, when it comes to it.
    for (body, what) in [
        ("c!1", "1 fields for a channel whose messages have 2: c!1"),
        ("c!1,2; c?x", "1 fields for a channel whose messages have 2: c?x"),
        ("none!1,2", "there is no channel yet: none!1,2"),
        ("if :: meet?[1] :: else fi", "a rendezvous channel never has a message: meet?[1]"),
        ("x = 7; x = table[x]", "index 7 is out of bounds, in `x = table[x]`"),
        ("assert(x == 1)", "assertion violated: assert(x == 1)"),
        ("d_step { x = 1; x == 2 }", "a d_step blocks: x == 2"),
    ] {
        let text = format!(
            "chan c = [1] of {{ byte, byte }}, meet = [0] of {{ byte }}; byte table[2]; chan none;
             active proctype P() {{ byte x; {body} }}"
        );
        let view = view(&text);
        let system = &*view.system;
        let mut scratch = model::System::new_scratch(system);
        let mut steps = model::Steps::new(model::System::width(system));
        let mut state: Vec<u32> = system.initial().next().expect("there is one").to_vec();
        let error = loop {
            steps.clear();
            match model::System::successors(system, &state, &mut scratch, &mut steps) {
                Err(error) => break error,
                Ok(()) => state = steps.iter().next().map(|(_, state)| state.to_vec()).expect("no fault"),
            }
        };
        assert_eq!(story(&view).fault(&error).as_deref(), Some(what));
        let action: ActionId = error.action.expect("it happens in a step");
        assert!(!story(&view).statements(action, &system.layout().decode(&state)).is_empty());
    }
}
