//! Certificates as files: what they say, and how states are written. The format is described in `docs/certificates.md`.
//!
//! A file is a line that names it, and for each property a line of JSON (a [`Proof`] without its states) and so many bytes
//! as that says: the states. A state is told by what is different from the state before it; each number is coded
//! as its place makes it likely ([`coder`](crate::coder)).

use std::fmt::{self, Write as _};

use model::{ActionId, Fault, StepError, VarId};
use serde::{Deserialize, Serialize};

use crate::coder::{Context, Decoder};
use crate::rank::Rank;

/// How every file begins.
pub const MAGIC: &str = "stubborn certificate 2\n";
/// How those begin that nobody reads any more.
const OLD: &str = "stubborn certificate 1\n";

/// What holds, in the words of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claimed {
    /// What the model declares under this name.
    Declared(String),
    /// That this expression is true in every state.
    Invariant(String),
    /// That every run satisfies this formula.
    Ltl(String),
}

/// What is said of runs that end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// Their last state repeats for ever.
    Stutter,
    /// They do not count.
    Ignore,
}

/// A fairness constraint, by exact names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fair {
    /// `weak`, `strong` or `just`.
    pub kind: String,
    /// To the steps of this process,
    pub process: Option<String>,
    /// or to all actions with these labels.
    pub labels: Vec<String>,
}

/// How a model was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Its language.
    pub language: String,
    /// Constants and macros.
    pub definitions: Vec<(String, Option<String>)>,
    /// How many processes may run at once.
    pub max_processes: usize,
}

/// A fault by which a model was found too small, and made larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooSmall {
    /// The variable that got a value outside of its range.
    pub variable: u32,
    /// The value.
    pub value: i64,
    /// In which action.
    pub action: Option<u32>,
}

impl TooSmall {
    /// The fault.
    pub fn error(&self) -> StepError {
        let action = self.action.map(|action| ActionId::new(action as usize));
        let var = VarId::new(self.variable as usize);
        StepError { fault: Fault::OutOfRange { var, value: self.value }, action }
    }
}

/// A certificate for one property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// What holds.
    pub property: Claimed,
    /// How the model was read.
    pub model: Reading,
    /// What the model looks like (see [`fingerprint`]), so that it is not taken for another.
    pub fingerprint: String,
    /// How it was made larger.
    pub refinements: Vec<TooSmall>,
    /// What is said of runs that end.
    pub ends: Ends,
    /// Which infinite runs count.
    pub fairness: Vec<Fair>,
    /// For a formula: all parts of its negation in normal form, as texts; the last is the whole.
    pub formula: Vec<String>,
    /// The states of its automaton: numbers of parts.
    pub automaton: Vec<Vec<u16>>,
    /// The ranks that states have.
    pub ranks: Vec<Rank>,
    /// Whether steps may wait in states.
    #[serde(default)]
    pub waits: bool,
    /// How many variables a state has.
    pub variables: usize,
    /// How many states there are.
    pub states: u64,
    /// How many bytes they take.
    pub bytes: u64,
    /// A sum over these bytes.
    pub checksum: String,
    /// The states.
    #[serde(skip)]
    pub body: Vec<u8>,
}

/// A sum over bytes, as files have it (FNV-1a). It tells accidents, not forgers: the proof does not rest on it.
pub fn sum(bytes: &[u8]) -> String {
    let add = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, add))
}

/// What a model looks like: a sum over its text, its variables with their ranges, and the labels of its actions.
pub fn fingerprint(text: &str, system: &model::ActionSystem) -> String {
    let mut seen = text.to_owned();
    for variable in system.variables() {
        _ = write!(seen, "\n{} {} {}", variable.name, variable.lo, variable.hi);
    }
    for action in system.actions() {
        _ = write!(seen, "\n{}", system.labels()[action.label.index()].name);
    }
    sum(seen.as_bytes())
}

impl Proof {
    /// All proofs of a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read_all(file: &[u8]) -> Result<Vec<Proof>, String> {
        if file.starts_with(OLD.as_bytes()) {
            return Err(
                "it was made by an older stubborn: write it again, with `check --certificate`".to_owned()
            );
        }
        let mut rest =
            file.strip_prefix(MAGIC.as_bytes()).ok_or("this is no certificate, or of a later version")?;
        let mut proofs = Vec::new();
        while !rest.is_empty() {
            let end = rest.iter().position(|&byte| byte == b'\n').ok_or("the certificate is cut off")?;
            let mut proof: Proof = serde_json::from_slice(&rest[..end])
                .map_err(|error| format!("the certificate cannot be read: {error}"))?;
            rest = &rest[end + 1..];
            let length = usize::try_from(proof.bytes).map_err(|_| "the certificate is cut off")?;
            let body = rest.get(..length).ok_or("the certificate is cut off")?;
            if sum(body) != proof.checksum {
                return Err("the states of the certificate are damaged".to_owned());
            }
            proof.body = body.to_vec();
            rest = rest[length..].strip_prefix(b"\n").ok_or("the certificate is cut off")?;
            proofs.push(proof);
        }
        if proofs.is_empty() { Err("the certificate is empty".to_owned()) } else { Ok(proofs) }
    }
}

/// A state of the automaton beside a state of the system, and the number of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The state of the automaton.
    pub automaton: u32,
    /// The number of the rank.
    pub rank: u32,
}

/// Which steps are followed from a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// All, if it is 0; else those of the set that grows from the action with this number, counted from 1.
    pub from: u32,
    /// A number that becomes smaller until all are followed.
    pub height: u32,
}

/// What is expected where.
pub struct Contexts {
    /// How far the next variable is that changed, by the one before.
    pub gaps: Kinds,
    /// By how much a variable changed.
    pub changes: Kinds,
    /// From which action a set grows.
    pub wait: Context,
    /// How high a state is.
    pub height: Context,
    /// How many states of the automaton are beside a state.
    pub n_pairs: Context,
    /// Which these are.
    pub automaton: Context,
    /// The rank, by the state of the automaton.
    pub ranks: Kinds,
}

impl Contexts {
    /// Of states with so many variables.
    pub fn new(variables: usize) -> Contexts {
        Contexts {
            gaps: Kinds::new(variables + 1),
            changes: Kinds::new(variables),
            wait: Context::default(),
            height: Context::default(),
            n_pairs: Context::default(),
            automaton: Context::default(),
            ranks: Kinds::new(64),
        }
    }
}

/// What is expected of so many kinds of numbers; of very many, some share that.
pub struct Kinds(Vec<Context>);

impl Kinds {
    fn new(n: usize) -> Kinds {
        Kinds(vec![Context::default(); n.clamp(1, 1 << 10)])
    }

    /// What is expected of one kind.
    pub fn of(&mut self, kind: usize) -> &mut Context {
        let n = self.0.len();
        &mut self.0[kind % n]
    }
}

/// Reads the states of a proof, one after the other.
pub struct StateReader<'p> {
    proof: &'p Proof,
    decoder: Decoder<'p>,
    contexts: Contexts,
    /// The values of the state that was read last.
    pub values: Vec<i64>,
    /// Which of them may be others than before.
    pub changed: Vec<usize>,
    /// Which steps are followed from it.
    pub wait: Wait,
    /// What is beside it.
    pub pairs: Vec<Pair>,
}

impl<'p> StateReader<'p> {
    /// The states of a proof.
    pub fn new(proof: &'p Proof) -> StateReader<'p> {
        let (decoder, contexts) = (Decoder::new(&proof.body), Contexts::new(proof.variables));
        let (values, changed) = (vec![0; proof.variables], Vec::new());
        let (wait, pairs) = (Wait::default(), Vec::new());
        StateReader { proof, decoder, contexts, values, changed, wait, pairs }
    }

    /// Reads the next state.
    ///
    /// # Errors
    /// There is none, or it makes no sense.
    pub fn advance(&mut self) -> Result<(), &'static str> {
        let StateReader { proof, decoder, contexts, values, changed, wait, pairs } = self;
        changed.clear();
        let mut last = 0;
        while last < values.len() {
            let gap = decoder.get(contexts.gaps.of(last));
            if gap == 0 {
                break;
            }
            let index = last + (gap - 1).min(proof.variables as u64) as usize;
            let value = values.get_mut(index).ok_or("a state of the certificate has too many variables")?;
            let change = decoder.get(contexts.changes.of(index));
            *value = value.wrapping_add((change >> 1) as i64 ^ -((change & 1) as i64));
            changed.push(index);
            last = index + 1;
        }
        if proof.waits {
            *wait = Wait { from: decoder.get(&mut contexts.wait) as u32, height: 0 };
            if wait.from > 0 {
                wait.height = decoder.get(&mut contexts.height) as u32;
            }
        }
        pairs.clear();
        if !proof.formula.is_empty() {
            let n_pairs = decoder.get(&mut contexts.n_pairs);
            // Each state of the automaton is there once at most.
            if n_pairs > proof.automaton.len() as u64 {
                return Err("a state of the certificate is beside too many of its automaton");
            }
            for _ in 0..n_pairs {
                let automaton = decoder.get(&mut contexts.automaton) as u32;
                let rank = decoder.get(contexts.ranks.of(automaton as usize)) as u32;
                pairs.push(Pair { automaton, rank });
            }
        }
        if decoder.is_short { Err("the states of the certificate are cut off") } else { Ok(()) }
    }
}

impl fmt::Display for Proof {
    /// What holds, with all that is assumed, in one line: whoever wrote the file chose the words, but not what else is said.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_line = |text: &str| text.replace(char::is_control, " ");
        match &self.property {
            Claimed::Declared(name) => f.write_str(&in_line(name))?,
            Claimed::Invariant(text) => write!(f, "invariant {}", in_line(text))?,
            Claimed::Ltl(text) => write!(f, "ltl {}", in_line(text))?,
        }
        for (name, value) in &self.model.definitions {
            write!(f, ", {}={}", in_line(name), in_line(value.as_deref().unwrap_or("1")))?;
        }
        if self.ends == Ends::Ignore {
            f.write_str(", for runs that do not end")?;
        }
        for Fair { kind, process, labels } in &self.fairness {
            match process {
                Some(name) => write!(f, ", {} to {}", in_line(kind), in_line(name))?,
                None => write!(f, ", {} to action {}", in_line(kind), in_line(&labels.join(", ")))?,
            }
        }
        Ok(())
    }
}
