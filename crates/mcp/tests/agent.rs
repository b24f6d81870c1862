//! A scripted agent over real pipes: every tool on good, broken, endless and huge models, several calls at once,
//! cancellation, progress, garbage.

mod common;

use std::time::Duration;

use common::{Client, misfit};
use serde_json::{Value, json};
use stubborn_mcp::Settings;

const LAMP: &str = "process Lamp { off: press -> on; on: press -> off | flicker -> on; }";

const RACE: &str =
    "byte x;\nactive [2] proctype P() { byte t; t = x; x = t + 1 }\nltl both { <> (x == 2) }\n";

/// Too many states for anybody: 2^40, and no end of them can be left out.
const ENDLESS: &str = "byte a, b, c, d, e;\nactive proctype P() { do :: a++ :: b++ :: c++ :: d++ :: e++ od }\n\
                       ltl small { [] (a + b + c + d + e < 1275) }\n";

fn lamp() -> Value {
    json!({ "language": "process", "text": LAMP })
}

fn endless() -> Value {
    json!({ "language": "promela", "text": ENDLESS })
}

/// The entry of a list that has this name.
fn named<'v>(list: &'v Value, key: &str, name: &str) -> &'v Value {
    list.as_array().unwrap().iter().find(|it| it[key] == name).unwrap_or(&Value::Null)
}

fn tools(client: &mut Client) -> Vec<Value> {
    let id = client.send("tools/list", &json!({}));
    client.answer(id)["result"]["tools"].as_array().unwrap().clone()
}

/// Good calls of every tool.
fn good_calls() -> Vec<(&'static str, Value)> {
    let race = json!({ "language": "promela", "text": RACE });
    vec![
        (
            "check",
            json!({ "model": lamp(), "questions": { "ltl": ["[] <> Lamp@off"], "deadlock_free": true } }),
        ),
        ("check", json!({ "model": race, "shortest": true, "max_steps": 3 })),
        (
            "check",
            json!({ "model": lamp(), "questions": { "ltl": ["[] <> Lamp@off"] }, "fair": ["strong-action:press"] }),
        ),
        ("check", json!({ "model": endless(), "limits": { "seconds": 0.3 } })),
        ("explain", json!({ "model": race })),
        (
            "explain",
            json!({ "model": lamp(), "questions": { "invariants": ["Lamp@on || Lamp@off"] }, "why": true }),
        ),
        ("explore", json!({ "model": race })),
        ("explore", json!({ "model": race, "fold": { "by": "truths", "names": ["x == 2", "x == 0"] } })),
        ("explore", json!({ "model": race, "fold": { "by": "components", "max_classes": 4 } })),
        ("explore", json!({ "model": race, "fold": { "by": "parts", "names": ["x"] } })),
        ("explore", json!({ "model": lamp(), "fold": { "by": "states" } })),
        ("simulate", json!({ "model": race })),
        ("simulate", json!({ "model": race, "go_to": "x == 2", "watch": ["x == 2", "x == 1"] })),
        ("simulate", json!({ "model": race, "go_to": "x == 9" })),
        ("simulate", json!({ "model": lamp(), "go_to": "deadlock" })),
        ("simulate", json!({ "model": lamp(), "random": { "steps": 300, "seed": 7 }, "max_steps": 10 })),
        ("simulate", json!({ "model": race, "random": { "steps": 300, "until": ["x == 1"] } })),
        ("translate", json!({ "formula": "[] (a -> <> b)" })),
        ("translate", json!({ "formula": "[] <> p", "negate": true, "to": "ba", "format": "never" })),
        ("translate", json!({ "formula": "a U G b", "to": "tgta", "format": "dot" })),
        ("translate", json!({ "formula": "F G p", "to": "ta" })),
    ]
}

#[test]
fn what_tools_take_and_answer_fits_their_schemas() {
    let mut client = Client::new(Settings::default());
    let tools = tools(&mut client);
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["check", "explore", "simulate", "explain", "translate"]);
    for (name, arguments) in good_calls() {
        let tool = &tools[names.iter().position(|known| *known == name).unwrap()];
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        let (input, output) = (&tool["inputSchema"], &tool["outputSchema"]);
        assert_eq!((&input["type"], &output["type"]), (&json!("object"), &json!("object")));
        misfit(input, &arguments, input).unwrap_or_else(|why| panic!("{name} {arguments}: {why}"));
        let answer = client.good(name, &arguments);
        misfit(output, &answer, output).unwrap_or_else(|why| panic!("{name} {arguments}: {why}: {answer:#}"));
    }
    client.end();
}

#[test]
fn answers_are_right() {
    let mut client = Client::new(Settings::default());
    let answer =
        client.good("check", &json!({ "model": lamp(), "questions": { "ltl": ["[] <> Lamp@off"] } }));
    let result = &answer["results"][0];
    assert_eq!((&answer["verdict"], &result["verdict"]), (&json!("violated"), &json!("violated")));
    let run = &result["run"];
    assert_eq!(
        (&run["ending"], &run["cycle_start"], &run["length"]),
        (&json!("cycle"), &json!(1), &json!(2))
    );
    assert_eq!(run["steps"][0]["action"], "press");
    assert_eq!(run["steps"][1]["action"], "flicker");
    let fair = json!({ "model": lamp(), "questions": { "ltl": ["[] <> Lamp@off"] }, "fair": ["strong-action:press"] });
    assert_eq!(client.good("check", &fair)["verdict"], "holds");
    // A method of one's choice is the one that is used.
    for (observer, reduce, told) in [("tgba", "none", "tgba"), ("lazy-ta", "guided", "guided stubborn sets")]
    {
        let method = json!({ "observer": observer, "reduce": reduce });
        let asked = json!({ "model": lamp(), "questions": { "ltl": ["[] <> Lamp@off"] }, "method": method });
        let result = client.good("check", &asked)["results"][0].clone();
        assert_eq!(result["verdict"], "violated");
        assert!(result["method"].as_str().is_some_and(|method| method.contains(told)), "{result}");
    }
    // Runs out of states, of time, of memory.
    for limits in [json!({ "states": 1000 }), json!({ "seconds": 0.2 }), json!({ "megabytes": 20 })] {
        let answer = client.good("check", &json!({ "model": endless(), "limits": limits }));
        assert_eq!(answer["verdict"], "unknown", "{limits}");
        let results = answer["results"].as_array().unwrap();
        assert!(results.iter().any(|it| it["verdict"] == "unknown" && it["reason"].is_string()), "{answer}");
    }
    let race = json!({ "language": "promela", "text": RACE });
    let explored =
        client.good("explore", &json!({ "model": race, "fold": { "by": "parts", "names": ["x"] } }));
    assert_eq!(explored["complete"], true);
    assert!(named(&explored["properties"], "name", "both").is_object());
    assert_eq!(explored["graph"]["classes"].as_array().unwrap().len(), 3, "x is 0, 1 or 2");
    // To a state, there by its path, and on by each of the choices.
    let found = client.good("simulate", &json!({ "model": race, "go_to": "x == 1", "watch": ["x == 1"] }));
    assert_eq!(found["watched"][0]["value"], true);
    let again = client.good("simulate", &json!({ "model": race, "path": found["path"] }));
    assert_eq!((&again["state"], &again["choices"]), (&found["state"], &found["choices"]));
    for choice in found["choices"].as_array().unwrap() {
        let mut path = found["path"].as_array().unwrap().clone();
        path.push(choice["step"].clone());
        let on = client.good("simulate", &json!({ "model": race, "path": path }));
        assert_eq!(on["run"]["steps"].as_array().unwrap().last().unwrap()["action"], choice["action"]);
    }
    let nowhere = client.good("simulate", &json!({ "model": race, "go_to": "x == 3" }));
    assert_eq!(nowhere["ended"]["because"], "nowhere");
    let explained = client.good("explain", &json!({ "model": race }));
    let both = named(&explained["results"], "property", "both");
    assert!(!both["sentences"].as_array().unwrap().is_empty(), "{explained}");
    let claim = client.good("translate", &json!({ "formula": "[] p", "negate": true, "format": "never" }));
    assert!(claim["automaton"].as_str().unwrap().starts_with("never"), "{claim}");
    client.end();
}

#[test]
fn what_is_wrong_says_what_to_change() {
    let mut client = Client::new(Settings::default());
    let broken = json!({ "language": "process", "text": "process P {\n  a: go -> c;\n  b: ;\n}" });
    for tool in ["check", "explore", "simulate", "explain"] {
        let (text, errors) = client.bad(tool, &json!({ "model": broken }));
        let error = &errors[0];
        assert_eq!((&error["line"], &error["severity"]), (&json!(2), &json!("error")), "{error}");
        assert!(error["column"].is_number() && error["message"].as_str().unwrap().contains('c'), "{error}");
        assert!(text.contains("a: go -> c"), "the line is shown: {text}");
    }
    let cases = [
        ("check", json!({}), "model"),
        ("check", json!({ "model": {} }), "neither `text` nor `path`"),
        ("check", json!({ "model": { "text": "x", "path": "y" } }), "both `text` and `path`"),
        ("check", json!({ "model": { "text": "hello" } }), "say the language"),
        ("check", json!({ "model": lamp(), "qestions": {} }), "unknown field `qestions`"),
        ("check", json!({ "model": lamp(), "questions": { "ltl": ["[] Lamp@of"] } }), "Lamp"),
        ("check", json!({ "model": lamp(), "fair": ["often"] }), "expected weak"),
        ("check", json!({ "model": lamp(), "method": { "observer": "tbga" } }), "did you mean `tgba`?"),
        ("check", json!({ "model": lamp(), "method": { "search": "deep" } }), "one-pass"),
        ("check", json!({ "model": lamp(), "limits": { "seconds": 9999 } }), "at most 300"),
        ("check", json!({ "model": lamp(), "limits": { "seconds": 0 } }), "more than 0"),
        ("check", json!({ "model": lamp(), "limits": { "megabytes": 99999 } }), "the 1000 that"),
        ("check", json!({ "model": { "path": "a.proc" } }), "--folder"),
        ("explore", json!({ "model": lamp(), "fold": { "by": "parts", "names": ["Lam"] } }), "Lamp"),
        ("simulate", json!({ "model": lamp(), "path": ["x"] }), "not a step"),
        ("simulate", json!({ "model": lamp(), "path": ["0:0"] }), "step 1 of the path is not possible"),
        ("simulate", json!({ "model": lamp(), "initial": 3 }), "no initial state 3"),
        ("simulate", json!({ "model": lamp(), "go_to": "Lamp@" }), "the expression"),
        ("translate", json!({ "formula": "[] (a" }), "the formula:1:"),
        ("translate", json!({ "formula": "X a", "to": "ta" }), "stuttering"),
        ("translate", json!({ "formula": "a", "to": "ta", "format": "never" }), "never claim"),
    ];
    for (tool, arguments, hint) in cases {
        let (text, errors) = client.bad(tool, &arguments);
        assert!(text.contains(hint), "{tool} {arguments}: {text}");
        assert!(errors[0]["message"].is_string(), "{errors}");
    }
    let id = client.begin("chek", &json!({}));
    let answer = client.answer(id);
    assert!(answer["error"]["message"].as_str().unwrap().contains("there are check"), "{answer}");
    client.end();
}

#[test]
fn files_are_those_of_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let inside = outer.path().join("in");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(outer.path().join("secret.proc"), LAMP).unwrap();
    std::fs::write(inside.join("lamp.proc"), LAMP).unwrap();
    std::fs::write(inside.join("shared.pml"), "#define N 2\n").unwrap();
    std::fs::write(inside.join("main.pml"), "#include \"shared.pml\"\nactive [N] proctype P() { skip }\n")
        .unwrap();
    std::fs::write(inside.join("steals.pml"), "#include \"../secret.proc\"\nactive proctype P() { skip }\n")
        .unwrap();
    let mut client = Client::new(Settings { folder: Some(inside), ..Settings::default() });
    let path = |path: &str| json!({ "model": { "path": path } });
    assert_eq!(client.good("explore", &path("lamp.proc"))["states"], 2);
    assert_eq!(client.good("explore", &path("main.pml"))["processes"].as_array().unwrap().len(), 2);
    let secret = outer.path().join("secret.proc").display().to_string();
    for outside in ["../secret.proc", "x/../../secret.proc", "/etc/passwd", &secret, ""] {
        let (text, _) = client.bad("explore", &path(outside));
        assert!(text.contains("folder that may be used"), "{outside}: {text}");
    }
    let (text, _) = client.bad("check", &path("lam.proc"));
    assert!(text.contains("lamp.proc"), "{text}");
    let (text, _) = client.bad("check", &path("steals.pml"));
    assert!(text.contains("folder that may be used") && !text.contains("flicker"), "{text}");
    client.end();
}

#[test]
fn several_calls_at_once_are_all_answered() {
    let mut client = Client::new(Settings { jobs: 3, ..Settings::default() });
    let calls = good_calls();
    let ids: Vec<u64> = calls.iter().cycle().take(60).map(|(tool, with)| client.begin(tool, with)).collect();
    let mut answers: Vec<Value> = ids.iter().rev().map(|&id| client.answer(id)).collect();
    answers.reverse();
    for (answer, (tool, _)) in answers.iter().zip(calls.iter().cycle()) {
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{answer}");
        let key = match *tool {
            "check" | "explain" => "results",
            "explore" => "states",
            "simulate" => "choices",
            _ => "automaton",
        };
        assert!(!result["structuredContent"][key].is_null(), "{tool}: {answer}");
    }
    client.end();
}

#[test]
fn calls_are_cancelled_and_tell_how_they_go() {
    // There is one turn: whoever comes later must wait for whoever is not ended.
    let mut client = Client::new(Settings { jobs: 1, ..Settings::default() });
    let arguments = json!({ "model": endless(), "limits": { "seconds": 290, "megabytes": 1000 } });
    let params = json!({ "name": "check", "arguments": arguments, "_meta": { "progressToken": "mine" } });
    let endless = client.send("tools/call", &params);
    let waiting = client.begin("check", &arguments);
    // Something is told while it goes on; nothing else comes.
    let listing = client.send("tools/list", &json!({}));
    client.answer(listing);
    while client.notifications.is_empty() {
        std::thread::sleep(Duration::from_millis(100));
        let listing = client.send("tools/list", &json!({}));
        client.answer(listing);
    }
    let news = &client.notifications[0];
    assert_eq!(
        (&news["method"], &news["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("mine"))
    );
    assert!(news["params"]["message"].as_str().unwrap().contains("states"), "{news}");
    for id in [endless, waiting] {
        let params = json!({ "requestId": id, "reason": "enough" });
        client.write(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string(),
        );
    }
    // It is our turn, long before those would have ended.
    assert_eq!(client.good("explore", &json!({ "model": lamp() }))["states"], 2);
    client.end();
}

#[test]
fn garbage_is_no_end() {
    let mut client = Client::silent(Settings::default());
    let garbage = ["hello", "{", "[1, 2", "\u{1}\u{2}", "", "{\"jsonrpc\": \"2.0\", \"id\": ", "\"", "}}}}"];
    garbage.iter().for_each(|line| client.write(line));
    client.shake_hands();
    garbage.iter().for_each(|line| client.write(line));
    for line in
        ["{}", "[]", "{\"jsonrpc\":\"2.0\"}", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":5}", "null", "7"]
    {
        client.write(line);
    }
    let id = client.send("tools/call", &json!({ "name": 7 }));
    assert!(!client.answer(id)["error"].is_null());
    let id = client.send("no/such", &json!({}));
    assert_eq!(client.answer(id)["error"]["code"], -32601);
    assert_eq!(client.good("explore", &json!({ "model": lamp() }))["states"], 2);
    client.end();
    // One that nobody talks to ends, too.
    Client::silent(Settings::default()).end();
}
