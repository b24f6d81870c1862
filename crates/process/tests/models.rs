//! All models of the project load without warnings, and are what their heads say.

mod common;

use std::path::{Path, PathBuf};

use common::{explore, load_text, tester_objects};
use language::PropertyKind;
use model::reference;
use stubborn_process::Model;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn load_model(name: &str, constants: &[(&str, i64)]) -> Model {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    let mut loader = |file: &str| std::fs::read(folder().join(file)).map_err(|error| error.to_string());
    load_text(&text, constants, &mut loader).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"))
}

/// Number of states and deadlocks, and the invariants and testers that are violated.
fn summary(model: &Model) -> (usize, usize, Vec<&str>) {
    let graph = explore(model);
    let deadlocks = graph.values().filter(|steps| steps.is_empty()).count();
    let violated = |kind: &PropertyKind| match kind {
        PropertyKind::Invariant(expr) => {
            graph.keys().any(|state| reference::value(&model.system, *expr, state).unwrap() == 0)
        }
        PropertyKind::Tester(observed) => tester_objects(model, observed),
        PropertyKind::Ltl(_) | PropertyKind::Spec(_) => false,
        other => panic!("no file declares {other:?}"),
    };
    let violated = model.properties.iter().filter(|property| violated(&property.kind));
    (graph.len(), deadlocks, violated.map(|property| property.name.as_str()).collect())
}

#[test]
fn models_are_what_their_heads_say() {
    type Row = (&'static str, &'static [(&'static str, i64)], usize, usize, &'static [&'static str]);
    let rows: &[Row] = &[
        ("dining.proc", &[("N", 7)], 2_186, 1, &["Starves"]),
        ("acknowledged_ring.proc", &[], 144, 0, &["Starves"]),
        ("acknowledged_ring.proc", &[("N", 7)], 2_016, 0, &["Starves"]),
        ("pipeline.proc", &[], 81, 0, &[]),
        ("protocols.proc", &[("N", 1)], 108, 0, &[]),
        ("dining_asymmetric.proc", &[], 242, 0, &[]),
        ("semaphore.proc", &[], 44, 0, &["Overtaken[1]", "Overtaken[2]"]),
        ("peterson.proc", &[], 20, 0, &[]),
        ("peterson_n.proc", &[("N", 2)], 54, 0, &[]),
        ("alternating_bit.proc", &[], 108, 0, &[]),
        ("alternating_bit.proc", &[("BITS", 1)], 34, 0, &["Order"]),
        ("token_ring.proc", &[], 96, 0, &["Waits"]),
        ("buffer.proc", &[], 80, 0, &[]),
        ("counters.proc", &[], 4_096, 0, &[]),
        ("readers_writers.proc", &[], 36, 0, &[]),
        ("leader_election.proc", &[], 63, 0, &[]),
        ("crossing.proc", &[], 35, 0, &[]),
        ("crossing.proc", &[("SIGNAL", 0)], 55, 0, &["safe", "Safe"]),
        ("scheduler.proc", &[], 96, 0, &[]),
        ("vending.proc", &[], 6, 0, &[]),
        ("relay.proc", &[], 4, 0, &[]),
    ];
    let mut wrong = Vec::new();
    for &(name, constants, states, deadlocks, violated) in rows {
        let model = load_model(name, constants);
        let found = summary(&model);
        if (found.0, found.1, found.2.as_slice()) != (states, deadlocks, violated) {
            wrong.push(format!("{name} {constants:?}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_model_is_forgotten_and_none_has_warnings() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".proc") {
            let model = load_model(&name, &[]);
            let warnings: Vec<&str> = model.warnings.iter().map(|warning| warning.message.as_str()).collect();
            assert_eq!(warnings, [""; 0], "{name}");
        }
    }
}
