//! Whatever the text, reading it ends: with a net or with errors that point into the text.

mod common;

use std::sync::Arc;

use base::{Budget, Diagnostic, SourceMap};
use common::mistakes;
use language::Model as _;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use stubborn_petri::{Model, read, to_utf8};

const NET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE pnml [<!ENTITY x "y">]>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><!-- c --><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
<name><text>n&#228;me</text></name><page id="g"><place id="p"><name><text>p &lt; q</text></name>
<initialMarking><graphics/><text> 3 </text></initialMarking></place><place id="q"/><page id="h">
<referencePlace id="r" ref="q"/></page><transition id="t"><name><text>t</text></name></transition>
<arc id="a" source="p" target="t"><inscription><text>2</text></inscription></arc>
<arc id="b" source="t" target="r"/><toolspecific tool="nupn" version="1.1"><structure units="1" root="u" safe="false">
<unit id="u"><places>p q</places><subunits/></unit></structure></toolspecific></page></net></pnml>"#;

const FORMULAS: &str = r#"<property-set xmlns="http://mcc.lip6.fr/"><property><id>f-00</id><description>d</description>
<formula><all-paths><disjunction><until><before><is-fireable><transition>t</transition></is-fireable></before><reach>
<integer-le><tokens-count><place>p</place><place>q</place></tokens-count><integer-constant>3</integer-constant></integer-le>
</reach></until><negation><next><deadlock/></next></negation></disjunction></all-paths></formula></property>
<property><id>f-01</id><formula><exists-path><finally><conjunction><true/><false/></conjunction></finally></exists-path>
</formula></property><property><id>f-02</id><formula><place-bound><place>q</place></place-bound></formula></property>
</property-set>"#;

const EXPRESSION: &str = "!(p + 2 * 'q' >= 3 && fireable(t, \"t\")) || deadlock -> -q < 1 <-> true";

/// Reads a net, a formula file and an expression; all places must be in the texts.
fn survive(net: &[u8], formulas: &[u8], expression: &str) {
    let mut sources = SourceMap::new();
    let mut add = |name: &str, bytes: &[u8]| {
        let bytes = to_utf8(name, bytes.to_vec()).ok()?;
        let source = sources.add(name, bytes).ok()?;
        Some((source, sources.get(source).text.clone()))
    };
    let in_text = |error: &Diagnostic, text: &str| {
        assert!(!error.message.is_empty() && !error.code.is_empty());
        let mut spans = error.related.iter().map(|(span, _)| *span).chain(error.span);
        assert!(spans.all(|span| text.get(span.start as usize..span.end as usize).is_some()), "{error:?}");
    };
    let Some((source, text)) = add("net.pnml", net) else { return };
    let net = match read(&text, source, &mut Budget::unlimited()) {
        Ok(net) => Arc::new(net),
        Err(trouble) => {
            let errors = mistakes(trouble);
            assert!(errors.has_errors());
            return errors.iter().for_each(|error| in_text(error, &text));
        }
    };
    let mut model = Model::new(&net, &mut Budget::unlimited()).unwrap();
    if let Some((source, text)) = add("formulas.xml", formulas) {
        let read = model.read_formulas(&text, source, &mut Budget::unlimited());
        read.iter().for_each(|properties| assert!(!properties.is_empty()));
        read.iter().flatten().for_each(|property| _ = property.name.len());
        read.map_err(mistakes).err().iter().flatten().for_each(|error| in_text(error, &text));
    }
    if let Some((source, text)) = add("--ltl", expression.as_bytes())
        && let Err(errors) = model.resolve(&text, source, 0)
    {
        errors.iter().for_each(|error| in_text(error, &text));
    }
}

/// A text with some bytes replaced, removed or repeated, and perhaps cut off.
fn mutant(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let change = (0..4u8, any::<prop::sample::Index>(), any::<u8>(), 1..40usize);
    let cut = prop::option::weighted(0.3, any::<prop::sample::Index>());
    (prop::collection::vec(change, 0..6), cut).prop_map(|(changes, cut)| {
        let mut bytes = text.as_bytes().to_vec();
        for (kind, at, byte, length) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] = byte & 0x7f,
                2 => _ = bytes.drain(at..end),
                _ => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        bytes
    })
}

fn words() -> impl Strategy<Value = String> {
    let words: Vec<&str> =
        "p q t 'p' \"t\" fireable fireable( deadlock ( ) ( ) , + - * ! ! < <= > == != && || -> <-> \
        true 1 0 7 9223372036854775807 ' \" # é r"
            .split(' ')
            .collect();
    prop::collection::vec(prop::sample::select(words), 0..25).prop_map(|words| words.join(" "))
}

fn config() -> Config {
    Config { rng_seed: RngSeed::Fixed(7), failure_persistence: None, cases: 3000, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn broken_nets_are_survived(net in mutant(NET)) {
        survive(&net, FORMULAS.as_bytes(), EXPRESSION);
    }

    #[test]
    fn broken_formulas_are_survived(formulas in mutant(FORMULAS), expression in words()) {
        survive(NET.as_bytes(), &formulas, &expression);
    }

    #[test]
    fn random_characters_are_survived(text in ".{0,80}") {
        survive(text.as_bytes(), text.as_bytes(), &text);
        survive(NET.as_bytes(), text.as_bytes(), &text);
    }
}

#[test]
fn every_truncation_is_survived() {
    survive(NET.as_bytes(), FORMULAS.as_bytes(), EXPRESSION);
    for end in 0..NET.len() {
        let mut sources = SourceMap::new();
        let Ok(source) = sources.add("net.pnml", NET.as_bytes()[..end].to_vec()) else { continue };
        assert!(
            read(&sources.get(source).text, source, &mut Budget::unlimited()).is_err(),
            "a net that ends at byte {end}"
        );
    }
    for end in 0..FORMULAS.len() {
        survive(NET.as_bytes(), &FORMULAS.as_bytes()[..end], &EXPRESSION[..end.min(EXPRESSION.len())]);
    }
}

#[test]
fn monsters_are_survived() {
    let around = |inside: &str| format!("<pnml><net id='n'>{inside}</net></pnml>");
    for text in [
        " ".repeat(20_000_000),
        "\0".repeat(20_000_000),
        "<".repeat(1_000_000),
        "<a>".repeat(1_000_000),
        "&lt;".repeat(1_000_000),
        format!("<pnml{}>", " a='b'".repeat(1_000_000)),
        format!("<pnml{}>", (0..10_000).map(|i| format!(" xmlns:a{i}='b'")).collect::<String>()),
        around(&"<page id='p'>".repeat(100_000)),
        around(&format!("{}{}", "<page id='p'>".repeat(60_000), "</page>".repeat(60_000))),
        around(&"<!-- -->".repeat(1_000_000)),
        around(&format!("<place id='{}'/>", "x".repeat(10_000_000))),
        around(&format!(
            "<place id='p'><initialMarking><text>{}</text></initialMarking></place>",
            "9".repeat(10_000_000)
        )),
        around(&"<place id='p'/>".repeat(200_000)),
        around(&"<arc source='a' target='b'/>".repeat(200_000)),
        around(
            &(0..100_000)
                .map(|i| format!("<referencePlace id='r{i}' ref='r{}'/>", i + 1))
                .collect::<String>(),
        ),
        around(&format!(
            "<toolspecific tool='nupn'><structure>{}</structure></toolspecific>",
            "<unit id='u'/>".repeat(100_000)
        )),
    ] {
        survive(text.as_bytes(), text.as_bytes(), &text[..text.len().min(1_000_000)]);
        survive(NET.as_bytes(), text.as_bytes(), "");
    }
    for expression in [
        "(".repeat(1_000_000),
        "!".repeat(1_000_000),
        "-".repeat(1_000_000),
        "p -> ".repeat(100_000) + "p",
        "p * ".repeat(100_000) + "p",
        "p && q || ".repeat(100_000) + "p",
        "deadlock && ".repeat(100_000) + "p",
        "'".repeat(100_001),
    ] {
        survive(NET.as_bytes(), FORMULAS.as_bytes(), &expression);
    }
}

#[test]
fn large_nets_are_read() {
    let mut text = String::from("<pnml><net id='ring'>");
    for i in 0..50_000 {
        let next = (i + 1) % 50_000;
        text += &format!(
            "<place id='p{i}'><name><text>p{i}</text></name><initialMarking><text>{}</text></initialMarking></place>
             <transition id='t{i}'/><arc id='a{i}' source='p{i}' target='t{i}'/><arc id='b{i}' source='t{i}' target='p{next}'/>",
            i % 2
        );
    }
    text += "</net></pnml>";
    let mut sources = SourceMap::new();
    let source = sources.add("ring.pnml", text.clone().into()).unwrap();
    let net = Arc::new(read(&text, source, &mut Budget::unlimited()).unwrap());
    assert_eq!((net.places.len(), net.transitions.len(), net.n_arcs()), (50_000, 50_000, 100_000));
    let mut model = Model::new(&net, &mut Budget::unlimited()).unwrap();
    assert_eq!(model.system.actions().len(), 50_000);
    let deadlock = sources.add("--ltl", b"deadlock".to_vec()).unwrap();
    model.resolve("deadlock", deadlock, 0).unwrap();
}
