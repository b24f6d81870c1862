//! Counts the states of a model, or of its product with an automaton.

use std::path::Path;

use base::{Diagnostic, Limit};
use check::choice::Wish;
use check::decide::{Decision, Settings};
use check::method::ReductionWish;
use check::search::ProductStop;
use check::{Coverage, Exact, Stats, Stop, search};
use language::{Preserve, Purpose, Rules, View};
use model::{Run, StepError, System as _};
use report::outcome::ProductInfo;
use report::remark::Work;
use report::{ExploreReport, Remark};

use crate::Error;
use crate::answer::{told, told_of_device};
use crate::clock::Clock;
use crate::decide::Asked;
use crate::decide::searched::Searched;
use crate::decide::states::{explore, fault, one_process, runs_together, why_on_processor};
use crate::decide::watched::Watched;
use crate::error::Trouble;
use crate::options::{Options, Order};
use crate::question::Question;
use crate::session::{Attempt, Session, refining, unread_info};

/// What was explored.
pub struct Explored {
    /// The figures.
    pub report: ExploreReport,
    /// The model went wrong at the end of this run.
    pub fault: Option<(StepError, Run)>,
    /// The share of states that was found, as estimated, if some may be missing.
    pub coverage: Option<Coverage>,
    /// All states, if they are wanted and all were found.
    pub space: Option<Space>,
}

impl Explored {
    /// Adds what is remarkable.
    pub fn note(&mut self, remark: Remark) {
        self.report.remarks.push(remark);
    }
}

/// All states of a system.
pub struct Space {
    /// The system.
    pub view: View,
    /// Its states.
    pub store: Exact,
    /// Number of transitions.
    pub n_transitions: u64,
}

impl Space {
    /// For writing it.
    pub fn to_report(&self) -> report::space::Space<'_> {
        report::space::Space {
            system: &self.view.system,
            store: &self.store,
            n_transitions: self.n_transitions,
        }
    }
}

/// The report about a model that could not be read within the limits.
pub fn unread(file: &Path, limit: Limit) -> ExploreReport {
    let remarks = vec![Remark::Limit(limit, Work::Reading)];
    ExploreReport { remarks, ..ExploreReport::new(unread_info(file)) }
}

/// What was counted.
#[derive(Default)]
struct Counted {
    stats: Stats,
    complete: bool,
    fault: Option<(StepError, Run)>,
    coverage: Option<Coverage>,
    product: Option<ProductInfo>,
    /// What was left out, or is remarkable.
    remarks: Vec<Remark>,
    space: Option<Space>,
}

impl Counted {
    /// The model goes wrong after a run: what was counted is not all.
    fn goes_wrong(&mut self, view: &View, error: StepError, run: Run) {
        let steps = report::count(run.actions.len() as u64, "step");
        self.remarks.push(Remark::ModelError(format!("{}, after {steps}", told(view, &error))));
        self.fault = Some((error, run));
    }
}

impl Session {
    /// Counts the states; with a question about runs, those of the product with what watches them, all of it,
    /// whether or not it holds. The states themselves are kept if they are wanted, and all of them were found;
    /// those of a product are not. Of the options, the limits count, the observer of a product, and for the
    /// model alone the store and the order; nothing is left out, and every run counts.
    ///
    /// # Errors
    /// The question is wrong or not about runs, or cannot be watched as was asked for.
    pub fn explore(
        &mut self,
        question: Option<&Question>,
        options: &Options,
        keeps: bool,
        clock: &Clock<'_>,
    ) -> Result<Explored, Error> {
        let clock = &self.clock(clock).within(&options.limits).on(options.threads);
        let questions: Vec<Question> = question.cloned().into_iter().collect();
        let mut asked = Asked::new(self, &questions, options, clock)?;
        if clock.goes_by_rounds() && keeps {
            return Err(one_process("exports", "count the states, and export nothing").into());
        }
        let counted = match asked.tasks.len() {
            0 => refining(&mut asked, clock, |asked| count_states(asked, options, keeps, clock)),
            1 => refining(&mut asked, clock, |asked| count_product(asked, options, clock)),
            n => {
                let message = format!("there are {n} automata: give one");
                Err(Diagnostic::error("usage", message).into())
            }
        };
        let Counted { stats, complete, fault, coverage, product, remarks, space } =
            counted.map_err(|trouble| self.error(trouble))?;
        let report = ExploreReport {
            complete,
            remarks,
            states: stats.states,
            transitions: stats.transitions,
            deadlocks: stats.deadlocks,
            depth: stats.depth,
            seconds: clock.seconds(),
            peak_bytes: stats.peak_bytes,
            product,
            ..ExploreReport::new(self.info())
        };
        Ok(Explored { report, fault, coverage, space })
    }
}

fn count_states(
    asked: &mut Asked<'_>,
    options: &Options,
    keeps: bool,
    clock: &Clock<'_>,
) -> Result<Attempt<Counted>, Trouble> {
    let model = &mut asked.session.model;
    let mut budget = clock.budget();
    let view = model.view(Purpose::Runs, &mut budget)?;
    let mut on_processor = None;
    let (exploration, store) = if keeps {
        if clock.device().is_some() {
            on_processor = Some(Remark::OnProcessor("the states are to be kept".to_owned()));
        }
        let mut store = Exact::new(view.system.width(), budget.room());
        (search::bfs::search(&*view.system, &mut store, &[], &mut budget), Some(store))
    } else {
        let rules = options.statics.clone().unwrap_or_else(Rules::none);
        let searched = Searched::new(&view, Some(Preserve::Deadlocks), &[], &rules, clock)?;
        let found =
            explore(searched.system(), &[], options.order.unwrap_or(Order::Bfs), options.store, &mut budget)?;
        on_processor = why_on_processor(searched.system(), false, &budget);
        (searched.exploration(found, clock), None)
    };
    if let Some(error) = fault(&exploration).filter(|error| model.can_refine(error)) {
        // With more room, from the beginning: counts are never wrong.
        return Ok(Attempt::TooSmall(error));
    }
    let stats = exploration.stats;
    let complete = exploration.stop.is_none() && exploration.coverage.is_none();
    let n_transitions = stats.transitions;
    let coverage = exploration.coverage;
    let mut counted = Counted { stats, complete, coverage, ..Counted::default() };
    match exploration.stop {
        Some(Stop::Limit(limit)) => counted.remarks.push(Remark::Limit(limit, Work::Search)),
        Some(Stop::Fault(error, run)) => counted.goes_wrong(&view, error, run),
        Some(Stop::AllViolated) | None => {}
    }
    counted.space = store.filter(|_| complete).map(|store| Space { view, store, n_transitions });
    counted.remarks.extend(coverage.map(Remark::Coverage));
    counted.remarks.extend(on_processor);
    if keeps || !runs_together(options.order.unwrap_or(Order::Bfs)) {
        counted.remarks.extend(options.says_one_thread());
    }
    Ok(Attempt::Done(counted))
}

fn count_product(
    asked: &mut Asked<'_>,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Counted>, Trouble> {
    let name = asked.tasks[0].name.clone();
    let kind = asked.property(0).clone();
    if !kind.is_about_runs() {
        return Err(Diagnostic::error("usage", format!("`{name}` is no question about runs")).into());
    }
    let mut watched = match Watched::of(asked.model(), &kind, clock) {
        Ok(watched) => watched,
        Err(why) => return Ok(Attempt::Done(Counted { remarks: vec![why], ..Counted::default() })),
    };
    let refuse = |why| Trouble::refused(&name, why);
    let wish = Wish { observer: options.observer, reduction: ReductionWish::None, ..Wish::default() };
    let observer = wish.complete(&mut watched.claim, &mut clock.budget()).map_err(refuse)?.method.observer;
    let view = asked.model().view(Purpose::Runs, &mut clock.budget())?;
    let rules = options.statics.clone().unwrap_or_else(Rules::none);
    let preserve = watched.claim.proof().map(|_| Preserve::Stuttering);
    let searched = Searched::new(&view, preserve, &watched.about(), &rules, clock)?;
    let settings = Settings::default();
    let counted = watched.claim.count(searched.system(), observer, &settings, &mut clock.budget());
    let Decision { outcome, observer_states, on_device, .. } = counted.map_err(refuse)?;
    let mut counted = Counted {
        stats: outcome.stats,
        complete: outcome.stop.is_none(),
        product: Some(ProductInfo {
            observer: observer.into(),
            system_states: outcome.system_states.unwrap_or(0),
            observer_states,
        }),
        ..Counted::default()
    };
    counted.remarks.extend(on_device.map(told_of_device));
    match outcome.stop {
        Some(ProductStop::Limit(limit)) => counted.remarks.push(Remark::Limit(limit, Work::Search)),
        Some(ProductStop::Fault(error, run)) => {
            if asked.model().can_refine(&error) {
                return Ok(Attempt::TooSmall(error));
            }
            counted.goes_wrong(&view, error, run);
        }
        Some(ProductStop::Found(_) | ProductStop::NoRun) | None => {}
    }
    Ok(Attempt::Done(counted))
}
