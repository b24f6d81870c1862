//! Small PNML texts: what is read, and what is refused with which message.

mod common;

use base::{Budget, Diagnostics, SourceMap};
use common::{mistakes, net_of};
use stubborn_petri::{Lookup, Net, Node, PlaceId, read, to_utf8};

/// A net with this inside its page.
fn page(inside: &str) -> String {
    format!(
        "<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'>{inside}</page></net></pnml>"
    )
}

const PLACES: &str = "<place id='p'><initialMarking><text>2</text></initialMarking></place><place id='q'/>";

fn errors_of(text: &str) -> Diagnostics {
    let mut sources = SourceMap::new();
    let source = sources.add("net.pnml", text.into()).unwrap();
    let errors =
        read(text, source, &mut Budget::unlimited()).map(|net: Net| net.id).map_err(mistakes).unwrap_err();
    for error in &errors {
        let span = error.span.expect("a place");
        assert!(sources.get(source).text.get(span.start as usize..span.end as usize).is_some());
    }
    errors
}

/// The first error: its code, and the text that it points at.
fn error_of(text: &str) -> (&'static str, String) {
    let errors = errors_of(text);
    let first = errors.iter().next().unwrap();
    let span = first.span.unwrap();
    (first.code, text[span.start as usize..span.end as usize].to_owned())
}

#[test]
fn everything_that_pnml_has_is_read() {
    let net = net_of(
        r#"<?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE pnml [<!ENTITY unused "x">]>
        <!-- a comment before the root -->
        <x:pnml xmlns:x="http://www.pnml.org/version-2009/grammar/pnml" xmlns:other="urn:other">
          <x:net type="http://www.pnml.org/version-2009/grammar/ptnet" id="all">
            <x:name><x:text>A net</x:text></x:name>
            <other:place id="p"/>
            <x:page id="top">
              <x:arc id="a1" source="p" target="t"><x:inscription>
                <x:graphics><x:text>7</x:text></x:graphics><x:text> <!-- in between --> 3
                </x:text></x:inscription></x:arc>
              <x:page id="inner">
                <x:name><x:text>not the net's name</x:text></x:name>
                <x:place id="p">
                  <x:toolspecific tool="x" version="1"><x:initialMarking><x:text>9</x:text></x:initialMarking></x:toolspecific>
                  <x:graphics><x:position x="1" y="2"/></x:graphics>
                  <x:initialMarking><x:text>4</x:text><x:graphics/></x:initialMarking>
                  <x:name><x:text>a &lt; b &#38; <![CDATA[<c>]]></x:text></x:name>
                </x:place>
                <x:referencePlace id="r" ref="rr"/>
                <x:referenceTransition id="tr" ref="t"/>
              </x:page>
              <x:referencePlace id="rr" ref="q"><x:name><x:text>ref</x:text></x:name></x:referencePlace>
              <x:transition id="t"><x:name><x:text>go</x:text></x:name></x:transition>
              <x:arc id="a2" source="t" target="r"/>
              <x:arc id="a3" source="tr" target="q"><x:inscription><x:text>2</x:text></x:inscription></x:arc>
              <x:arc id="a4" source="tr" target="p"/>
              <x:place id="q"/>
            </x:page>
          </x:net>
        </x:pnml>"#,
    );
    assert_eq!((net.id.as_str(), net.name.as_deref()), ("all", Some("A net")));
    let [p, q] = [0, 1].map(PlaceId::new);
    assert_eq!((net.place(p).id.as_str(), net.place(p).initial), ("p", 4));
    assert_eq!(net.place(p).name.as_deref(), Some("a < b & <c>"));
    assert_eq!((net.place(q).id.as_str(), net.place(q).initial), ("q", 0));
    let [transition] = &net.transitions[..] else { panic!("{net:?}") };
    assert_eq!((transition.id.as_str(), transition.name.as_deref()), ("t", Some("go")));
    assert_eq!(transition.inputs, [(p, 3)]);
    assert_eq!(transition.outputs, [(p, 1), (q, 3)], "arcs of the same nodes are added up");
    assert_eq!(transition.changes().collect::<Vec<_>>(), [(p, -2), (q, 3)]);
    let Lookup::Found(found) = net.find_place("a < b & <c>") else { panic!("it has this name") };
    assert_eq!(found.iter().collect::<Vec<_>>(), [p]);
    assert_eq!(net.find_place("go"), Lookup::Unknown);
    assert!(matches!(net.node("t"), Some(Node::Transition(_))));
    assert_eq!(net.node("r"), None, "references are not nodes");
    assert_eq!(net.n_arcs(), 3);
    assert_eq!(net.warnings.iter().count(), 0);
}

#[test]
fn nested_units_are_read_or_left_out_with_a_warning() {
    let units = |structure: &str| {
        let tool =
            format!("<toolspecific tool='nupn' version='1.1'><size places='2'/>{structure}</toolspecific>");
        net_of(&page(&format!("<place id='a'/><place id='b'/><place id='c'/>{tool}")))
    };
    let net = units(
        "<structure units='3' root='u0' safe='true'><unit id='u0'><places/><subunits>u1 u2</subunits></unit>
         <unit id='u1'><places>a  b</places><subunits/></unit><unit id='u2'><places>c</places><subunits/></unit>
         </structure>",
    );
    let found = net.units.as_ref().unwrap();
    assert!(found.safe);
    let places: Vec<usize> = found.units.iter().map(|unit| unit.places.len()).collect();
    assert_eq!((places, found.units[0].subunits.len()), (vec![0, 2, 1], 2));
    for bad in [
        "<structure safe='true'><unit id='u'><places>a nowhere</places></unit></structure>",
        "<structure safe='true'><unit id='u'><places>a a</places></unit></structure>",
        "<structure safe='true'><unit id='u'><subunits>v</subunits></unit></structure>",
        "<structure safe='true'><unit id='u'/><unit id='u'/></structure>",
    ] {
        let net = units(bad);
        assert!(net.units.is_none());
        assert_eq!(net.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["bad-units"]);
    }
}

#[test]
fn what_is_not_a_net_is_refused() {
    assert_eq!(error_of("hello"), ("not-xml", String::new()));
    assert_eq!(error_of("").0, "no-net");
    assert_eq!(error_of("  \n ").0, "no-net");
    assert_eq!(error_of("{\"json\": 1}").0, "not-xml");
    assert_eq!(error_of("<html></html>"), ("not-pnml", "<html>".into()));
    assert_eq!(error_of("<pnml/>").0, "no-net");
    assert_eq!(error_of("<pnml><net id='n'></pnml>").0, "not-xml");
    assert_eq!(error_of("<pnml><net id='n'>").0, "not-xml");
    assert_eq!(error_of("<pnml><net id='n'/></pnml><pnml/>").0, "not-xml");
    assert_eq!(error_of("<pnml><net id='n'/></pnml> more").0, "not-xml");
    assert_eq!(error_of("<pnml><net id=n/></pnml>").0, "not-xml");
    assert_eq!(error_of("<pnml><net id='n' type='urn:timed'/></pnml>").0, "net-type");
    assert_eq!(error_of(&page("<place id='p'><type/></place>")), ("colored-net", "<type/>".into()));
    assert_eq!(error_of(&page("<declaration/>")).0, "colored-net");
    assert_eq!(error_of(&page("<place id='p'><capacity/></place>")).0, "capacity");
    let inhibitor =
        "<place id='p'/><transition id='t'/><arc source='p' target='t'><type value='inhibitor'/></arc>";
    assert_eq!(error_of(&page(inhibitor)), ("arc-type", "<type value='inhibitor'/>".into()));
    assert_eq!(error_of(&page("<arc type='inhibitor' source='p' target='t'/>")).0, "arc-type");
}

#[test]
fn mistakes_in_nets_are_told_with_their_place() {
    let with = |inside: &str| error_of(&page(&format!("{PLACES}<transition id='t'/>{inside}")));
    let arc = "<arc id='a' source='p' target='tt'/>";
    assert_eq!(with(arc), ("unknown-node", arc.into()));
    let text = page(&format!("{PLACES}<transition id='tick'/><arc source='p' target='tikc'/>"));
    assert_eq!(errors_of(&text).iter().next().unwrap().help.as_deref(), Some("did you mean `tick`?"));
    assert_eq!(with("<arc id='a' source='p' target='q'/>").0, "bad-arc");
    assert_eq!(with("<arc id='a' source='t' target='t'/>").0, "bad-arc");
    assert_eq!(with("<arc id='a' source='p'/>").0, "missing-attribute");
    assert_eq!(with("<place/>"), ("missing-attribute", "<place/>".into()));
    assert_eq!(with("<place id=''/>").0, "missing-attribute");
    assert_eq!(with("<transition id='p'/>"), ("duplicate-id", "<transition id='p'/>".into()));
    assert_eq!(with("<referencePlace id='r' ref='t'/>").0, "bad-reference");
    assert_eq!(with("<referencePlace id='r' ref='s'/><referencePlace id='s' ref='r'/>").0, "bad-reference");
    let marking =
        |text: &str| with(&format!("<place id='x'><initialMarking>{text}</initialMarking></place>"));
    assert_eq!(marking("<text>-1</text>"), ("negative", "<text>".into()));
    assert_eq!(marking("<text>many</text>").0, "not-a-number");
    assert_eq!(marking("<text></text>").0, "not-a-number");
    assert_eq!(marking("<text>1.5</text>").0, "not-a-number");
    assert_eq!(marking("<text>9223372036854775808</text>").0, "too-large");
    assert_eq!(marking("<text>99999999999999999999999999</text>").0, "too-large");
    assert_eq!(marking("<value>Default,1</value>").0, "missing-text");
    assert_eq!(marking("3").0, "missing-text");
    let weight = |text: &str| {
        with(&format!("<arc source='p' target='t'><inscription><text>{text}</text></inscription></arc>"))
    };
    assert_eq!(weight("x").0, "not-a-number");
    assert_eq!(weight("-3").0, "negative");
    assert_eq!(weight("18446744073709551616").0, "too-large");
    let all = errors_of(&page("<place id='p'/><place id='p'/><arc source='x' target='y'/><place id='p'/>"));
    assert_eq!(all.n_errors(), 2, "what follows from the first mistakes is not told");
}

#[test]
fn sums_of_weights_that_are_too_large_are_refused() {
    let arc = "<arc source='p' target='t'><inscription><text>9223372036854775807</text></inscription></arc>";
    let text = page(&format!("{PLACES}<transition id='t'/>{arc}{arc}"));
    let source = SourceMap::new().add("net.pnml", text.clone().into()).unwrap();
    let errors = read(&text, source, &mut Budget::unlimited()).map_err(mistakes).unwrap_err();
    assert_eq!(errors.iter().next().unwrap().code, "too-large");
}

#[test]
fn entities_are_never_expanded() {
    let bomb: String =
        (1..10).map(|i| format!("<!ENTITY e{i} '{}'>", format!("&e{};", i - 1).repeat(10))).collect();
    let inside = "<place id='p'><name><text>&e9;</text></name></place>";
    let text = format!("<!DOCTYPE pnml [<!ENTITY e0 'ha'>{bomb}]>{}", page(inside));
    assert_eq!(error_of(&text), ("entity", "&e9;".into()));
    let inside = "<place id='&e9;'/>";
    assert_eq!(error_of(&format!("<!DOCTYPE pnml [<!ENTITY e0 'ha'>{bomb}]>{}", page(inside))).0, "not-xml");
}

#[test]
fn other_encodings_are_read() {
    let text = |encoding: &str| {
        format!("<?xml version='1.0' encoding='{encoding}'?>{}", page("<place id='größe'/>"))
    };
    let read = |bytes: Vec<u8>| {
        let text = String::from_utf8(to_utf8("net.pnml", bytes).unwrap()).unwrap();
        net_of(&text).places[0].id.clone()
    };
    let latin: Vec<u8> = text("ISO-8859-1").chars().map(|c| c as u8).collect();
    assert_eq!(read(latin.clone()), "größe");
    let utf16 =
        |bom: &str| (bom.to_owned() + &text("UTF-16")).encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read(utf16("\u{feff}")), "größe");
    assert_eq!(read(utf16("")), "größe");
    assert_eq!(read(text("utf-8").into_bytes()), "größe");
    assert_eq!(read(("\u{feff}".to_owned() + &text("UTF-8")).into_bytes()), "größe");
    assert_eq!(read(text("UTF-16").into_bytes()), "größe", "it is not, and can be read");
    let error = to_utf8("net.pnml", text("KLINGON").into_bytes()).unwrap_err();
    assert_eq!(error.code, "encoding");
    // Bytes that are not UTF-8, in a file that says nothing: the source map shows the place.
    let bytes = to_utf8("net.pnml", latin[latin.len() - 200..].to_vec()).unwrap();
    assert_eq!(SourceMap::new().add("net.pnml", bytes).unwrap_err().code, "not-utf8");
}

#[test]
fn warnings_do_not_stop() {
    let zero = "<arc source='p' target='t'><inscription><text>0</text></inscription></arc>";
    let net = net_of(&page(&format!("{PLACES}<transition id='t'/>{zero}")));
    assert_eq!(net.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["zero-weight"]);
    assert!(net.transitions[0].inputs.is_empty());
    let two = "<pnml><net id='a'><place id='p'/></net><net id='b'><place id='p'/></net></pnml>";
    let net = net_of(two);
    assert_eq!((net.id.as_str(), net.places.len()), ("a", 1));
    assert_eq!(net.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["several-nets"]);
}
