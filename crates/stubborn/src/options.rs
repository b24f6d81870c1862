//! How questions are answered: methods, fairness, limits. What is not said is chosen.

use std::fmt;
use std::str::FromStr;

use base::Diagnostic;
use check::method::{FairnessBy, ObserverKind, ReductionWish, SearchKind, StoreKind};
use check::product::{AtDeadlock, Orders};
use check::search::one_pass::WorkSet;
use language::Rules;
use model::fairness::Kind;
use report::Remark;

use crate::Error;
use crate::clock::Limits;

/// How questions are answered. The default is what suits the question best.
///
/// ```
/// use stubborn::{Limits, Options};
///
/// let options = Options { fair: vec!["weak:P[*]".parse()?], ..Options::default() };
/// let limited = Options { limits: Limits::default().memory(500_000_000), ..options };
/// # Ok::<(), stubborn::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// How far to go.
    pub limits: Limits,
    /// How many threads may search at once. If nothing is said, as many as the clock says, which are all cores unless it
    /// was told otherwise, where that pays: small models are searched by one in any case.
    pub threads: Option<usize>,
    /// Which infinite runs count. If nothing is said, those that the file says.
    pub fair: Vec<Fair>,
    /// How fairness is decided.
    pub fairness_by: FairnessBy,
    /// What formulas say of a run that comes to a deadlock.
    pub at_deadlock: AtDeadlock,
    /// The automaton that watches a run, for formulas and claims.
    pub observer: Option<ObserverKind>,
    /// How accepted runs are looked for, for formulas and claims.
    pub search: Option<SearchKind>,
    /// Which interleavings are left out.
    pub reduce: ReductionWish,
    /// Whether states are searched on the device of the clock, if there is one: then nothing is left out unless that is asked for.
    pub on_device: bool,
    /// Which rules may make a model simpler before it is searched.
    pub structural: Rules,
    /// Which rules of [`statics`] may give a system fewer states before it is searched. If nothing is said, all of
    /// them for questions, and none where states are counted.
    pub statics: Option<Rules>,
    /// How states are kept.
    pub store: StoreKind,
    /// Which states are looked at first. If nothing is said, the nearest, so that runs are shortest; under reduction,
    /// where they need not be, the nearest and the newest by turns.
    pub order: Option<Order>,
    /// In which order the steps of a product are searched.
    pub orders: Orders,
    /// Whether the shortest run is looked for. Otherwise it is some run, though a short one where that is found soon.
    pub shortest: bool,
    /// How many different errors are shown where assertions or end states are violated, each with a run.
    pub errors: usize,
    /// Whether nothing more is asked after the first property that is violated.
    pub stop_at_first: bool,
    /// Whether everything is checked with and without reduction, and compared.
    pub verify_reduction: bool,
    /// Whether answers say what properties that hold rest on: parts that never mattered, and so on. That takes many
    /// searches.
    pub why: bool,
    /// Whether what holds is proved by a certificate, for which states are searched once more, unless the search that
    /// gives the answer leaves out none.
    pub certificates: bool,
    /// Whether answers say why observer, search and reduction were chosen.
    pub explain_choice: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            limits: Limits::default(),
            threads: None,
            fair: Vec::new(),
            fairness_by: FairnessBy::Search,
            at_deadlock: AtDeadlock::Stutter,
            observer: None,
            search: None,
            reduce: ReductionWish::Auto,
            on_device: false,
            structural: Rules::all(),
            statics: None,
            store: StoreKind::Exact,
            order: None,
            orders: Orders::default(),
            shortest: false,
            errors: 1,
            stop_at_first: false,
            verify_reduction: false,
            why: false,
            certificates: false,
            explain_choice: false,
        }
    }
}

impl Options {
    /// The rules of [`statics`] for a question. A step that stands for several is not a step.
    pub(crate) fn static_rules(&self) -> Rules {
        let rules = self.statics.clone().unwrap_or_else(Rules::all);
        let merging = [statics::Rule::MergedSteps, statics::Rule::MergedChoices];
        if self.shortest {
            merging.iter().fold(rules, |rules, rule| rules.without(rule.name()))
        } else {
            rules
        }
    }

    /// Bytes without which a search cannot begin, beside those of a model.
    pub(crate) fn least_bytes(&self, model: u64) -> u64 {
        let bits = match self.store {
            StoreKind::Bitstate { bytes, .. } => bytes,
            StoreKind::Exact | StoreKind::Fingerprint => 0,
        };
        // A model may be copied, and its copy made larger.
        bits.saturating_add(model.saturating_mul(4))
    }

    /// What is said if several threads were asked for, where there is no search for several.
    pub(crate) fn says_one_thread(&self) -> Option<Remark> {
        self.threads.filter(|&n| n > 1).map(|_| Remark::OneThread)
    }

    /// Which states are looked at first where questions about states are asked. A run that is found without all
    /// interleavings need not be a shortest.
    pub(crate) fn order(&self) -> Order {
        let by_default = if self.states() == States::Together { Order::Mixed } else { Order::Bfs };
        match self.order.unwrap_or(by_default) {
            // Bits do not give states back: there is one end to take from.
            Order::Mixed if self.store != StoreKind::Exact => Order::Bfs,
            order => order,
        }
    }

    /// The same for a search that keeps a set of work.
    pub(crate) fn work_set(&self) -> WorkSet {
        match self.order {
            Some(Order::Dfs) => WorkSet::Stack,
            _ => WorkSet::Queue,
        }
    }

    /// Whether a search that leaves nothing out should list all states, for certificates.
    pub(crate) fn lists(&self) -> bool {
        self.certificates && self.store == StoreKind::Exact && self.order() == Order::Bfs
    }

    /// Whether something is to be left out, and not only where that seems best.
    pub(crate) fn wants_reduction(&self) -> bool {
        self.verify_reduction || !matches!(self.reduce, ReductionWish::Auto | ReductionWish::None)
    }

    /// What is left out where questions about states are asked.
    pub(crate) fn states(&self) -> States {
        match self.reduce {
            _ if self.verify_reduction => States::OneByOne,
            ReductionWish::Auto if !self.shortest && !self.on_device => States::Together,
            ReductionWish::Auto | ReductionWish::None => States::Unreduced,
            _ => States::OneByOne,
        }
    }
}

/// How questions about states are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum States {
    /// All in one exploration, of everything.
    Unreduced,
    /// All in one exploration, with a reduction that preserves the answers to all.
    Together,
    /// Each with a reduction of its own.
    OneByOne,
}

/// Which states are looked at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those that are nearest: runs are shortest.
    Bfs,
    /// Those that were met last.
    Dfs,
    /// Those that are nearest as long as there are few, then these and those that were met last by turns.
    Mixed,
}

/// A fairness assumption: `weak`, `strong`, `just`, `weak:P,Q[*]`, `strong-action:send`, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fair {
    /// In which way.
    pub kind: Kind,
    /// Who is treated fairly.
    pub to: FairTo,
}

/// Who is treated fairly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FairTo {
    /// Nobody.
    Nobody,
    /// Each process.
    AllProcesses,
    /// Each of these processes.
    Processes(Vec<String>),
    /// Each of these actions.
    Actions(Vec<String>),
}

impl FromStr for Fair {
    type Err = Error;

    fn from_str(text: &str) -> Result<Fair, Error> {
        let wrong = |message: String| Err(Diagnostic::error("usage", message).into());
        let (kind, names) = match text.split_once(':') {
            Some((kind, names)) => match split_names(names) {
                Ok(names) => (kind, Some(names)),
                Err(why) => return wrong(why),
            },
            None => (text, None),
        };
        let (word, of_actions) = kind.strip_suffix("-action").map_or((kind, false), |word| (word, true));
        let fair = |kind, to| Ok(Fair { kind, to });
        match (Kind::of_name(word), names) {
            (Some(known), None) if !of_actions => fair(known, FairTo::AllProcesses),
            (Some(known), Some(names)) if !of_actions => fair(known, FairTo::Processes(names)),
            (Some(known), Some(names)) => fair(known, FairTo::Actions(names)),
            (Some(_), None) => wrong(format!("say which actions, as in {kind}:send")),
            (None, None) if kind == "none" => fair(Kind::Weak, FairTo::Nobody),
            (None, _) => {
                wrong("expected weak, strong, just, weak:P,Q, strong-action:send, or none".to_owned())
            }
        }
    }
}

/// As it is written, so that it can be read again.
impl fmt::Display for Fair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted =
            |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",");
        let kind = self.kind.name();
        match &self.to {
            FairTo::Nobody => f.write_str("none"),
            FairTo::AllProcesses => f.write_str(kind),
            FairTo::Processes(names) => write!(f, "{kind}:{}", quoted(names)),
            FairTo::Actions(names) => write!(f, "{kind}-action:{}", quoted(names)),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_written_as_it_is_read() {
        for text in
            ["weak", "just", "none", "strong:P,Q[*]", "weak-action:send[1,2],\"a, b\"", "strong:P[0][1]"]
        {
            let fair: Fair = text.parse().expect("it can be read");
            assert_eq!(fair.to_string().parse::<Fair>().expect("so can this"), fair, "{text}");
        }
    }
}
