//! Whole models on a device that is this processor, against the processor: those of the repository, and of the corpora where they are
//! there. Counts and verdicts are the same; how many models a device refuses is told.
#![allow(clippy::print_stdout)] // What is skipped is said.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base::device::{Device, Failure, Memory, Reduces};
use check::device::CpuDevice;
use stubborn::{Clock, Limits, Options, PropertyResult, Question, Remark, Session, Verdict};

const ON_DEVICE: fn() -> Options = || Options { on_device: true, ..Options::default() };

/// A device that leaves nothing out.
struct Whole(CpuDevice<'static>);

impl Device for Whole {
    fn name(&self) -> String {
        self.0.name()
    }

    fn free_bytes(&self) -> Result<u64, Failure> {
        self.0.free_bytes()
    }

    fn take(&self, n_words: u64) -> Result<Box<dyn Memory + '_>, Failure> {
        self.0.take(n_words)
    }

    fn reduces(&self, _: Reduces) -> Result<(), Failure> {
        Err(Failure("it was not tried".to_owned()))
    }
}

/// What a device did with some models.
#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    refused: Vec<PathBuf>,
    large: usize,
    states: u64,
}

/// Counts the states of a model on both. Returns whether it had fewer than this many.
fn count(path: &Path, max_states: u64, device: &dyn Device, tally: &mut Tally) -> bool {
    let limits = Limits { states: Some(max_states), ..Limits::default() }.time(Duration::from_secs(60));
    let Ok(mut session) = Session::open(path) else { return false };
    let clock = Clock::start(&limits);
    let expected = session.explore(None, &Options::default(), false, &clock).expect("it can be explored");
    if !expected.report.complete && expected.fault.is_none() {
        tally.large += 1;
        return false;
    }
    let clock = Clock::start(&Limits::default()).with_device(Some(device));
    let found = session.explore(None, &ON_DEVICE(), false, &clock).expect("it can be explored");
    if found.report.remarks.iter().any(|remark| matches!(remark, Remark::OnProcessor(_))) {
        tally.refused.push(path.to_owned());
        return true;
    }
    assert_eq!(expected.fault, found.fault, "{}", path.display());
    let (expected, found) = (expected.report, found.report);
    assert_eq!(expected.complete, found.complete, "{}: {:?}", path.display(), found.remarks);
    if expected.complete {
        let counts = |it: &stubborn::ExploreReport| (it.states, it.transitions, it.deadlocks, it.depth);
        assert_eq!(counts(&expected), counts(&found), "{}", path.display());
    }
    tally.compared += 1;
    tally.states += found.states;
    true
}

fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)));
    files.sort();
    files
}

#[test]
fn models_of_the_repository() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let device = CpuDevice::new(16 << 20);
    let mut tally = Tally::default();
    let (mut n_answers, mut n_reduced) = (0, 0);
    for path in files(&folder, &["proc", "pml"]) {
        if !count(&path, 50_000, &device, &mut tally) {
            continue;
        }
        let mut session = Session::open(&path).expect("it was opened before");
        let mut check = |options: &Options, device: Option<&dyn Device>| -> Vec<PropertyResult> {
            let limits = Limits { states: Some(200_000), ..Limits::default() };
            let clock = Clock::start(&limits).with_device(device);
            let questions = [Question::Declared, Question::DeadlockFree];
            session.check_within(&questions, options, &clock).expect("it can be checked").results
        };
        let expected = check(&Options { reduce: stubborn::ReductionWish::None, ..Options::default() }, None);
        let found = check(&ON_DEVICE(), Some(&device));
        for (expected, found) in expected.iter().zip(&found) {
            assert_ne!(expected.verdict, Verdict::Unknown, "{} {}", path.display(), expected.property);
            assert_eq!(expected.verdict, found.verdict, "{} {}", path.display(), expected.property);
            n_answers += 1;
        }
        // With reduction, too; where the processor stands in for the device, it takes the same sets.
        let reducing = Options { reduce: stubborn::ReductionWish::Best, ..ON_DEVICE() };
        let whole = Whole(CpuDevice::new(16 << 20));
        let (reduced, without) = (check(&reducing, Some(&device)), check(&reducing, Some(&whole)));
        for ((expected, found), alone) in expected.iter().zip(&reduced).zip(&without) {
            assert_eq!(expected.verdict, found.verdict, "{} {}", path.display(), expected.property);
            assert_eq!(expected.verdict, alone.verdict, "{} {}", path.display(), expected.property);
            let is_left = |it: &PropertyResult| {
                it.remarks.iter().any(|remark| matches!(remark, Remark::OnProcessor(_)))
            };
            if expected.verdict == Verdict::Holds && !is_left(found) && is_left(alone) {
                let counts = |it: &PropertyResult| (it.stats.states, it.stats.transitions, it.stats.depth);
                assert_eq!(counts(found), counts(alone), "{} {}", path.display(), expected.property);
                n_reduced += 1;
            }
        }
    }
    println!("{tally:?}, {n_answers} answers, {n_reduced} with reduction");
    assert!(n_reduced > 10, "{n_reduced}");
    assert!(tally.compared > 15 && tally.refused.len() * 10 <= tally.compared, "{tally:?}");
    assert!(n_answers > 30, "{n_answers}");
}

#[test]
fn models_of_the_corpora() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let device = CpuDevice::new(64 << 20);
    let mut nets = Vec::new();
    for folder in std::fs::read_dir(shared.join("mcc")).into_iter().flatten().flatten() {
        nets.extend(files(&folder.path(), &["pnml"]));
    }
    let mut promela = files(&shared.join("promela"), &["pml"]);
    for folder in std::fs::read_dir(shared.join("promela")).into_iter().flatten().flatten() {
        promela.extend(files(&folder.path(), &["pml"]));
    }
    if nets.is_empty() && promela.is_empty() {
        println!("skipped: there are no corpora in {}", shared.display());
        return;
    }
    // More of them with STUBBORN_STATES, which is for a longer test.
    let max_states =
        std::env::var("STUBBORN_STATES").ok().and_then(|text| text.parse().ok()).unwrap_or(3_000);
    for (kind, mut files) in [("nets", nets), ("Promela", promela)] {
        files.sort();
        let mut tally = Tally::default();
        for path in files {
            count(&path, max_states, &device, &mut tally);
        }
        println!("{kind}: {tally:?}");
    }
}
