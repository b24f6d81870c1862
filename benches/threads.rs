//! How searches by several threads compare with those by one.
//!
//! `cargo bench -p stubborn-benches --bench threads` (minutes) counts the states of philosophers, and of nets and Promela models of `../shared` if
//! that is there; then it decides formulas that hold, by the method that is chosen where nothing is asked for, and without reduction. `-- --states` or `-- --formulas` does
//! one of the two. For a curve, on a machine that does nothing else: `-- -t 1,2,4,8,12,16 -n 13,14,15 MODEL.pnml MODEL.pml …`. The program that
//! `--no-run` names can be taken to another machine; it needs no files but the models.
//!
//! A row is told for the search by one thread as it is when there is no other (`alone`), for the search by several, done by one
//! thread (`1`), and by as many as asked for. Told are seconds by the clock, seconds of processor time of the busiest thread and of all, each
//! with how it compares with `alone`: by the clock, how much faster; by the busiest thread, how much faster with a processor for each thread; by all,
//! how much more work. Where others use the machine, too, only the last two say something: the load is told at the beginning and the end. The best of
//! several runs counts.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use base::{Budget, Team, Worker};
use check::choice::Wish;
use check::decide::{Claim, Settings};
use check::method::{Method, ReductionWish};
use check::parallel::{self, Joins};
use language::Purpose;
use model::ActionSystem;
use stubborn::{Clock, Limits, ModelOptions, Session};
use stubborn_benches::families::FAMILIES;
use stubborn_benches::for_each_claim;

const DINING: &str = include_str!("../models/dining.proc");

/// Models of more than a million states that everybody knows, if they are there.
const MODELS: [&str; 4] = [
    "mcc/FMS-PT-00005/model.pnml",
    "mcc/Kanban-PT-00005/model.pnml",
    "promela/perf/beem_at.4.pml",
    "promela/perf/beem_iprotocol.4.pml",
];

/// Families with formulas that hold, by their class.
const FORMULAS: [(&str, &str); 5] = [
    ("philosophers", "safety"),
    ("token ring", "safety"),
    ("chains", "response"),
    ("chains", "recurrence"),
    ("readers-writers", "safety"),
];

/// No search of a product stores more states.
const MAX_STATES: u64 = 3_000_000;

/// Processor time of this thread so far, in seconds; 0 where the system does not tell.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Threads that keep account of their time. The first one is the caller's, whose time counts from the beginning.
struct Timed {
    times: Vec<Mutex<f64>>,
    /// How many it says there are: a search for several can be done by one.
    n_said: usize,
}

impl Team for Timed {
    fn n_workers(&self) -> usize {
        self.n_said
    }

    fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
        let of = self.times.len();
        thread::scope(|scope| {
            for index in 1..of {
                scope.spawn(move || {
                    let start = processor();
                    job(Worker { index, of });
                    *self.times[index].lock().expect("nobody panics here") += processor() - start;
                });
            }
            job(Worker { index: 0, of });
        });
    }
}

/// Who searches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Alone,
    Several(usize),
}

/// What is counted, and must be the same for all.
type Counts = (u64, u64, u64);

#[derive(Clone, Copy)]
struct Took {
    counts: Counts,
    bytes: u64,
    wall: f64,
    busiest: f64,
    all: f64,
}

/// Measures a search; what it returns is its counts, and the bytes that it held.
fn measure<E>(
    who: Who,
    n_runs: usize,
    mut search: impl FnMut(&mut Budget<'_>) -> Result<(Counts, u64), E>,
) -> Result<Took, E> {
    let mut best: Option<Took> = None;
    for _ in 0..n_runs {
        let (n_threads, n_said) = match who {
            Who::Alone => (1, 1),
            Who::Several(n) => (n, n.max(2)),
        };
        let team = Timed { times: (0..n_threads).map(|_| Mutex::new(0.0)).collect(), n_said };
        let (start, own) = (Instant::now(), processor());
        let (counts, bytes) = search(&mut Budget::unlimited().with_team(&team))?;
        let wall = start.elapsed().as_secs_f64();
        *team.times[0].lock().expect("nobody panics here") = processor() - own;
        let times: Vec<f64> =
            team.times.iter().map(|time| *time.lock().expect("nobody panics here")).collect();
        let (busiest, all) = (times.iter().copied().fold(0.0, f64::max), times.iter().sum());
        let took = Took { counts, bytes, wall, busiest, all };
        best = Some(match best {
            None => took,
            Some(best) => Took {
                wall: best.wall.min(wall),
                busiest: best.busiest.min(busiest),
                all: best.all.min(all),
                ..took
            },
        });
    }
    Ok(best.expect("there is a run"))
}

/// Prints a row for each of those who search. `compares` says whether counts must be equal.
fn rows<E: From<String>>(
    name: &str,
    threads: &[usize],
    compares: bool,
    mut measure: impl FnMut(Who) -> Result<Took, E>,
) -> Result<(), E> {
    let mut alone: Option<Took> = None;
    let several = threads.iter().map(|&n| Who::Several(n));
    for who in std::iter::once(Who::Alone).chain(several) {
        let took = measure(who)?;
        let first = *alone.get_or_insert(took);
        if compares && took.counts != first.counts {
            return Err(format!("{name}: {:?} are counted, alone {:?}", took.counts, first.counts).into());
        }
        let who = match who {
            Who::Alone => "alone".to_owned(),
            Who::Several(n) => n.to_string(),
        };
        let Took { counts, bytes, wall, busiest, all } = took;
        println!(
            "{name:40} {who:>5} {:>9} states {wall:7.2} s clock ({:5.2}x) {busiest:7.2} s busiest ({:5.2}x) {all:7.2} s all ({:4.2}) {:5.1} B/state",
            counts.0,
            first.wall / wall,
            first.busiest / busiest,
            all / first.all,
            bytes as f64 / counts.0 as f64,
        );
    }
    Ok(())
}

/// Counts all states. The search for several begins with one; when others join, it changes to what they share.
fn count(system: &ActionSystem, budget: &mut Budget<'_>) -> Result<(Counts, u64), check::Stop> {
    let explored = parallel::bfs_joined(Joins::default(), system, &[], budget);
    let stats = explored.stats;
    match explored.stop {
        None => Ok(((stats.states, stats.transitions, stats.depth), stats.peak_bytes)),
        Some(stop) => Err(stop),
    }
}

/// Counts the states of a model with each number of threads. With room that is only guessed, a net is made larger first.
fn measure_states(name: &str, session: &mut Session, threads: &[usize], n_runs: usize) -> Result<(), String> {
    let clock = Clock::start(&Limits::default());
    rows(name, threads, true, |who| {
        loop {
            let view = session.view(Purpose::Runs, &clock).map_err(|error| error.to_string())?;
            match measure(who, n_runs, |budget| count(&view.system, budget)) {
                Ok(took) => return Ok(took),
                Err(check::Stop::Fault(error, _)) if session.model().can_refine(&error) => {
                    session.refine(&error, &clock).map_err(|error| error.to_string())?;
                }
                Err(stop) => return Err(format!("{stop:?}")),
            }
        }
    })
}

/// Decides a formula with each number of threads; nothing is told of one that is violated or small.
fn measure_formula(
    name: &str,
    system: &ActionSystem,
    new_claim: &dyn Fn() -> Claim,
    wish: &Wish,
    threads: &[usize],
    n_runs: usize,
) -> Result<(), String> {
    let choice = wish.complete(&mut new_claim(), &mut Budget::unlimited()).map_err(|why| why.to_string())?;
    let Method { observer, search, reduction, .. } = choice.method;
    let decide = |budget: &mut Budget<'_>| {
        budget.max_states = MAX_STATES;
        let decided = new_claim().search(system, choice.method, &Settings::default(), budget);
        let outcome = decided.map_err(|why| why.to_string())?.outcome;
        let stats = outcome.stats;
        match outcome.stop {
            None => Ok(((stats.states, stats.transitions, stats.deadlocks), stats.peak_bytes)),
            Some(_) => Err(String::new()),
        }
    };
    match measure(Who::Alone, 1, decide) {
        Ok(took) if took.all > 0.05 => {}
        _ => return Ok(()),
    }
    let reduced = reduction.map_or("none", check::reduction::Method::name);
    let name = format!("{name}: {}, {}, {reduced}", observer.name(), search.name());
    rows(&name, threads, reduction.is_none(), |who| measure(who, n_runs, decide))
}

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let parse = |number: &str| number.parse().map_err(|_| format!("`{number}` is no number"));
    text.split(',').map(parse).collect()
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    format!("load {} on {processors} processors", text.split(' ').next().unwrap_or("unknown"))
}

fn run() -> Result<(), String> {
    let (mut threads, mut sizes, mut files, mut n_runs) = (vec![1, 2], vec![13], Vec::new(), 3);
    let (mut states, mut formulas) = (true, true);
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-t" => threads = numbers(&arguments.next().unwrap_or_default())?,
            "-n" => sizes = numbers(&arguments.next().unwrap_or_default())?,
            "-r" => n_runs = numbers(&arguments.next().unwrap_or_default())?[0].max(1),
            "--states" => formulas = false,
            "--formulas" => states = false,
            _ => files.push(PathBuf::from(argument)),
        }
    }
    println!("{}", load());
    if states {
        if files.is_empty() {
            let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
            files = MODELS.iter().map(|file| shared.join(file)).filter(|file| file.exists()).collect();
        }
        for n in sizes.into_iter().filter(|&n| n > 0) {
            let text = DINING.replacen("const N = 10;", &format!("const N = {n};"), 1);
            let mut session = Session::of_text("process", &text).map_err(|error| error.to_string())?;
            measure_states(&format!("philosophers {n}"), &mut session, &threads, n_runs)?;
        }
        for path in files {
            let opened =
                Session::open_within(&path, &ModelOptions::default(), &Clock::start(&Limits::default()));
            let mut session = opened.map_err(|error| error.to_string())?;
            let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            measure_states(&if name == "model" { folder } else { name }, &mut session, &threads, n_runs)?;
        }
    }
    if formulas {
        let wishes = [Wish::default(), Wish { reduction: ReductionWish::None, ..Wish::default() }];
        for family in FAMILIES.iter() {
            let Some(constants) = family.larger.last() else { continue };
            let all = family.formulas.iter().map(|(_, formula)| *formula);
            let mut result = Ok(());
            for_each_claim(family.model, constants, all, |row, system, new_claim| {
                let (class, formula) = family.formulas[row];
                if !FORMULAS.contains(&(family.name, class.name())) {
                    return;
                }
                for wish in &wishes {
                    let name = format!("{} {formula}", family.name);
                    let measured = measure_formula(&name, system, new_claim, wish, &threads, n_runs);
                    result = std::mem::replace(&mut result, Ok(())).and(measured);
                }
            });
            result?;
        }
    }
    println!("{}", load());
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}
