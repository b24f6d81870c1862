//! Certificates as files: what they say, and how states are written. The format is described in `docs/certificates.md`.
//!
//! A file is a line that names it, and for each property a line of JSON (a [`Proof`] without its states) and so many bytes
//! as that says: the states. A state is told by what is different from the state before it; each number is coded
//! as its place makes it likely (`coder`).

use std::fmt::{self, Write as _};

use model::{ActionId, Fault, StepError, VarId};
use serde::{Deserialize, Serialize};

use crate::coder::{Context, Decoder, Encoder};
use crate::rank::Rank;
use crate::tableau::Written;

/// How every file begins.
pub const MAGIC: &str = "stubborn certificate 1\n";

/// Of more than so many variables, some share what is expected of them.
const MAX_CONTEXTS: usize = 1 << 10;

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
    /// As files have it; nothing for faults of another kind.
    pub fn of(error: &StepError) -> Option<TooSmall> {
        let Fault::OutOfRange { var, value } = error.fault else { return None };
        let action = error.action.map(|action| action.index() as u32);
        Some(TooSmall { variable: var.index() as u32, value, action })
    }

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
    /// For a formula: its negation in normal form, part by part.
    pub formula: Vec<Written>,
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
fn sum(bytes: &[u8]) -> String {
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
    /// Adds it to a file.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn write(&self, file: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        if file.is_empty() {
            file.extend_from_slice(MAGIC.as_bytes());
        }
        serde_json::to_writer(&mut *file, self)?;
        file.push(b'\n');
        file.extend_from_slice(&self.body);
        file.push(b'\n');
        Ok(())
    }

    /// Puts states in, which are told by `each` through the writer.
    pub fn fill(&mut self, states: StateWriter) {
        let body = states.encoder.finish();
        (self.states, self.bytes, self.checksum) = (states.n_states, body.len() as u64, sum(&body));
        self.body = body;
    }

    /// All proofs of a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read_all(file: &[u8]) -> Result<Vec<Proof>, String> {
        let mut rest =
            file.strip_prefix(MAGIC.as_bytes()).ok_or("this is no certificate, or of another version")?;
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
struct Contexts {
    /// How far the next variable is that changed, by the one before.
    gaps: Vec<Context>,
    /// By how much a variable changed.
    changes: Vec<Context>,
    wait: Context,
    height: Context,
    n_pairs: Context,
    automaton: Context,
    /// The rank, by the state of the automaton.
    ranks: Vec<Context>,
}

impl Contexts {
    fn new(variables: usize) -> Contexts {
        let some = |n: usize| vec![Context::new(); n.clamp(1, MAX_CONTEXTS)];
        Contexts {
            gaps: some(variables + 1),
            changes: some(variables),
            wait: Context::new(),
            height: Context::new(),
            n_pairs: Context::new(),
            automaton: Context::new(),
            ranks: some(64),
        }
    }
}

fn pick(contexts: &mut [Context], number: usize) -> &mut Context {
    let n = contexts.len();
    &mut contexts[number % n]
}

/// Writes states, one after the other.
pub struct StateWriter {
    encoder: Encoder,
    contexts: Contexts,
    waits: bool,
    has_pairs: bool,
    before: Vec<i64>,
    n_states: u64,
}

impl StateWriter {
    /// The states of a proof with these words.
    pub fn new(words: &Proof) -> StateWriter {
        StateWriter {
            encoder: Encoder::new(),
            contexts: Contexts::new(words.variables),
            waits: words.waits,
            has_pairs: !words.formula.is_empty(),
            before: vec![0; words.variables],
            n_states: 0,
        }
    }

    /// Writes a state; what waits there, if steps may; and what is beside it, for a formula.
    pub fn put(&mut self, values: &[i64], wait: Wait, pairs: &[Pair]) {
        self.n_states += 1;
        let mut last = 0;
        for (index, (&new, old)) in values.iter().zip(&mut self.before).enumerate() {
            if new == *old {
                continue;
            }
            let gap = index + 1 - last;
            self.encoder.put(pick(&mut self.contexts.gaps, last), gap as u64);
            let change = new.wrapping_sub(*old);
            let zigzag = (change << 1 ^ change >> 63) as u64;
            self.encoder.put(pick(&mut self.contexts.changes, index), zigzag);
            (*old, last) = (new, index + 1);
        }
        if last < values.len() {
            self.encoder.put(pick(&mut self.contexts.gaps, last), 0);
        }
        if self.waits {
            self.encoder.put(&mut self.contexts.wait, u64::from(wait.from));
            if wait.from > 0 {
                self.encoder.put(&mut self.contexts.height, u64::from(wait.height));
            }
        }
        if self.has_pairs {
            self.encoder.put(&mut self.contexts.n_pairs, pairs.len() as u64);
            for pair in pairs {
                self.encoder.put(&mut self.contexts.automaton, u64::from(pair.automaton));
                let rank = pick(&mut self.contexts.ranks, pair.automaton as usize);
                self.encoder.put(rank, u64::from(pair.rank));
            }
        }
    }
}

/// Reads the states of a proof, one after the other.
pub struct StateReader<'p> {
    decoder: Decoder<'p>,
    contexts: Contexts,
    waits: bool,
    has_pairs: bool,
    /// Beside a state, each state of the automaton is once at most.
    max_pairs: u64,
    /// The values of the state that was read last.
    pub values: Vec<i64>,
    /// Which steps are followed from it.
    pub wait: Wait,
    /// What is beside it.
    pub pairs: Vec<Pair>,
}

impl<'p> StateReader<'p> {
    /// The states of a proof.
    pub fn new(proof: &'p Proof) -> StateReader<'p> {
        StateReader {
            decoder: Decoder::new(&proof.body),
            contexts: Contexts::new(proof.variables),
            waits: proof.waits,
            has_pairs: !proof.formula.is_empty(),
            max_pairs: proof.automaton.len() as u64,
            values: vec![0; proof.variables],
            wait: Wait::default(),
            pairs: Vec::new(),
        }
    }

    /// Reads the next state.
    ///
    /// # Errors
    /// There is none, or it makes no sense.
    pub fn advance(&mut self) -> Result<(), String> {
        let mut last = 0;
        while last < self.values.len() {
            let gap = self.decoder.get(pick(&mut self.contexts.gaps, last));
            if gap == 0 {
                break;
            }
            let index = (last as u64).saturating_add(gap) - 1;
            let value = usize::try_from(index).ok().and_then(|index| self.values.get_mut(index));
            let value = value.ok_or("a state of the certificate has too many variables")?;
            let zigzag = self.decoder.get(pick(&mut self.contexts.changes, index as usize));
            let change = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
            *value = value.wrapping_add(change);
            last = index as usize + 1;
        }
        if self.waits {
            self.wait = Wait { from: self.decoder.get(&mut self.contexts.wait) as u32, height: 0 };
            if self.wait.from > 0 {
                self.wait.height = self.decoder.get(&mut self.contexts.height) as u32;
            }
        }
        self.pairs.clear();
        if self.has_pairs {
            let n_pairs = self.decoder.get(&mut self.contexts.n_pairs);
            if n_pairs > self.max_pairs {
                return Err("a state of the certificate is beside too many of its automaton".to_owned());
            }
            for _ in 0..n_pairs {
                let automaton = self.decoder.get(&mut self.contexts.automaton) as u32;
                let rank = self.decoder.get(pick(&mut self.contexts.ranks, automaton as usize)) as u32;
                self.pairs.push(Pair { automaton, rank });
                if self.decoder.is_short() {
                    break;
                }
            }
        }
        if self.decoder.is_short() {
            Err("the states of the certificate are cut off".to_owned())
        } else {
            Ok(())
        }
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
