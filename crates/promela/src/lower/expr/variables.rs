//! The values of variables.

use model::{BinaryOp, ExprId};

use super::super::storage::{At, Row, n_parts};
use super::{Lowered, Lowering, Scope, not_supported};
use crate::program::{self, Place, Step, Type};

impl<'a> Lowering<'a> {
    /// The row of a place, and which of its elements: nothing if there is but one.
    pub(crate) fn element(&mut self, scope: Scope, place: &Place) -> Lowered<(&'a Row, Option<ExprId>)> {
        let world = self.world;
        let (storage, variable) = match (place.root, scope) {
            (program::VarId::Global(global), _) => {
                (&world.globals[global.index()], &self.program.globals[global.index()])
            }
            (program::VarId::Local(local), Scope::Process(process)) => {
                let process = &world.processes[process];
                let proctype = &self.program.proctypes[process.instance.proctype.index()];
                (&process.locals[local.index()], &proctype.locals[local.index()])
            }
            (program::VarId::Local(_), Scope::Global) => {
                return Err(not_supported(place.span, "a local variable outside of its process"));
            }
        };
        let mut steps = place.steps.iter().peekable();
        let (mut row, mut index, mut lengths) = (0, None, Vec::new());
        let mut current = variable;
        loop {
            if let Some(length) = current.length {
                let at = match steps.peek() {
                    Some(Step::Index(at)) => {
                        steps.next();
                        self.expr(scope, at)?
                    }
                    _ => self.int(0),
                };
                lengths.push(length);
                index = Some(self.flat(index, at, length));
            }
            match (current.ty, steps.next()) {
                (Type::Struct(id), Some(Step::Field(field))) => {
                    let fields = &self.program.structs[id.index()].fields;
                    row += fields[..*field].iter().map(|field| n_parts(self.program, field)).sum::<usize>();
                    current = &fields[*field];
                }
                _ => break,
            }
        }
        Ok((&storage.rows[row], index))
    }

    /// The number of an element of an array in an array; one that is none, if the inner index is wrong.
    pub(super) fn flat(&mut self, outer: Option<ExprId>, index: ExprId, length: u32) -> ExprId {
        let Some(outer) = outer else { return index };
        let factor = self.int(i64::from(length));
        let start = self.binary(BinaryOp::Mul, outer, factor);
        let flat = self.binary(BinaryOp::Add, start, index);
        let (lo, hi) = self.range(index);
        if lo >= 0 && hi < i64::from(length) {
            return flat;
        }
        let (zero, none) = (self.int(0), self.int(-1));
        let above = self.binary(BinaryOp::Ge, index, zero);
        let below = self.binary(BinaryOp::Lt, index, factor);
        let is_in = self.all(&[above, below]);
        self.exprs.cond(is_in, flat, none)
    }

    pub(crate) fn load(&mut self, scope: Scope, place: &Place) -> Lowered<ExprId> {
        let (row, index) = self.element(scope, place)?;
        Ok(match &row.at {
            At::Vars(first) => match index {
                None => self.exprs.var(*first),
                Some(index) => self.exprs.element(*first, row.len(), index),
            },
            At::Constants(values) => match index.map(|index| (index, self.constant(index))) {
                None => self.int(values.first().copied().unwrap_or(0).into()),
                Some((_, Some(index))) if usize::try_from(index).is_ok_and(|at| at < values.len()) => {
                    self.int(values[index as usize].into())
                }
                Some((index, _)) => self.constant_element(values, index)?,
            },
            At::Nowhere => self.missing(),
        })
    }

    /// An element of an array of constants. Outside, there is a fault.
    pub(super) fn constant_element(&mut self, values: &[i32], index: ExprId) -> Lowered<ExprId> {
        let value = self.looked_up(values, index, 0)?;
        let (lo, hi) = self.range(index);
        if lo >= 0 && hi < values.len() as i64 {
            return Ok(value);
        }
        let outside = self.exprs.element(self.world.nothing, 1, index);
        let (first, end) = (self.int(0), self.int(values.len() as i64));
        let above = self.binary(BinaryOp::Ge, index, first);
        let below = self.binary(BinaryOp::Lt, index, end);
        let is_in = self.all(&[above, below]);
        Ok(self.exprs.cond(is_in, value, outside))
    }

    /// One of these constants, of which the first has the number `at`: found by halves, since there may be
    /// very many.
    fn looked_up(&mut self, values: &[i32], index: ExprId, at: usize) -> Lowered<ExprId> {
        self.pay()?;
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            return Ok(self.int(values.first().copied().unwrap_or(0).into()));
        }
        let (left, right) = values.split_at(values.len() / 2);
        let middle = self.int((at + left.len()) as i64);
        let is_left = self.binary(BinaryOp::Lt, index, middle);
        let (left, right) =
            (self.looked_up(left, index, at)?, self.looked_up(right, index, at + left.len())?);
        Ok(self.exprs.cond(is_left, left, right))
    }

    /// Something that only questions need, and that was not made: whoever looks at it learns that.
    pub(super) fn missing(&mut self) -> ExprId {
        let index = self.int(super::super::MISSING);
        self.exprs.element(self.world.nothing, 1, index)
    }
}
