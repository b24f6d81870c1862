//! Variables as they are used: what a name means, indices and fields.

use base::Span;

use crate::ast::{Expr as AstExpr, Name, VarRef};
use crate::errors::{Fail, fail, fail_with_help, suggest};
use crate::program::{Expr, ExprKind, GlobalId, LocalId, Place, Step, Type, VarId, Variable};

use super::declare::is_predefined;
use super::{Resolved, Resolver};

/// A place that may be a whole typedef or, for loops, a whole array.
pub(super) struct Found {
    pub(super) place: Place,
    /// The length, if it is an array without an index.
    pub(super) length: Option<u32>,
}

impl Resolver<'_> {
    /// The variable that a name means.
    pub(super) fn variable_named(&mut self, name: &Name) -> Resolved<VarId> {
        let local = self.local(&name.text).map(VarId::Local);
        let global = || self.names.global_names.get(&name.text).copied().map(VarId::Global);
        let id = local.or_else(global).ok_or_else(|| self.unknown(name))?;
        self.note_use(name, self.declared(id).span);
        Ok(id)
    }

    fn unknown(&self, name: &Name) -> Fail {
        if self.names.symbols.contains_key(&name.text) {
            let message = format!("`{}` is a symbolic constant, not a variable", name.text);
            return fail("not-a-variable", message, name.span, "");
        }
        if is_predefined(&name.text) {
            let message = format!("`{}` cannot be used like this", name.text);
            return fail("not-a-variable", message, name.span, "it is predefined");
        }
        if self.names.proctype_names.contains_key(&name.text) {
            let message = format!("`{}` is a proctype, not a variable", name.text);
            let help = format!("a process is started by `run {}(…)`", name.text);
            return fail_with_help("not-a-variable", message, name.span, help);
        }
        if &*name.text == "STDIN" {
            return fail("no-stdin", "`STDIN` cannot be read in a model that is checked", name.span, "");
        }
        let error = fail("unknown-variable", format!("there is no variable `{}`", name.text), name.span, "");
        suggest(error, &name.text, self.names_in_sight())
    }

    /// All names that could have been meant, innermost first.
    fn names_in_sight(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        if let Some(current) = &self.current {
            let locals = &self.names.frames[current.index].locals;
            let mut seen: Vec<LocalId> = Vec::new();
            for scope in current.scopes.iter().rev() {
                #[allow(clippy::iter_over_hash_type)] // Sorted at once.
                for &id in scope.values() {
                    seen.push(id);
                }
            }
            seen.sort_unstable();
            names.extend(seen.iter().rev().filter_map(|id| Some(&*locals.get(id.index())?.name)));
        }
        names.extend(self.names.globals.iter().map(|global| &*global.name));
        names.extend(self.names.mtypes.iter().flat_map(|set| set.names.iter().map(|name| &**name)));
        names
    }

    pub(super) fn declared(&self, id: VarId) -> &Variable {
        match (id, &self.current) {
            (VarId::Local(local), Some(current)) => &self.names.frames[current.index].locals[local.index()],
            (VarId::Local(local), None) => &self.names.frames[0].locals[local.index()],
            (VarId::Global(global), _) => &self.names.globals[global.index()],
        }
    }

    /// Anything that a variable with indices and fields may be.
    pub(super) fn found(&mut self, variable: &VarRef) -> Resolved<Found> {
        let Some((name, _)) = variable.parts.first() else {
            return Err(fail("syntax", "a name is missing", variable.span, ""));
        };
        let root = self.variable_named(name)?;
        let declared = self.declared(root);
        let (ty, length) = (declared.ty, declared.length);
        self.follow(variable, root, ty, length)
    }

    /// Follows indices and fields from a variable of some type.
    pub(super) fn follow(
        &mut self,
        variable: &VarRef,
        root: VarId,
        mut ty: Type,
        mut length: Option<u32>,
    ) -> Resolved<Found> {
        let mut steps = Vec::new();
        for (position, (name, index)) in variable.parts.iter().enumerate() {
            if position > 0 {
                let (field, field_ty, field_length) = self.field(ty, length, name)?;
                steps.push(Step::Field(field));
                (ty, length) = (field_ty, field_length);
            }
            match (index, length) {
                (Some(index), Some(n)) => {
                    steps.push(Step::Index(self.index(index, name, n)?));
                    length = None;
                }
                // Spin takes a scalar for an array of one element.
                (Some(index), None) => {
                    let value = self.expr(index)?;
                    if crate::eval::constant(&value) != Some(0) {
                        let message = format!("`{}` is not an array", name.text);
                        return Err(fail("not-an-array", message, name.span, "it has no index"));
                    }
                }
                (None, _) => {}
            }
        }
        Ok(Found { place: Place { root, steps, ty, span: variable.span }, length })
    }

    fn field(&mut self, ty: Type, length: Option<u32>, name: &Name) -> Resolved<(usize, Type, Option<u32>)> {
        if length.is_some() {
            let message = "an index is missing before this field";
            return Err(fail("missing-index", message, name.span, "its owner is an array"));
        }
        let Type::Struct(id) = ty else {
            let message = format!("there is no field `{}`: its owner is not a typedef", name.text);
            return Err(fail("unknown-field", message, name.span, ""));
        };
        let owner = &self.names.structs[id.index()];
        match owner.fields.iter().position(|field| field.name == name.text) {
            Some(position) => {
                let field = &owner.fields[position];
                let (ty, length, span) = (field.ty, field.length, field.span);
                self.note_use(name, span);
                Ok((position, ty, length))
            }
            None => {
                let message = format!("the typedef `{}` has no field `{}`", owner.name, name.text);
                let error = fail("unknown-field", message, name.span, "");
                Err(suggest(error, &name.text, owner.fields.iter().map(|field| &*field.name)))
            }
        }
    }

    fn index(&mut self, index: &AstExpr, name: &Name, length: u32) -> Resolved<Expr> {
        let index = self.expr(index)?;
        if let Some(value) = crate::eval::constant(&index)
            && !u32::try_from(value).is_ok_and(|value| value < length)
        {
            let message = format!("{value} is not an index of `{}`", name.text);
            let label = format!("its indices are 0 to {}", length - 1);
            self.warn(base::Diagnostic::warning("bad-index", message).at(index.span, label));
        }
        Ok(index)
    }

    /// A scalar.
    pub(super) fn scalar(&mut self, variable: &VarRef) -> Resolved<Place> {
        let found = self.found(variable)?;
        self.checked_scalar(found, variable.span)
    }

    pub(super) fn checked_scalar(&mut self, found: Found, span: Span) -> Resolved<Place> {
        let name = self.declared(found.place.root).name.clone();
        if found.length.is_some() {
            let message = format!("`{name}` is an array: an index is missing");
            return Err(fail_with_help("missing-index", message, span, "write `[0]` and the like after it"));
        }
        if let Type::Struct(id) = found.place.ty {
            let owner = &self.names.structs[id.index()];
            let message = format!("`{name}` is of the typedef `{}`: a field is missing", owner.name);
            let help = owner.fields.first().map_or(String::new(), |field| format!("write `.{}`", field.name));
            return Err(fail_with_help("missing-field", message, span, help));
        }
        Ok(found.place)
    }

    /// A channel, for a statement or question about it.
    pub(super) fn channel_place(&mut self, variable: &VarRef, sends: bool) -> Resolved<Place> {
        let place = self.scalar(variable)?;
        if place.ty != Type::Chan {
            let name = self.declared(place.root).name.clone();
            let error = fail("not-a-channel", format!("`{name}` is not a channel"), variable.span, "");
            let declared = self.declared(place.root).span;
            return Err(Box::new(error.with_related(declared, "it is declared here")));
        }
        if let VarId::Global(global) = place.root {
            let uses = self.names.channel_uses.entry(global).or_default();
            if sends {
                uses.sends += 1;
            } else {
                uses.others += 1;
            }
        }
        Ok(place)
    }

    /// Notes that a channel may become known elsewhere.
    pub(super) fn note_load(&mut self, place: &Place) {
        if let (Type::Chan, VarId::Global(global)) = (place.ty, place.root) {
            self.names.channel_uses.entry(global).or_default().others += 1;
        }
    }

    /// All scalars of a place, in order. Typedefs are not nested too deeply for recursion.
    pub(super) fn flat_places(&self, found: &Found, places: &mut Vec<Place>) {
        if let Some(length) = found.length {
            for index in 0..length {
                let mut place = found.place.clone();
                let span = place.span;
                place.steps.push(Step::Index(Expr { kind: ExprKind::Int(index as i32), span }));
                self.flat_places(&Found { place, length: None }, places);
            }
            return;
        }
        let Type::Struct(id) = found.place.ty else {
            places.push(found.place.clone());
            return;
        };
        for (position, field) in self.names.structs[id.index()].fields.iter().enumerate() {
            if places.len() > self.limits.array {
                return;
            }
            let mut place = found.place.clone();
            place.steps.push(Step::Field(position));
            place.ty = field.ty;
            self.flat_places(&Found { place, length: field.length }, places);
        }
    }

    /// The channel that a place always is, if that is known: one that is declared globally with
    /// its messages, and never assigned to.
    pub(super) fn known_channel(&self, place: &Place) -> Option<GlobalId> {
        match place.root {
            VarId::Global(global) if place.ty == Type::Chan => Some(global),
            _ => None,
        }
    }
}
