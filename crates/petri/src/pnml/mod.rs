//! Reading PNML (ISO/IEC 15909-2) in one pass over the text.
//!
//! A stack says which elements are open; what is not needed (graphics, tool-specific information but
//! nested units, foreign elements) is skipped. Arcs may name nodes that come later, so that ids are
//! numbered as they are met, and everything is put together at the end ([`assemble`]).
//!
//! What colored nets say in terms is kept as it is ([`Tree`]) until the declarations are known.
//!
//! What would change the meaning of the net is refused, not skipped: colors in a net of another type, inhibitor and
//! reset arcs, capacities, a marking or weight without its `text`.

mod assemble;
mod kind;

use base::{Budget, Diagnostic, Diagnostics, SourceId, Span};
use language::Trouble;
use rustc_hash::FxHashMap;

use crate::color::{Labels, Tree};
use crate::errors::{Fail, fail, shown};
use crate::net::{Net, Place, PlaceId, Transition, TransitionId};
use crate::xml::{Tag, Token, Xml};

/// Reads a PNML file: the text of `source`.
///
/// # Errors
/// Everything that is wrong with the file, as far as it could be read, each with its place; or the budget is
/// spent.
pub fn read(text: &str, source: SourceId, budget: &mut Budget<'_>) -> Result<Net, Trouble> {
    let mut reader = Reader::new(Span::new(source, text.len(), text.len()));
    let mut xml = Xml::new(text, source);
    let read = loop {
        budget.tick()?;
        budget.hold(std::mem::take(&mut reader.bytes))?;
        match xml.next() {
            Ok(Token::Open(tag)) => match reader.open(&tag) {
                Ok(()) => {}
                Err(error) => break Err(error),
            },
            Ok(Token::Close) => reader.close(),
            Ok(Token::Text(text)) => reader.text(&text),
            Ok(Token::End) => break reader.check_end(),
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = read {
        reader.errors.push(*error);
    }
    if reader.errors.has_errors() { Err(reader.errors.into()) } else { assemble::net(reader, budget) }
}

/// What a node takes, about, with the tables that find it, beside its id and name.
const NODE_BYTES: u64 = 300;
/// What an arc takes.
const ARC_BYTES: u64 = 80;
/// What a name in a list of nested units takes, beside its text.
const NAME_BYTES: u64 = 40;

/// An open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Pnml,
    Net,
    Page,
    Place,
    Transition,
    /// A reference to a place or transition.
    Reference,
    Arc,
    Name,
    Marking,
    Inscription,
    /// The `text` of one of the three above.
    Text,
    /// A label of a colored net, whose `structure` is a term.
    Colored(Label),
    Nupn,
    Structure,
    Unit,
    UnitPlaces,
    Subunits,
}

/// The labels of colored nets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Declaration,
    Type,
    Marking,
    Condition,
    Inscription,
}

/// The number of an id, in the order in which ids are met.
type Symbol = u32;

/// What an id turned out to be.
#[derive(Clone, Copy, Debug)]
enum Role {
    Place(PlaceId),
    Transition(TransitionId),
    /// Stands for the place that this id stands for.
    PlaceReference(Symbol),
    TransitionReference(Symbol),
}

struct Arc {
    source: Symbol,
    target: Symbol,
    weight: i64,
    span: Span,
}

/// A unit, with names that are not looked up yet.
#[derive(Default)]
struct RawUnit {
    id: String,
    places: Vec<String>,
    subunits: Vec<String>,
}

#[derive(Default)]
struct RawUnits {
    units: Vec<RawUnit>,
    safe: bool,
    span: Option<Span>,
}

struct Reader {
    open: Vec<Element>,
    /// Number of open elements that are skipped.
    skipped: usize,
    /// The text of the innermost element that has one.
    buffer: String,
    /// Where that text, or the element that it belongs to, begins.
    label: Span,
    /// Whether the marking, inscription or name has its `text`.
    has_text: bool,
    symbols: FxHashMap<String, Symbol>,
    roles: Vec<Option<(Role, Span)>>,
    net: Option<(String, Span)>,
    net_name: Option<String>,
    places: Vec<Place>,
    transitions: Vec<Transition>,
    arcs: Vec<Arc>,
    units: RawUnits,
    is_colored: bool,
    labels: Labels,
    /// The elements of a term that are open, the outermost first.
    terms: Vec<Tree>,
    errors: Diagnostics,
    warnings: Diagnostics,
    end: Span,
    /// What was kept since the budget was told.
    bytes: u64,
}

impl Reader {
    fn new(end: Span) -> Reader {
        Reader {
            open: Vec::new(),
            skipped: 0,
            buffer: String::new(),
            label: end,
            has_text: false,
            symbols: FxHashMap::default(),
            roles: Vec::new(),
            net: None,
            net_name: None,
            places: Vec::new(),
            transitions: Vec::new(),
            arcs: Vec::new(),
            units: RawUnits::default(),
            is_colored: false,
            labels: Labels::default(),
            terms: Vec::new(),
            errors: Diagnostics::new(),
            warnings: Diagnostics::new(),
            end,
            bytes: 0,
        }
    }

    // ---- Elements begin ------------------------------------------------------------------------

    fn open(&mut self, tag: &Tag<'_>) -> Result<(), Fail> {
        if self.skipped > 0 || tag.foreign {
            self.skipped += 1;
            return Ok(());
        }
        let is_term = matches!(self.open.last(), Some(Element::Colored(_))) && tag.name() == "structure";
        if is_term || !self.terms.is_empty() {
            let tree = Tree::new(tag, self.terms.len())?;
            self.bytes += tree.bytes();
            self.terms.push(tree);
            return Ok(());
        }
        match self.child(tag)? {
            Some(element) => self.open.push(element),
            None => self.skipped += 1,
        }
        Ok(())
    }

    /// What a tag begins; nothing if it is of no interest.
    fn child(&mut self, tag: &Tag<'_>) -> Result<Option<Element>, Fail> {
        use Element::{
            Inscription, Marking, Name, Net, Nupn, Page, Pnml, Structure, Subunits, Text, Unit, UnitPlaces,
        };
        let Some(&parent) = self.open.last() else { return root(tag) };
        kind::refuse_what_is_not_known(parent, self.is_colored, tag)?;
        let element = match (parent, tag.name()) {
            (Pnml, "net") => return self.begin_net(tag),
            (Net | Page, "page") => Page,
            (Net | Page, "place") => self.place(tag)?,
            (Net | Page, "transition") => self.transition(tag)?,
            (Net | Page, "referencePlace" | "referenceTransition") => self.reference(tag)?,
            (Net | Page, "arc") => self.arc(tag)?,
            (Net | Element::Place | Element::Transition, "name") => self.begin_label(Name, tag),
            (Element::Place, "initialMarking") => self.begin_label(Marking, tag),
            (Element::Arc, "inscription") => self.begin_label(Inscription, tag),
            (Name | Marking | Inscription, "text") if !self.has_text => {
                self.has_text = true;
                self.buffer.clear();
                self.label = tag.span;
                Text
            }
            (Net | Page, "declaration") => Element::Colored(Label::Declaration),
            (Element::Place, "type") => Element::Colored(Label::Type),
            (Element::Place, "hlinitialMarking") => Element::Colored(Label::Marking),
            (Element::Transition, "condition") => Element::Colored(Label::Condition),
            (Element::Arc, "hlinscription") => Element::Colored(Label::Inscription),
            (Net | Page, "toolspecific") if is_nupn(tag)? => Nupn,
            (Nupn, "structure") => {
                self.units.safe = tag.attribute("safe")?.is_some_and(|safe| safe == "true");
                self.units.span = Some(tag.span);
                Structure
            }
            (Structure, "unit") => {
                self.units.units.push(RawUnit { id: tag.required("id")?, ..RawUnit::default() });
                Unit
            }
            (Unit, "places") => self.begin_list(UnitPlaces),
            (Unit, "subunits") => self.begin_list(Subunits),
            _ => return Ok(None),
        };
        Ok(Some(element))
    }

    fn begin_net(&mut self, tag: &Tag<'_>) -> Result<Option<Element>, Fail> {
        if let Some((_, first)) = self.net {
            let message = "the file has several nets; only the first is read";
            let warning = Diagnostic::warning("several-nets", message).at(tag.span, "left out");
            self.warnings.push(warning.with_related(first, "the first net"));
            return Ok(None);
        }
        self.is_colored = kind::is_colored(tag)?;
        self.net = Some((tag.attribute("id")?.unwrap_or_default(), tag.span));
        Ok(Some(Element::Net))
    }

    fn begin_label(&mut self, element: Element, tag: &Tag<'_>) -> Element {
        self.has_text = false;
        self.buffer.clear();
        self.label = tag.span;
        element
    }

    fn begin_list(&mut self, element: Element) -> Element {
        self.buffer.clear();
        element
    }

    fn place(&mut self, tag: &Tag<'_>) -> Result<Element, Fail> {
        let id = tag.required("id")?;
        self.declare(&id, Role::Place(PlaceId::new(self.places.len())), tag.span);
        self.places.push(Place { id, name: None, initial: 0 });
        Ok(Element::Place)
    }

    fn transition(&mut self, tag: &Tag<'_>) -> Result<Element, Fail> {
        let id = tag.required("id")?;
        self.declare(&id, Role::Transition(TransitionId::new(self.transitions.len())), tag.span);
        self.transitions.push(Transition { id, name: None, inputs: Vec::new(), outputs: Vec::new() });
        Ok(Element::Transition)
    }

    fn reference(&mut self, tag: &Tag<'_>) -> Result<Element, Fail> {
        let (id, target) = (tag.required("id")?, tag.required("ref")?);
        let target = self.symbol(&target);
        let is_place = tag.name() == "referencePlace";
        let role = if is_place { Role::PlaceReference(target) } else { Role::TransitionReference(target) };
        self.declare(&id, role, tag.span);
        Ok(Element::Reference)
    }

    fn arc(&mut self, tag: &Tag<'_>) -> Result<Element, Fail> {
        kind::check_arc(tag)?;
        let (source, target) = (tag.required("source")?, tag.required("target")?);
        let (source, target) = (self.symbol(&source), self.symbol(&target));
        self.bytes += ARC_BYTES;
        self.arcs.push(Arc { source, target, weight: 1, span: tag.span });
        Ok(Element::Arc)
    }

    fn symbol(&mut self, id: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(id) {
            return symbol;
        }
        self.bytes += NODE_BYTES + 3 * id.len() as u64;
        // A text of at most 1 GiB has far fewer than 2^32 ids.
        let symbol = self.roles.len() as Symbol;
        self.symbols.insert(id.to_owned(), symbol);
        self.roles.push(None);
        symbol
    }

    fn declare(&mut self, id: &str, role: Role, span: Span) {
        let symbol = self.symbol(id) as usize;
        match self.roles[symbol] {
            None => self.roles[symbol] = Some((role, span)),
            Some((_, first)) => {
                let message = format!("the id `{}` is taken", shown(id));
                let error = Diagnostic::error("duplicate-id", message).at(span, "again");
                self.errors.push(error.with_related(first, "used here first"));
            }
        }
    }

    // ---- Elements end --------------------------------------------------------------------------

    fn text(&mut self, text: &str) {
        let is_read =
            matches!(self.open.last(), Some(Element::Text | Element::UnitPlaces | Element::Subunits));
        if is_read && self.skipped == 0 {
            self.buffer.push_str(text);
        }
    }

    fn close(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if let Some(done) = self.terms.pop() {
            match self.terms.last_mut() {
                Some(around) => around.add(done),
                None => self.end_term(done),
            }
            return;
        }
        match self.open.pop() {
            Some(Element::Name) => self.end_name(),
            Some(Element::Marking) => {
                let tokens = self.number("initial marking");
                if let (Some(tokens), Some(place)) = (tokens, self.places.last_mut()) {
                    place.initial = tokens;
                }
            }
            Some(Element::Inscription) => {
                let weight = self.number("weight of the arc");
                if let (Some(weight), Some(arc)) = (weight, self.arcs.last_mut()) {
                    arc.weight = weight;
                }
            }
            Some(Element::UnitPlaces) => self.end_list(|unit| &mut unit.places),
            Some(Element::Subunits) => self.end_list(|unit| &mut unit.subunits),
            _ => {}
        }
    }

    fn end_name(&mut self) {
        let name = Some(self.buffer.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
        let named = match self.open.last() {
            Some(Element::Net) => Some(&mut self.net_name),
            Some(Element::Place) => self.places.last_mut().map(|place| &mut place.name),
            Some(Element::Transition) => self.transitions.last_mut().map(|transition| &mut transition.name),
            _ => None,
        };
        if let Some(named) = named {
            self.bytes += name.as_ref().map_or(0, |name| NAME_BYTES + 2 * name.len() as u64);
            *named = name;
        }
    }

    /// A term is complete; one that is empty says nothing.
    fn end_term(&mut self, term: Tree) {
        if term.children.is_empty() {
            return;
        }
        let last = |n: usize| n.saturating_sub(1);
        let labels = &mut self.labels;
        match self.open.last() {
            Some(Element::Colored(Label::Declaration)) => labels.declarations.push(term),
            Some(Element::Colored(Label::Type)) => labels.types.push((last(self.places.len()), term)),
            Some(Element::Colored(Label::Marking)) => labels.markings.push((last(self.places.len()), term)),
            Some(Element::Colored(Label::Condition)) => {
                labels.conditions.push((last(self.transitions.len()), term));
            }
            Some(Element::Colored(Label::Inscription)) => {
                labels.inscriptions.push((last(self.arcs.len()), term));
            }
            _ => {}
        }
    }

    fn end_list(&mut self, list: fn(&mut RawUnit) -> &mut Vec<String>) {
        if let Some(unit) = self.units.units.last_mut() {
            let names = list(unit);
            names.extend(self.buffer.split_whitespace().map(str::to_owned));
            self.bytes += NAME_BYTES * names.len() as u64 + self.buffer.len() as u64;
        }
    }

    /// The number that was read as a text.
    fn number(&mut self, what: &str) -> Option<i64> {
        let text = self.buffer.trim();
        if !self.has_text {
            let error = fail("missing-text", format!("the {what} has no `text`"), self.label, "");
            self.errors.push(error.with_help("a number is written `<text>2</text>`"));
            return None;
        }
        let digits = text.strip_prefix('+').unwrap_or(text);
        if let Ok(number) = digits.parse::<i64>()
            && number >= 0
        {
            return Some(number);
        }
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (code, message) = if is_number(digits) {
            ("too-large", format!("the {what} is too large: at most {} is read", i64::MAX))
        } else if text.strip_prefix('-').is_some_and(is_number) {
            ("negative", format!("the {what} is negative: `{}`", shown(text)))
        } else {
            ("not-a-number", format!("the {what} is not a number: `{}`", shown(text)))
        };
        self.errors.push(*fail(code, message, self.label, "in this text"));
        None
    }

    fn check_end(&self) -> Result<(), Fail> {
        match self.net {
            Some(_) => Ok(()),
            None => Err(fail("no-net", "the file has no net", self.end, "the end of the file")),
        }
    }
}

fn root(tag: &Tag<'_>) -> Result<Option<Element>, Fail> {
    if tag.name() == "pnml" {
        return Ok(Some(Element::Pnml));
    }
    let message = format!("this is not a PNML file: it begins with `<{}>`", shown(tag.name()));
    let error = fail("not-pnml", message, tag.span, "");
    Err(Box::new(error.with_help("a PNML file begins with `<pnml>`")))
}

fn is_nupn(tag: &Tag<'_>) -> Result<bool, Fail> {
    Ok(tag.attribute("tool")?.is_some_and(|tool| tool.eq_ignore_ascii_case("nupn")))
}
