//! XML as both kinds of files use it: elements, attributes and texts, each with its place.
//!
//! The parser is `quick-xml`, which reads a text once from left to right and builds nothing. This
//! file adds what well-formed documents need beyond it (one root, all elements closed), drops
//! comments and processing instructions, and refuses every entity but the five predefined ones: a
//! document type may be there, but is not read, so that entities cannot explode.
//!
//! Elements whose namespace is not that of the root are *foreign*; whoever reads skips them.

use std::borrow::Cow;

use base::{Diagnostic, SourceId, Span};
use encoding_rs::{Encoding, UTF_8, UTF_16LE};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use crate::errors::{Fail, fail, shown};

/// Turns the bytes of an XML file into UTF-8. The encoding is that of a byte order mark, or that of
/// the XML declaration, or UTF-8.
///
/// # Errors
/// The encoding is not known, or the bytes are not of that encoding. Bytes that should be UTF-8 are
/// not looked into: [`SourceMap::add`](base::SourceMap::add) does it, and shows the place.
pub fn to_utf8(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Diagnostic> {
    let (encoding, skip) = match Encoding::for_bom(&bytes) {
        Some(found) => found,
        None => (declared_encoding(name, &bytes)?, 0),
    };
    if encoding == UTF_8 && skip == 0 {
        return Ok(bytes);
    }
    if encoding == UTF_8 {
        return Ok(bytes[skip..].to_vec());
    }
    match encoding.decode_without_bom_handling_and_without_replacement(&bytes[skip..]) {
        Some(text) => Ok(text.into_owned().into_bytes()),
        None => {
            let message = format!("{name} is not text in the encoding {}, as it says", encoding.name());
            Err(Diagnostic::error("encoding", message).with_help("save the file in the UTF-8 encoding"))
        }
    }
}

/// The encoding that the XML declaration names, if there is one.
fn declared_encoding(name: &str, bytes: &[u8]) -> Result<&'static Encoding, Diagnostic> {
    const MAX_DECLARATION: usize = 1000;
    // UTF-16 without a byte order mark.
    match bytes {
        [b'<', 0, ..] => return Ok(UTF_16LE),
        [0, b'<', ..] => return Ok(encoding_rs::UTF_16BE),
        _ => {}
    }
    let start = &bytes[..bytes.len().min(MAX_DECLARATION)];
    let start: String = start.iter().map(|&byte| char::from(byte)).collect();
    let declaration = start.strip_prefix("<?xml").and_then(|rest| Some(rest.split_once("?>")?.0));
    let value = declaration.and_then(|text| text.split_once("encoding")?.1.trim_start().strip_prefix('='));
    let value = value.map(|value| value.trim_start().trim_matches(['"', '\'']));
    let label = value.and_then(|value| value.split(['"', '\'']).next());
    let Some(label) = label else { return Ok(UTF_8) };
    // What calls itself UTF-16 and can be read as bytes is not.
    let encoding = Encoding::for_label(label.as_bytes()).map(Encoding::output_encoding);
    encoding.ok_or_else(|| {
        let message = format!("{name} is in the encoding `{}`, which is not known", shown(label));
        Diagnostic::error("encoding", message).with_help("save the file in the UTF-8 encoding")
    })
}

/// What a document is made of.
pub(crate) enum Token<'t> {
    /// An element begins.
    Open(Tag<'t>),
    /// The innermost open element ends.
    Close,
    /// A piece of text; one text may come in several pieces.
    Text(Cow<'t, str>),
    /// The end of the document.
    End,
}

/// The beginning of an element.
pub(crate) struct Tag<'t> {
    start: BytesStart<'t>,
    /// Where it is written.
    pub(crate) span: Span,
    /// Whether it is of another namespace than the root.
    pub(crate) foreign: bool,
}

impl Tag<'_> {
    /// Its name, without a prefix.
    pub(crate) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// The value of an attribute, without blanks at its ends.
    pub(crate) fn attribute(&self, name: &str) -> Result<Option<String>, Fail> {
        for attribute in self.start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| not_xml(&error, self.span))?;
            if attribute.key.as_ref() == name {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                let value = value.map_err(|error| not_xml(&error, self.span))?;
                return Ok(Some(value.trim().to_owned()));
            }
        }
        Ok(None)
    }

    /// The value of an attribute that must be there and not be empty.
    pub(crate) fn required(&self, name: &str) -> Result<String, Fail> {
        self.attribute(name)?.filter(|value| !value.is_empty()).ok_or_else(|| {
            let message = format!("this `{}` has no attribute `{name}`", self.name());
            fail("missing-attribute", message, self.span, "")
        })
    }
}

/// A document that is being read.
pub(crate) struct Xml<'t> {
    reader: NsReader<&'t [u8]>,
    source: SourceId,
    length: usize,
    /// Number of open elements.
    depth: usize,
    /// Whether the root has begun.
    has_root: bool,
    /// The namespace of the root, if it has one.
    namespace: Option<String>,
}

impl<'t> Xml<'t> {
    pub(crate) fn new(text: &'t str, source: SourceId) -> Xml<'t> {
        let mut reader = NsReader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Xml { reader, source, length: text.len(), depth: 0, has_root: false, namespace: None }
    }

    /// The next token.
    ///
    /// # Errors
    /// The text is not well-formed XML.
    pub(crate) fn next(&mut self) -> Result<Token<'t>, Fail> {
        loop {
            let from = self.position();
            let (namespace, event) = match self.reader.read_resolved_event() {
                Ok(read) => read,
                Err(error) => return Err(self.broken(&error)),
            };
            let namespace = text_of(&namespace);
            if !self.has_root && matches!(event, Event::Start(_)) {
                self.namespace = namespace.map(str::to_owned);
            }
            let foreign = namespace != self.namespace.as_deref();
            let span = Span::new(self.source, from, self.position());
            match event {
                Event::Start(start) | Event::Empty(start) => return self.open(Tag { start, span, foreign }),
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Token::Close);
                }
                Event::Text(text) => {
                    let text = text.xml10_content();
                    if self.depth > 0 {
                        return Ok(Token::Text(text));
                    }
                    self.only_blanks(&text, span)?;
                }
                Event::CData(text) => {
                    if self.depth > 0 {
                        return Ok(Token::Text(text.xml10_content()));
                    }
                    self.only_blanks("CDATA", span)?;
                }
                Event::GeneralRef(name) => {
                    let character = name.resolve_char_ref().map_err(|error| not_xml(&error, span))?;
                    let text = match character {
                        Some(character) => Cow::Owned(character.to_string()),
                        None => Cow::Borrowed(
                            resolve_xml_entity(&name).ok_or_else(|| unknown_entity(&name, span))?,
                        ),
                    };
                    if self.depth > 0 {
                        return Ok(Token::Text(text));
                    }
                    self.only_blanks("entity", span)?;
                }
                Event::Eof => {
                    if self.depth > 0 {
                        let end = Span::new(self.source, self.length, self.length);
                        let message = format!("the file ends inside an element: {} not closed", self.depth);
                        return Err(fail("not-xml", message, end, "the end"));
                    }
                    return Ok(Token::End);
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    fn open(&mut self, tag: Tag<'t>) -> Result<Token<'t>, Fail> {
        if self.depth == 0 && self.has_root {
            return Err(fail("not-xml", "a second element begins after the end of the first", tag.span, ""));
        }
        self.has_root = true;
        self.depth += 1;
        Ok(Token::Open(tag))
    }

    /// Outside the root there is no text.
    fn only_blanks(&self, text: &str, span: Span) -> Result<(), Fail> {
        if text.chars().all(char::is_whitespace) {
            return Ok(());
        }
        let skipped = text.len() - text.trim_start().len();
        let start = span.start as usize + skipped;
        let message = match self.has_root {
            false => "this is not an XML file: it does not begin with an element",
            true => "there is text after the end of the document",
        };
        Err(fail("not-xml", message, Span::new(self.source, start, start), ""))
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(self.length).min(self.length)
    }

    fn broken(&self, error: &quick_xml::Error) -> Fail {
        let at = usize::try_from(self.reader.error_position()).unwrap_or(self.length).min(self.length);
        not_xml(error, Span::new(self.source, at, at))
    }
}

/// The namespace of an element. A prefix that nobody declared is a namespace of its own.
fn text_of<'n>(resolved: &'n ResolveResult<'_>) -> Option<&'n str> {
    match resolved {
        ResolveResult::Unbound => None,
        ResolveResult::Bound(namespace) => Some(namespace.0),
        ResolveResult::Unknown(prefix) => Some(prefix),
    }
}

fn not_xml(error: &dyn std::fmt::Display, span: Span) -> Fail {
    fail("not-xml", format!("this is not well-formed XML: {}", shown(&error.to_string())), span, "")
}

fn unknown_entity(name: &str, span: Span) -> Fail {
    let message = format!("the entity `&{};` is not known", shown(name));
    let error = fail("entity", message, span, "");
    Box::new(error.with_help("only `&lt;`, `&gt;`, `&amp;`, `&apos;`, `&quot;` and `&#…;` are read"))
}
