//! Elements as they were read, for what is only understood when the whole file is known: sorts, terms and
//! declarations, which may stand in any order.

use base::Span;

use crate::errors::{Fail, fail};
use crate::xml::Tag;

/// Elements may be nested this deep: they are looked into by recursion.
const MAX_DEPTH: usize = 100;

/// An element with those inside. `subterm` and other wrappings are left out.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) name: String,
    attributes: Vec<(&'static str, String)>,
    pub(crate) children: Vec<Tree>,
    pub(crate) span: Span,
}

/// The attributes that mean something.
const ATTRIBUTES: [&str; 9] =
    ["id", "name", "declaration", "refvariable", "refpartition", "refsort", "value", "start", "end"];

impl Tree {
    /// An element that begins inside so many others.
    pub(crate) fn new(tag: &Tag<'_>, depth: usize) -> Result<Tree, Fail> {
        if depth > MAX_DEPTH {
            let error = fail("too-deep", "this term is nested too deeply", tag.span, "");
            return Err(Box::new(error.with_help(format!("at most {MAX_DEPTH} levels are read"))));
        }
        let mut attributes = Vec::new();
        for name in ATTRIBUTES {
            if let Some(value) = tag.attribute(name)? {
                attributes.push((name, value));
            }
        }
        Ok(Tree { name: tag.name().to_owned(), attributes, children: Vec::new(), span: tag.span })
    }

    /// What it takes, about.
    pub(crate) fn bytes(&self) -> u64 {
        let texts: usize = self.attributes.iter().map(|(_, value)| 40 + value.len()).sum();
        (size_of::<Tree>() + self.name.len() + texts) as u64
    }

    /// Adds an element that ended; a wrapping adds what is in it instead.
    pub(crate) fn add(&mut self, mut child: Tree) {
        match child.name.as_str() {
            "subterm" | "structure" | "declarations" => self.children.append(&mut child.children),
            _ => self.children.push(child),
        }
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str, Fail> {
        self.attribute(name).ok_or_else(|| {
            let message = format!("this `{}` has no attribute `{name}`", self.name);
            fail("missing-attribute", message, self.span, "")
        })
    }

    /// The number in an attribute.
    pub(crate) fn number(&self, name: &str) -> Result<i64, Fail> {
        let text = self.required(name)?;
        text.parse().map_err(|_| {
            let message = format!("`{}` is not a number of at most 64 bits", crate::errors::shown(text));
            fail("not-a-number", message, self.span, "")
        })
    }

    /// The one element inside.
    pub(crate) fn only(&self) -> Result<&Tree, Fail> {
        match self.children.as_slice() {
            [only] => Ok(only),
            all => Err(self.wrong(&format!("should contain one element, not {}", all.len()))),
        }
    }

    /// The two elements inside.
    pub(crate) fn both(&self) -> Result<(&Tree, &Tree), Fail> {
        match self.children.as_slice() {
            [left, right] => Ok((left, right)),
            all => Err(self.wrong(&format!("should contain two elements, not {}", all.len()))),
        }
    }

    pub(crate) fn wrong(&self, what: &str) -> Fail {
        fail("bad-term", format!("this `{}` {what}", crate::errors::shown(&self.name)), self.span, "")
    }
}
