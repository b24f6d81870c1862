//! Terms of inscriptions, markings and guards, resolved: multisets and truths over the variables of one
//! transition.

use rustc_hash::FxHashMap;

use super::declare::{Declarations, Sort, unsupported};
use super::tree::Tree;
use super::{Atom, Bag, Base, BaseId, Comparison, Guard, Operand, Part, Slot};
use crate::errors::{Fail, fail, shown};

/// A transition may have so many variables, those of products counted part by part.
pub(super) const MAX_SLOTS: usize = 128;
/// Patterns of one inscription, after sums inside tuples were multiplied out.
const MAX_PATTERNS: usize = 1_000_000;

/// Parts of a color, with their sorts.
type Parts = Vec<(Atom, BaseId)>;

/// Resolves the terms around one transition.
pub(super) struct Terms<'d, 't> {
    declared: &'d mut Declarations<'t>,
    /// The first slot of each variable that was met.
    known: FxHashMap<&'t str, u32>,
    pub(super) slots: Vec<Slot>,
    /// What the sorts of variables require.
    pub(super) guards: Vec<Guard>,
}

impl<'d, 't> Terms<'d, 't> {
    pub(super) fn new(declared: &'d mut Declarations<'t>) -> Terms<'d, 't> {
        Terms { declared, known: FxHashMap::default(), slots: Vec::new(), guards: Vec::new() }
    }

    // ---- Multisets -----------------------------------------------------------------------------

    /// The multiset that a term stands for, of colors with these parts.
    pub(super) fn bag_of(&mut self, tree: &'t Tree, wanted: &[BaseId]) -> Result<Bag, Fail> {
        let (bag, parts) = self.bag(tree)?;
        if parts == wanted {
            return Ok(bag);
        }
        Err(fail("sort-mismatch", "this term is not of the sort of the place", tree.span, ""))
    }

    fn bag(&mut self, tree: &'t Tree) -> Result<(Bag, Vec<BaseId>), Fail> {
        match tree.name.as_str() {
            "all" => {
                let Sort { parts, subset } = self.declared.sort(tree.only()?)?;
                let patterns = match subset {
                    Some(colors) => {
                        colors.into_iter().map(|color| (1, vec![Part::One(Atom::Constant(color))])).collect()
                    }
                    None => vec![(1, parts.iter().map(|&part| self.every(part)).collect())],
                };
                Ok((Bag::Sum(patterns), parts))
            }
            "empty" => Ok((Bag::Sum(Vec::new()), self.declared.sort(tree.only()?)?.parts)),
            "add" => {
                let (mut bags, mut parts) = (Vec::with_capacity(tree.children.len()), None);
                for child in &tree.children {
                    bags.push(self.same(child, &mut parts)?);
                }
                let parts = parts.ok_or_else(|| tree.wrong("adds nothing"))?;
                Ok((sum(bags), parts))
            }
            "subtract" => {
                let mut parts = None;
                let mut children = tree.children.iter();
                let first = children.next().ok_or_else(|| tree.wrong("subtracts nothing"))?;
                let mut bag = self.same(first, &mut parts)?;
                for child in children {
                    bag = Bag::Minus(bag.into(), self.same(child, &mut parts)?.into());
                }
                Ok((bag, parts.unwrap_or_default()))
            }
            "numberof" | "scalarproduct" => {
                let (number, what) = match tree.children.as_slice() {
                    [only] => (1, only),
                    _ => {
                        let (number, what) = tree.both()?;
                        if number.name != "numberconstant" {
                            return Err(number.wrong("should be a number"));
                        }
                        (number.number("value")?, what)
                    }
                };
                if number < 0 {
                    return Err(fail("negative", format!("the number {number} is negative"), tree.span, ""));
                }
                let (bag, parts) = self.bag(what)?;
                let bag = times(bag, number)
                    .ok_or_else(|| fail("too-large", "this is too many tokens", tree.span, ""))?;
                Ok((bag, parts))
            }
            "tuple" => {
                let (mut bag, mut parts) = (Bag::Sum(vec![(1, Vec::new())]), Vec::new());
                for child in &tree.children {
                    let (next, its) = self.bag(child)?;
                    bag = product(&bag, &next, &mut MAX_PATTERNS.clone())
                        .ok_or_else(|| fail("too-large", "this term is too large", tree.span, ""))?;
                    parts.extend(its);
                }
                Ok((bag, parts))
            }
            _ => {
                let (pattern, parts) =
                    self.color(tree)?.into_iter().map(|(atom, base)| (Part::One(atom), base)).unzip();
                Ok((Bag::Sum(vec![(1, pattern)]), parts))
            }
        }
    }

    /// A multiset of colors with the same parts as others.
    fn same(&mut self, tree: &'t Tree, parts: &mut Option<Vec<BaseId>>) -> Result<Bag, Fail> {
        let (bag, its) = self.bag(tree)?;
        if parts.get_or_insert_with(|| its.clone()) != &its {
            return Err(tree.wrong("is of another sort than the term before"));
        }
        Ok(bag)
    }

    fn every(&self, base: BaseId) -> Part {
        if self.declared.size(base) == 1 { Part::One(Atom::Constant(0)) } else { Part::All }
    }

    // ---- Colors --------------------------------------------------------------------------------

    /// One color.
    fn color(&mut self, tree: &'t Tree) -> Result<Parts, Fail> {
        match tree.name.as_str() {
            "variable" => self.variable(tree),
            "successor" => self.shifted(tree, 1),
            "predecessor" => self.shifted(tree, -1),
            "tuple" => {
                let mut parts = Vec::new();
                for child in &tree.children {
                    parts.extend(self.color(child)?);
                }
                Ok(parts)
            }
            "dotconstant" | "booleanconstant" | "useroperator" | "finiteintrangeconstant" => {
                let (base, value) = self.declared.constant(tree)?;
                Ok(vec![(Atom::Constant(value), base)])
            }
            _ => Err(unsupported("terms", tree)),
        }
    }

    fn variable(&mut self, tree: &'t Tree) -> Result<Parts, Fail> {
        let id = tree.required("refvariable")?;
        let Some((name, sort)) = self.declared.variables.get(id) else {
            let message = format!("there is no variable `{}`", shown(id));
            let error = base::Diagnostic::error("unknown-variable", message).at(tree.span, "");
            let known = self.declared.variables.keys().copied();
            return Err(Box::new(crate::errors::suggest(error, id, known)));
        };
        let first = match self.known.get(id) {
            Some(&first) => first as usize,
            None => {
                let first = self.slots.len();
                for (number, &base) in sort.parts.iter().enumerate() {
                    let name =
                        if sort.parts.len() == 1 { (*name).to_owned() } else { format!("{name}.{number}") };
                    self.slots.push(Slot { name, base, size: self.declared.size(base) });
                }
                if self.slots.len() > MAX_SLOTS {
                    let message = format!("this transition has more than {MAX_SLOTS} variables");
                    return Err(fail("too-large", message, tree.span, ""));
                }
                self.known.insert(id, first as u32);
                if let Some(colors) = &sort.subset {
                    let operand = |atom: Atom| Operand { atom, offset: 0, elements: None };
                    let size = self.declared.size(sort.parts[0]);
                    let variable = operand(Atom::Slot { slot: first as u32, shift: 0, size });
                    let is = |&color: &u32| {
                        Guard::Compare(Comparison::Equal, variable.clone(), operand(Atom::Constant(color)))
                    };
                    self.guards.push(Guard::Or(colors.iter().map(is).collect()));
                }
                first
            }
        };
        let part = |(number, &base): (usize, &BaseId)| {
            (Atom::Slot { slot: (first + number) as u32, shift: 0, size: self.declared.size(base) }, base)
        };
        Ok(sort.parts.iter().enumerate().map(part).collect())
    }

    /// The next or previous color, round and round.
    fn shifted(&mut self, tree: &'t Tree, by: i64) -> Result<Parts, Fail> {
        let [(atom, base)] = self.color(tree.only()?)?[..] else {
            return Err(tree.wrong("is applied to a tuple, which has no order"));
        };
        let size = self.declared.size(base);
        let moved = |value: u32| (i64::from(value) + by).rem_euclid(i64::from(size)) as u32;
        let atom = match atom {
            Atom::Constant(value) => Atom::Constant(moved(value)),
            Atom::Slot { slot, shift, size } => Atom::Slot { slot, shift: moved(shift), size },
        };
        Ok(vec![(atom, base)])
    }

    // ---- Guards --------------------------------------------------------------------------------

    pub(super) fn guard(&mut self, tree: &'t Tree) -> Result<Guard, Fail> {
        Ok(match tree.name.as_str() {
            "and" => Guard::And(self.each_guard(tree)?),
            "or" => Guard::Or(self.each_guard(tree)?),
            "not" => Guard::Not(self.guard(tree.only()?)?.into()),
            "imply" => {
                let (left, right) = tree.both()?;
                Guard::Or(vec![Guard::Not(self.guard(left)?.into()), self.guard(right)?])
            }
            "equality" => self.equality(tree)?,
            "inequality" => Guard::Not(self.equality(tree)?.into()),
            "lessthan" | "lt" | "ltp" => self.order(tree, Comparison::Less, false)?,
            "lessthanorequal" | "leq" => self.order(tree, Comparison::LessEqual, false)?,
            "greaterthan" | "gt" | "gtp" => self.order(tree, Comparison::Less, true)?,
            "greaterthanorequal" | "geq" => self.order(tree, Comparison::LessEqual, true)?,
            "booleanconstant" => Guard::Constant(tree.required("value")? == "true"),
            "variable" => {
                let [(atom, base)] = self.variable(tree)?[..] else {
                    return Err(unsupported("guards", tree));
                };
                match self.declared.base(base) {
                    Base::Enumeration(names) if *names == ["false", "true"] => {}
                    _ => return Err(tree.wrong("is no truth")),
                }
                let operand = |atom: Atom| Operand { atom, offset: 0, elements: None };
                Guard::Compare(Comparison::Equal, operand(atom), operand(Atom::Constant(1)))
            }
            _ => return Err(unsupported("guards", tree)),
        })
    }

    fn each_guard(&mut self, tree: &'t Tree) -> Result<Vec<Guard>, Fail> {
        tree.children.iter().map(|child| self.guard(child)).collect()
    }

    fn equality(&mut self, tree: &'t Tree) -> Result<Guard, Fail> {
        let (left, right) = tree.both()?;
        let (left, right) = (self.operands(left)?, self.operands(right)?);
        let is_same = left.len() == right.len()
            && left.iter().zip(&right).all(|((_, left), (_, right))| self.fit(left, right));
        if !is_same {
            return Err(tree.wrong("compares two sorts"));
        }
        let mut equal: Vec<Guard> = left
            .into_iter()
            .zip(right)
            .map(|((left, _), (right, _))| Guard::Compare(Comparison::Equal, left, right))
            .collect();
        Ok(if equal.len() == 1 { equal.remove(0) } else { Guard::And(equal) })
    }

    fn order(&mut self, tree: &'t Tree, comparison: Comparison, swapped: bool) -> Result<Guard, Fail> {
        let (left, right) = tree.both()?;
        let (mut left, mut right) = (self.operands(left)?, self.operands(right)?);
        let (1, 1) = (left.len(), right.len()) else {
            return Err(tree.wrong("compares tuples, which have no order"));
        };
        let ((left, its), (right, other)) = (left.remove(0), right.remove(0));
        if !self.fit(&its, &other) {
            return Err(tree.wrong("compares two sorts"));
        }
        let (left, right) = if swapped { (right, left) } else { (left, right) };
        Ok(Guard::Compare(comparison, left, right))
    }

    /// What is compared, part by part.
    fn operands(&mut self, tree: &'t Tree) -> Result<Vec<(Operand, Kind<'t>)>, Fail> {
        if tree.name == "partitionelementof" {
            let id = tree.required("refpartition")?;
            let parts = self.color(tree.only()?)?;
            let Some(partition) = self.declared.partitions.get(id) else {
                return Err(tree.wrong(&format!("names a partition `{}` that there is not", shown(id))));
            };
            let [(atom, base)] = parts[..] else { return Err(tree.wrong("is about a tuple")) };
            if base != partition.of {
                return Err(tree.wrong("is about a color that the partition is not of"));
            }
            let elements = Some(partition.elements.clone());
            return Ok(vec![(Operand { atom, offset: 0, elements }, Kind::Element(id))]);
        }
        let element = match tree.name.as_str() {
            "useroperator" => self.declared.elements.get(tree.required("declaration")?),
            _ => None,
        };
        if let Some(&(partition, number)) = element {
            let operand = Operand { atom: Atom::Constant(number), offset: 0, elements: None };
            return Ok(vec![(operand, Kind::Element(partition))]);
        }
        let parts = self.color(tree)?;
        let operand = |(atom, base): (Atom, BaseId)| {
            let offset = match self.declared.base(base) {
                Base::Range { start, .. } => *start,
                _ => 0,
            };
            (Operand { atom, offset, elements: None }, Kind::Color(base))
        };
        Ok(parts.into_iter().map(operand).collect())
    }

    /// Whether two kinds of values can be compared: the same sort, or numbers.
    fn fit(&self, left: &Kind<'_>, right: &Kind<'_>) -> bool {
        match (left, right) {
            (Kind::Element(left), Kind::Element(right)) => left == right,
            (Kind::Color(left), Kind::Color(right)) => {
                let is_number = |base: &BaseId| matches!(self.declared.base(*base), Base::Range { .. });
                left == right || is_number(left) && is_number(right)
            }
            _ => false,
        }
    }
}

/// What an operand is.
enum Kind<'t> {
    Color(BaseId),
    /// An element of this partition.
    Element(&'t str),
}

fn sum(mut bags: Vec<Bag>) -> Bag {
    let mut patterns = Vec::new();
    if !bags.iter().all(|bag| matches!(bag, Bag::Sum(_))) {
        return if bags.len() == 1 { bags.remove(0) } else { Bag::Add(bags) };
    }
    for bag in bags {
        if let Bag::Sum(its) = bag {
            patterns.extend(its);
        }
    }
    Bag::Sum(patterns)
}

/// So many times a multiset; nothing if that is too many.
fn times(bag: Bag, number: i64) -> Option<Bag> {
    Some(match bag {
        _ if number == 0 => Bag::Sum(Vec::new()),
        Bag::Sum(patterns) => {
            let times = |(count, pattern): (i64, _)| Some((count.checked_mul(number)?, pattern));
            Bag::Sum(patterns.into_iter().map(times).collect::<Option<_>>()?)
        }
        Bag::Add(bags) => Bag::Add(bags.into_iter().map(|bag| times(bag, number)).collect::<Option<_>>()?),
        Bag::Minus(from, what) => Bag::Minus(times(*from, number)?.into(), times(*what, number)?.into()),
    })
}

/// All colors of one multiset followed by one of the other: nothing can be negative, so that differences can be
/// multiplied out. Nothing if there are too many patterns.
fn product(left: &Bag, right: &Bag, room: &mut usize) -> Option<Bag> {
    Some(match (left, right) {
        (Bag::Add(bags), other) => {
            Bag::Add(bags.iter().map(|bag| product(bag, other, room)).collect::<Option<_>>()?)
        }
        (Bag::Minus(from, what), other) => {
            Bag::Minus(product(from, other, room)?.into(), product(what, other, room)?.into())
        }
        (one, Bag::Add(bags)) => {
            Bag::Add(bags.iter().map(|bag| product(one, bag, room)).collect::<Option<_>>()?)
        }
        (one, Bag::Minus(from, what)) => {
            Bag::Minus(product(one, from, room)?.into(), product(one, what, room)?.into())
        }
        (Bag::Sum(left), Bag::Sum(right)) => {
            *room = room.checked_sub(left.len().checked_mul(right.len())?)?;
            let mut patterns = Vec::with_capacity(left.len() * right.len());
            for (count, pattern) in left {
                for (its, other) in right {
                    let joined = pattern.iter().chain(other).copied().collect();
                    patterns.push((count.checked_mul(*its)?, joined));
                }
            }
            Bag::Sum(patterns)
        }
    })
}
