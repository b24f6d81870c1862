//! Inputs that are nearly right: whatever is cut, doubled, swapped or flipped in them, every command ends with an answer
//! or with a message. Nothing panics, and nobody waits for long.
//!
//! `STUBBORN_CASES=50 cargo test --release -p stubborn-cli --test cli mutants` tries fifty times as many;
//! `STUBBORN_SEED` is the number of the first. A case that fails leaves its number.
#![expect(clippy::print_stdout, reason = "whoever looks sees how the commands ended")]

use std::process::{Command, Stdio};
use std::{env, fs};

use fastrand::Rng;

use crate::{Finished, Scratch, pnml};

const N_CASES: u64 = 200;

const ON_MODELS: [&str; 22] = [
    "check",
    "check --json",
    "check --reduce none --order dfs",
    "check --reduce stubborn --verify-reduction",
    "check --deadlock-free --chart - --report %page.html",
    "check --ltl FORMULA",
    "check --ltl FORMULA --json --shortest",
    "check --ltl FORMULA --fair weak",
    "check --ltl FORMULA --fair strong",
    "check --ltl FORMULA --fair NAME",
    "check --ltl FORMULA --observer ta --search one-pass",
    "check --ltl FORMULA --reduce closure",
    "check --claim @claim.hoa --json",
    "check --mcc @questions.xml",
    "explain --json",
    "explain --input @run.json",
    "explore --aut %a.aut --dot %d.dot --svg %s.svg",
    "explore --ltl FORMULA --json",
    "simulate --random --seed 1 --length 50",
    "simulate --input @run.json --random --length 5 --json",
    "simulate",
    "draw --format dot",
];

const ON_OTHERS: [&str; 9] = [
    "automaton @claim.hoa",
    "automaton @claim.hoa --to tgta --json",
    "automaton @claim.hoa --complement --to extended --format dot",
    "automaton @claim.hoa --stutter-invariant --accepts FORMULA",
    "automaton --ltl FORMULA --equivalent @claim.hoa",
    "translate FORMULA --to ta --format svg",
    "translate FORMULA --negate --to ba --format spin",
    "translate --file @formulas.ltl --json",
    "automaton @claim.hoa --format spin",
];

const NASTY: [&str; 30] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "1e400",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    ";",
    "->",
    "..",
    "\\",
    "\0",
    "\u{feff}",
    "é",
    "<",
    "&amp;",
];

/// The texts that mutants are made of, by the names of their files.
fn originals() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("there are models") {
        let path = entry.expect("it can be listed").path();
        let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
        found.push((name, fs::read(&path).expect("it can be read")));
    }
    let net = pnml(
        &[("a", 2), ("b", 0), ("lock", 1)],
        &["take", "give", "leave"],
        &[
            ("a", "take", 1),
            ("lock", "take", 1),
            ("take", "b", 2),
            ("b", "give", 2),
            ("give", "a", 1),
            ("give", "lock", 1),
            ("a", "leave", 1),
        ],
    );
    found.push(("net.pnml".to_owned(), net.into_bytes()));
    found.sort();
    found
}

const CLAIMS: [&str; 4] = [
    "HOA: v1\nname: \"x\"\nStates: 2\nStart: 0\nAP: 2 \"a\" \"true\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n\
     properties: trans-labels explicit-labels\nAlias: @x 0 & !1\n--BODY--\nState: 0\n[@x] 1\n[t] 0\nState: 1 {0}\n[!0] 1\n--END--\n",
    "HOA: v1\nstubborn-kind: TA\nStates: 2\nStart: 0\nAP: 1 \"a\"\nSets: livelock\nAcceptance: 1 f\n--BODY--\n\
     State: [0] 0\n[0] 1\nState: 1 {0}\n--END--\n",
    "never { /* x */\nT0_init:\n  if\n  :: (a) -> goto accept_S1\n  :: (1) -> goto T0_init\n  fi;\naccept_S1:\n  do\n  :: (!a)\n  od;\n}\n",
    "HOA: v1\nStates: 1\nStart: 0\nAP: 0\nAcceptance: 0 t\n--BODY--\nState: 0\n[t] 0\n--END--\n",
];

const FORMULAS: [&str; 6] = [
    "[] (a -> <> b)",
    "G F \"x == 1\" & F G !b",
    "(a U b) R X c",
    "a; !a & b; cycle{b}",
    "[] <> (x == 1) || <> [] p1 >= 1",
    "forall i in 0..3: [] <> P[i]@s",
];

const QUESTIONS: &str = "<property-set xmlns=\"http://mcc.lip6.fr/\"><property><id>net-00</id><formula><all-paths><globally>\
     <integer-le><tokens-count><place>a</place></tokens-count><integer-constant>1</integer-constant></integer-le>\
     </globally></all-paths></formula></property></property-set>";

const RUN: &str = "{\"schema\":1,\"model\":{\"file\":\"x\"},\"results\":[{\"property\":\"p\",\"verdict\":\"violated\",\
     \"counterexample\":{\"kind\":\"lasso\",\"prefix\":[{\"action\":null,\"process\":null,\"state\":{\"a\":2}}],\
     \"cycle\":[{\"action\":\"take\",\"process\":\"a\",\"state\":{\"a\":1}}]}}]}";

/// A text with a few mistakes in it.
fn mutant(random: &mut Rng, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..random.usize(0..4) {
        let length = text.len();
        let (a, b) = (random.usize(0..=length), random.usize(0..=length));
        let (start, end) = (a.min(b), a.max(b));
        match random.u8(0..9) {
            0 => text.truncate(a),
            1 => drop(text.drain(start..end.min(start + 40))),
            2 => {
                let part = text[start..end.min(start + 200)].to_vec();
                drop(text.splice(start..start, part));
            }
            3 if length > 0 => text[a.min(length - 1)] ^= 1 << random.u8(0..8),
            4 => drop(text.splice(a..a, NASTY[random.usize(0..NASTY.len())].bytes())),
            5 => {
                // One token in the place of another.
                let tokens: Vec<(usize, usize)> = tokens(&text);
                if let (Some(&(from, to)), Some(&(start, end))) =
                    (random.choice(&tokens), random.choice(&tokens))
                {
                    let token = text[from..to].to_vec();
                    drop(text.splice(start..end, token));
                }
            }
            6 => {
                let tokens: Vec<(usize, usize)> = tokens(&text);
                if let Some(&(start, end)) = random.choice(&tokens) {
                    drop(text.splice(start..end, NASTY[random.usize(0..NASTY.len())].bytes()));
                }
            }
            7 => {
                let part = text[start..end.min(start + 30)].repeat(random.usize(1..50));
                drop(text.splice(start..start, part));
            }
            _ => {}
        }
    }
    text
}

/// Where words, numbers and signs are.
fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = text[at..]
            .iter()
            .position(|&byte| !is_word(byte))
            .map_or(text.len(), |length| at + length.max(1));
        if !text[at].is_ascii_whitespace() {
            found.push((at, end));
        }
        at = end;
    }
    found
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

#[test]
fn nearly_right_inputs_end_with_an_answer_or_a_message() {
    let first = number("STUBBORN_SEED").unwrap_or(1);
    let originals = originals();
    let mut ended = [0; 4];
    for seed in first..first + N_CASES * number("STUBBORN_CASES").unwrap_or(1) {
        let mut random = Rng::with_seed(seed);
        let scratch = Scratch::new();
        let (name, text) = random.choice(&originals).expect("there are models");
        let model = scratch.file(name, mutant(&mut random, text));
        scratch.file(
            "relay.aut",
            mutant(
                &mut random,
                &originals.iter().find(|(name, _)| name == "relay.aut").expect("it is there").1,
            ),
        );
        let any = |random: &mut Rng, texts: &[&str]| {
            let text = texts[random.usize(0..texts.len())].as_bytes();
            mutant(random, text)
        };
        let claim = scratch.file("claim.hoa", any(&mut random, &CLAIMS));
        let list = [any(&mut random, &FORMULAS), any(&mut random, &FORMULAS)].join(&b'\n');
        let list = scratch.file("formulas.ltl", list);
        let questions = scratch.file("questions.xml", any(&mut random, &[QUESTIONS]));
        let run = scratch.file("run.json", any(&mut random, &[RUN]));
        let formula = String::from_utf8_lossy(&any(&mut random, &FORMULAS)).replace('\0', "");
        let is_model = random.u8(0..4) > 0;
        let line = if is_model {
            ON_MODELS[random.usize(0..ON_MODELS.len())]
        } else {
            ON_OTHERS[random.usize(0..ON_OTHERS.len())]
        };
        let mut arguments: Vec<String> = Vec::new();
        for (place, part) in line.split(' ').enumerate() {
            arguments.push(match part {
                "FORMULA" => formula.clone(),
                "NAME" => formula.chars().take(8).collect(),
                "@claim.hoa" => claim.clone(),
                "@formulas.ltl" => list.clone(),
                "@questions.xml" => questions.clone(),
                "@run.json" => run.clone(),
                _ => match part.strip_prefix('%') {
                    Some(name) => scratch.path(name).to_string_lossy().into_owned(),
                    None => part.to_owned(),
                },
            });
            if place == 0 && is_model {
                arguments.push(model.clone());
            }
        }
        if formula.starts_with('-') {
            continue;
        }
        let states = if line.starts_with("draw") { &[][..] } else { &["--max-states", "2000"][..] };
        let output = Command::new("sh")
            .args([
                "-c",
                "ulimit -t 30; ulimit -v 2000000; exec \"$0\" \"$@\"",
                env!("CARGO_BIN_EXE_stubborn"),
            ])
            .args(&arguments)
            .args(["--timeout", "1s", "--max-memory", "60M"])
            .args(states)
            .stdin(Stdio::null())
            .output();
        let output = output.expect("it can be run");
        let shown = || format!("case {seed}: {arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.code().is_some_and(|code| code <= 3), "{:?} {}", output.status, shown());
        let what = shown();
        let finished = Finished::from(output);
        assert!(
            finished.code != 2 || !finished.stderr.is_empty() || finished.stdout.contains("error"),
            "{what}"
        );
        assert!(!finished.stdout.contains("internal error"), "{what}{}", finished.stdout);
        if arguments.iter().any(|part| part == "--json") && finished.code != 3 {
            let is_json = serde_json::from_str::<serde_json::Value>(&finished.stdout).is_ok();
            assert!(is_json || finished.stdout.is_empty(), "{what}{}", finished.stdout);
        }
        ended[finished.code as usize] += 1;
    }
    println!("ended with 0, 1, 2, 3: {ended:?}");
    assert!(ended[2] > ended.iter().sum::<usize>() / 4, "many are wrong: {ended:?}");
    assert!(ended[0] + ended[1] > 10, "some are right: {ended:?}");
}
