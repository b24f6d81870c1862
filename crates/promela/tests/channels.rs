//! Channels that are full, empty or no more: as in Spin 6.5.2.

mod common;

use common::run::run;

#[track_caller]
fn fails(text: &str, fault: &str) {
    assert_eq!(run(text).map(|found| found.fault), Ok(fault.to_owned()), "{text}");
}

const CARRY: &str = "chan carry = [1] of { chan }; byte x;";

#[test]
fn sending_to_a_channel_that_is_gone() {
    let owner = "active proctype Owner() { chan own = [1] of { byte }; carry!own }";
    let user = "active proctype User() { chan d; carry?d; d!1 }";
    fails(&format!("{CARRY} {user} {owner}"), "the process of this channel is no more: d!1");
    // A process does not vanish before those that were started after it.
    fails(&format!("{CARRY} {owner} {user}"), "");
    let meets = "active proctype Owner() { chan own = [0] of { byte }; carry!own }";
    fails(&format!("{CARRY} {user} {meets}"), "the process of this channel is no more: d!1");
    // Somebody else gets it by a parameter.
    let starts = "proctype User(chan d) { d!1 } active proctype Starts() { chan d; carry?d; run User(d) }";
    fails(&format!("{CARRY} {starts} {owner}"), "the process of this channel is no more: d!1");
    // Another channel has its number now.
    let again = "proctype Next() { chan own = [1] of { byte }; own?x }
        active proctype Starts() { chan d; carry?d; (_nr_pr == 1); run Next(); d!1; (_nr_pr == 1) }";
    fails(&format!("{CARRY} {again} {owner}"), "");
}

#[test]
fn receiving_from_a_channel_that_is_gone() {
    let owner = "active proctype Owner() { chan own = [1] of { byte }; own!1; carry!own }";
    let user = "active proctype User() { chan d; carry?d; (_nr_pr == 1); d?x }";
    let found = run(&format!("{CARRY} {user} {owner}")).unwrap();
    assert_eq!((&*found.fault, found.ends_well), ("", false));
}

#[test]
fn a_rendezvous_channel_is_never_full() {
    let text =
        "chan c = [0] of { byte }; active proctype P() { if :: full(c) -> assert(false) :: nfull(c) fi }";
    let found = run(text).unwrap();
    assert_eq!((found.states, &*found.fault), (3, ""));
}

#[test]
fn an_escape_comes_before_a_rendezvous_only_if_it_receives() {
    // Whoever is handed a message can do nothing else in this moment. The numbers of states are Spin's.
    for (body, states) in [
        ("{ c?x } unless { y == 0 }", 9),
        ("{ c?x; y = 3 } unless { skip }", 11),
        ("{ c?x } unless { c?y }", 7),
        ("{ c?x } unless { c?2 -> y = 9 }", 8),
        ("{ c?x; y = 3 } unless { d_step { c?y; x = 5 } }", 7),
        ("{ { c?x } unless { c?2; x = 7 } } unless { c?y }", 7),
    ] {
        let text = format!(
            "chan c = [0] of {{ byte }}; byte x, y;
             active proctype S() {{ if :: c!1 :: c!2 fi }} active proctype R() {{ {body} }}"
        );
        assert_eq!(run(&text).map(|found| found.states), Ok(states), "{text}");
    }
}

#[test]
fn a_rendezvous_inside_of_a_d_step_is_a_mistake() {
    let receiver = "active proctype B() { byte v; c?v; assert(v == 7) }";
    for (body, fault) in [
        ("d_step { c!i; x = i }", "a rendezvous inside of a d_step: c!i"),
        ("d_step { x = i; c!i }", "a rendezvous inside of a d_step: c!i"),
        ("d_step { x = i; if :: x == 1 :: c!i fi; x = 0 }", "a rendezvous inside of a d_step: c!i"),
        // An option before it is taken.
        ("d_step { x = i; if :: x == 7 :: c!i fi; x = 0 }", ""),
        ("d_step { if :: x == 0 :: c!i fi; x = 0 }", ""),
        // Nobody is there who could send.
        ("d_step { x = 1; c?i }", "a d_step blocks: c?i"),
    ] {
        let sender =
            format!("chan c = [0] of {{ byte }}; byte x; active proctype A() {{ byte i = 7; {body} }}");
        fails(&format!("{sender} {receiver}"), fault);
        // It is a mistake whether somebody waits or not.
        fails(&sender, fault);
    }
    // A channel variable may mean one or the other.
    let text = |capacity: u8| {
        format!(
            "chan c = [{capacity}] of {{ byte }}; chan carry = [1] of {{ chan }};
             active proctype A() {{ chan d; carry!c; carry?d; d_step {{ skip; d!1 }} }}"
        )
    };
    fails(&text(0), "a rendezvous inside of a d_step: d!1");
    fails(&text(1), "");
}

#[test]
fn channels_that_are_not_there_inside_of_a_d_step() {
    for body in ["d!1; x = 1", "x = 1; d!1", "d?x; x = 1", "x = 1; d?x", "x = 2; if :: d?x :: else fi; x = 1"]
    {
        let found = run(&format!("byte x; active proctype A() {{ chan d; d_step {{ {body} }} }}")).unwrap();
        assert!(found.fault.starts_with("there is no channel yet: d"), "{body}: {}", found.fault);
    }
    let owner = "active proctype Owner() { chan own = [1] of { byte }; carry!own }";
    for body in ["d!1; x = 1", "x = 1; d!1"] {
        let user =
            format!("active proctype User() {{ chan d; carry?d; (_nr_pr == 1); d_step {{ {body} }} }}");
        fails(&format!("{CARRY} {user} {owner}"), "the process of this channel is no more: d!1");
    }
    // An option before it is taken.
    fails("byte x; active proctype A() { chan d; d_step { if :: x == 0 :: d!1 fi; x = 1 } }", "");
}
