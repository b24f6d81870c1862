//! What is changed in a certificate, or in its file, is refused.

use std::collections::BTreeSet;

use certify::rank::{Level, Reason};
use certify::{Claimed, Fair, Pair, Proof, StateReader, TooSmall, Wait};
use stubborn::Question;
use stubborn::certificate::{StateWriter, write};

use super::model::{MODEL, judged, proofs};

type Listed = Vec<(Vec<i64>, Vec<Pair>, Wait)>;

fn listed(proof: &Proof) -> Listed {
    let mut reader = StateReader::new(proof);
    let state = |reader: &mut StateReader<'_>| {
        reader.advance().expect("a state");
        (reader.values.clone(), reader.pairs.clone(), reader.wait)
    };
    (0..proof.states).map(|_| state(&mut reader)).collect()
}

fn relisted(proof: &Proof, list: &Listed) -> Proof {
    let mut writer = StateWriter::new(proof);
    list.iter().for_each(|(values, pairs, wait)| writer.put(values, *wait, pairs));
    let mut proof = proof.clone();
    writer.fill(&mut proof);
    proof
}

/// A proof with all ranks one number higher, and one more rank, which a state gets.
fn reranked(proof: &Proof, state: usize, rank: Vec<Level>) -> Proof {
    let mut proof = proof.clone();
    proof.ranks.iter_mut().for_each(|rank| rank.iter_mut().for_each(|level| level.number += 1));
    proof.ranks.push(rank);
    let mut list = listed(&proof);
    list[state].1[0].rank = proof.ranks.len() as u32 - 1;
    relisted(&proof, &list)
}

#[test]
fn corrupted_certificates_are_refused() {
    let all = proofs(MODEL, &[Question::Declared], &["strong:Worker[*]"]);
    let named = |name: &str| {
        all.iter().find(|proof| proof.property == Claimed::Declared(name.to_owned())).expect(name)
    };
    let (served, moves, exclusion) = (named("served"), named("moves"), named("exclusion"));
    let (states, list) = (listed(served), listed(served));
    let mut kinds: BTreeSet<String> = BTreeSet::new();
    let mut refused = |kind: &str, proof: &Proof| {
        kinds.insert(kind.to_owned());
        assert!(judged(MODEL, proof).is_err(), "{kind} is certified");
    };
    for at in 0..states.len() {
        let mut less = list.clone();
        less.remove(at);
        refused("a state missing", &relisted(served, &less));
        for pair in 0..list[at].1.len() {
            let mut less = list.clone();
            less[at].1.remove(pair);
            refused("a state of the product missing", &relisted(served, &less));
        }
        let mut other = list.clone();
        other[at].0[1] += 1;
        refused("a state changed", &relisted(served, &other));
        let mut less = listed(exclusion);
        less.remove(at);
        refused("a state of an invariant missing", &relisted(exclusion, &less));
    }
    let changed = |proof: &Proof, change: &dyn Fn(&mut Listed)| {
        let mut list = listed(proof);
        change(&mut list);
        relisted(proof, &list)
    };
    let of_words = |change: &dyn Fn(&mut Proof)| {
        let mut proof = served.clone();
        change(&mut proof);
        proof
    };
    let two = |list: &Listed| list.iter().position(|(_, pairs, _)| pairs.len() > 1).expect("two pairs");
    let last = |rank: u32| vec![Level { number: 0, reason: Reason::Lacks(rank) }];
    let numbers = |proof: &Proof| proof.ranks.iter().map(|rank| rank[0].number).max().unwrap_or(0);
    refused("a state twice", &changed(served, &|list| list.push(list[0].clone())));
    refused(
        "a pair twice",
        &changed(served, &|list| {
            let pair = list[0].1[0];
            list[0].1.push(pair);
        }),
    );
    refused(
        "pairs in disorder",
        &changed(served, &|list| {
            let at = two(list);
            list[at].1.reverse();
        }),
    );
    refused("a value out of range", &changed(served, &|list| list[3].0[0] = 99));
    refused("no states", &changed(served, &|list| list.clear()));
    refused("a rank out of range", &changed(served, &|list| list[2].1[0].rank = 1000));
    refused(
        "an automaton state out of range",
        &changed(served, &|list| {
            list[2].1.last_mut().expect("a pair").automaton = 1000;
        }),
    );
    for at in 0..states.len() {
        refused("a number too low", &reranked(served, at, last(0)));
        refused(
            "a number too low, leaving",
            &reranked(served, at, vec![Level { number: 0, reason: Reason::Leaves }]),
        );
    }
    refused(
        "all leave",
        &of_words(&|proof| {
            proof
                .ranks
                .iter_mut()
                .for_each(|rank| *rank = vec![Level { number: rank[0].number, reason: Reason::Leaves }]);
        }),
    );
    refused("ranks are empty", &of_words(&|proof| proof.ranks.iter_mut().for_each(Vec::clear)));
    refused(
        "a level is missing",
        &of_words(&|proof| {
            proof.ranks.iter_mut().filter(|rank| rank.len() > 1).for_each(|rank| rank.truncate(1));
        }),
    );
    for mark in [0, 1, 2, 7, 127, 128, 4_000_000_000] {
        let right = served.ranks.iter().flatten().all(|level| level.reason == Reason::Lacks(mark));
        if !right {
            refused(
                "a wrong mark everywhere",
                &of_words(&|proof| {
                    proof.ranks.iter_mut().flatten().for_each(|level| level.reason = Reason::Lacks(mark));
                }),
            );
        }
        refused(
            "a wrong constraint everywhere",
            &of_words(&|proof| {
                proof.ranks.iter_mut().flatten().for_each(|level| level.reason = Reason::Never(mark));
            }),
        );
    }
    refused(
        "one number for all",
        &of_words(&|proof| {
            assert!(numbers(proof) > 0);
            proof.ranks.iter_mut().flatten().for_each(|level| level.number = 0);
        }),
    );
    refused(
        "numbers reversed",
        &of_words(&|proof| {
            let most = numbers(proof);
            proof.ranks.iter_mut().for_each(|rank| rank[0].number = most - rank[0].number);
        }),
    );
    refused("automaton states swapped", &of_words(&|proof| proof.automaton.swap(0, 1)));
    refused(
        "an automaton state that demands less",
        &of_words(&|proof| {
            proof.automaton.iter_mut().skip(1).for_each(|state| _ = state.pop());
        }),
    );
    refused("an automaton state missing", &of_words(&|proof| _ = proof.automaton.pop()));
    refused(
        "another formula's proof",
        &of_words(&|proof| proof.property = Claimed::Declared("moves".to_owned())),
    );
    refused(
        "a formula asked instead",
        &of_words(&|proof| proof.property = Claimed::Ltl("[] Semaphore@free".to_owned())),
    );
    refused("another formula in it", &of_words(&|proof| proof.formula.clone_from(&moves.formula)));
    refused("a formula cut off", &of_words(&|proof| _ = proof.formula.pop()));
    refused(
        "an operator changed",
        &of_words(&|proof| {
            let part = proof.formula.iter_mut().find(|part| part.starts_with("F ")).expect("F");
            part.replace_range(..1, "X");
        }),
    );
    refused(
        "another part of a formula",
        &of_words(&|proof| {
            let whole = proof.formula.last_mut().expect("a formula");
            *whole = format!("G ({whole})");
        }),
    );
    refused("a formula in disorder", &of_words(&|proof| proof.formula.reverse()));
    refused("a formula without a part", &of_words(&|proof| _ = proof.formula.remove(0)));
    refused("a formula that cannot be read", &of_words(&|proof| proof.formula[0].push('(')));
    refused("no formula", &of_words(&|proof| proof.formula.clear()));
    refused("fairness left out", &of_words(&|proof| proof.fairness.clear()));
    refused(
        "weak instead of strong fairness",
        &of_words(&|proof| {
            proof.fairness.iter_mut().for_each(|fair| fair.kind = "weak".to_owned());
        }),
    );
    refused(
        "just instead of strong fairness",
        &of_words(&|proof| {
            proof.fairness.iter_mut().for_each(|fair| fair.kind = "just".to_owned());
        }),
    );
    refused(
        "fairness to others",
        &of_words(&|proof| {
            proof.fairness = vec![Fair {
                kind: "strong".to_owned(),
                process: Some("Semaphore".to_owned()),
                labels: vec![],
            }];
        }),
    );
    refused("fairness to nobody", &of_words(&|proof| proof.fairness[0].process = Some("Nobody".to_owned())));
    refused("fairness of no kind", &of_words(&|proof| proof.fairness[0].kind = "sometimes".to_owned()));
    refused(
        "another model",
        &of_words(&|proof| proof.fingerprint = moves.fingerprint.replace(['0', 'a'], "1")),
    );
    refused(
        "another constant",
        &of_words(&|proof| proof.model.definitions.push(("N".to_owned(), Some("3".to_owned())))),
    );
    refused("more variables", &of_words(&|proof| proof.variables += 1));
    refused("fewer states", &of_words(&|proof| proof.states -= 1));
    refused("more states", &of_words(&|proof| proof.states += 1));
    refused(
        "a model made larger",
        &of_words(&|proof| {
            proof.refinements.push(TooSmall { variable: 0, value: 9, action: None });
        }),
    );
    refused(
        "an unknown property",
        &of_words(&|proof| proof.property = Claimed::Declared("nothing".to_owned())),
    );
    refused("a bad formula", &of_words(&|proof| proof.property = Claimed::Ltl("[] (".to_owned())));
    let mut other = exclusion.clone();
    other.property = Claimed::Invariant("Semaphore@free".to_owned());
    refused("an invariant that is false", &other);
    other.property = Claimed::Declared("served".to_owned());
    refused("a list of states for a formula", &other);
    let another = MODEL.replace("acquire[i] -> critical;", "acquire[i] -> critical | give_up[i] -> idle;");
    assert!(judged(&another, served).is_err(), "another model's");
    let mut forged = served.clone();
    forged.fingerprint = proofs(&another, &[Question::Declared], &[])[0].fingerprint.clone();
    assert!(judged(&another, &forged).is_err(), "another model's, with its name");
    assert!(kinds.len() >= 40, "{kinds:?}");
    // The file itself.
    let mut file = Vec::new();
    write(served, &mut file).expect("a file");
    assert!(Proof::read_all(&file).is_ok());
    let of_file = |bytes: &[u8]| {
        Proof::read_all(bytes).and_then(|all| judged(MODEL, &all[0]).map_err(|why| why.to_string()))
    };
    for end in (0..file.len()).rev().step_by(7) {
        assert!(of_file(&file[..end]).is_err(), "cut off at {end}");
    }
    let start = file.len() - served.body.len() - 1;
    for at in start..file.len() {
        let mut flipped = file.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(of_file(&flipped).is_err(), "flipped at {at}");
        // The sum is no proof: without it, states are looked at, and something is missing.
        if at + 1 < file.len() {
            let mut proof = served.clone();
            proof.body[at - start] ^= 1 << (at % 8);
            let list = std::panic::catch_unwind(|| listed(&proof));
            if list.is_ok_and(|list| list != states) {
                assert!(judged(MODEL, &proof).is_err(), "flipped at {at}, sum repaired");
            }
        }
    }
    assert!(Proof::read_all(b"").is_err() && Proof::read_all(b"stubborn certificate 2\n{}\n").is_err());
    assert!(Proof::read_all(b"stubborn certificate 3\n").is_err_and(|why| why.contains("later")));
    // What an older version wrote is told from what is damaged.
    let line = file.iter().position(|&byte| byte == b'\n').expect("a line");
    let old = [b"stubborn certificate 1", &file[line..]].concat();
    assert!(Proof::read_all(&old).is_err_and(|why| why.contains("older stubborn")));
}
