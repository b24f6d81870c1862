//! The files of the page, and the models to start from: all of them are part of the program.

use serde_json::{Value, json};

use crate::http::Response;

/// A file of the page: its name, its kind, and what is in it.
type Asset = (&'static str, &'static str, &'static str);

const SCRIPT: &str = "text/javascript; charset=utf-8";

const ASSETS: &[Asset] = &[
    ("", "text/html; charset=utf-8", include_str!("../page/index.html")),
    ("style.css", "text/css; charset=utf-8", include_str!("../page/style.css")),
    ("app.js", SCRIPT, include_str!("../page/app.js")),
    ("dom.js", SCRIPT, include_str!("../page/dom.js")),
    ("server.js", SCRIPT, include_str!("../page/server.js")),
    ("editor.js", SCRIPT, include_str!("../page/editor.js")),
    ("checks.js", SCRIPT, include_str!("../page/checks.js")),
    ("simulator.js", SCRIPT, include_str!("../page/simulator.js")),
    ("graph.js", SCRIPT, include_str!("../page/graph.js")),
    ("space.js", SCRIPT, include_str!("../page/space.js")),
    ("picture.js", SCRIPT, include_str!("../page/picture.js")),
    ("run.js", SCRIPT, include_str!("../page/run.js")),
    ("lanes.js", SCRIPT, include_str!("../page/lanes.js")),
    ("codemirror.js", SCRIPT, include_str!("../page/codemirror/codemirror.js")),
    ("codemirror-shared.js", SCRIPT, include_str!("../page/codemirror/codemirror-shared.js")),
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
];

/// A file of the page.
pub(crate) fn asset(name: &str) -> Option<Response> {
    let (_, kind, text) = ASSETS.iter().find(|(known, ..)| *known == name)?;
    Some(Response::new(200, kind, text.as_bytes()))
}

/// A model to start from: its file, what is to be seen, constants, and the text.
type Example = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

const EXAMPLES: &[Example] = &[
    (
        "dining.proc",
        "Dining philosophers: a deadlock, and somebody who starves",
        &[("N", "3")],
        include_str!("../page/examples/dining.proc"),
    ),
    (
        "peterson.proc",
        "Peterson's mutual exclusion: why fairness matters",
        &[],
        include_str!("../page/examples/peterson.proc"),
    ),
    (
        "semaphore.proc",
        "A semaphore: weak fairness is not enough, strong fairness is",
        &[],
        include_str!("../page/examples/semaphore.proc"),
    ),
    (
        "abp.pml",
        "The alternating bit protocol in Promela: messages over channels that lose them",
        &[],
        include_str!("../page/examples/abp.pml"),
    ),
    (
        "crossroads.pnml",
        "A Petri net: two traffic lights that share a key",
        &[],
        include_str!("../page/examples/crossroads.pnml"),
    ),
];

/// All examples, as the page reads them.
pub(crate) fn examples() -> Value {
    let example = |(name, about, definitions, text): &Example| json!({ "name": name, "about": about, "definitions": definitions, "text": text });
    EXAMPLES.iter().map(example).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole page, as it is sent.
    #[test]
    fn the_page_is_light_and_asks_nobody_else() {
        let bytes: usize = ASSETS.iter().map(|(.., text)| text.len()).sum();
        assert!(bytes < 1_000_000, "{bytes} bytes");
        for (name, _, text) in ASSETS.iter().filter(|(name, ..)| !name.starts_with("codemirror")) {
            for begin in ["http://", "https://", "url(//", "src=\"//"] {
                let found = text.match_indices(begin).map(|(at, _)| &text[at..(at + 60).min(text.len())]);
                let others: Vec<&str> = found.filter(|at| !at.starts_with("http://www.w3.org/")).collect();
                assert!(others.is_empty(), "{name}: {others:?}");
            }
        }
    }

    #[test]
    fn examples_can_be_read() {
        for (name, _, definitions, text) in EXAMPLES {
            let spec = json!({ "name": name, "text": text, "definitions": definitions });
            let spec: crate::spec::Spec = serde_json::from_value(spec).unwrap();
            let clock = stubborn::Clock::start(&stubborn::Limits::default());
            assert!(spec.open(None, &clock).is_ok(), "{name}");
        }
    }
}
