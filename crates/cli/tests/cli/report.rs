//! `check --report`, the page; and `explain`, of a check that is made now or was made earlier.

use std::fs;

use crate::{Scratch, run};

/// Checks a model and returns the page, with the exit code.
fn page(scratch: &Scratch, arguments: &str) -> (i32, String) {
    let path = scratch.path("page.html");
    let finished = run(&format!("check {arguments} --report {}", path.display()));
    let page = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{arguments}: {}", finished.stderr));
    // It stands alone, and says nothing that a browser would fetch.
    for forbidden in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(forbidden), "{arguments}: {forbidden}");
    }
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{arguments}");
    (finished.code, page)
}

#[test]
fn a_page_shows_answers_runs_automata_and_the_model() {
    let scratch = Scratch::new();
    let (code, page) = page(&scratch, "models/dining.proc -D N=3");
    assert_eq!(code, 1);
    assert_eq!(page.matches("<section class=\"result\"").count(), 7);
    // Runs of deadlock freedom, a formula and a tester.
    assert_eq!(page.matches("class=\"run\" data-run=").count(), 3);
    for piece in [
        "<span class=\"act\">take_left[0]</span>",
        "<span class=\"change\">Phil[0]: think → <b>left</b></span>",
        "<code>Phil[0]@left</code> becomes <b>true</b>",
        "<title>state 0</title>",
        "(deadlock, livelock)",
        "const N = 10;",
        "class=\"lane from-left\"",
        "They wait for each other in a circle",
    ] {
        assert!(page.contains(piece), "{piece}");
    }
    let again = self::page(&scratch, "models/dining.proc -D N=3").1;
    let has_figures = |line: &&str| line.contains(" s, ") || line.starts_with("<tr><th scope=\"row\"><a");
    let steady =
        |page: &str| page.lines().filter(|line| !has_figures(line)).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(steady(&page), steady(&again));
}

#[test]
fn every_kind_of_model_has_a_page() {
    let scratch = Scratch::new();
    let net = scratch.file(
        "evil.pnml",
        "<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'><net id='n' \
         type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'>\
         <place id='&lt;script&gt;alert(1)'><initialMarking><text>1</text></initialMarking></place>\
         <transition id='t&amp;&lt;b&gt;'/><arc id='a' source='&lt;script&gt;alert(1)' target='t&amp;&lt;b&gt;'/>\
         </page></net></pnml>",
    );
    let promela = scratch.file("pair.pml", "chan c = [0] of { byte }; active proctype A() { c!1; assert(false) } active proctype B() { byte v; c?v }");
    // The text of the net has addresses in it, which name its language and are no links.
    let path = scratch.path("net.html");
    let finished = run(&format!("check {net} --deadlock-free --report {}", path.display()));
    assert_eq!(finished.code, 1, "{}", finished.stderr);
    let page = fs::read_to_string(&path).expect("it was written");
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert(1)"));
    let (code, page) = self::page(&scratch, &promela);
    assert_eq!(code, 1);
    assert!(page.contains("assert(false)") && page.contains("▶"), "messages are arrows");
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let finished = run("check models/peterson.proc --report missing/page.html");
    assert_eq!(finished.code, 2);
    assert!(finished.stderr.contains("error[cannot-write]"), "{}", finished.stderr);
    assert!(finished.stdout.contains("again: VIOLATED"), "the answers are not lost");
}

#[test]
fn earlier_results_are_explained_in_the_same_words() {
    let scratch = Scratch::new();
    for (model, options) in [
        ("models/dining.proc -D N=3", ""),
        ("models/peterson.proc", ""),
        ("models/semaphore.proc", "--fair weak"),
        ("models/token_ring.proc", ""),
    ] {
        let result = scratch.file("result.json", run(&format!("check {model} {options} --json")).stdout);
        let earlier = run(&format!("explain {model} --input {result}"));
        let now = run(&format!("explain {model} {options}"));
        assert_eq!(earlier.code, 1, "{model}: {}", earlier.stderr);
        let body = |text: &str| text.split_once('\n').map(|(_, body)| body.to_owned());
        assert_eq!(body(&earlier.stdout), body(&now.stdout), "{model}");
        let json = run(&format!("explain {model} {options} --json")).json();
        let told = json["results"].as_array().expect("a list");
        assert!(told.iter().all(|result| {
            (result["verdict"] == "violated") != result["explanation"].as_array().expect("a list").is_empty()
        }));
    }
}

#[test]
fn what_check_has_not_printed_is_refused() {
    let scratch = Scratch::new();
    for (name, text) in [
        ("empty.json", ""),
        ("list.json", "[]"),
        ("other.json", "{\"schema\": 7, \"results\": []}"),
        ("half.json", "{\"schema\": 1, \"results\": [{\"property\": \"p\"}]}"),
        ("deep.json", &"[".repeat(100_000)),
    ] {
        let file = scratch.file(name, text);
        let finished = run(&format!("explain models/peterson.proc --input {file}"));
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{name}");
        assert!(finished.stderr.contains("error[bad-result]"), "{name}: {}", finished.stderr);
    }
}
