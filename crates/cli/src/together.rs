//! Several processes that do one command together: who they are, and what is left to this one to say.

use std::env;
use std::path::Path;

use hosts::launch::{self, Launched, SECRET};
use hosts::{Error, Network, Plan, Secret, fingerprint};
use stubborn::base::{Limit, Peers as _};
use stubborn::report::human_bytes;
use stubborn::{Clock, Limits, Remark, Session};

use crate::args::HostArguments;
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

/// Several processes must be able to read a model.
pub(crate) fn check_input(arguments: &HostArguments, file: &Path) -> Result<(), Failure> {
    if is_wanted(arguments) && file == Path::new("-") {
        let message = "several processes cannot read one standard input: put the model into a file";
        return Err(Failure::plain("usage", message));
    }
    Ok(())
}

impl Together {
    /// Comes together with the others, if there are any. They must have the same model, and say the same `lines` about what they do.
    pub(crate) fn new(
        arguments: &HostArguments,
        session: &Session,
        lines: impl IntoIterator<Item = String>,
    ) -> Result<Option<Together>, Failure> {
        if !is_wanted(arguments) {
            return Ok(None);
        }
        let mut all = vec![
            format!("version: {}", env!("CARGO_PKG_VERSION")),
            format!("model: {}", fingerprint(session.model().system())),
        ];
        all.extend(lines);
        let goes_on = &mut || !terminal::is_interrupted();
        if let Some(n) = arguments.local_processes {
            let launched = launch::local(n.into(), OPTION)?;
            let network = Network::connect(&launched.plan, &launched.secret, all, goes_on)?;
            return Ok(Some(Together { network, _launched: Some(launched), n_here: n.into() }));
        }
        let hosts = arguments.hosts.as_deref().unwrap_or_default();
        let plan = Plan::new(hosts, arguments.process, &|name| env::var(name).ok())?;
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
        let network = Network::connect(&plan, &secret, all, goes_on)?;
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
        let is_ours = |limit: &Limit| matches!(limit, Limit::Process(_) | Limit::Apart(_));
        let mut limits = remarks.into_iter().filter_map(|remark| match remark {
            Remark::Limit(limit, _) if is_ours(limit) => Some(limit),
            _ => None,
        });
        if let Some(limit) = limits.next() {
            terminal::print_stderr(&format!("process {} stops: {limit}\n", self.network.me().index));
        }
    }

    /// Says what was sent, to whoever wants to know.
    pub(crate) fn say_traffic(&self, quiet: bool) {
        let (packets, bytes) = self.network.sent();
        if !quiet {
            let (of, bytes) = (self.network.me().of, human_bytes(bytes));
            terminal::print_stderr(&format!("process 0 of {of} sent {bytes} in {packets} packets\n"));
        }
    }
}
