//! What a search may have beside its model: a device, a folder in which it is kept, other processes that take part; and what
//! is left to this process to say.

use std::env;
use std::path::Path;

use hosts::launch::{self, Launched, SECRET};
use hosts::{Checkpoint, Error, Network, Plan, Secret, about, checkpoint};
use stubborn::base::device::Device;
use stubborn::base::{Limit, Peers as _};
use stubborn::{Clock, Limits, Options, Question, Remark, Session};

use crate::args::{EngineArguments, HostArguments};
use crate::exit::Failure;
use crate::{device, terminal};

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

/// The device that was asked for, before the model in a file is read; and whether what was asked for fits together.
pub(crate) fn prepare(engine: &EngineArguments, file: &Path) -> Result<Option<Box<dyn Device>>, Failure> {
    if is_wanted(&engine.hosts) && file == Path::new("-") {
        let message = "several processes cannot read one standard input: put the model into a file";
        return Err(Failure::plain("usage", message));
    }
    device::check_usage(engine.device, &engine.search)?;
    device::open(engine)
}

/// Where a search is kept, and who takes part in it.
pub(crate) struct Company {
    keeper: Option<Checkpoint>,
    network: Option<Network>,
    /// Those that this process started; they are waited for after the network is closed.
    _launched: Option<Launched>,
    /// How many share this machine.
    n_here: u64,
}

impl Company {
    /// Opens the folder and comes together with the others, if there are any. All must have the same model, and do the same.
    pub(crate) fn new(
        engine: &EngineArguments,
        session: &Session,
        options: &Options,
        questions: &[Question],
    ) -> Result<Company, Failure> {
        let lines = || about::about(session, options, questions);
        let every = engine.checkpoint.checkpoint_every.unwrap_or(checkpoint::EVERY);
        let keeper = match (&engine.checkpoint.checkpoint, &engine.checkpoint.resume) {
            (_, Some(folder)) => Some(Checkpoint::resume(folder, lines(), every)?),
            (Some(folder), None) => Some(Checkpoint::create(folder, lines(), every)?),
            (None, None) => None,
        };
        let hosts = &engine.hosts;
        if !is_wanted(hosts) {
            return Ok(Company { keeper, network: None, _launched: None, n_here: 1 });
        }
        let mut lines = lines();
        lines.extend(about::limits(options, hosts.owners_by_part));
        let (plan, secret, launched) = meeting(hosts)?;
        let is_local =
            launched.is_some() || hosts.hosts.as_ref().is_some_and(|text| text.starts_with("local:"));
        let n_here = if is_local { plan.me().of as u64 } else { 1 };
        let plan = match hosts.silence {
            Some(silence) => plan.with_silence(silence),
            None => plan,
        };
        let network = Network::connect(&plan, &secret, lines, &mut || !terminal::is_interrupted())?;
        let network = Some(network.owning_by_part(hosts.owners_by_part));
        Ok(Company { keeper, network, _launched: launched, n_here })
    }

    /// The clock for the search. Processes on one machine share its memory.
    pub(crate) fn clock<'c>(&'c self, clock: &Clock<'c>) -> Clock<'c> {
        let mut clock = clock.clone();
        if let Some(network) = &self.network {
            let limits = Limits::default().memory(clock.max_bytes() / self.n_here);
            clock = clock.within(&limits).with_peers(network);
        }
        match &self.keeper {
            Some(keeper) => clock.with_keeper(keeper),
            None => clock,
        }
    }

    /// Says what became of the search beside its result: what could not be kept, and what was sent for its transitions. Returns
    /// whether it is up to this process to report the result; one that does not says at most why it stopped.
    pub(crate) fn reports<'r>(
        &self,
        remarks: impl IntoIterator<Item = &'r Remark>,
        transitions: u64,
        quiet: bool,
    ) -> bool {
        if let Some(failure) = self.keeper.as_ref().and_then(Checkpoint::failure) {
            terminal::print_stderr(&format!("warning: {failure}\n"));
        }
        let Some(network) = &self.network else { return true };
        let index = network.me().index;
        if index > 0 {
            let is_ours = |limit: &Limit| matches!(limit, Limit::Process(_) | Limit::Apart(_) | Limit::Kept);
            let mut limits = remarks.into_iter().filter_map(|remark| match remark {
                Remark::Limit(limit, _) if is_ours(limit) => Some(limit),
                _ => None,
            });
            if let Some(limit) = limits.next() {
                terminal::print_stderr(&format!("process {index} stops: {limit}\n"));
            }
        } else if !quiet {
            terminal::print_stderr(&(network.traffic(transitions) + "\n"));
        }
        index == 0
    }
}

fn is_wanted(arguments: &HostArguments) -> bool {
    arguments.hosts.is_some() || arguments.local_processes.is_some()
}

/// Where all processes are, and what they know; and those that were started for it.
fn meeting(arguments: &HostArguments) -> Result<(Plan, Secret, Option<Launched>), Failure> {
    if let Some(n) = arguments.local_processes {
        let launched = launch::local(n.into(), OPTION)?;
        return Ok((launched.plan.clone(), launched.secret.clone(), Some(launched)));
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
    Ok((plan, secret, None))
}
