//! Fairness assumptions, as `check --fair` takes them.

use clap::ValueEnum;

/// A fairness assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FairSpec {
    pub(crate) strong: bool,
    pub(crate) set: FairSet,
}

/// Who is treated fairly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FairSet {
    Nobody,
    AllProcesses,
    Processes(Vec<String>),
    Actions(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FairnessBy {
    /// By strong components, without another state
    Search,
    /// By automata that watch the run, to compare
    Monitor,
}

impl From<FairnessBy> for check::method::FairnessBy {
    fn from(by: FairnessBy) -> Self {
        match by {
            FairnessBy::Search => Self::Search,
            FairnessBy::Monitor => Self::Monitors,
        }
    }
}

pub(super) fn parse_fairness(text: &str) -> Result<FairSpec, String> {
    let (kind, names) = match text.split_once(':') {
        Some((kind, names)) => (kind, Some(split_names(names)?)),
        None => (text, None),
    };
    let spec = |strong, set| Ok(FairSpec { strong, set });
    match (kind, names) {
        ("none", None) => spec(false, FairSet::Nobody),
        ("weak" | "strong", None) => spec(kind == "strong", FairSet::AllProcesses),
        ("weak" | "strong", Some(names)) => spec(kind == "strong", FairSet::Processes(names)),
        ("weak-action" | "strong-action", Some(names)) => {
            spec(kind == "strong-action", FairSet::Actions(names))
        }
        ("weak-action" | "strong-action", None) => Err(format!("say which actions, as in {kind}:send")),
        _ => Err("expected weak, strong, weak:P,Q, strong-action:send, or none".to_owned()),
    }
}

/// Names between commas. Commas in brackets separate indices, and those in quotation marks are part of
/// the name. `P[0][1]` is `P[0,1]`.
fn split_names(text: &str) -> Result<Vec<String>, String> {
    let mut names = vec![String::new()];
    let (mut depth, mut is_quoted) = (0_usize, false);
    for letter in text.chars() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                continue;
            }
            _ if is_quoted => {}
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(String::new());
                continue;
            }
            _ if letter.is_whitespace() && depth > 0 => continue,
            _ => {}
        }
        if let Some(name) = names.last_mut() {
            name.push(letter);
        }
    }
    let names: Vec<String> = names.iter().map(|name| name.trim().replace("][", ",")).collect();
    if names.iter().any(String::is_empty) { Err("a name is missing".to_owned()) } else { Ok(names) }
}
