//! What is checked: process networks and nets; and the options that all experiments share.

use stubborn::check::method::{ObserverKind, ReductionWish, SearchKind};
use stubborn::language::{File, Language};
use stubborn::{Clock, Fair, FairKind, FairTo, Limits, ModelOptions, Options, Rules, Session, process};

use crate::lab::Halt;

/// The models of the experiments that are process networks, by the names of their files.
pub(crate) const FILES: [(&str, &str); 12] = [
    ("acknowledged_ring.proc", include_str!("../models/acknowledged_ring.proc")),
    ("alternating_bit.proc", include_str!("../models/alternating_bit.proc")),
    ("broken_ring.proc", include_str!("../models/broken_ring.proc")),
    ("counters.proc", include_str!("../models/counters.proc")),
    ("crossing.proc", include_str!("../models/crossing.proc")),
    ("dining.proc", include_str!("../models/dining.proc")),
    ("fischer.proc", include_str!("../models/fischer.proc")),
    ("peterson_n.proc", include_str!("../models/peterson_n.proc")),
    ("protocols.proc", include_str!("../models/protocols.proc")),
    ("scheduler.proc", include_str!("../models/scheduler.proc")),
    ("semaphore.proc", include_str!("../models/semaphore.proc")),
    ("token_ring.proc", include_str!("../models/token_ring.proc")),
];

/// A process network, with a constant replaced.
pub(crate) fn network(file: &str, constant: &str, value: i64) -> Result<Session, Halt> {
    let text = FILES.iter().find(|(name, _)| *name == file).map(|(_, text)| *text);
    let text = text.ok_or_else(|| Halt::Trouble(format!("there is no model `{file}`")))?;
    open(&process::LANGUAGE, file, text, vec![(constant.to_owned(), Some(value.to_string()))])
}

/// A model in a text.
pub(crate) fn open(
    language: &Language,
    name: &str,
    text: &str,
    definitions: Vec<(String, Option<String>)>,
) -> Result<Session, Halt> {
    let file = File { name: name.to_owned(), bytes: text.into() };
    let options = ModelOptions { definitions, ..ModelOptions::default() };
    let no_files = &mut |name: &str| Err(format!("no file `{name}`"));
    Ok(Session::read(language, file, &options, no_files, &Clock::start(&Limits::default()))?)
}

/// Every run counts, and the model is searched as it is.
pub(crate) fn plain() -> Options {
    Options {
        fair: vec![Fair { kind: FairKind::Weak, to: FairTo::Nobody }],
        reduce: ReductionWish::None,
        structural: Rules::none(),
        ..Options::default()
    }
}

/// The same with this method.
pub(crate) fn by(observer: ObserverKind, search: SearchKind) -> Options {
    Options { observer: Some(observer), search: Some(search), ..plain() }
}

/// A word of a command line, quoted if a shell would not leave it alone.
pub(crate) fn shell(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,+@".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
