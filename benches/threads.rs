//! How searches of states by several threads compare with one: all states of models are counted, breadth first.
//!
//! `cargo bench -p stubborn-benches --bench threads` counts philosophers with 1 and 2 threads. For a curve, on a machine that does
//! nothing else: `cargo bench -p stubborn-benches --bench threads -- -t 1,2,4,8,12,16 -n 13,14,15 MODEL.pnml MODEL.pml …`. The program that
//! `--no-run` names can be taken to another machine; it needs no files but the models.
//!
//! Told are seconds by the clock, seconds of processor time of the busiest thread and of all; and by how much faster than with one
//! thread that is: by the clock, and by the busiest thread, which is what counts where others use the cores, too.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use base::{Budget, Team, Worker};
use check::{Exploration, parallel};
use language::Purpose;
use model::ActionSystem;
use stubborn::{Clock, Limits, ModelOptions, Session};

const DINING: &str = include_str!("../models/dining.proc");

/// Processor time of this thread so far, in seconds; 0 where the system does not tell.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Threads that keep account of their time. The first one is the caller's, whose time counts from the beginning.
struct Timed(Vec<Mutex<f64>>);

impl Team for Timed {
    fn n_workers(&self) -> usize {
        self.0.len()
    }

    fn run(&self, job: &(dyn Fn(Worker) + Sync)) {
        let of = self.0.len();
        thread::scope(|scope| {
            for index in 1..of {
                scope.spawn(move || {
                    let start = processor();
                    job(Worker { index, of });
                    *self.0[index].lock().expect("nobody panics here") += processor() - start;
                });
            }
            job(Worker { index: 0, of });
        });
    }
}

struct Took {
    explored: Exploration,
    wall: f64,
    busiest: f64,
    all: f64,
}

fn count(system: &ActionSystem, n_threads: usize) -> Took {
    let team = Timed((0..n_threads).map(|_| Mutex::new(0.0)).collect());
    let (start, own) = (Instant::now(), processor());
    let explored = parallel::bfs(system, &[], &mut Budget::unlimited().with_team(&team));
    let wall = start.elapsed().as_secs_f64();
    *team.0[0].lock().expect("nobody panics here") = processor() - own;
    let times: Vec<f64> = team.0.iter().map(|time| *time.lock().expect("nobody panics here")).collect();
    Took { explored, wall, busiest: times.iter().copied().fold(0.0, f64::max), all: times.iter().sum() }
}

/// Counts the states of a model with each number of threads. With room that is only guessed, a net is made larger first.
fn measure(name: &str, session: &mut Session, threads: &[usize]) -> Result<(), String> {
    let clock = Clock::start(&Limits::default());
    let mut one: Option<Took> = None;
    for &n_threads in threads {
        let took = loop {
            let view = session.view(Purpose::Runs, &clock).map_err(|error| error.to_string())?;
            let took = count(&view.system, n_threads);
            match &took.explored.stop {
                None => break took,
                Some(check::Stop::Fault(error, _)) if session.model().can_refine(error) => {
                    session.refine(error, &clock).map_err(|error| error.to_string())?;
                }
                Some(stop) => return Err(format!("{stop:?}")),
            }
        };
        let Took { explored, wall, busiest, all } = &took;
        let stats = explored.stats;
        if let Some(one) = &one {
            let counts = |took: &Took| {
                let stats = took.explored.stats;
                (stats.states, stats.transitions, stats.deadlocks, stats.depth)
            };
            if counts(one) != counts(&took) {
                return Err(format!("{n_threads} threads count {:?}, one {:?}", counts(&took), counts(one)));
            }
        }
        let (by_clock, by_time) =
            one.as_ref().map_or((1.0, 1.0), |one| (one.wall / wall, one.busiest / busiest));
        let bytes = stats.peak_bytes as f64 / stats.states as f64;
        println!(
            "{name:28} {n_threads:3} threads {:>12} states {wall:8.2} s clock ({by_clock:5.2}x) {busiest:8.2} s busiest \
             ({by_time:5.2}x) {all:8.2} s all {bytes:6.1} B/state",
            stats.states
        );
        one.get_or_insert(took);
    }
    Ok(())
}

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let parse = |number: &str| number.parse().map_err(|_| format!("`{number}` is no number"));
    text.split(',').map(parse).collect()
}

fn run() -> Result<(), String> {
    let (mut threads, mut sizes, mut files) = (vec![1, 2], vec![13, 14], Vec::new());
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-t" => threads = numbers(&arguments.next().unwrap_or_default())?,
            "-n" => sizes = numbers(&arguments.next().unwrap_or_default())?,
            _ => files.push(argument),
        }
    }
    for n in sizes.into_iter().filter(|&n| n > 0) {
        let text = DINING.replacen("const N = 10;", &format!("const N = {n};"), 1);
        let mut session = Session::of_text("process", &text).map_err(|error| error.to_string())?;
        measure(&format!("philosophers {n}"), &mut session, &threads)?;
    }
    for file in files {
        let path = Path::new(&file);
        let opened = Session::open_within(path, &ModelOptions::default(), &Clock::start(&Limits::default()));
        let mut session = opened.map_err(|error| error.to_string())?;
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        measure(&if name == "model" { folder } else { name }, &mut session, &threads)?;
    }
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
