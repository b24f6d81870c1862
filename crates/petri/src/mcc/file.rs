//! Formula files: XML in, properties out. A stack holds the elements that are open, each with the
//! operands that it has so far.

use base::{Budget, Diagnostic, Diagnostics, SourceId, Span};
use language::{Asked, Property, PropertyKind, Trouble};

use super::build::{Builder, Value, ctl};
use super::element::Element;
use crate::errors::{Fail, fail, shown};
use crate::xml::{Tag, Token, Xml};

/// Elements may be nested this deep: formulas and expressions are compiled by recursion.
const MAX_DEPTH: usize = 300;

/// Reads all properties of a file.
pub(super) fn read(
    builder: Builder<'_>,
    text: &str,
    source: SourceId,
    budget: &mut Budget<'_>,
) -> Result<Vec<Property>, Trouble> {
    let mut reader = Reader {
        builder,
        outer: Vec::new(),
        skipped: 0,
        frames: Vec::new(),
        text: String::new(),
        text_span: Span::new(source, 0, 0),
        id: None,
        question: None,
        unsupported: None,
        properties: Vec::new(),
        errors: Diagnostics::new(),
    };
    let mut xml = Xml::new(text, source);
    loop {
        budget.tick()?;
        budget.hold(std::mem::take(&mut reader.builder.bytes))?;
        let step = match xml.next() {
            Ok(Token::Open(tag)) => reader.open(&tag),
            Ok(Token::Close) => {
                reader.close();
                Ok(())
            }
            Ok(Token::Text(text)) => {
                reader.text.push_str(&text);
                Ok(())
            }
            Ok(Token::End) => break,
            Err(error) => Err(error),
        };
        if let Err(error) = step {
            reader.errors.push(*error);
            break;
        }
        if reader.errors.n_errors() > Diagnostics::MAX_KEPT {
            break; // Each may take a search for a similar name.
        }
    }
    if reader.properties.is_empty() && !reader.errors.has_errors() {
        let error = Diagnostic::error("no-property", "the file has no property");
        reader.errors.push(error.at(Span::new(source, text.len(), text.len()), "the end of the file"));
    }
    if reader.errors.has_errors() { Err(reader.errors.into()) } else { Ok(reader.properties) }
}

/// An open element around formulas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outer {
    Set,
    Property,
    Id,
}

/// An open element of a formula.
struct Frame {
    element: Element,
    span: Span,
    operands: Vec<Value>,
}

struct Reader<'m> {
    builder: Builder<'m>,
    outer: Vec<Outer>,
    /// Number of open elements that are skipped.
    skipped: usize,
    /// The open elements of a formula; the first is the formula itself.
    frames: Vec<Frame>,
    /// The text since an element that has text began, and where that was.
    text: String,
    text_span: Span,
    /// What is known of the property so far.
    id: Option<(String, Span)>,
    question: Option<PropertyKind>,
    /// Why the formula is none that can be answered.
    unsupported: Option<Diagnostic>,
    properties: Vec<Property>,
    errors: Diagnostics,
}

impl Reader<'_> {
    fn open(&mut self, tag: &Tag<'_>) -> Result<(), Fail> {
        if self.skipped > 0 || tag.foreign {
            self.skipped += 1;
            return Ok(());
        }
        if !self.frames.is_empty() {
            return self.open_in_formula(tag);
        }
        match (self.outer.last(), tag.name()) {
            (None, "property-set") => self.outer.push(Outer::Set),
            (None, name) => {
                let message = format!("this is not a formula file: it begins with `<{}>`", shown(name));
                let error = fail("not-formulas", message, tag.span, "");
                return Err(Box::new(error.with_help("a formula file begins with `<property-set>`")));
            }
            (Some(Outer::Set), "property") => {
                (self.id, self.question, self.unsupported) = (None, None, None);
                self.text_span = tag.span;
                self.outer.push(Outer::Property);
            }
            (Some(Outer::Property), "id") => {
                self.begin_text(tag.span);
                self.outer.push(Outer::Id);
            }
            (Some(Outer::Property), "formula") => self.begin(Element::Formula, tag.span),
            _ => self.skipped += 1,
        }
        Ok(())
    }

    fn open_in_formula(&mut self, tag: &Tag<'_>) -> Result<(), Fail> {
        if self.frames.len() > MAX_DEPTH {
            let error = fail("too-deep", "the formula is nested too deeply", tag.span, "");
            return Err(Box::new(error.with_help(format!("at most {MAX_DEPTH} levels are read"))));
        }
        match Element::of(tag.name()) {
            Some(element) => self.begin(element, tag.span),
            None => {
                let message = format!("`{}` is not supported in formulas", shown(tag.name()));
                let error = Diagnostic::error("unsupported-formula", message);
                self.unsupported.get_or_insert_with(|| error.at(tag.span, "this element"));
                self.skipped += 1;
            }
        }
        Ok(())
    }

    fn begin(&mut self, element: Element, span: Span) {
        if element.has_text() {
            self.begin_text(span);
        }
        self.frames.push(Frame { element, span, operands: Vec::new() });
    }

    fn begin_text(&mut self, span: Span) {
        self.text.clear();
        self.text_span = span;
    }

    fn close(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if let Some(frame) = self.frames.pop() {
            self.end(frame);
        } else {
            match self.outer.pop() {
                Some(Outer::Id) => self.id = Some((self.text.trim().to_owned(), self.text_span)),
                Some(Outer::Property) => self.end_property(),
                _ => {}
            }
        }
    }

    /// Makes a value of an element and its operands, and gives it to the element around it.
    fn end(&mut self, frame: Frame) {
        let Frame { element, span, operands } = frame;
        if self.unsupported.is_some() {
            return; // What cannot be read is not looked into any further.
        }
        let (least, most) = element.operands();
        let value = if (least..=most).contains(&operands.len()) {
            self.builder.value(element, operands, &self.text, span)
        } else {
            let wanted = if most == usize::MAX { format!("{least} or more") } else { most.to_string() };
            let message = format!("this element has {} operands; it should have {wanted}", operands.len());
            Err(fail("bad-formula", message, span, ""))
        };
        match (value, self.frames.last_mut()) {
            (Ok(value), Some(around)) => around.operands.push(value),
            (Ok(Value::Question(question)), None) => self.question = Some(*question),
            (Ok(_), None) => {
                let message = "the formula is about no runs: it has no `all-paths` and no `exists-path`";
                self.errors.push(*fail("bad-formula", message, span, ""));
            }
            (Err(error), _) if error.code == "unsupported-formula" => self.unsupported = Some(*error),
            (Err(error), _) => {
                self.errors.push(*error);
                // Said once: what is around it would complain again.
                self.unsupported = Some(Diagnostic::error("bad-formula", "the formula has errors"));
            }
        }
    }

    fn end_property(&mut self) {
        let Some((id, span)) = self.id.take().filter(|(id, _)| !id.is_empty()) else {
            self.errors.push(*fail("bad-formula", "the property has no `id`", self.text_span, ""));
            return;
        };
        let kind = match (self.unsupported.take(), self.question.take()) {
            (Some(reason), _) => PropertyKind::Unsupported(reason.message),
            // What happens next where nothing happens: CTL and LTL have different answers.
            (None, Some(PropertyKind::Ltl(_))) if id.contains("-CTL") => {
                PropertyKind::Unsupported(ctl(span).message)
            }
            (None, Some(question)) => question,
            (None, None) => {
                self.errors.push(*fail("bad-formula", "the property has no formula", span, "this property"));
                return;
            }
        };
        self.properties.push(Property { name: id, span: Some(span), asked: Asked::ByDefault, kind });
    }
}
