//! Where the variables of a model are: each scalar part of a variable, with all its elements, is a row of
//! variables of the action system, or of constants if nobody ever changes it.
//!
//! A typedef is spread out: of `T a[3]` with fields `x` and `y[2]` there are two rows, the 3 elements of
//! `a[·].x` and the 6 of `a[·].y[·]`.
//!
//! A `hidden` variable that nobody reads, but to add to it, is nowhere, as in Spin. One that
//! is read is a variable like others: Spin leaves it out of the state all the same, takes states for equal
//! that differ in it, and so misses runs; its figures are smaller then.

use model::VarId;

use crate::program::{Init, Program, Type, Variable};

/// A variable of the model.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    /// One per scalar part, in the order of the fields.
    pub(crate) rows: Vec<Row>,
}

/// A scalar part of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) ty: Type,
    /// The lengths of the arrays around it, from the outside.
    pub(crate) lengths: Vec<u32>,
    pub(crate) at: At,
}

/// Where a row is.
#[derive(Clone, Debug)]
pub(crate) enum At {
    /// Variables from this one on.
    Vars(VarId),
    /// These values.
    Constants(Vec<i32>),
    /// Nowhere: what is stored is thrown away, and nobody reads it.
    Nowhere,
}

impl Row {
    /// The number of elements.
    pub(crate) fn len(&self) -> u32 {
        self.lengths.iter().product()
    }
}

/// A scalar part of a variable.
pub(crate) struct Part<'p> {
    /// What it adds to the variable's name, with `[]` for each array.
    pub(crate) name: String,
    /// The lengths of the arrays around it, from the outside.
    pub(crate) lengths: Vec<u32>,
    /// The variable itself, or the field of a typedef: what has the type and the initial value.
    pub(crate) declared: &'p Variable,
}

impl Part<'_> {
    /// The number of elements.
    pub(crate) fn len(&self) -> u32 {
        self.lengths.iter().product()
    }
}

/// The scalar parts of a variable.
pub(crate) fn parts<'p>(program: &'p Program, variable: &'p Variable) -> Vec<Part<'p>> {
    let mut parts = Vec::new();
    add_parts(program, variable, String::new(), &[], &mut parts);
    parts
}

/// Typedefs use only those before them, so this ends.
fn add_parts<'p>(
    program: &'p Program,
    variable: &'p Variable,
    name: String,
    lengths: &[u32],
    out: &mut Vec<Part<'p>>,
) {
    let mut lengths = lengths.to_vec();
    let mut name = name;
    if let Some(length) = variable.length {
        lengths.push(length);
        name.push_str("[]");
    }
    match variable.ty {
        Type::Struct(id) => {
            for field in &program.structs[id.index()].fields {
                add_parts(program, field, format!("{name}.{}", field.name), &lengths, out);
            }
        }
        _ => out.push(Part { name, lengths, declared: variable }),
    }
}

/// How many scalar parts a variable has.
pub(crate) fn n_parts(program: &Program, variable: &Variable) -> usize {
    match variable.ty {
        Type::Struct(id) => {
            program.structs[id.index()].fields.iter().map(|field| n_parts(program, field)).sum()
        }
        _ => 1,
    }
}

/// The name of an element of a row: the pattern has `[]` for each array.
pub(crate) fn element_name(pattern: &str, lengths: &[u32], index: u32) -> String {
    if lengths.is_empty() {
        return pattern.to_owned();
    }
    let mut indices = Vec::new();
    let mut rest = index;
    for length in lengths.iter().rev() {
        indices.push(rest % length);
        rest /= length;
    }
    let mut name = String::new();
    for (number, piece) in pattern.split("[]").enumerate() {
        if number > 0 {
            name.push_str(&format!("[{}]", indices.pop().unwrap_or(0)));
        }
        name.push_str(piece);
    }
    name
}

/// The channels that the declaration of a variable makes.
pub(crate) fn n_channels(program: &Program, variable: &Variable) -> u32 {
    let own = parts(program, variable).into_iter();
    own.filter(|part| matches!(part.declared.init, Init::Channel(_))).map(|part| part.len()).sum()
}
