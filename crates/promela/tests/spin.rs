//! The graphs of `flow` are those that Spin's verifiers print (`pan -d`).
//!
//! `STUBBORN_SPIN=1 cargo test -p stubborn-promela --test spin` compares all models of the corpus;
//! `STUBBORN_SPIN=some/folder` all those in a folder. Without it, or without `spin` and `gcc`, nothing
//! is compared here: `flow.rs` has graphs that were compared once.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{corpus, read_text, shown};
use stubborn_promela::flow::{Action, Flow, flow};
use stubborn_promela::program::{Proctype, ProctypeId, ProctypeKind};

/// An edge: whose, from, to, its flags as `pan -d` shows them, the escape, and the statement,
/// counted from the first one that occurs.
type Row = (String, u32, u32, String, u32, u32);

fn name(proctype: &Proctype, n_claims: usize) -> String {
    match proctype.kind {
        ProctypeKind::Init => ":init:".to_owned(),
        ProctypeKind::Never if &*proctype.name == "never" => format!("never_{n_claims}"),
        ProctypeKind::Trace | ProctypeKind::NoTrace => "trace".to_owned(),
        _ => proctype.name.to_string(),
    }
}

fn rows(name: &str, flow: &Flow<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let edges = flow.locations.iter().flat_map(|location| &location.edges);
    let first = edges.map(|edge| edge.statement).min().unwrap_or(0);
    for location in &flow.locations {
        for edge in &location.edges {
            let target = match edge.action {
                Action::End => 0,
                _ => flow.location(edge.target).number,
            };
            let hold = match edge.action {
                Action::DStep(_) => 'D',
                _ if edge.atomic => 'A',
                _ => '-',
            };
            let mark = |is: bool, letter: char| if is { letter } else { '-' };
            let (accept, end) = (mark(location.is_accept, 'a'), mark(location.is_end, 'e'));
            let flags = format!("{hold}{accept}{end}{}", mark(location.is_progress, 'p'));
            rows.push((name.to_owned(), location.number, target, flags, edge.escape, edge.statement - first));
        }
    }
    rows
}

/// What can be reached from a location. Spin shows the first statements of escapes, too.
fn reached(rows: &[Row], initial: u32) -> Vec<Row> {
    let mut known = BTreeSet::from([initial]);
    let mut pending = vec![initial];
    while let Some(from) = pending.pop() {
        let targets = rows.iter().filter(|row| row.1 == from).map(|row| row.2);
        pending.extend(targets.filter(|&target| known.insert(target)));
    }
    let mut rows: Vec<Row> = rows.iter().filter(|row| known.contains(&row.1)).cloned().collect();
    let first = rows.iter().map(|row| row.5).min().unwrap_or(0);
    rows.iter_mut().for_each(|row| row.5 -= first);
    rows.sort();
    rows
}

/// What Spin says; `None` if it cannot be asked.
fn spin_rows(model: &Path, folder: &Path) -> Option<Vec<Row>> {
    std::fs::copy(model, folder.join("m.pml")).ok()?;
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(folder).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    _ = std::fs::remove_file(folder.join("pan.c"));
    _ = std::fs::remove_file(folder.join("pan"));
    run("spin", &["-a", "-o1", "-o2", "-o3", "m.pml"])?;
    run("gcc", &["-O0", "-w", "-DNOREDUCE", "-o", "pan", "pan.c"])?;
    let text = run(folder.join("pan").to_str()?, &["-d"])?;
    let mut rows = Vec::new();
    let mut owner = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("proctype ").or_else(|| line.strip_prefix("claim ")) {
            owner = name.trim().to_owned();
        } else if let Some(init) = line.strip_prefix("init") {
            owner = format!(":init:{}", init.trim());
        } else if line.ends_with("trace assertion") {
            owner = "trace".to_owned();
        } else if let Some((from, rest)) =
            line.trim().strip_prefix("state").and_then(|l| l.split_once("-(tr"))
        {
            let to = rest.split_once("state")?.1.split_whitespace().next()?.parse().ok()?;
            // The last letter says whether the edge is local.
            let mut flags = rest.split('[').nth(2)?.get(..4)?.to_owned();
            if rest.contains("=> D_STEP") {
                flags.replace_range(..1, "D");
            }
            let number =
                |word: &str| Some(rest.split_once(word)?.1.split_whitespace().next()?.trim_matches(']'));
            let escape = number(" org ").map_or(Some(0), |escape| escape.parse().ok())?;
            let statement = number("[id ")?.parse().ok()?;
            rows.push((owner.clone(), from.trim().parse().ok()?, to, flags, escape, statement));
        }
    }
    Some(rows)
}

#[test]
fn graphs_are_those_of_spin() {
    let Some(wanted) = std::env::var_os("STUBBORN_SPIN") else {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("SKIPPED: STUBBORN_SPIN is not set");
        }
        return;
    };
    let wanted = PathBuf::from(wanted);
    let mut models: Vec<PathBuf> = match std::fs::read_dir(&wanted) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => corpus(),
    };
    models.retain(|model| model.extension().is_some_and(|extension| extension == "pml"));
    models.sort();
    let folder = std::env::temp_dir().join(format!("stubborn-spin-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut failed = String::new();
    let mut n_edges = 0;
    for model in models {
        let text = String::from_utf8_lossy(&std::fs::read(&model).unwrap()).into_owned();
        let (program, sources) = read_text(&text);
        let program = match program {
            Ok(program) => program,
            Err(errors) => {
                failed.push_str(&format!("{}\n{}", model.display(), shown(&errors, &sources)));
                continue;
            }
        };
        let Some(theirs) = spin_rows(&model, &folder).filter(|rows| !rows.is_empty()) else {
            failed.push_str(&format!("{}: Spin cannot be asked\n", model.display()));
            continue;
        };
        let mut n_claims = 0;
        for (index, proctype) in program.proctypes.iter().enumerate() {
            let name = name(proctype, n_claims);
            n_claims += usize::from(proctype.kind == ProctypeKind::Never);
            let flow = flow(&program, ProctypeId::new(index)).unwrap();
            let initial = flow.location(flow.initial).number;
            let ours = reached(&rows(&name, &flow), initial);
            let theirs: Vec<Row> = theirs.iter().filter(|row| row.0 == name).cloned().collect();
            let theirs = reached(&theirs, initial);
            n_edges += ours.len();
            if ours != theirs {
                failed.push_str(&format!("{}\n", model.display()));
                let mut show = |what: &str, these: &[Row], others: &[Row]| {
                    let missing = these.iter().filter(|row| !others.contains(row));
                    missing.take(8).for_each(|row| failed.push_str(&format!("  {what} {row:?}\n")));
                };
                show("ours", &ours, &theirs);
                show("Spin", &theirs, &ours);
            }
        }
    }
    _ = std::fs::remove_dir_all(&folder);
    assert!(failed.is_empty(), "{failed}");
    assert!(n_edges > 0);
}
