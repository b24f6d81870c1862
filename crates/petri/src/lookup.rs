//! Looking up what an expression names; and what to say if it is not there.

use base::{Diagnostic, Span};

use crate::errors::{Fail, shown, suggest};
use crate::lexer::Token;
use crate::net::{Group, Lookup, Net, PlaceId, TransitionId};

/// The place that a token names.
pub(crate) fn place(net: &Net, token: &Token<'_>) -> Result<Group<PlaceId>, Fail> {
    let name = token.name();
    let error = match net.find_place(&name) {
        Lookup::Found(place) => return Ok(place),
        Lookup::Ambiguous => ambiguous("places", &name, token.span),
        Lookup::Unknown if net.find_transition(&name) != Lookup::Unknown => {
            let message = format!("`{}` is a transition, which has no tokens", shown(&name));
            let error = Diagnostic::error("not-a-place", message).at(token.span, "");
            error.with_help(format!("whether it is enabled is written `fireable({})`", shown(token.text)))
        }
        Lookup::Unknown => {
            let message = format!("the net has no place `{}`", shown(&name));
            let error = Diagnostic::error("unknown-place", message).at(token.span, "");
            suggest(known_colors(error, net), &name, names(&net.place_names()))
        }
    };
    Err(Box::new(error))
}

/// The transition that a token names.
pub(crate) fn transition(net: &Net, token: &Token<'_>) -> Result<Group<TransitionId>, Fail> {
    let name = token.name();
    let error = match net.find_transition(&name) {
        Lookup::Found(transition) => return Ok(transition),
        Lookup::Ambiguous => ambiguous("transitions", &name, token.span),
        Lookup::Unknown if net.find_place(&name) != Lookup::Unknown => {
            let message = format!("`{}` is a place, not a transition", shown(&name));
            Diagnostic::error("not-a-transition", message).at(token.span, "")
        }
        Lookup::Unknown => {
            let message = format!("the net has no transition `{}`", shown(&name));
            let error = Diagnostic::error("unknown-transition", message).at(token.span, "");
            suggest(known_colors(error, net), &name, names(&net.transition_names()))
        }
    };
    Err(Box::new(error))
}

/// Ids, then names.
fn names<'n>(known: &[(&'n str, Option<&'n str>)]) -> impl Iterator<Item = &'n str> {
    known.iter().map(|(id, _)| *id).chain(known.iter().filter_map(|(_, name)| *name))
}

/// In a colored net, a color or binding that is never possible has no name.
fn known_colors(error: Diagnostic, net: &Net) -> Diagnostic {
    match net.colors {
        Some(_) => error.with_help("a color is written as in `'place(color)'`, and must be possible there"),
        None => error,
    }
}

fn ambiguous(kind: &str, name: &str, span: Span) -> Diagnostic {
    let message = format!("several {kind} are called `{}`", shown(name));
    Diagnostic::error("ambiguous-name", message).at(span, "").with_help("use their ids")
}
