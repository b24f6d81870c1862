//! Several processes that do one command together: who they are, and what is left to this one to say.

use std::env;
use std::path::Path;

use hosts::launch::{self, Launched, SECRET};
use hosts::{Checkpoint, Error, Network, Plan, Secret, checkpoint, fingerprint};
use stubborn::base::{Limit, Peers as _};
use stubborn::report::human_bytes;
use stubborn::{Clock, Limits, Options, Question, Remark, Session};

use crate::args::{CheckpointArguments, HostArguments};
use crate::exit::Failure;
use crate::terminal;

/// The option that starts processes.
const OPTION: &str = "--local-processes";

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Wrong(message) => Failure::plain("hosts", message),
            Error::Lost(_) | Error::Interrupted => Failure::Limit(error.to_string()),
        }
    }
}

/// The processes that a command is done by, as this one knows them.
pub(crate) struct Together {
    pub(crate) network: Network,
    /// Those that this one started; they are waited for after the network is closed.
    _launched: Option<Launched>,
    /// How many share this machine.
    n_here: u64,
}

fn is_wanted(arguments: &HostArguments) -> bool {
    arguments.hosts.is_some() || arguments.local_processes.is_some()
}

/// With the patience that was asked for.
fn patient(plan: Plan, arguments: &HostArguments) -> Plan {
    match arguments.silence {
        Some(silence) => plan.with_silence(silence),
        None => plan,
    }
}

/// Several processes must be able to read a model.
pub(crate) fn check_input(arguments: &HostArguments, file: &Path) -> Result<(), Failure> {
    if is_wanted(arguments) && file == Path::new("-") {
        let message = "several processes cannot read one standard input: put the model into a file";
        return Err(Failure::plain("usage", message));
    }
    Ok(())
}

/// What is done, so that it can be compared: by whom, on which model, with which options, and what is asked. How far to go, and by how
/// many threads, may differ from time to time.
fn about(session: &Session, options: &Options, questions: &[Question]) -> Vec<String> {
    let options = Options { limits: Limits::default(), threads: None, ..options.clone() };
    let mut lines = vec![
        format!("version: {}", env!("CARGO_PKG_VERSION")),
        format!("model: {}", fingerprint(session.model().system())),
    ];
    lines.extend(fields("option", &format!("{options:#?}")));
    lines.extend(fields("question", &format!("{questions:#?}")));
    lines
}

/// The lines of something that was printed in full, each with the field that it is a part of, so that it can be told alone.
fn fields(what: &str, text: &str) -> Vec<String> {
    let mut field = "";
    let mut told = Vec::new();
    for line in text.lines() {
        let part = line.trim().trim_end_matches(',');
        match line.len() - line.trim_start().len() {
            0 => {}
            4 => {
                field = part.split([':', '(', ' ']).next().unwrap_or_default();
                told.push(format!("{what} {part}"));
            }
            _ => told.push(format!("{what} {field}: {part}")),
        }
    }
    told
}

/// The folder in which the searches of a command are kept, if they are.
pub(crate) fn keeper(
    arguments: &CheckpointArguments,
    session: &Session,
    options: &Options,
    questions: &[Question],
) -> Result<Option<Checkpoint>, Failure> {
    let every = arguments.checkpoint_every.unwrap_or(checkpoint::EVERY);
    let lines = || about(session, options, questions);
    Ok(match (&arguments.checkpoint, &arguments.resume) {
        (_, Some(folder)) => Some(Checkpoint::resume(folder, lines(), every)?),
        (Some(folder), None) => Some(Checkpoint::create(folder, lines(), every)?),
        (None, None) => None,
    })
}

/// Says why something could not be kept, if that was so.
pub(crate) fn say_unkept(keeper: Option<&Checkpoint>) {
    if let Some(failure) = keeper.and_then(Checkpoint::failure) {
        terminal::print_stderr(&format!("warning: {failure}\n"));
    }
}

impl Together {
    /// Comes together with the others, if there are any. They must have the same model, and do the same.
    pub(crate) fn new(
        arguments: &HostArguments,
        session: &Session,
        options: &Options,
        questions: &[Question],
    ) -> Result<Option<Together>, Failure> {
        if !is_wanted(arguments) {
            return Ok(None);
        }
        let mut all = about(session, options, questions);
        all.extend(fields("limit", &format!("{:#?}", options.limits)));
        all.push(format!("owners by part: {}", arguments.owners_by_part));
        let goes_on = &mut || !terminal::is_interrupted();
        let connect = |plan: &Plan, secret: &Secret, lines, goes_on: &mut dyn FnMut() -> bool| {
            let network = Network::connect(plan, secret, lines, goes_on);
            network.map(|network| network.owning_by_part(arguments.owners_by_part))
        };
        if let Some(n) = arguments.local_processes {
            let launched = launch::local(n.into(), OPTION)?;
            let plan = patient(launched.plan.clone(), arguments);
            let network = connect(&plan, &launched.secret, all, goes_on)?;
            return Ok(Some(Together { network, _launched: Some(launched), n_here: n.into() }));
        }
        let hosts = arguments.hosts.as_deref().unwrap_or_default();
        let plan = Plan::new(hosts, arguments.process, &|name| env::var(name).ok())?;
        let plan = patient(plan, arguments);
        let secret = match (&arguments.secret_file, env::var(SECRET)) {
            (Some(path), _) => Secret::of_file(path)?,
            (None, Ok(text)) => Secret::new(&text)?,
            (None, Err(_)) => {
                let message = format!(
                    "the processes need a secret: set {SECRET}, or name a file by --secret-file, the same for all"
                );
                return Err(Failure::plain("hosts", message));
            }
        };
        let n_here = if hosts.starts_with("local:") { plan.me().of as u64 } else { 1 };
        let network = connect(&plan, &secret, all, goes_on)?;
        Ok(Some(Together { network, _launched: None, n_here }))
    }

    /// The clock for what is done together. Processes on one machine share its memory.
    pub(crate) fn clock<'c>(&'c self, clock: &Clock<'c>) -> Clock<'c> {
        let limits = Limits::default().memory(clock.max_bytes() / self.n_here);
        clock.within(&limits).with_peers(&self.network)
    }

    /// Whether it is up to this process to report.
    pub(crate) fn reports(&self) -> bool {
        self.network.me().index == 0
    }

    /// What a process says that does not report: why it stops, if it has to.
    pub(crate) fn say_why<'r>(&self, remarks: impl IntoIterator<Item = &'r Remark>) {
        let is_ours = |limit: &Limit| matches!(limit, Limit::Process(_) | Limit::Apart(_) | Limit::Kept);
        let mut limits = remarks.into_iter().filter_map(|remark| match remark {
            Remark::Limit(limit, _) if is_ours(limit) => Some(limit),
            _ => None,
        });
        if let Some(limit) = limits.next() {
            terminal::print_stderr(&format!("process {} stops: {limit}\n", self.network.me().index));
        }
    }

    /// Says what was sent, to whoever wants to know, for so many transitions of all processes.
    pub(crate) fn say_traffic(&self, transitions: u64, quiet: bool) {
        if quiet {
            return;
        }
        let [messages, packets, bytes] = self.network.sent();
        let of = self.network.me().of;
        // This process has one part in so many of the transitions, more or less.
        let each = |count: u64| count as f64 * of as f64 / transitions.max(1) as f64;
        let (per_message, per_byte, bytes) = (each(messages), each(bytes), human_bytes(bytes));
        terminal::print_stderr(&format!(
            "process 0 of {of} sent {bytes}, {messages} messages in {packets} packets: {per_message:.2} messages and \
             {per_byte:.1} bytes per transition\n"
        ));
    }
}
