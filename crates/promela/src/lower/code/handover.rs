//! What a handshake stores: all values are those before it, also of variables that it changes, as in
//! `c!x,y` that meets `c?y,x`.

use model::{ExprId, Stmt, VarId, Variable};

use super::super::expr::{Lowered, Scope};
use super::super::world::UNNAMED;
use super::Coder;
use crate::program::{Place, RecvArg, Type};

impl Coder<'_> {
    /// Stores the values of a message.
    pub(super) fn hand_over(
        &mut self,
        scope: Scope,
        args: &[RecvArg],
        values: &[ExprId],
    ) -> Lowered<Vec<Stmt>> {
        let pairs = args.iter().zip(values).enumerate();
        let stored: Vec<(usize, &Place, ExprId)> = pairs
            .filter_map(|(field, (arg, &value))| match arg {
                RecvArg::Store(place) => Some((field, place, value)),
                RecvArg::Ignore | RecvArg::Match(_) => None,
            })
            .collect();
        let (mut effect, mut written, mut is_safe) = (Vec::new(), Vec::new(), true);
        for &(_, place, value) in &stored {
            let mut read = Vec::new();
            self.builder.exprs.reads(value, &mut read);
            is_safe &= !read.iter().any(|var| written.contains(var));
            let store = self.store(scope, place, value)?;
            store.iter().for_each(|stmt| written.extend(changed(stmt)));
            effect.extend(store);
        }
        if is_safe {
            return Ok(effect);
        }
        let (mut loads, mut stores, mut clears) = (Vec::new(), Vec::new(), Vec::new());
        for (field, place, value) in stored {
            let carrier = self.carrier(field, place.ty);
            let value = self.lowering().cut(value, place.ty);
            loads.push(Stmt::Assign(carrier, value));
            let carried = self.builder.exprs.var(carrier);
            stores.extend(self.store(scope, place, carried)?);
            clears.push(Stmt::set(carrier, 0));
        }
        Ok([loads, stores, clears].concat())
    }

    /// A variable for a value on its way.
    fn carrier(&mut self, field: usize, ty: Type) -> VarId {
        let known = self.carriers.iter().find(|(at, its, _)| (*at, *its) == (field, ty));
        if let Some(&(_, _, carrier)) = known {
            return carrier;
        }
        let (lo, hi) = ty.range();
        let carrier = self.builder.variable(Variable::new(UNNAMED, i64::from(lo).min(0), i64::from(hi)));
        self.carriers.push((field, ty, carrier));
        carrier
    }
}

/// The variables that a store changes.
fn changed(stmt: &Stmt) -> Vec<VarId> {
    match stmt {
        Stmt::Assign(var, _) | Stmt::Set(var, _) => vec![*var],
        Stmt::AssignElement { first, len, .. } => {
            (first.index()..first.index() + *len as usize).map(VarId::new).collect()
        }
        _ => Vec::new(),
    }
}
