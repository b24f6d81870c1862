//! Decides properties by a chosen [`Method`]: whether a system has a run that an
//! automaton accepts ([`Claim`]), or does what a tester calls illegal ([`TesterClaim`]).
//!
//! Whatever is asked, the way is the same: the method is held against the table of
//! [`rules`](crate::rules), the product is made, and the search is run.

mod claim;
mod subject;
pub mod tester;
mod together;

pub use claim::{Claim, MAX_EXPLICIT_PROPOSITIONS};
pub use subject::Subject;
pub use tester::TesterClaim;
pub use together::search_together;

use std::fmt;

use automata::{GaveUp, TooLarge};
use base::device::{Device, Reduces};
use base::{Budget, Limit};
use model::System;

use crate::device;
use crate::device::products::{Answer, Looks};
use crate::distributed::Wanted;
use crate::fairness::Constraint;
use crate::method::{Method, ObserverKind, ReductionWish, SearchKind, StoreKind};
use crate::observer::Observer;
use crate::product::{AtDeadlock, Orders, Product};
use crate::reduction;
use crate::rules::{Change, Remedy, Rule};
use crate::search::one_pass::WorkSet;
use crate::search::{ProductOutcome, couvreur, nested_dfs, one_pass, product_bfs, two_pass};
use crate::store::{ExactPlanes, Fingerprints, Planes, TwoSets};

/// How to search, besides the method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings<'f> {
    /// What happens to runs that end. (Testers have their own opinion.)
    pub at_deadlock: AtDeadlock,
    /// In which order steps are searched.
    pub orders: Orders,
    /// The order of the work set of the one-pass search.
    pub work_set: WorkSet,
    /// Only infinite runs count that are fair to all of these.
    pub fairness: &'f [Constraint],
    /// The whole product is explored, by no search in particular, whatever is accepted.
    pub counts: bool,
    /// Something is to be left out, even if a device has to leave that to the processor.
    pub reduces: bool,
    /// All workers begin at once, however small the space may be; for tests.
    #[doc(hidden)]
    pub together: bool,
    /// Then, too, rounds are tried first; for tests.
    #[doc(hidden)]
    pub by_rounds: bool,
    /// A rule of the reduction that is left out, for tests.
    #[doc(hidden)]
    pub without_rule: Option<por::Rule>,
    /// The processor takes those guided sets that devices find, too: what devices are compared with.
    #[doc(hidden)]
    pub by_state_alone: bool,
    /// A part of these that is forgotten, for tests.
    #[doc(hidden)]
    pub forgotten: Option<por::steady::Forgotten>,
}

impl Settings<'_> {
    /// Whether there are runs that do not count. Constraints without actions say nothing.
    pub fn is_fair(&self) -> bool {
        self.fairness.iter().any(|constraint| !constraint.actions.is_empty())
    }
}

/// Why a property was not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The method does not fit the property.
    Rule(Rule),
    /// The TA is too large.
    Ta(TooLarge),
    /// The TGTA is too large.
    Tgta(TooLarge),
    /// The automaton with labels on states is too large.
    Extended,
    /// The form that the classical reduction needs is too large.
    WaitingForm(TooLarge),
    /// The tester is too large without its τ steps.
    Tester,
    /// The store cannot have so many bytes.
    NoMemory(u64),
    /// The budget was spent before the search could begin.
    Limit(Limit),
}

impl Refusal {
    /// Why there is no automaton: it is too large, which makes it this refusal, or the budget is spent.
    fn of(refusal: impl FnOnce(TooLarge) -> Refusal) -> impl FnOnce(GaveUp) -> Refusal {
        move |why| match why {
            GaveUp::TooLarge(why) => refusal(why),
            GaveUp::Limit(limit) => Refusal::Limit(limit),
        }
    }

    /// What could be done instead.
    pub fn remedy(self) -> Remedy {
        let ways: &'static [&'static [Change]] = match self {
            Refusal::Rule(rule) => return rule.remedy(),
            Refusal::Ta(_) | Refusal::Tgta(_) => &[&[Change::Observer(&[ObserverKind::Tgba])]],
            Refusal::Extended => &[&[Change::Observer(&[ObserverKind::Ba])]],
            Refusal::WaitingForm(_) => &[&[Change::Reduction(&[ReductionWish::None])]],
            Refusal::Tester | Refusal::NoMemory(_) | Refusal::Limit(_) => &[],
        };
        Remedy { ways, for_testers: false }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Rule(rule) => rule.fmt(f),
            Refusal::Ta(why) => write!(f, "the TA is too large: {why}"),
            Refusal::Tgta(why) => write!(f, "the TGTA is too large: {why}"),
            Refusal::Extended => f.write_str("the state-labeled automaton is too large"),
            Refusal::WaitingForm(why) => {
                write!(f, "the waiting form of the automaton is too large: {why}")
            }
            Refusal::Tester => f.write_str("the tester is too large once its tau steps are removed"),
            Refusal::NoMemory(_) => f.write_str("the memory for the bitstate store cannot be had"),
            Refusal::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Limit> for Refusal {
    fn from(limit: Limit) -> Refusal {
        Refusal::Limit(limit)
    }
}

impl From<Rule> for Refusal {
    fn from(rule: Rule) -> Refusal {
        Refusal::Rule(rule)
    }
}

/// The outcome, and how large the observer was.
pub struct Decision {
    /// What the search found.
    pub outcome: ProductOutcome,
    /// Number of states of the observer.
    pub observer_states: u64,
    /// The values of the claim's propositions that were met.
    pub valuations: Vec<Vec<bool>>,
    /// What the device has done, if there is one.
    pub on_device: Option<OnDevice>,
}

/// What a device has done about a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDevice {
    /// It has found the answer.
    Decided,
    /// It has found the answer by guided sets.
    Led,
    /// It has left it to the processor, for this reason.
    Left(&'static str),
}

impl Decision {
    /// A budget that is spent before a search begins is an outcome, too.
    fn unless_limited(decided: Result<Decision, Refusal>) -> Result<Decision, Refusal> {
        match decided {
            Err(Refusal::Limit(limit)) => {
                let outcome = ProductOutcome::limited(limit);
                Ok(Decision { outcome, observer_states: 0, valuations: Vec::new(), on_device: None })
            }
            decided => decided,
        }
    }
}

/// Searches a product on the device of the budget, if there is one; says what came of it, and what the device did.
pub(crate) fn search_on_device<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    method: Method,
    settings: &Settings<'_>,
    budget: &mut Budget<'_>,
) -> (Option<ProductOutcome>, Option<OnDevice>) {
    let Some(device) = budget.device() else { return (None, None) };
    if settings.counts {
        return (None, Some(OnDevice::Left("in a product, it does not count the states of the system")));
    }
    let is_led = settings.reduces && method.reduction.is_some();
    if is_led && let Err(why) = lead_on_device(product, device, &mut budget.share()) {
        return (None, Some(OnDevice::Left(why)));
    }
    let wanted = wanted(method);
    let looks = Looks {
        for_marks: matches!(wanted, Wanted::Marks | Wanted::MarksAndLivelocks),
        for_livelocks: matches!(wanted, Wanted::Livelocks | Wanted::MarksAndLivelocks),
    };
    match device::products::search(product, looks, device, &mut budget.share()) {
        Answer::Decided(outcome) if is_led => (Some(outcome), Some(OnDevice::Led)),
        Answer::Decided(outcome) => (Some(outcome), Some(OnDevice::Decided)),
        Answer::Left(why) => {
            // The processor knows better sets.
            product.by_memory();
            (None, Some(OnDevice::Left(why)))
        }
    }
}

/// Whether something is to be left out of a product on a device, which must then be reduced before it is searched there.
fn is_led_on_device(method: Method, settings: &Settings<'_>, budget: &Budget<'_>) -> bool {
    let is_guided = method.reduction == Some(reduction::Method::Guided);
    is_guided && settings.reduces && !settings.counts && budget.device().is_some()
}

/// Has the sets of a product chosen as a device chooses them; says why not, if that cannot be.
fn lead_on_device<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    device: &dyn Device,
    budget: &mut Budget<'_>,
) -> Result<(), &'static str> {
    if product.method() != Some(reduction::Method::Guided) || !product.fairness().is_empty() {
        return Err("of a product, it leaves something out only by guided sets");
    }
    if device.reduces(Reduces::Products).is_err() {
        return Err("it does not leave out of products what it should");
    }
    match product.by_state_alone(budget) {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err("there is too much for the sets by which it leaves something out"),
    }
}

/// There is no memory for a store, or none that the system would give.
fn no_memory(limit: Limit, store: StoreKind) -> Refusal {
    match store {
        StoreKind::Bitstate { bytes, .. } if limit == Limit::OutOfMemory => Refusal::NoMemory(bytes),
        _ => limit.into(),
    }
}

/// What a method looks for.
fn wanted(method: Method) -> Wanted {
    match method.search {
        SearchKind::Scc | SearchKind::Nested => Wanted::Marks,
        SearchKind::OnePass => Wanted::Livelocks,
        SearchKind::TwoPass | SearchKind::OnePassAndNested => Wanted::MarksAndLivelocks,
    }
}

/// Runs the search of a method that the table allows.
fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    method: Method,
    settings: &Settings<'_>,
    budget: &mut Budget<'_>,
) -> Result<ProductOutcome, Refusal> {
    if settings.counts {
        return Ok(product_bfs::search(product, budget));
    }
    let work_set = settings.work_set;
    match (method.search, method.store) {
        (SearchKind::Scc, _) => Ok(couvreur::search(product, budget)),
        (SearchKind::TwoPass, _) => Ok(two_pass::search(product, budget)),
        (search, StoreKind::Exact) => {
            let (width, room) = (product.width(), budget.room());
            over_planes(product, search, work_set, || Ok(ExactPlanes::new(width, room)), budget)
        }
        (search, StoreKind::Bitstate { bytes, n_hashes }) => {
            let planes = || TwoSets::of_bits(bytes, n_hashes).ok_or(Refusal::NoMemory(bytes));
            over_planes(product, search, work_set, planes, budget)
        }
        (search, StoreKind::Fingerprint) => {
            let planes = || Ok(TwoSets::<Fingerprints>::default());
            over_planes(product, search, work_set, planes, budget)
        }
    }
}

/// Runs a search that needs pairs of empty sets, each of which `new_planes` makes.
fn over_planes<S: System, O: Observer, P: Planes>(
    product: &mut Product<'_, S, O>,
    search: SearchKind,
    work_set: WorkSet,
    mut new_planes: impl FnMut() -> Result<P, Refusal>,
    budget: &mut Budget<'_>,
) -> Result<ProductOutcome, Refusal> {
    if search == SearchKind::Nested {
        return Ok(nested_dfs::search(product, &mut new_planes()?, budget));
    }
    let first = one_pass::search(product, work_set, &mut new_planes()?, budget);
    if search == SearchKind::OnePass || first.stop.is_some() {
        return Ok(first);
    }
    Ok(first.and(nested_dfs::search(product, &mut new_planes()?, budget)))
}
