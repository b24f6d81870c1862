//! Declarations: what the ids of sorts, constants, partitions and variables stand for, in whatever order they
//! are declared.

use std::sync::Arc;

use base::Diagnostic;
use rustc_hash::FxHashMap;

use super::tree::Tree;
use super::{Base, BaseId};
use crate::errors::{Fail, fail, shown, suggest};

/// A sort: its parts, and its colors if these are not all (a sort of one part only).
#[derive(Clone, Debug)]
pub(super) struct Sort {
    pub(super) parts: Vec<BaseId>,
    pub(super) subset: Option<Vec<u32>>,
}

/// A partition: for each color of a basic sort, the element that it is in.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    pub(super) of: BaseId,
    pub(super) elements: Arc<[u32]>,
}

/// Everything that was declared.
#[derive(Default)]
pub(super) struct Declarations<'t> {
    pub(super) bases: Vec<Base>,
    /// By id; where nothing is known yet, the sort is being looked into.
    sorts: FxHashMap<&'t str, Option<Sort>>,
    named: FxHashMap<&'t str, &'t Tree>,
    pub(super) constants: FxHashMap<&'t str, (BaseId, u32)>,
    pub(super) partitions: FxHashMap<&'t str, Partition>,
    /// The elements of partitions: of which, and their numbers.
    pub(super) elements: FxHashMap<&'t str, (&'t str, u32)>,
    /// The names and sorts of variables.
    pub(super) variables: FxHashMap<&'t str, (&'t str, Sort)>,
}

impl<'t> Declarations<'t> {
    pub(super) fn new(trees: &'t [Tree]) -> Result<Declarations<'t>, Fail> {
        let mut all = Declarations::default();
        let declared = || trees.iter().flat_map(|tree| &tree.children);
        for tree in declared() {
            match tree.name.as_str() {
                "namedsort" => {
                    if all.named.insert(tree.required("id")?, tree).is_some() {
                        return Err(tree.wrong("has the id of another sort"));
                    }
                }
                "partition" | "variabledecl" => {}
                "namedoperator" | "arbitraryoperator" | "arbitrarysort" => {
                    return Err(unsupported("declarations", tree));
                }
                _ => return Err(unsupported("declarations", tree)),
            }
        }
        // Constants belong to sorts, so that all sorts must be known before any term is read.
        for tree in declared().filter(|tree| tree.name == "namedsort") {
            all.named_sort(tree.required("id")?, tree)?;
        }
        for tree in declared().filter(|tree| tree.name == "partition") {
            all.partition(tree)?;
        }
        for tree in declared().filter(|tree| tree.name == "variabledecl") {
            let id = tree.required("id")?;
            let sort = all.sort(tree.only()?)?;
            let name = tree.attribute("name").unwrap_or(id);
            if all.variables.insert(id, (name, sort)).is_some() {
                return Err(tree.wrong("has the id of another variable"));
            }
        }
        Ok(all)
    }

    pub(super) fn base(&self, base: BaseId) -> &Base {
        &self.bases[base.index()]
    }

    pub(super) fn size(&self, base: BaseId) -> u32 {
        self.base(base).size()
    }

    fn named_sort(&mut self, id: &'t str, at: &'t Tree) -> Result<Sort, Fail> {
        match self.sorts.get(id) {
            Some(Some(known)) => return Ok(known.clone()),
            Some(None) => return Err(at.wrong("is a sort that is made of itself")),
            None => {}
        }
        let Some(&tree) = self.named.get(id) else {
            if id.eq_ignore_ascii_case("dot") {
                return Ok(Sort { parts: vec![self.intern(&Base::Dot)], subset: None });
            }
            if let Some(&(partition, element)) = self.elements.get(id) {
                let Partition { of, elements } = &self.partitions[partition];
                let subset = (0..elements.len()).filter(|&color| elements[color] == element);
                return Ok(Sort {
                    parts: vec![*of],
                    subset: Some(subset.map(|color| color as u32).collect()),
                });
            }
            let error = Diagnostic::error("unknown-sort", format!("there is no sort `{}`", shown(id)));
            return Err(Box::new(suggest(error.at(at.span, ""), id, self.named.keys().copied())));
        };
        self.sorts.insert(id, None);
        let sort = self.sort(tree.only()?)?;
        self.sorts.insert(id, Some(sort.clone()));
        Ok(sort)
    }

    /// The sort that an element stands for.
    pub(super) fn sort(&mut self, tree: &'t Tree) -> Result<Sort, Fail> {
        let base = match tree.name.as_str() {
            "usersort" => return self.named_sort(tree.required("declaration")?, tree),
            "productsort" => {
                let mut parts = Vec::new();
                for child in &tree.children {
                    let sort = self.sort(child)?;
                    if sort.subset.is_some() {
                        return Err(
                            child.wrong("is an element of a partition, which cannot be part of a product")
                        );
                    }
                    parts.extend(sort.parts);
                }
                let mut sizes = parts.iter().map(|&part| u64::from(self.size(part)));
                if parts.is_empty() {
                    return Err(tree.wrong("is a product of nothing"));
                }
                if sizes.try_fold(1_u64, u64::checked_mul).is_none() {
                    return Err(fail("too-large", "this sort has more than 2^64 colors", tree.span, ""));
                }
                return Ok(Sort { parts, subset: None });
            }
            "dot" => self.intern(&Base::Dot),
            "bool" | "boolean" => self.intern(&truths()),
            "finiteintrange" => {
                let (start, end) = (tree.number("start")?, tree.number("end")?);
                let size = end.checked_sub(start).and_then(|last| u32::try_from(last).ok()?.checked_add(1));
                let Some(size) = size else {
                    return Err(tree.wrong("has no values, or more than 2^32"));
                };
                self.intern(&Base::Range { start, size })
            }
            "finiteenumeration" | "cyclicenumeration" => self.enumeration(tree)?,
            _ => return Err(unsupported("sorts", tree)),
        };
        Ok(Sort { parts: vec![base], subset: None })
    }

    fn enumeration(&mut self, tree: &'t Tree) -> Result<BaseId, Fail> {
        if tree.children.is_empty() {
            return Err(tree.wrong("has no values"));
        }
        let base = BaseId::new(self.bases.len());
        let mut names = Vec::with_capacity(tree.children.len());
        for (value, constant) in tree.children.iter().enumerate() {
            let id = constant.required("id")?;
            if self.constants.insert(id, (base, value as u32)).is_some() {
                return Err(constant.wrong("has the id of another constant"));
            }
            names.push(constant.attribute("name").filter(|name| !name.is_empty()).unwrap_or(id));
        }
        let mut sorted = names.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|two| two[0] == two[1]) {
            names = tree.children.iter().filter_map(|constant| constant.attribute("id")).collect();
        }
        self.bases.push(Base::Enumeration(names.into_iter().map(str::to_owned).collect()));
        Ok(base)
    }

    /// The same numbers are the same sort, whatever it is called.
    fn intern(&mut self, base: &Base) -> BaseId {
        let is_same = |known: &Base| match (known, base) {
            (Base::Dot, Base::Dot) => true,
            (Base::Range { start, size }, Base::Range { start: other, size: its }) => {
                start == other && size == its
            }
            (Base::Enumeration(names), Base::Enumeration(others)) => names == others && names[0] == "false",
            _ => false,
        };
        let at = self.bases.iter().position(is_same).unwrap_or_else(|| {
            self.bases.push(base.clone());
            self.bases.len() - 1
        });
        BaseId::new(at)
    }

    fn partition(&mut self, tree: &'t Tree) -> Result<(), Fail> {
        let id = tree.required("id")?;
        let is_element = |child: &&Tree| child.name == "partitionelement";
        let Some(of) = tree.children.iter().find(|child| !is_element(child)) else {
            return Err(tree.wrong("does not say of which sort it is"));
        };
        let Sort { parts, subset: None } = self.sort(of)? else {
            return Err(of.wrong("is an element of another partition"));
        };
        let [base] = parts[..] else {
            return Err(of.wrong("is a product; only other sorts have partitions"));
        };
        // Each color is written, so that there cannot be more of them than of elements in the file.
        let n_written: usize = tree.children.iter().map(|child| child.children.len()).sum();
        if n_written < self.size(base) as usize {
            return Err(tree.wrong("leaves a color out"));
        }
        let mut elements: Vec<Option<u32>> = vec![None; self.size(base) as usize];
        for (number, element) in tree.children.iter().filter(is_element).enumerate() {
            self.elements.insert(element.required("id")?, (id, number as u32));
            for constant in &element.children {
                let (of, color) = self.constant(constant)?;
                if of != base || elements[color as usize].replace(number as u32).is_some() {
                    return Err(constant.wrong("is of another sort, or in two elements of the partition"));
                }
            }
        }
        match elements.into_iter().collect::<Option<Vec<u32>>>() {
            Some(elements) => {
                self.partitions.insert(id, Partition { of: base, elements: elements.into() });
                Ok(())
            }
            None => Err(tree.wrong("leaves a color out")),
        }
    }

    /// A constant of a basic sort.
    pub(super) fn constant(&mut self, tree: &'t Tree) -> Result<(BaseId, u32), Fail> {
        match tree.name.as_str() {
            "dotconstant" => Ok((self.intern(&Base::Dot), 0)),
            "booleanconstant" => Ok((self.intern(&truths()), u32::from(tree.required("value")? == "true"))),
            "useroperator" => {
                let id = tree.required("declaration")?;
                self.constants.get(id).copied().ok_or_else(|| {
                    let message = format!("there is no constant `{}`", shown(id));
                    let error = Diagnostic::error("unknown-constant", message).at(tree.span, "");
                    Box::new(suggest(error, id, self.constants.keys().copied()))
                })
            }
            "finiteintrangeconstant" => {
                let value = tree.number("value")?;
                let Sort { parts, .. } = self.sort(tree.only()?)?;
                let Base::Range { start, size } = *self.base(parts[0]) else {
                    return Err(tree.wrong("is of a sort that is no range of numbers"));
                };
                let at = value.checked_sub(start).and_then(|at| u32::try_from(at).ok());
                match at.filter(|at| *at < size) {
                    Some(at) => Ok((parts[0], at)),
                    None => Err(tree.wrong("is not in its range")),
                }
            }
            _ => Err(unsupported("constants", tree)),
        }
    }
}

/// The sort of truths.
fn truths() -> Base {
    Base::Enumeration(vec!["false".to_owned(), "true".to_owned()])
}

pub(super) fn unsupported(where_: &str, tree: &Tree) -> Fail {
    let message = format!("`{}` is not supported in {where_} of colored nets", shown(&tree.name));
    fail("unsupported-term", message, tree.span, "")
}
