//! Nets from lists of arcs.

#![allow(dead_code)] // Each test uses a part of it.

use std::sync::Arc;

use stubborn_petri::Net;

use super::net_of;

/// Places by number and weights; a place may be listed twice.
pub(crate) type ArcList = Vec<(usize, i64)>;

/// Initial tokens; and per transition, what it takes and gives.
pub(crate) type Plan = (Vec<i64>, Vec<(ArcList, ArcList)>);

/// The net with places `p0`, `p1`, … and transitions `t0`, `t1`, ….
pub(crate) fn net_of_plan(plan: &Plan) -> Arc<Net> {
    net_of(&pnml(plan))
}

/// The text of that net.
pub(crate) fn pnml((initial, transitions): &Plan) -> String {
    let mut text = String::from("<pnml><net id='n'>");
    for (place, tokens) in initial.iter().enumerate() {
        text +=
            &format!("<place id='p{place}'><initialMarking><text>{tokens}</text></initialMarking></place>");
    }
    let arc = |from: String, to: String, weight: i64| {
        format!("<arc source='{from}' target='{to}'><inscription><text>{weight}</text></inscription></arc>")
    };
    for (index, (inputs, outputs)) in transitions.iter().enumerate() {
        text += &format!("<transition id='t{index}'/>");
        inputs.iter().for_each(|&(p, weight)| text += &arc(format!("p{p}"), format!("t{index}"), weight));
        outputs.iter().for_each(|&(p, weight)| text += &arc(format!("t{index}"), format!("p{p}"), weight));
    }
    text + "</net></pnml>"
}
