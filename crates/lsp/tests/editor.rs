//! A scripted editor: it opens, edits, asks, renames, checks and closes; and types at random.
//!
//! `STUBBORN_CASES=40 cargo test --release -p stubborn-lsp --test editor random` makes 10 000 random edits.
//! `cargo test --release -p stubborn-lsp --test editor latency -- --nocapture` prints how long answers take.

#![allow(clippy::print_stdout)] // What is measured is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lsp_server::{Message, Notification, Request, Response};
use serde_json::{Value, json};
use stubborn_lsp::{Connection, diagnose, serve};

/// An editor, and the server that it talks to.
struct Editor {
    connection: Connection,
    server: Option<JoinHandle<()>>,
    n_requests: i32,
    /// What was published: address, version, mistakes.
    published: Vec<(String, Option<i64>, Value)>,
    /// Everything else that the server said by itself.
    heard: Vec<(String, Value)>,
}

impl Editor {
    fn start(options: &Value) -> Editor {
        let (connection, theirs) = Connection::memory();
        let server = thread::spawn(move || serve(theirs).expect("the editor keeps to the protocol"));
        let (published, heard) = (Vec::new(), Vec::new());
        let mut editor = Editor { connection, server: Some(server), n_requests: 0, published, heard };
        let capabilities = json!({
            "window": { "workDoneProgress": true },
            "workspace": { "codeLens": { "refreshSupport": true } },
        });
        let params = json!({ "capabilities": capabilities, "initializationOptions": options });
        let answer = editor.ask("initialize", params).expect("it begins");
        assert!(answer["capabilities"]["renameProvider"].is_object());
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&self, method: &str, params: Value) {
        let message = Notification::new(method.to_owned(), params);
        self.connection.sender.send(message.into()).expect("the server listens");
    }

    fn send(&mut self, method: &str, params: Value) -> i32 {
        self.n_requests += 1;
        let message = Request::new(self.n_requests.into(), method.to_owned(), params);
        self.connection.sender.send(message.into()).expect("the server listens");
        self.n_requests
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.send(method, params);
        self.wait_for(id)
    }

    fn wait_for(&mut self, id: i32) -> Result<Value, String> {
        loop {
            if let Some(response) = self.hear().filter(|response| response.id == id.into()) {
                let response = serde_json::to_value(&response).expect("it is JSON");
                return match response.get("error").filter(|error| !error.is_null()) {
                    Some(error) => Err(error["message"].as_str().unwrap_or_default().to_owned()),
                    None => Ok(response.get("result").cloned().unwrap_or(Value::Null)),
                };
            }
        }
    }

    /// Hears one message; returns it if it is an answer.
    fn hear(&mut self) -> Option<Response> {
        let message = self.connection.receiver.recv_timeout(Duration::from_secs(120));
        match message.expect("the server lives") {
            Message::Response(response) => return Some(response),
            Message::Notification(it) if it.method == "textDocument/publishDiagnostics" => {
                let uri = it.params["uri"].as_str().expect("an address").to_owned();
                self.published.push((uri, it.params["version"].as_i64(), it.params["diagnostics"].clone()));
            }
            Message::Notification(it) => self.heard.push((it.method, it.params)),
            Message::Request(it) => {
                self.heard.push((it.method, it.params));
                let answer = Response::new_ok(it.id, Value::Null);
                self.connection.sender.send(answer.into()).expect("the server listens");
            }
        }
        None
    }

    /// Waits until mistakes of this version are published.
    fn mistakes(&mut self, uri: &str, version: i64) -> Value {
        loop {
            let is_meant =
                |(known, its, _): &&(String, Option<i64>, Value)| known == uri && *its == Some(version);
            if let Some((_, _, found)) = self.published.iter().rev().find(is_meant) {
                return found.clone();
            }
            self.hear();
        }
    }

    fn open(&self, uri: &str, language: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&self, uri: &str, version: i64, changes: &Value) {
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    fn hover(&mut self, uri: &str, place: &Value) -> String {
        let answer = self.ask("textDocument/hover", asked(uri, place)).expect("it answers");
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    fn rename(&mut self, uri: &str, place: &Value, new: &str) -> Result<Value, String> {
        let mut params = asked(uri, place);
        params["newName"] = json!(new);
        self.ask("textDocument/rename", params)
    }

    fn completions(&mut self, uri: &str, place: &Value) -> Vec<String> {
        let found = self.ask("textDocument/completion", asked(uri, place)).expect("it answers");
        list(&found).iter().map(|item| item["label"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The commands of the lenses.
    fn lenses(&mut self, uri: &str) -> Vec<Value> {
        let params = json!({ "textDocument": { "uri": uri } });
        let found = self.ask("textDocument/codeLens", params).expect("it answers");
        list(&found).iter().map(|lens| lens["command"].clone()).collect()
    }

    fn execute(&mut self, command: &Value) -> Result<Value, String> {
        let params = json!({ "command": command["command"], "arguments": command["arguments"] });
        self.ask("workspace/executeCommand", params)
    }

    fn stop(mut self) {
        self.ask("shutdown", Value::Null).expect("it can be shut down");
        self.tell("exit", Value::Null);
        self.server.take().expect("it was started").join().expect("it ends without a panic");
    }
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("this is no list: {value}"))
}

/// The position of the n-th occurrence of a word, at its beginning.
fn place(text: &str, word: &str, number: usize) -> Value {
    let at = text.match_indices(word).nth(number).unwrap_or_else(|| panic!("there is no `{word}`")).0;
    position(text, at)
}

fn position(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let column: usize = before[start..].chars().map(char::len_utf16).sum();
    json!({ "line": before.matches('\n').count(), "character": column })
}

fn asked(uri: &str, position: &Value) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": position })
}

/// Applies the edits of one document, which do not overlap.
fn apply(text: &str, edits: &Value) -> String {
    let edit = |edit: &Value| {
        let at = |end: &str| offset(text, &edit["range"][end]);
        (at("start"), at("end"), edit["newText"].as_str().expect("a text").to_owned())
    };
    let mut edits: Vec<(usize, usize, String)> = list(edits).iter().map(edit).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.0));
    let mut text = text.to_owned();
    edits.iter().for_each(|(start, end, new)| text.replace_range(*start..*end, new));
    text
}

fn offset(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().expect("a line") as usize;
    let column = position["character"].as_u64().expect("a column") as usize;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = 0;
    for (at, letter) in text[start..].char_indices() {
        if units >= column {
            return start + at;
        }
        units += letter.len_utf16();
    }
    text.len()
}

/// The text with another word in the place of one.
fn replaced(text: &str, old: &str, new: &str) -> String {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut changed = String::new();
    for piece in text.split_inclusive(|letter| !is_letter(letter)) {
        let end = piece.trim_end_matches(|letter| !is_letter(letter)).len();
        changed += if &piece[..end] == old { new } else { &piece[..end] };
        changed += &piece[end..];
    }
    changed
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

const LOCK: &str = "\
const N = 2;
process Lock { free: take[i] -> held for i in 0..N; held: give[i] -> free for i in 0..N; }
process Worker[i in 0..N] {
    idle: take[i] -> busy;
    busy: give[i] -> idle;
}
invariant both = Worker[0]@busy -> Lock@held;
invariant never = !Worker[1]@busy;
ltl again = [] <> Worker[0]@idle;
";

#[test]
fn an_editor_works_through_a_file() {
    let mut editor = Editor::start(&json!({ "seconds": 30 }));
    let uri = "file:///models/lock.proc";
    editor.open(uri, "process", LOCK);
    assert_eq!(editor.mistakes(uri, 1), json!([]));

    // A mistake, and its end.
    let busy = place(LOCK, "busy;", 0);
    let end = json!({ "line": busy["line"], "character": busy["character"].as_u64().map(|at| at + 4) });
    editor.change(uri, 2, &json!([{ "range": { "start": busy, "end": end }, "text": "bsuy" }]));
    let found = editor.mistakes(uri, 2);
    assert_eq!(found[0]["code"], "unknown-state", "{found:#}");
    assert_eq!(found[0]["range"]["start"], busy);
    assert!(found[0]["message"].as_str().is_some_and(|text| text.contains("did you mean `busy`?")));
    editor.change(uri, 3, &json!([{ "text": LOCK }]));
    assert_eq!(editor.mistakes(uri, 3), json!([]));

    // What names are.
    assert!(editor.hover(uri, &place(LOCK, "N", 1)).contains("**constant** `N` = 2"));
    assert!(editor.hover(uri, &place(LOCK, "Worker", 1)).contains("There are 2 such processes"));
    let text = editor.hover(uri, &place(LOCK, "busy", 2));
    assert!(
        text.contains("**state** `busy` of `Worker`") && text.contains("has the values 0 and 1"),
        "{text}"
    );
    assert_eq!(editor.hover(uri, &json!({ "line": 3, "character": 1 })), "");

    // Where they are declared and used: in invariants and formulas, too.
    let idle = place(LOCK, "idle", 2);
    let found = editor.ask("textDocument/definition", asked(uri, &idle)).expect("it answers");
    assert_eq!(found[0]["range"]["start"], place(LOCK, "idle", 0));
    let mut params = asked(uri, &idle);
    params["context"] = json!({ "includeDeclaration": true });
    let found = editor.ask("textDocument/references", params).expect("it answers");
    assert_eq!(list(&found).len(), 3);

    // Completion behind `@` and elsewhere.
    let found = editor.completions(uri, &place(LOCK, "held;", 0));
    assert_eq!(found, ["free", "held"], "the states of the lock");
    let found = editor.completions(uri, &place(LOCK, "take", 1));
    for wanted in ["take", "give", "idle", "busy", "N", "i", "tau", "Worker"] {
        assert!(found.iter().any(|label| label == wanted), "{wanted} in {found:?}");
    }
    assert!(!found.iter().any(|label| label == "free"), "states of others are not seen");

    // Rename, and what would change the meaning.
    let edits = editor.rename(uri, &place(LOCK, "busy", 1), "working").expect("it can be renamed");
    assert_eq!(apply(LOCK, &edits["changes"][uri]), LOCK.replace("busy", "working"));
    let edits = editor.rename(uri, &place(LOCK, "N", 0), "SIZE").expect("it can be renamed");
    assert_eq!(apply(LOCK, &edits["changes"][uri]), replaced(LOCK, "N", "SIZE"));
    for new in ["idle", "tau", "2x", "a b", ""] {
        assert!(editor.rename(uri, &place(LOCK, "busy", 0), new).is_err(), "{new}");
    }
    let clash = editor.rename(uri, &place(LOCK, "i in", 0), "N");
    assert!(clash.is_err(), "a variable is not called like a constant: {clash:?}");
    assert!(editor.ask("textDocument/prepareRename", asked(uri, &place(LOCK, "-> held", 0))).is_err());

    // The outline, and the format.
    let found = editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    let found = found.expect("it answers");
    let names: Vec<&str> = list(&found).iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["N", "Lock", "Worker", "both", "never", "again"]);
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": uri }, "options": options });
    let edits = editor.ask("textDocument/formatting", params.clone());
    assert_eq!(edits, Ok(json!([])), "it is as it should be");
    let squeezed = LOCK.replace(" -> ", "->");
    editor.change(uri, 4, &json!([{ "text": squeezed }]));
    let edits = editor.ask("textDocument/formatting", params).expect("it answers");
    assert_eq!(apply(&squeezed, &edits), LOCK);
    editor.change(uri, 5, &json!([{ "text": LOCK }]));

    // Lenses: check all, then step through what is violated; an edit makes that void.
    let lenses = editor.lenses(uri);
    assert_eq!(lenses.iter().filter(|lens| lens["title"] == "check").count(), 3);
    let answer = editor.execute(&lenses[0]).expect("it is checked");
    let verdict = |result: &Value| format!("{} {}", result["property"], result["verdict"]);
    let verdicts: Vec<String> = list(&answer["results"]).iter().map(verdict).collect();
    assert_eq!(verdicts, [r#""both" "holds""#, r#""never" "violated""#, r#""again" "holds""#]);
    let heard = |editor: &Editor, wanted: &str| editor.heard.iter().any(|(method, _)| method == wanted);
    assert!(heard(&editor, "window/workDoneProgress/create"));
    let is_end =
        |(method, params): &(String, Value)| method == "$/progress" && params["value"]["kind"] == "end";
    assert!(editor.heard.iter().any(is_end));
    let lenses = editor.lenses(uri);
    assert!(heard(&editor, "workspace/codeLens/refresh"));
    let step = lenses.iter().find(|lens| lens["title"] == "step through").expect("something is violated");
    let answer = editor.execute(step).expect("there is a run");
    assert_eq!((&answer["property"], list(&answer["steps"]).len()), (&json!("never"), 2));
    editor.change(uri, 6, &json!([{ "text": LOCK.to_owned() + "\n" }]));
    let is_step = |lens: &Value| lens["title"].as_str().is_some_and(|title| title.starts_with("step"));
    assert!(!editor.lenses(uri).iter().any(is_step), "what is known is about another text");

    // Bad requests are answered, and nothing breaks.
    assert!(editor.ask("textDocument/hover", json!({ "nonsense": 1 })).is_err());
    assert!(editor.ask("no/such/thing", Value::Null).is_err());
    let check = |arguments: Value| json!({ "command": "stubborn.check", "arguments": arguments });
    assert!(editor.execute(&json!({ "command": "rm", "arguments": [uri] })).is_err());
    assert!(editor.execute(&check(json!(["file:///other"]))).is_err());
    assert!(editor.execute(&check(json!([]))).is_err());
    let unknown = editor.execute(&check(json!([uri, "nevver"]))).expect_err("there is no such property");
    assert!(unknown.contains("did you mean `never`?"), "{unknown}");

    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    let hover = editor.ask("textDocument/hover", asked(uri, &json!({ "line": 0, "character": 0 })));
    assert!(hover.is_err(), "it is not open");
    assert_eq!(editor.published.last().map(|published| &published.2), Some(&json!([])), "nothing is left");
    editor.stop();
}

const PETERSON: &str = "\
#define MUTEX (inside <= 1)
inline enter(me) { wants[me] = true; turn = 1 - me }
mtype = { one, two };
bool wants[2];
byte turn, inside;
mtype last = one;
active [2] proctype P()
{
	byte rounds;
again:	enter(_pid);
	!wants[1 - _pid] || turn == _pid;
	inside++; last = two;
	inside--; wants[_pid] = false; rounds++;
	if :: rounds < 2 -> goto again :: else fi
}
ltl mutex { [] MUTEX }
ltl back { [] (P@again -> <> !wants[0]) }
";

#[test]
fn promela_has_names_too() {
    let mut editor = Editor::start(&Value::Null);
    let uri = "file:///models/peterson.pml";
    editor.open(uri, "promela", PETERSON);
    let found = editor.mistakes(uri, 1);
    assert!(list(&found).iter().all(|mistake| mistake["severity"] != 1), "{found:#}");
    let text = editor.hover(uri, &place(PETERSON, "inside", 2));
    assert!(
        text.contains("**variable** `inside` : byte (0 to 255)") && text.contains("In this model"),
        "{text}"
    );
    // A name that comes out of a macro stands in the macro; one in an inline stands there.
    for (word, number, new) in [
        ("inside", 1, "n"),
        ("wants", 1, "asks"),
        ("again", 0, "begin"),
        ("rounds", 2, "r"),
        ("two", 0, "zwei"),
        ("MUTEX", 1, "ALONE"),
        ("enter", 1, "go_in"),
        ("P()", 0, "Q"),
    ] {
        let edits = editor.rename(uri, &place(PETERSON, word, number), new);
        let edits = edits.unwrap_or_else(|error| panic!("{word}: {error}"));
        let renamed = apply(PETERSON, &edits["changes"][uri]);
        assert_eq!(renamed, replaced(PETERSON, word.trim_end_matches("()"), new), "{word}");
        let mistakes = diagnose(&uri.parse().expect("an address"), "promela", &renamed);
        assert_eq!(mistakes.len(), list(&found).len(), "{word}: {mistakes:?}");
    }
    let clash = editor.rename(uri, &place(PETERSON, "rounds", 0), "turn");
    assert!(clash.is_err(), "it would hide another variable: {clash:?}");
    assert_eq!(editor.completions(uri, &place(PETERSON, "again -> <>", 0)), ["again"]);
    editor.stop();
}

/// A file of formulas, and texts of which one includes the other.
#[test]
fn formulas_and_included_files() {
    let mut editor = Editor::start(&Value::Null);
    editor.open("file:///x.ltl", "ltl", "# formulas\n[] (a -> <> b)\n[] (a ->\n");
    let found = editor.mistakes("file:///x.ltl", 1);
    assert_eq!(list(&found).len(), 1);
    assert_eq!(found[0]["range"]["start"]["line"], 2, "{found:#}");
    let model = "#include \"bound.h\"\nbyte x;\nactive proctype P() { x = BOUND }\n";
    editor.open("file:///m/a.pml", "promela", model);
    let found = editor.mistakes("file:///m/a.pml", 1);
    assert!(found[0]["message"].to_string().contains("bound.h"), "{found:#}");
    editor.published.clear();
    editor.open("file:///m/bound.h", "promela", "#define BOUND 3\n");
    assert_eq!(editor.mistakes("file:///m/a.pml", 1), json!([]), "what is open is what is included");
    editor.stop();
}

/// A check that takes for ever is ended on demand, and the server goes on meanwhile.
#[test]
fn checks_can_be_ended() {
    let model = fs::read_to_string(models().join("dining.proc")).expect("it is there");
    let mut editor = Editor::start(&json!({ "definitions": { "N": "18" }, "seconds": 100 }));
    let uri = "file:///dining.proc";
    editor.open(uri, "process", &model);
    for by_token in [false, true] {
        let arguments = json!([uri, "half_of_them_eat_at_most"]);
        let params = json!({ "command": "stubborn.check", "arguments": arguments });
        let id = editor.send("workspace/executeCommand", params);
        let hover = editor.ask("textDocument/hover", asked(uri, &json!({ "line": 0, "character": 0 })));
        assert!(hover.is_ok(), "others are answered meanwhile");
        if by_token {
            let token = json!({ "token": format!("stubborn-{id}") });
            editor.tell("window/workDoneProgress/cancel", token);
        } else {
            editor.tell("$/cancelRequest", json!({ "id": id }));
        }
        assert_eq!(editor.wait_for(id), Err("the check was ended".to_owned()));
    }
    editor.stop();
}

/// What may be typed.
const WORDS: [&str; 34] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ":",
    "|",
    "->",
    "@",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    " ",
    "for i in 0..3",
    "process P {",
    "a: b -> a;",
    "const M = N + 1;",
    "ltl x = [] <> ",
    "é𝄞",
    "inline f(x) { x++ }",
    "#define A B\n",
    "#define B A\n",
    "byte x;",
    "proctype",
    "do :: ",
    " od",
    "#if 1\n",
    "tester",
    "forall i in 0..2: ",
    "\u{feff}",
];

/// A place at or before a byte where a letter begins.
fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Random edits, fast and slow: nothing panics, every question is answered, and what is published is right.
#[test]
fn random_edits_leave_nothing_stale() {
    const METHODS: [&str; 8] = [
        "hover",
        "definition",
        "references",
        "rename",
        "completion",
        "documentSymbol",
        "codeLens",
        "formatting",
    ];
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let n_rounds = 5 * number("STUBBORN_CASES").unwrap_or(1) as usize;
    let mut random = fastrand::Rng::with_seed(number("STUBBORN_SEED").unwrap_or(16));
    let mut editor = Editor::start(&Value::Null);
    let read = |name: &str| fs::read_to_string(models().join(name)).expect("it is there");
    let originals = [
        ("process", read("vending.proc")),
        ("promela", read("peterson.pml")),
        ("promela", PETERSON.to_owned()),
        ("process", read("alternating_bit.proc")),
        ("process", LOCK.to_owned()),
    ];
    for round in 0..n_rounds {
        let (language, original) = &originals[round % originals.len()];
        let uri = format!("file:///random/{round}");
        let mut text = original.clone();
        editor.open(&uri, language, &text);
        for version in 2..52 {
            let a = floor(&text, random.usize(0..=text.len()));
            // Mostly small changes.
            let far =
                if random.u8(0..10) > 0 { a + random.usize(0..6) } else { random.usize(0..=text.len()) };
            let b = floor(&text, far);
            let (start, end) = (a.min(b), a.max(b));
            let new = match random.u8(0..4) {
                0 => String::new(),
                1 => original.get(start..(start + 9).min(original.len())).unwrap_or("x").to_owned(),
                _ => WORDS[random.usize(0..WORDS.len())].to_owned(),
            };
            let range = json!({ "start": position(&text, start), "end": position(&text, end) });
            editor.change(&uri, version, &json!([{ "range": range, "text": new }]));
            text.replace_range(start..end, &new);
            let mut params = asked(&uri, &position(&text, floor(&text, random.usize(0..=text.len()))));
            params["newName"] = json!("fresh_name");
            params["context"] = json!({ "includeDeclaration": true, "triggerKind": 1 });
            params["options"] = json!({ "tabSize": 4, "insertSpaces": true });
            let method = METHODS[random.usize(0..METHODS.len())];
            let answer = editor.ask(&format!("textDocument/{method}"), params);
            assert!(answer.is_ok() || method == "rename", "only that may be refused: {method} {answer:?}");
            if version % 25 == 0 {
                let published = editor.mistakes(&uri, version);
                let wanted = diagnose(&uri.parse().expect("an address"), language, &text);
                assert_eq!(published, json!(wanted), "{text}");
            }
        }
        let own = editor.published.iter().filter(|(known, ..)| *known == uri);
        let versions: Vec<i64> = own.filter_map(|(_, version, _)| *version).collect();
        assert!(versions.is_sorted(), "{versions:?}");
        editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        editor.published.clear();
    }
    editor.stop();
}

/// How long answers take on models of 2 000 lines. Reported, not asserted.
#[test]
fn latency_on_two_thousand_lines() {
    let mut network = "const N = 4;\n".to_owned();
    for number in 0..200 {
        network += &format!("process P{number}[i in 0..N] {{\n    idle: go{number}[i] -> busy;\n");
        for state in 0..6 {
            network += &format!("    s{state}: step{number}_{state}[i] -> idle;\n");
        }
        network += &format!("    busy: done{number}[i] -> idle;\n}}\n");
    }
    report_latency("process", "file:///large.proc", &network, (1002, 5));
    let mut program = "byte shared;\n".to_owned();
    for number in 0..100 {
        program += &format!("active proctype P{number}() {{\n    byte count{number};\n    do\n");
        for value in 0..15 {
            program += &format!("    :: count{number} == {value} -> count{number}++; shared = {value}\n");
        }
        program += "    od\n}\n";
    }
    report_latency("promela", "file:///large.pml", &program, (1002, 10));
}

fn report_latency(language: &str, uri: &str, text: &str, (line, character): (u32, u32)) {
    let mut editor = Editor::start(&Value::Null);
    editor.open(uri, language, text);
    editor.mistakes(uri, 1);
    println!("{language}, {} lines; milliseconds after an edit:", text.lines().count());
    let mut version = 1;
    let mut methods =
        vec!["hover", "definition", "references", "rename", "completion", "documentSymbol", "codeLens"];
    methods.extend((language == "process").then_some("formatting"));
    for method in methods {
        // An edit, so that nothing is known already.
        version += 1;
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
        editor.change(uri, version, &json!([{ "range": range, "text": " " }]));
        let start = Instant::now();
        let mut params = asked(uri, &json!({ "line": line, "character": character }));
        params["newName"] = json!("fresh");
        params["options"] = json!({ "tabSize": 4, "insertSpaces": true });
        params["context"] = json!({ "includeDeclaration": true, "triggerKind": 1 });
        let answer = editor.ask(&format!("textDocument/{method}"), params);
        assert!(answer.is_ok(), "{method}: {answer:?}");
        println!("  {method}: {:.1}", start.elapsed().as_secs_f64() * 1000.0);
    }
    let start = Instant::now();
    editor.mistakes(uri, version);
    println!("  mistakes: {:.1}, with 60 that are waited", start.elapsed().as_secs_f64() * 1000.0);
    editor.stop();
}
