//! Whatever is done with a net ends with the budget, wherever that is spent; and with enough of it, nothing is
//! different.

mod common;

use std::fmt::Debug;
use std::sync::Arc;

use base::budget::Patience;
use base::{Budget, Limit, SourceMap};
use common::nets::{Plan, net_of_plan, pnml};
use common::{facts, lower, net_of};
use language::{Facts as _, File, Model as _, Preserve, PropertyKind, Purpose, Refined, Rules, Trouble};
use model::{Fault, StepError, VarId};
use stubborn_petri::mcc::Examination;
use stubborn_petri::structural::{Keep, Reducer};
use stubborn_petri::{Bounds, Facts, LANGUAGE, Net, read};

/// One resource with many users; then a long chain of places.
fn plan(n_users: usize, n_links: usize) -> Plan {
    let (mut places, mut transitions) = (vec![1], Vec::new());
    for _ in 0..n_users {
        let idle = places.len();
        places.extend([1, 0]);
        transitions.push((vec![(idle, 1), (0, 1)], vec![(idle + 1, 1)]));
        transitions.push((vec![(idle + 1, 1)], vec![(idle, 1), (0, 1)]));
    }
    places.push(3);
    for _ in 0..n_links {
        let last = places.len() - 1;
        transitions.push((vec![(last, 1)], vec![(last + 1, 1)]));
        places.push(0);
    }
    (places, transitions)
}

fn net() -> Arc<Net> {
    net_of_plan(&plan(250, 700))
}

/// Does something again and again, with more patience and then with more bytes each time; in the end it must
/// give what it gives without limits. Returns how often each stopped it.
fn try_all<T: Debug>(mut work: impl FnMut(&mut Budget<'_>) -> Result<T, Limit>) -> [u64; 2] {
    let whole = format!("{:?}", work(&mut Budget::unlimited()).expect("there are no limits"));
    let mut n_stopped = [0, 0];
    for looks in 0.. {
        let watch = Patience::new(looks);
        match work(&mut Budget::new(u64::MAX, u64::MAX, &watch)) {
            Err(limit) => assert_eq!(limit, Limit::Interrupt),
            Ok(done) => {
                assert!(format!("{done:?}") == whole);
                break;
            }
        }
        n_stopped[0] += 1;
    }
    for bits in 0.. {
        let watch = Patience::new(u64::MAX);
        match work(&mut Budget::new(u64::MAX, 1 << bits, &watch)) {
            Err(limit) => assert_eq!(limit, Limit::Memory(1 << bits)),
            Ok(done) => {
                assert!(format!("{done:?}") == whole && bits < 28, "{} bytes", 1u64 << bits);
                break;
            }
        }
        n_stopped[1] += 1;
    }
    n_stopped
}

fn limit(trouble: Trouble) -> Limit {
    match trouble {
        Trouble::Limit(limit) => limit,
        Trouble::Wrong(mistakes) => panic!("{mistakes:?}"),
    }
}

#[test]
fn reading_ends() {
    let text = pnml(&plan(250, 700));
    let source = SourceMap::new().add("net.pnml", text.clone().into()).unwrap();
    let n_stopped = try_all(|budget| {
        let net = read(&text, source, budget).map_err(limit)?;
        Ok((net.places, net.transitions))
    });
    assert!(n_stopped.iter().all(|n| *n > 8), "{n_stopped:?}");
    let n_stopped = try_all(|budget| {
        let file = File { name: "net.pnml".to_owned(), bytes: text.clone().into_bytes() };
        let no_files = &mut |_: &str| Err(String::new());
        let model =
            (LANGUAGE.read)(file, &language::Options::default(), &mut SourceMap::new(), no_files, budget);
        // How much room places have depends on how much is found out about them.
        Ok(model.map_err(limit)?.system().variables().iter().map(|var| var.name.clone()).collect::<Vec<_>>())
    });
    assert!(n_stopped.iter().all(|n| *n > 8), "{n_stopped:?}");
}

#[test]
fn lowering_ends() {
    let net = net();
    let n_stopped = try_all(|budget| net.place_bounds(budget));
    assert!(n_stopped[0] > 8, "{n_stopped:?}");
    // Bounds can be guessed without any room for sums.
    let watch = Patience::new(u64::MAX);
    let mut little = Budget::new(u64::MAX, 1_000, &watch);
    assert_eq!(net.place_bounds(&mut little), Err(Limit::Memory(1_000)));
    assert!(Bounds::guess(&net, &mut little).is_ok());
    let n_stopped = try_all(|budget| {
        let model = net.lower(Bounds::all(&net, 5), budget)?;
        Ok((model.system.variables().to_vec(), model.system.actions().to_vec()))
    });
    assert!(n_stopped.iter().all(|n| *n > 8), "{n_stopped:?}");
    let model = lower(&net);
    let n_stopped = try_all(|budget| match model.view(Purpose::Replay, budget) {
        Ok(view) => Ok(view.system.variables().to_vec()),
        Err(Trouble::Limit(limit)) => Err(limit),
        Err(Trouble::Wrong(errors)) => panic!("{errors:?}"),
    });
    assert!(n_stopped.iter().all(|n| *n > 8), "{n_stopped:?}");
    let error = StepError { fault: Fault::OutOfRange { var: VarId::new(5), value: 1 << 40 }, action: None };
    let n_stopped = try_all(|budget| {
        let mut model = model.clone();
        assert!(model.can_refine(&error));
        assert_eq!(model.refine(&error, budget).map_err(limit)?, Refined::Room);
        assert!(!model.can_refine(&error));
        Ok(model.system.variables().to_vec())
    });
    assert!(n_stopped.iter().all(|n| *n > 8), "{n_stopped:?}");
}

#[test]
fn facts_end() {
    let net = net();
    let reducer = Arc::new(Reducer::new(net.clone(), &mut Budget::unlimited()).unwrap());
    let n_stopped = try_all(|budget| Ok(format!("{:?}", Reducer::new(net.clone(), budget)?)));
    assert!(n_stopped.iter().all(|n| *n > 8), "{n_stopped:?}");
    let n_stopped = try_all(|budget| Ok(format!("{:?}", Facts::new(&reducer, budget)?)));
    assert!(n_stopped[1] > 8, "{n_stopped:?}");
    let (facts, mut model) = (facts(&net), lower(&net));
    let n_stopped =
        try_all(|budget| Ok(model.examination("QuasiLiveness", budget).map_err(limit)?.unwrap().name));
    assert!(n_stopped.iter().all(|n| *n > 8), "{n_stopped:?}");
    // That it is not safe is seen at first.
    for examination in [Examination::QuasiLiveness, Examination::StableMarking] {
        let asked = model.global_question(examination, &mut Budget::unlimited()).unwrap().unwrap();
        let (system, formulas) = model.parts();
        let n_stopped = try_all(|budget| facts.answer(&system.exprs, formulas, &asked.kind, budget));
        assert!(n_stopped[0] > 8, "{n_stopped:?}");
    }
}

#[test]
fn formula_files_end() {
    let net = net();
    let mut text = String::from("<property-set>");
    for (index, transition) in net.transitions.iter().enumerate() {
        let atom = format!("<is-fireable><transition>{}</transition></is-fireable>", transition.id);
        let formula = format!("<exists-path><finally>{atom}</finally></exists-path>");
        text += &format!("<property><id>f-{index}</id><formula>{formula}</formula></property>");
    }
    text += "</property-set>";
    let model = lower(&net);
    let n_stopped = try_all(|budget| {
        let file = File { name: "ReachabilityFireability.xml".to_owned(), bytes: text.clone().into_bytes() };
        let asked = model.clone().contest_file(file, &mut SourceMap::new(), budget).map_err(limit)?;
        assert!(asked.iter().all(|property| matches!(property.kind, PropertyKind::Possible(_))));
        Ok(asked.into_iter().map(|property| property.name).collect::<Vec<_>>())
    });
    assert!(n_stopped.iter().all(|n| *n > 8), "{n_stopped:?}");
}

#[test]
fn reductions_end_and_are_right_wherever_they_stop() {
    // Small enough for the deadlock to be found by hand: the chain always ends, the resource goes round.
    let net = net_of_plan(&plan(0, 300));
    let reducer = Reducer::new(net.clone(), &mut Budget::unlimited()).unwrap();
    let all = &Rules::all();
    let whole = reducer.reduce(&Keep::deadlocks(), all, &mut Budget::unlimited()).unwrap();
    assert_eq!(whole.stop, None);
    let mut n_stopped = 0;
    for looks in 0.. {
        let watch = Patience::new(looks);
        let mut budget = Budget::new(u64::MAX, u64::MAX, &watch);
        let reduced = reducer.reduce(&Keep::deadlocks(), all, &mut budget).unwrap();
        let mut run = Vec::new();
        let mut marking = common::marking_graph::initial(&reduced.net);
        // Any run leads to the only deadlock.
        while let Some((transition, after)) = (0..reduced.net.transitions.len())
            .map(stubborn_petri::TransitionId::new)
            .find_map(|it| Some((it, common::marking_graph::fire(&reduced.net, &marking, it)?)))
        {
            run.push(transition);
            marking = after;
        }
        let path = reduced.path_to_deadlock(&net, &run).unwrap();
        assert_eq!(path.len(), 900, "three tokens go through the whole chain");
        if reduced.stop.is_none() {
            assert_eq!(reduced.net.transitions, whole.net.transitions);
            break;
        }
        assert_eq!(reduced.stop, Some(Limit::Interrupt));
        n_stopped += 1;
    }
    assert!(n_stopped > 8, "{n_stopped}");
    let watch = Patience::new(u64::MAX);
    let mut little = Budget::new(u64::MAX, 1_000, &watch);
    assert_eq!(reducer.reduce(&Keep::deadlocks(), all, &mut little).err(), Some(Limit::Memory(1_000)));
    assert!(lower(&net).simplify(Preserve::Deadlocks, &[], all, &mut little).is_none());
}

#[test]
fn a_view_is_not_disturbed_by_what_is_added_later() {
    let mut model = lower(&net_of("<pnml><net id='n'><place id='p'/><transition id='t'/></net></pnml>"));
    let one = model.parts().0.exprs.int(1);
    model.parts().0.add_proposition("before", one);
    let views = [Purpose::Runs, Purpose::Replay]
        .map(|purpose| model.view(purpose, &mut Budget::unlimited()).unwrap().system);
    let two = model.parts().0.exprs.int(2);
    model.parts().0.add_proposition("after", two);
    assert_eq!(model.system().propositions().len(), 2);
    assert!(views.iter().all(|system| system.propositions().len() == 1));
    let again = model.view(Purpose::Runs, &mut Budget::unlimited()).unwrap().system;
    assert_eq!(again.propositions().len(), 2);
}

/// A marking that names all colors is listed only if there is room for it, and that is known before the first one.
/// (Eight million colors took 270 MB where one was allowed.)
#[test]
fn a_marking_that_is_too_large_is_not_listed() {
    let values: String = (0..200).map(|at| format!("<feconstant id=\"c{at}\" name=\"{at}\"/>")).collect();
    let part = "<usersort declaration=\"C\"/>";
    let all = format!("<subterm><all>{part}</all></subterm>").repeat(3);
    let text = format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/symmetricnet\"><declaration><structure><declarations>\
         <namedsort id=\"C\" name=\"C\"><cyclicenumeration>{values}</cyclicenumeration></namedsort>\
         <namedsort id=\"P\" name=\"P\"><productsort>{part}{part}{part}</productsort></namedsort>\
         </declarations></structure></declaration><page id=\"g\"><place id=\"p\"><type><structure>\
         <usersort declaration=\"P\"/></structure></type><hlinitialMarking><structure><tuple>{all}</tuple>\
         </structure></hlinitialMarking></place></page></net></pnml>"
    );
    let source = SourceMap::new().add("net.pnml", text.clone().into()).unwrap();
    // Enough to read the text, and not to look at every color.
    let watch = Patience::new(2_000);
    let read = read(&text, source, &mut Budget::new(u64::MAX, 10_000_000, &watch));
    assert_eq!(limit(read.expect_err("there is no room")), Limit::Memory(10_000_000));
}
