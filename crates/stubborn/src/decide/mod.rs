//! Decides questions: which of them share a search, and what each of them needs.
//!
//! | module | decides |
//! |---|---|
//! | `states` | deadlocks, invariants, what is possible |
//! | `promises` | assertions and end states |
//! | `maxima` | greatest values |
//! | `runs` | formulas and claims, by what `watched` makes of them, with `vacuity` for those that hold; `deciding` is one attempt, `always` decides `[] p` by states, `shown` judges and shows what it found |
//! | `why` | nothing: it says what a property that holds rests on |
//! | `cone` | nothing: it says what a property depends on, and what of that never happens |
//! | `testers` | testers and specifications |
//! | `reached` | nothing: it says where a tester never gets to |
//! | `others` | nothing: it looks for other runs than those that were found |
//! | `asked` | nothing: it has the questions, and the model |
//! | `turns` | nothing: it says who may search when time is limited |
//! | `searched` | nothing: it says which system is searched, and brings runs back |
//! | `watching` | nothing: it searches, and leaves the rest to who compares methods |

mod always;
mod asked;
mod cone;
mod deciding;
pub(crate) mod maxima;
mod others;
mod promises;
mod reached;
pub(crate) mod runs;
pub(crate) mod searched;
mod shorten;
mod shown;
pub(crate) mod states;
mod testers;
mod turns;
mod vacuity;
pub(crate) mod watched;
mod watching;
mod why;

pub(crate) use self::asked::Asked;
pub use self::watching::Watching;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use base::Limit;
use check::method::{FairnessBy, ReductionWish, SearchKind, StoreKind};
use language::story::Unreached;
use language::{PropertyKind, Purpose};
use report::outcome::{Place, SCHEMA, Watcher};
use report::remark::Work;
use report::{CheckReport, PropertyResult, Remark, Verdict};

use self::asked::Held;
use self::cone::Cone;
use self::states::one_process;
use self::turns::{Turn, take_turns};
use crate::Error;
use crate::across::{Across, Answered, Begun};
use crate::answer::{Answer, Figures};
use crate::certificate::{self, Failed, Listed};
use crate::clock::Clock;
use crate::coverage::Seen;
use crate::error::Trouble;
use crate::options::Options;
use crate::question::{Origin, Question, Task};
use crate::session::{Session, refining, unread_info};

/// What a job has found.
struct Decided {
    results: Result<Vec<PropertyResult>, Error>,
    more: Vec<(usize, PropertyResult)>,
    unreached: Option<Vec<Unreached>>,
    listed: Option<Listed>,
}

impl Decided {
    fn is_late(&self) -> bool {
        self.results.as_ref().is_ok_and(|results| results.iter().any(is_late))
    }
}

impl Answered for Decided {
    fn is_short(&self) -> bool {
        let is_limit =
            |remark: &Remark| matches!(remark, Remark::Limit(Limit::Memory(_) | Limit::OutOfMemory, _));
        self.results.as_ref().is_ok_and(|results| {
            results
                .iter()
                .any(|result| result.verdict == Verdict::Unknown && result.remarks.iter().any(is_limit))
        })
    }
}

/// Questions that are decided together, by their numbers.
#[derive(Clone)]
enum Job {
    States(Vec<usize>),
    Promises(Vec<usize>),
    Maxima(Vec<usize>),
    Runs(usize),
    Tester(usize),
    /// There is nothing to search.
    Nothing(usize),
}

impl Job {
    fn tasks(&self) -> &[usize] {
        match self {
            Job::States(tasks) | Job::Promises(tasks) | Job::Maxima(tasks) => tasks,
            Job::Runs(task) | Job::Tester(task) | Job::Nothing(task) => std::slice::from_ref(task),
        }
    }
}

impl Job {
    /// Decides it within a clock. Where the model must be made larger, that may take all of the time: it is for all jobs.
    fn decide(
        &self,
        asked: &mut Asked<'_>,
        options: &Options,
        whole: &Clock<'_>,
        clock: &Clock<'_>,
    ) -> Result<Vec<PropertyResult>, Error> {
        let decided = match self {
            _ if asked.lost.is_some() => Err(Trouble::Limit(asked.lost.unwrap_or(Limit::Time))),
            Job::States(tasks) => {
                refining(asked, whole, |asked| states::decide(asked, tasks, options, clock))
            }
            Job::Promises(tasks) => {
                refining(asked, whole, |asked| promises::decide(asked, tasks, options, clock))
            }
            Job::Maxima(tasks) => refining(asked, whole, |asked| maxima::decide(asked, tasks, clock)),
            Job::Runs(task) => {
                let mut runs = runs::Runs::new(*task, options, clock);
                refining(asked, whole, |asked| runs.decide(asked))
            }
            Job::Tester(task) => {
                refining(asked, whole, |asked| testers::decide(asked, *task, options, clock))
            }
            Job::Nothing(task) => Ok(vec![without_search(&asked.tasks[*task])]),
        };
        let mut decided: Vec<PropertyResult> = match decided {
            Err(Trouble::Limit(limit)) => {
                let unknown = |&task: &usize| Answer::limit(limit).result(asked.name(task), &Figures::none());
                self.tasks().iter().map(unknown).collect()
            }
            decided => decided.map_err(|trouble| asked.session.error(trouble))?,
        };
        if options.errors > 1 {
            let found = others::look(asked, self, &decided, options, whole, clock);
            found.map_err(|trouble| asked.session.error(trouble))?;
        }
        if clock.n_threads() > 1 && !self.has_search_for_several(options) {
            decided.iter_mut().for_each(|result| result.remarks.extend(options.says_one_thread()));
        }
        if clock.device().is_some() && matches!(self, Job::Maxima(_)) {
            let why = "it looks for no greatest values";
            decided.iter_mut().for_each(|it| it.remarks.push(Remark::OnProcessor(why.to_owned())));
        }
        self.name_propositions(&mut decided, asked);
        Ok(decided)
    }

    /// Whether several processes search together, if there are several.
    fn is_for_processes(&self) -> bool {
        !matches!(self, Job::Maxima(_))
    }

    /// Names the propositions of automata, which are in one pool.
    fn name_propositions(&self, results: &mut [PropertyResult], asked: &mut Asked<'_>) {
        if !matches!(self, Job::Runs(_)) {
            return;
        }
        let formulas = Arc::new(asked.model().formulas().clone());
        let more = asked.more.iter_mut().map(|(_, result)| result);
        for result in results.iter_mut().chain(more) {
            if let Some(Watcher::Claim(_, names)) = &mut result.watcher {
                *names = formulas.clone();
            }
        }
    }

    /// Whether several threads search, if there are several, and it pays.
    fn has_search_for_several(&self, options: &Options) -> bool {
        match self {
            Job::States(_) | Job::Promises(_) => states::runs_together(options.order()),
            Job::Maxima(_) | Job::Nothing(_) => true,
            Job::Runs(_) | Job::Tester(_) => {
                // A nested search over an exact store leaves steps out by its path, unless nothing is to be left out.
                let is_steady = options.search != Some(SearchKind::Nested)
                    || options.store != StoreKind::Exact
                    || options.reduce == ReductionWish::None;
                is_steady
                    && options.store != StoreKind::Fingerprint
                    && options.fairness_by == FairnessBy::Search
            }
        }
    }
}

/// Whether time ran out before there was an answer.
fn is_late(result: &PropertyResult) -> bool {
    let is_limit = |remark: &Remark| matches!(remark, Remark::Limit(Limit::Time, _));
    result.verdict == Verdict::Unknown && result.remarks.iter().any(is_limit)
}

/// Which tasks are decided together: those about states, those that the model promises, greatest values; all
/// others one by one.
fn jobs(tasks: &[Task]) -> Vec<Job> {
    let (mut states, mut promises, mut maxima, mut others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (index, task) in tasks.iter().enumerate() {
        use PropertyKind as Kind;
        match task.kind {
            _ if task.known.is_some() => others.push(Job::Nothing(index)),
            Kind::DeadlockFree | Kind::Invariant(_) | Kind::Possible(_) => states.push(index),
            Kind::Assertions | Kind::EndStates => promises.push(index),
            Kind::Maximum(_) => maxima.push(index),
            Kind::Ltl(_) | Kind::Progress(_) | Kind::Acceptance(_) | Kind::Claim(_) => {
                others.push(Job::Runs(index));
            }
            Kind::Tester(_) | Kind::Spec(_) => others.push(Job::Tester(index)),
            Kind::AllPossible(_) | Kind::SomeInvariant(_) | Kind::AllLive(_) | Kind::Unsupported(_) => {
                others.push(Job::Nothing(index));
            }
        }
    }
    let shared = [Job::States(states), Job::Promises(promises), Job::Maxima(maxima)];
    shared.into_iter().filter(|job| !job.tasks().is_empty()).chain(others).collect()
}

impl Session {
    /// Answers questions: one answer for each property that they ask about, in their order. A question may ask
    /// about several, and a deadlock that is asked about twice is told once. What is not known after the limits
    /// of the options were reached is *unknown*.
    ///
    /// # Errors
    /// A question is wrong, each mistake with its place; or what was asked for does not fit together.
    pub fn check(&mut self, questions: &[Question], options: &Options) -> Result<CheckReport, Error> {
        self.check_within(questions, options, &Clock::start(&options.limits))
    }

    /// The same, as long as a clock allows, and within the limits of the options.
    ///
    /// # Errors
    /// A question is wrong, each mistake with its place; or what was asked for does not fit together.
    pub fn check_within(
        &mut self,
        questions: &[Question],
        options: &Options,
        clock: &Clock<'_>,
    ) -> Result<CheckReport, Error> {
        let clock = &self.clock(clock).within(&options.limits).on(options.threads);
        let mut asked = Asked::new(self, questions, options, clock)?;
        let mut results: Vec<Option<PropertyResult>> = asked.tasks.iter().map(|_| None).collect();
        let (at_once, jobs): (Vec<Job>, Vec<Job>) =
            jobs(&asked.tasks).into_iter().partition(|job| matches!(job, Job::Nothing(_)));
        for &task in at_once.iter().flat_map(Job::tasks) {
            results[task] = Some(without_search(&asked.tasks[task]));
        }
        if clock.goes_by_rounds()
            && let Some(job) = jobs.iter().find(|job| !job.is_for_processes())
        {
            let name = &asked.tasks[job.tasks()[0]].name;
            let help = "name the other properties by --property";
            let why = one_process(&format!("greatest values, like `{name}`"), help);
            return Err(asked.session.error(why));
        }
        let across = Across { clock, least_bytes: options.least_bytes(asked.session.held) };
        let names: Vec<String> = asked.tasks.iter().map(|task| task.name.clone()).collect();
        let name =
            |job: &Job| job.tasks().iter().map(|&task| names[task].as_str()).collect::<Vec<_>>().join(", ");
        let (mut more, mut unreached, mut error) = (Vec::new(), None, None);
        let mut lists: Vec<Listed> = Vec::new();
        let is_over = |results: &[Option<PropertyResult>]| {
            options.stop_at_first && results.iter().flatten().any(PropertyResult::is_violated)
        };
        // What is kept has one order.
        let has_turns = clock.remaining().is_some() && !clock.is_kept();
        take_turns(jobs, has_turns, |mut jobs, turn| {
            let mut undone = Vec::new();
            let run = |asked: &mut Asked<'_>, job: &mut Job, begun: &Begun<'_, '_>| {
                let results = job.decide(asked, options, begun.clock, &turn.clock(begun));
                let (more, unreached) = (std::mem::take(&mut asked.more), asked.unreached.take());
                Decided { results, more, unreached, listed: asked.listed.take() }
            };
            if error.is_none() && !is_over(&results) {
                across.run(&mut asked, &mut jobs, name, run, |job, decided| {
                    let is_late = decided.is_late();
                    lists.extend(decided.listed);
                    match decided.results {
                        Ok(decided) => {
                            for (&task, result) in job.tasks().iter().zip(decided) {
                                // What was found in an earlier turn stays.
                                if results[task]
                                    .as_ref()
                                    .is_none_or(|known| known.verdict == Verdict::Unknown)
                                {
                                    results[task] = Some(result);
                                }
                            }
                        }
                        Err(wrong) => {
                            error = Some(wrong);
                            return ControlFlow::Break(());
                        }
                    }
                    if is_late && turn != Turn::Last {
                        undone.push(job.clone());
                    } else {
                        more.extend(decided.more);
                        unreached = decided.unreached.or(unreached.take());
                    }
                    if is_over(&results) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            }
            if is_over(&results) {
                for &task in jobs.iter().flat_map(Job::tasks) {
                    if results[task].as_ref().is_none_or(|known| known.verdict == Verdict::Unknown) {
                        results[task] = Some(stopped(&names[task]));
                    }
                }
            }
            undone
        });
        let mut looked_at = error.map_or(Ok(()), Err);
        if options.why && looked_at.is_ok() {
            looked_at = doubt(&mut asked, &mut results, clock);
        }
        if options.certificates && looked_at.is_ok() {
            looked_at = certify(&mut asked, &mut results, lists, options, clock);
        }
        let places: Vec<Option<Place>> = asked.tasks.iter().map(|task| asked.place(task.span?)).collect();
        if let Held::Copied(session) = asked.session {
            *self = *session;
        }
        looked_at?;
        let mut all: Vec<(usize, PropertyResult)> = Vec::new();
        all.extend(results.into_iter().enumerate().filter_map(|(task, result)| Some((task, result?))));
        all.extend(more);
        all.sort_by_key(|(task, _)| *task);
        let placed = |(task, result): (usize, PropertyResult)| PropertyResult {
            place: places.get(task).cloned().flatten(),
            ..result
        };
        let results: Vec<PropertyResult> = all.into_iter().map(placed).collect();
        Ok(CheckReport { schema: SCHEMA, model: self.info(), results, unreached })
    }
}

/// Says of properties that hold what they rest on. Formulas, claims and testers have said already what is theirs alone.
fn doubt(
    asked: &mut Asked<'_>,
    results: &mut [Option<PropertyResult>],
    clock: &Clock<'_>,
) -> Result<(), Error> {
    let mut seen: Option<Seen> = None;
    for (task, result) in results.iter_mut().enumerate() {
        let Some(result) = result.as_mut().filter(|result| result.verdict == Verdict::Holds) else {
            continue;
        };
        if seen.is_none() {
            seen = match refining(asked, clock, |asked| Seen::look(asked.model(), clock)) {
                Ok(seen) => Some(seen),
                // What is not known is not doubted.
                Err(Trouble::Limit(_)) => return Ok(()),
                Err(trouble) => return Err(asked.session.error(trouble)),
            };
        }
        let Some(seen) = &seen else { continue };
        let kind = asked.property(task).clone();
        let Some(cone) = Cone::of(&seen.view.system, &kind, clock) else { continue };
        let found = result.why.get_or_insert_default();
        let inside = match &kind {
            PropertyKind::Invariant(expr) => why::invariant(&seen.view, *expr, clock),
            PropertyKind::Ltl(ltl) => why::propositions(&seen.view, ltl, asked.model().formulas(), clock),
            _ => Vec::new(),
        };
        inside.into_iter().for_each(|because| {
            if !found.contains(&because) {
                found.push(because);
            }
        });
        found.extend(cone.removable(&seen.view.system, &kind));
        if seen.is_complete() {
            found.extend(cone.unused(seen));
        }
    }
    Ok(())
}

/// Adds certificates to answers that say that something holds, or why there is none.
fn certify(
    asked: &mut Asked<'_>,
    results: &mut [Option<PropertyResult>],
    mut lists: Vec<Listed>,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<(), Error> {
    let holds = |result: &Option<PropertyResult>| {
        result.as_ref().is_some_and(|result| result.verdict == Verdict::Holds)
    };
    let mut failed: Vec<Option<Failed>> = results.iter().map(|_| None).collect();
    for purpose in [Purpose::Runs, Purpose::Assertions, Purpose::EndStates] {
        let is_meant = |&task: &usize| {
            certificate::is_of_states(asked.property(task))
                && certificate::purpose_of(asked, task) == Ok(purpose)
                && asked.tasks[task].origin != Origin::Elsewhere
        };
        let tasks: Vec<usize> =
            (0..results.len()).filter(|&task| holds(&results[task])).filter(is_meant).collect();
        let n_grown = asked.session.grown.len();
        lists.retain(|listed| listed.purpose != purpose || listed.n_grown == n_grown);
        let is_listed = |task: &usize| lists.iter().any(|listed| listed.is_for(*task, purpose, n_grown));
        if tasks.iter().all(is_listed) {
            continue;
        }
        let listed =
            refining(asked, clock, |asked| certificate::list(asked, &tasks, purpose, options, clock));
        match listed {
            Ok((outcomes, listed)) => {
                lists.extend(listed);
                for (&task, outcome) in tasks.iter().zip(outcomes) {
                    failed[task] = outcome.err();
                }
            }
            Err(Trouble::Limit(limit)) => {
                tasks.iter().for_each(|&task| failed[task] = Some(Failed::Limit(limit)));
            }
            Err(trouble) => return Err(asked.session.error(trouble)),
        }
    }
    for (task, result) in results.iter_mut().enumerate().filter(|(_, result)| holds(result)) {
        let Some(result) = result else { continue };
        let (kind, n_grown) = (asked.property(task), asked.session.grown.len());
        let purpose = certificate::purpose_of(asked, task).ok().filter(|_| certificate::is_of_states(kind));
        let is_for = |listed: &&Listed| purpose.is_some_and(|purpose| listed.is_for(task, purpose, n_grown));
        let listed = lists.iter().find(is_for);
        let proved = match failed[task].take() {
            Some(why) => Ok(Err(why)),
            None => refining(asked, clock, |asked| certificate::of_task(asked, task, listed, options, clock)),
        };
        let proved = match proved {
            Ok(proved) => proved,
            Err(Trouble::Limit(limit)) => Err(Failed::Limit(limit)),
            Err(trouble) => return Err(asked.session.error(trouble)),
        };
        let remark = match proved {
            Ok(proof) => {
                let again = listed.is_none_or(|listed| listed.again);
                let remark = {
                    let (states, bytes) = (proof.states, proof.bytes);
                    Remark::Certified { again, waits: proof.waits, states, bytes }
                };
                result.certificate = Some(Arc::new(proof));
                remark
            }
            Err(Failed::Limit(limit)) => Remark::NotCertifiedYet(limit),
            Err(Failed::Unfit(why)) => Remark::NotCertified(why),
            Err(Failed::Fault(error)) => Remark::NotCertified(format!(
                "the model goes wrong: {}",
                asked.model().system().describe_fault(&error)
            )),
            Err(Failed::Violated) => {
                // One of two searches is wrong: nothing is known.
                result.verdict = Verdict::Unknown;
                Remark::Internal("the search for a certificate finds it violated".to_owned())
            }
        };
        result.remarks.push(remark);
    }
    Ok(())
}

/// The report about a model that could not be read within the limits: every question is open.
pub fn unread(file: &Path, questions: &[Question], limit: Limit) -> CheckReport {
    let answer = |question: &Question| {
        let why = Remark::Limit(limit, Work::Reading);
        Answer::unknown(why).result(&question.to_string(), &Figures::none())
    };
    let results = questions.iter().map(answer).collect();
    CheckReport { schema: SCHEMA, model: unread_info(file), results, unreached: None }
}

/// What is said of a property that was not looked at any more.
fn stopped(name: &str) -> PropertyResult {
    Answer::unknown(Remark::Stopped).result(name, &Figures::none())
}

/// What can be said without a search.
fn without_search(task: &Task) -> PropertyResult {
    let answer = match (&task.kind, task.known) {
        (_, Some((truth, by))) => {
            let verdict = if truth { Verdict::Holds } else { Verdict::Violated };
            Answer { verdict, ..Answer::unknown(Remark::WithoutSearch(by)) }
        }
        (PropertyKind::Unsupported(why), None) => Answer::unknown(Remark::Unsupported(why.clone())),
        // No file asks these.
        (_, None) => {
            Answer::unknown(Remark::Unsupported("this question is not supported in files".to_owned()))
        }
    };
    PropertyResult { choice: task.proof.clone(), ..answer.result(&task.name, &Figures::none()) }
}
