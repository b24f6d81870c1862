//! Exploring all states of the dining philosophers, beside Spin on the same system.
//!
//! `cargo bench -p stubborn-benches --bench exploration` (Spin: Debian's package `spin`, and gcc)
#![allow(clippy::print_stdout)] // Printing is what a benchmark is for.

use base::Budget;
use check::{Exact, Stats, search};
use model::System as _;
use stubborn_benches::{fastest, spin, system};

const PROMELA: &str = "
bool held[N];
active [N] proctype Phil() {
  do
  :: atomic { !held[_pid] -> held[_pid] = 1 };
     atomic { !held[(_pid + 1) % N] -> held[(_pid + 1) % N] = 1 };
     held[_pid] = 0;
     held[(_pid + 1) % N] = 0
  od
}
";

struct Row {
    name: &'static str,
    states: u64,
    transitions: u64,
    seconds: f64,
    bytes: f64,
}

fn main() {
    let n = 13;
    let n_runs = 3;
    println!("dining philosophers, N = {n}: fastest of {n_runs} runs each");
    println!(
        "{:<16}{:>12}{:>14}{:>10}{:>12}{:>14}{:>14}",
        "", "states", "transitions", "seconds", "states/s", "ns/transition", "bytes/state"
    );
    let dining = system("dining.proc", &[("N", n)]);
    let ours = |name, depth_first| {
        let explore = || -> Stats {
            let mut store = Exact::new(dining.width(), u64::MAX);
            let mut budget = Budget::unlimited();
            if depth_first {
                search::dfs::search(&dining, &mut store, &[], &mut budget).stats
            } else {
                search::bfs::search(&dining, &mut store, &[], &mut budget).stats
            }
        };
        let (seconds, stats) = fastest(n_runs, explore);
        let bytes = stats.peak_bytes as f64;
        Row { name, states: stats.states, transitions: stats.transitions, seconds, bytes }
    };
    let bfs = ours("stubborn bfs", false);
    print(&bfs);
    print(&ours("stubborn dfs", true));
    // Deadlocks are ignored, so that the whole space is explored; the depth is enough for all of it.
    let options = ["-E", "-m5000000"];
    match spin(&format!("#define N {n}\n{PROMELA}"), &["-DNOREDUCE", "-DSAFETY"], &options, n_runs) {
        None => println!("spin: skipped, since `spin` or `gcc` is missing"),
        Some(run) => {
            let spin = Row {
                name: "spin -DNOREDUCE",
                states: run.states,
                transitions: run.transitions,
                seconds: run.seconds,
                bytes: run.bytes,
            };
            print(&spin);
            println!("stubborn bfs : spin = {:.1} in states/s", spin.seconds / bfs.seconds);
        }
    }
}

fn print(row: &Row) {
    let Row { name, states, transitions, seconds, bytes } = row;
    let rate = *states as f64 / seconds;
    let ns = seconds * 1e9 / *transitions as f64;
    let per_state = bytes / *states as f64;
    println!("{name:<16}{states:>12}{transitions:>14}{seconds:>10.2}{rate:>12.0}{ns:>14.0}{per_state:>14.1}");
}
