//! What the page asks for: models and their messages, checks and their runs, limits, many requests at once.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::{Bench, LAMP, large, model};
use serde_json::{Value, json};
use stubborn::Limits;
use stubborn_workbench::Settings;

#[test]
fn messages_have_places_that_the_editor_knows() {
    let bench = Bench::start(Settings::default());
    // 𝔽 is two units for a browser, and four bytes.
    let text = "// 𝔽é\nprocess P { a: x -> bb; b: ; }";
    let (_, told) = bench.post("model", &json!({ "model": model(text) }));
    let message = &told["messages"][0];
    let at = text.encode_utf16().collect::<Vec<_>>();
    let (from, to) = (message["from"].as_u64().unwrap() as usize, message["to"].as_u64().unwrap() as usize);
    assert_eq!(String::from_utf16(&at[from..to]).unwrap(), "bb", "{told}");
    assert_eq!((&message["line"], &message["severity"]), (&json!(2), &json!("error")));
    let (_, told) = bench.post("model", &json!({ "model": model(LAMP) }));
    assert_eq!((&told["messages"], &told["model"]["processes"]), (&json!([]), &json!(1)), "{told}");
    let names: Vec<&str> =
        told["properties"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["deadlock-free", "again", "fine"]);
}

#[test]
fn checks_give_verdicts_with_runs_and_reasons() {
    let bench = Bench::start(Settings::default());
    let ask = |questions: Value, way: Value| {
        bench.job("check", &json!({ "model": model(LAMP), "questions": questions, "way": way }))
    };
    let all = ask(json!([{ "ask": "declared" }]), json!({}));
    let verdicts: Vec<&str> =
        all["results"].as_array().unwrap().iter().filter_map(|it| it["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["violated", "holds"], "{all}");
    let again = &all["results"][0];
    assert_eq!((&again["run"]["length"], &again["run"]["cycle"]), (&json!(2), &json!(1)));
    assert_eq!(again["run"]["steps"][2]["action"], "flicker");
    assert!(
        !again["words"].as_array().unwrap().is_empty() && !again["reasons"].as_array().unwrap().is_empty()
    );
    assert_eq!(again["picture"]["way"].as_array().unwrap().len(), 3, "where the automaton is, at each step");
    let one = ask(
        json!([{ "ask": "ltl", "what": "<> Lamp@on" }]),
        json!({ "observer": "ba", "search": "nested", "reduce": "none" }),
    );
    assert_eq!(one["results"][0]["verdict"], "holds");
    assert!(one["results"][0]["method"].as_str().unwrap().contains("nested"), "{one}");
    let unfit = ask(
        json!([{ "ask": "ltl", "what": "<> Lamp@on" }]),
        json!({ "observer": "tgba", "search": "one-pass" }),
    );
    assert!(
        unfit["messages"][0]["message"].as_str().unwrap().contains("cannot be checked this way"),
        "{unfit}"
    );
    let wrong = ask(json!([{ "ask": "ltl", "what": "<> Lamp@onn" }]), json!({}));
    assert!(wrong["messages"][0]["help"].as_str().unwrap().contains("on"), "{wrong}");
    let fair = ask(json!([{ "ask": "property", "what": "again" }]), json!({ "fair": "weak" }));
    assert_eq!(fair["results"][0]["verdict"], "violated");
    let unknown = ask(json!([{ "ask": "property", "what": "agian" }]), json!({}));
    assert!(unknown["messages"][0]["message"].as_str().unwrap().contains("agian"), "{unknown}");
}

#[test]
fn what_runs_for_ever_is_stopped_and_the_server_lives_on() {
    let limits = Limits::default().time(Duration::from_secs(1)).memory(40 << 20);
    let bench = Bench::start(Settings { limits, jobs: 2, ..Settings::default() });
    let question = json!([{ "ask": "invariant", "what": "!P[0]@nowhere" }]);
    let wrong = bench.job("check", &json!({ "model": large(14), "questions": question }));
    assert!(wrong["messages"].is_array(), "{wrong}");
    let check = json!({ "model": large(14), "questions": [{ "ask": "invariant", "what": "(count i in 0..14: P[i]@a) <= 14" }], "way": { "reduce": "none" } });
    let found = bench.job("check", &check);
    let reason = found["results"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("limit"), "{found}");
    assert_eq!(found["results"][0]["verdict"], "unknown");
    // A text that asks for all memory while it is read.
    let (status, told) = bench.post("model", &json!({ "model": large(40_000_000) }));
    assert!(status == 200 && told["model"].is_null(), "{status} {told}");
    assert_eq!(bench.get("").0, 200);
    let small = bench.job("check", &json!({ "model": model(LAMP), "questions": [{ "ask": "declared" }] }));
    assert_eq!(small["results"].as_array().unwrap().len(), 2);
}

#[test]
fn jobs_tell_how_they_go_and_can_be_stopped() {
    let limits = Limits::default().time(Duration::from_secs(600)).memory(1 << 30);
    let bench = Bench::start(Settings { limits, jobs: 1, ..Settings::default() });
    let check = json!({ "model": large(15), "questions": [{ "ask": "invariant", "what": "(count i in 0..15: P[i]@a) <= 15" }], "way": { "reduce": "none" } });
    let (_, first) = bench.post("check", &check);
    let (_, second) = bench.post("check", &check);
    let news = |job: &Value| -> Value {
        serde_json::from_str(&bench.get(&format!("api/jobs/{}", job["job"])).1).unwrap()
    };
    loop {
        let told = news(&first);
        if told["progress"]["states"].as_u64().is_some_and(|states| states > 0) {
            break;
        }
        assert_ne!(told["stage"], "done", "{told}");
    }
    assert_eq!(news(&second)["stage"], "waiting", "one at a time");
    for job in [&second, &first] {
        assert_eq!(bench.post(&format!("jobs/{}/stop", job["job"]), &json!({})).0, 200);
    }
    for job in [&first, &second] {
        let found = bench.result(&job["job"]);
        assert!(found.to_string().contains("interrupted"), "{found}");
    }
}

/// A thousand requests of all kinds by fifty clients at once: each gets its own answer.
#[test]
fn a_thousand_requests_at_once_lose_nothing() {
    let bench = Bench::start(Settings::default());
    let n_answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        for client in 0..50 {
            let (bench, n_answered) = (&bench, &n_answered);
            scope.spawn(move || {
                for round in 0..20 {
                    let number = client * 20 + round;
                    match number % 5 {
                        0 => assert_eq!(bench.get("style.css").0, 200),
                        1 => {
                            let name = format!("P{number}");
                            let text = format!("process {name} {{ a: x -> a; }}");
                            let (status, told) = bench.post("model", &json!({ "model": model(&text) }));
                            assert_eq!((status, &told["processes"][0]), (200, &json!(name)));
                        }
                        2 => {
                            let text = format!(
                                "process P {{ {} }}",
                                (0..number % 7 + 1)
                                    .map(|s| format!("s{s}: go -> s{}; ", s + 1))
                                    .collect::<String>()
                                    + &format!("s{}: ;", number % 7 + 1)
                            );
                            let check =
                                json!({ "model": model(&text), "questions": [{ "ask": "deadlock-free" }] });
                            let found = bench.job("check", &check);
                            assert_eq!(found["results"][0]["run"]["length"], number % 7 + 1, "{found}");
                        }
                        3 => assert_eq!(bench.request("GET", "/", &bench.headers(), "").0, 403),
                        _ => assert_eq!(bench.post("model", &json!({ "model": 7 })).0, 400),
                    }
                    n_answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(n_answered.into_inner(), 1000);
}
