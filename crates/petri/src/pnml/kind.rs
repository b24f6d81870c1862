//! What kind of net it is: a place/transition net or a colored one. Others are recognized, and refused with a
//! reason.

use super::Element;
use crate::errors::{Fail, fail, shown};
use crate::xml::Tag;

/// Whether a net is colored. Refuses one whose type says that it is something else.
pub(super) fn is_colored(tag: &Tag<'_>) -> Result<bool, Fail> {
    let Some(kind) = tag.attribute("type")? else { return Ok(false) };
    let lower = kind.to_ascii_lowercase();
    let contains = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if contains(&["symmetric", "highlevel", "high-level", "hlpng", "hlcore", "colored", "coloured"]) {
        return Ok(true);
    }
    if contains(&["ptnet", "pt-net", "p/t", "place/transition", "coremodel", "epnml"]) || lower.is_empty() {
        return Ok(false);
    }
    let error =
        fail("net-type", format!("nets of the type `{}` are not supported", shown(&kind)), tag.span, "");
    Err(Box::new(error.with_help("nets have the type `…/ptnet`, or `…/symmetricnet` if they are colored")))
}

/// Refuses arcs that are not plain.
pub(super) fn check_arc(tag: &Tag<'_>) -> Result<(), Fail> {
    match tag.attribute("type")? {
        Some(kind) if !is_plain(&kind) => Err(special_arc(&kind, tag)),
        _ => Ok(()),
    }
}

/// Refuses elements that would change what the net means.
pub(super) fn refuse_what_is_not_known(parent: Element, is_colored: bool, tag: &Tag<'_>) -> Result<(), Fail> {
    match (parent, tag.name()) {
        (Element::Place, "hlinitialMarking" | "type")
        | (Element::Arc, "hlinscription")
        | (Element::Transition, "condition")
        | (Element::Net | Element::Page, "declaration")
            if !is_colored =>
        {
            Err(colored(tag))
        }
        (Element::Place, "capacity") => {
            Err(fail("capacity", "capacities of places are not supported", tag.span, ""))
        }
        (Element::Arc, "type" | "arctype") => match tag.attribute("value")? {
            Some(kind) if is_plain(&kind) => Ok(()),
            kind => Err(special_arc(&kind.unwrap_or_default(), tag)),
        },
        _ => Ok(()),
    }
}

fn is_plain(kind: &str) -> bool {
    matches!(kind, "normal" | "ordinary" | "")
}

fn special_arc(kind: &str, tag: &Tag<'_>) -> Fail {
    fail("arc-type", format!("arcs of the type `{}` are not supported", shown(kind)), tag.span, "")
}

fn colored(tag: &Tag<'_>) -> Fail {
    let message = "the net has colors, but its type is not that of a colored net";
    let error = fail("colored-net", message, tag.span, "colors here");
    Box::new(error.with_help("colored nets have the type `…/symmetricnet`"))
}
