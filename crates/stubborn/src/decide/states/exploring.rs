//! States are explored by the search and the store that were asked for, by as many workers as there may be.

use base::{Budget, Diagnostic};
use check::method::StoreKind;
use check::store::{Fingerprints, SharedBits};
use check::{Bitstate, Exact, Exploration, Goal, Space, Stop, parallel, search, store};
use model::{ActionSystem, StepError, System as _};
use report::Remark;

use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::{Options, Order};

/// Whether several workers search in this order.
pub(crate) fn runs_together(order: Order) -> bool {
    order != Order::Dfs
}

/// Explores with the search and the store that were asked for.
pub(crate) fn explore<S: Space + Sync>(
    space: &S,
    goals: &[Goal],
    order: Order,
    store: StoreKind,
    budget: &mut Budget<'_>,
) -> Result<Exploration, Trouble> {
    let width = space.whole().width();
    if budget.goes_by_rounds() && (store != StoreKind::Exact || order == Order::Dfs) {
        return Err(one_process(
            "other stores than exact, and depth first",
            "use --store exact and --order bfs",
        )
        .into());
    }
    Ok(match store {
        StoreKind::Exact => match order {
            Order::Bfs => parallel::bfs(space, goals, budget),
            Order::Mixed => parallel::mixed(space, goals, budget),
            Order::Dfs => search::dfs::search(space, &mut Exact::new(width, budget.room()), goals, budget),
        },
        StoreKind::Bitstate { bytes, n_hashes } if order != Order::Dfs && budget.team().n_workers() > 1 => {
            let bits = if bytes > budget.max_bytes { None } else { SharedBits::new(bytes, n_hashes).ok() };
            parallel::bitstate(space, bits.ok_or_else(|| no_bits(bytes, budget.max_bytes))?, goals, budget)
        }
        StoreKind::Bitstate { bytes, n_hashes } => {
            let bits = if bytes > budget.max_bytes { None } else { Bitstate::new(bytes, n_hashes) };
            let mut bits = bits.ok_or_else(|| no_bits(bytes, budget.max_bytes))?;
            match order {
                // What was found before cannot be got back: there is one end to take from.
                Order::Bfs | Order::Mixed => {
                    let mut queue = store::Queue::new(bits, width);
                    search::bfs::search(space, &mut queue, goals, budget)
                }
                Order::Dfs => search::dfs::search(space, &mut bits, goals, budget),
            }
        }
        StoreKind::Fingerprint if order == Order::Dfs => {
            search::dfs::search(space, &mut Fingerprints::default(), goals, budget)
        }
        StoreKind::Fingerprint => {
            let mut queue = store::Queue::new(Fingerprints::default(), width);
            search::bfs::search(space, &mut queue, goals, budget)
        }
    })
}

/// Why a device does not search a system, if there is one and it does not; it leaves something out for one aim alone.
pub(crate) fn why_on_processor(system: &ActionSystem, reduces: bool, budget: &Budget<'_>) -> Option<Remark> {
    budget.device()?;
    let why = match reduces {
        true => Some("it leaves something out only for a deadlock or an invariant".to_owned()),
        false => check::device::refusal(system).map(|why| why.to_string()),
    };
    why.map(Remark::OnProcessor)
}

/// What several processes do not do together.
pub(crate) fn one_process(what: &str, help: &str) -> Diagnostic {
    let message =
        format!("several processes do not search together with {what}, and such searches are not kept");
    Diagnostic::error("hosts", message).with_help(help)
}

/// Searches of products that go by rounds have exact stores, whatever was asked for; so nothing else may be.
pub(crate) fn exact_by_rounds(options: &Options, clock: &Clock<'_>) -> Result<(), Trouble> {
    match clock.goes_by_rounds() && options.store != StoreKind::Exact {
        true => Err(one_process("other stores than exact", "use --store exact").into()),
        false => Ok(()),
    }
}

/// Why there is no array of bits.
fn no_bits(bytes: u64, max_bytes: u64) -> Diagnostic {
    let size = report::human_bytes(bytes);
    let error = |message: String| Diagnostic::error("bitstate-size", message);
    match bytes > max_bytes {
        true => error(format!("a bit array of {size} does not fit the memory limit"))
            .with_help("choose a smaller one"),
        false => error(format!("a bit array of {size} cannot be allocated")),
    }
}

/// How the model goes wrong, if it does.
pub(crate) fn fault(exploration: &Exploration) -> Option<StepError> {
    match &exploration.stop {
        Some(Stop::Fault(error, _)) => Some(*error),
        _ => exploration.faults.iter().flatten().map(|(error, _)| *error).next(),
    }
}
