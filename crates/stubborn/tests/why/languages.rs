//! Formulas about models in each language.

use stubborn::Question;
use stubborn::report::why::Because;

use super::{constant, happens, never, no_matter, removable, taken, why_in};

/// A net with a place that nobody marks, and a part that is apart.
const NET: &str = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="net" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">
<place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/><place id="never"/>
<place id="x"><initialMarking><text>1</text></initialMarking></place><place id="y"/>
<transition id="ab"/><transition id="ba"/><transition id="dead"/><transition id="xy"/><transition id="yx"/>
<arc id="1" source="a" target="ab"/><arc id="2" source="ab" target="b"/>
<arc id="3" source="b" target="ba"/><arc id="4" source="ba" target="a"/>
<arc id="5" source="never" target="dead"/><arc id="6" source="dead" target="b"/>
<arc id="7" source="x" target="xy"/><arc id="8" source="xy" target="y"/>
<arc id="9" source="y" target="yx"/><arc id="10" source="yx" target="x"/>
</page></net></pnml>"#;

/// A traffic light that is never blue, and a walker.
const LIGHT: &str = "mtype = { red, green, blue }; mtype light = red; bool walk;
active proctype Light() { do :: atomic { light == red && !walk -> light = green } :: light == green -> light = red
  :: light == blue -> light = red od }
active proctype Walker() { do :: atomic { light == red -> walk = true }; walk = false od }";

/// A sender and a receiver.
const CHANNEL: &str = "chan c = [1] of { byte }; byte got;
active proctype S() { do :: c ! 1 od }
active proctype R() { byte v; do :: c ? v -> got = v od }";

/// A door that is locked by a guard, and a bell.
const DOOR: &str =
    "process Door { open: close -> shut; shut: open_it -> open | lock -> locked; locked: unlock -> shut; }
    process Guard { idle: lock -> on; on: unlock -> idle; }";
const BELL: &str = "process Bell { quiet: ring -> loud; loud: hush -> quiet; }";

/// A lock that the second process never gets.
const LOCK: &str = "bool in0, in1; byte lock = 1;
active proctype A() { do :: atomic { lock == 1 -> lock = 0 }; in0 = true; in0 = false; lock = 1 od }
active proctype B() { do :: atomic { lock == 2 -> lock = 0 }; in1 = true; in1 = false; lock = 2 od }";

/// Someone who tries again, and never gives up.
const RETRY: &str = "byte tries; bool up, gave_up;
active proctype L() { do :: tries < 3 && !up -> tries++; if :: up = true :: skip fi; tries = 0; up = false
  :: tries >= 3 -> gave_up = true; tries = 0 od }";

/// Peterson's algorithm.
const PETERSON: &str = "bool want0, want1, turn; byte inside;
active proctype A() { do :: want0 = true; turn = true; (!want1 || !turn); inside++; inside--; want0 = false od }
active proctype B() { do :: want1 = true; turn = false; (!want0 || turn); inside++; inside--; want1 = false od }";

/// A handshake of four phases.
const HANDSHAKE: &str = "bool req, ack; bit data, seen;
active proctype M() { do :: data = 1 - data; req = 1; ack == 1; req = 0; ack == 0 od }
active proctype S() { do :: req == 1; seen = data; ack = 1; req == 0; ack = 0 od }";

#[test]
fn what_was_planted_in_all_languages_is_told() {
    let door = format!("{DOOR} {BELL}");
    let apart = format!("{CHANNEL} active proctype Noise() {{ bool n; do :: n = !n od }}");
    let atomic = "bool a, b; active proctype A() { do :: atomic { a = true; a = false } od }
        active proctype B() { b = true }";
    let to = |who: &str| Because::UnneededFairnessTo { to: who.to_owned() };
    let planted: Vec<(&str, &str, &str, &[&str], Because)> = vec![
        (
            "promela",
            LIGHT,
            "[] (light == red || light == green || light == blue)",
            &[],
            taken("light", "blue"),
        ),
        ("promela", LIGHT, "[] (light == blue -> <> (light == red))", &[], never("light == blue")),
        // A condition may be one proposition, whatever is inside.
        ("promela", atomic, "[] (a -> !b)", &[], constant("a", false)),
        ("promela", atomic, "[] !(a && b)", &[], constant("a", false)),
        ("promela", &apart, "[] (got < 2)", &[], removable("Noise(2)")),
        ("promela", CHANNEL, "[] <> (got == 1) || got == 0", &["weak"], Because::FairnessUnneeded),
        ("promela", LOCK, "[] !(in0 && in1)", &[], constant("in1", false)),
        ("promela", RETRY, "[] (gave_up -> [] !up)", &[], never("gave_up")),
        ("promela", HANDSHAKE, "[] (req -> <> ack)", &[], no_matter("req")),
        ("petri", NET, "[] (never == 1 -> <> (a == 1))", &[], never("never == 1")),
        ("petri", NET, "[] (a + b == 1)", &[], happens("dead")),
        ("petri", NET, "[] <> (a == 1)", &["weak"], to("xy")),
        ("process", &door, "[] (Door@locked -> Guard@on)", &[], removable("Bell")),
    ];
    let mut missed = Vec::new();
    for (language, model, formula, fair, expected) in planted {
        let told = why_in(language, model, &Question::ltl(formula), fair);
        if !told.contains(&expected) {
            missed.push(format!("{formula} {fair:?}: {told:?} lacks {expected:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn sound_properties_of_all_languages_are_left_alone() {
    let light = LIGHT.replace(", blue }", " }").replace(":: light == blue -> light = red ", "");
    let net = NET.replace("<place id=\"never\"/>", "").replace("<transition id=\"dead\"/>", "").replace(
        "<arc id=\"5\" source=\"never\" target=\"dead\"/><arc id=\"6\" source=\"dead\" target=\"b\"/>",
        "",
    );
    let sound: Vec<(&str, &str, &str, &[&str])> = vec![
        ("promela", &light, "[] (walk -> light == red)", &[]),
        ("promela", &light, "[] !(walk && light == green)", &[]),
        ("promela", CHANNEL, "[] (got < 2)", &[]),
        ("promela", CHANNEL, "got == 0", &[]),
        ("promela", PETERSON, "[] (inside <= 1)", &[]),
        ("promela", HANDSHAKE, "[] (ack -> seen == data)", &[]),
        ("petri", &net, "[] (a + b + x + y == 2)", &[]),
        ("petri", &net, "[] <> (a == 1) && [] <> (x == 1)", &["weak:ba,yx"]),
        ("petri", &net, "[] (a <= 1 && x <= 1)", &[]),
        ("process", DOOR, "[] (Door@locked -> Guard@on)", &[]),
        ("process", DOOR, "[] (Guard@on -> X Guard@idle)", &[]),
        ("process", DOOR, "Door@open", &[]),
    ];
    let mut wrong = Vec::new();
    for (language, model, formula, fair) in sound {
        let told = why_in(language, model, &Question::ltl(formula), fair);
        if !told.is_empty() {
            wrong.push(format!("{formula} {fair:?}: {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
