//! Declarations: sets of symbolic names, typedefs, variables, channels, and what a proctype looks
//! like from outside.

use std::sync::Arc;

use base::Span;

use crate::ast::{
    Active, BodyKind, Declaration, Declarator, Expr as AstExpr, Model, MtypeList, Name,
    Proctype as AstProctype, TypeKind, TypeName, Typedef, Unit,
};
use crate::errors::{Fail, fail, fail_with_help, suggest};
use crate::program::{
    GlobalId, Init, Mtype, MtypeId, ProctypeId, ProctypeKind, Struct, StructId, Type, Variable,
};

use super::{Resolved, Resolver, Signature, kind_of};

/// Typedefs may be nested this deep.
const MAX_STRUCT_DEPTH: usize = 64;

/// More symbolic names than this do not fit a byte.
const MAX_SYMBOLS: usize = 255;

/// Wider unsigned variables do not fit a value.
const MAX_WIDTH: i32 = 31;

impl Resolver<'_> {
    /// Everything that is declared globally, in the order of the text.
    pub(super) fn declare_globals(&mut self, model: &Model) {
        for unit in &model.units {
            if self.sink.is_full() {
                return;
            }
            match unit {
                Unit::Mtype(list) => self.mtype_list(list),
                Unit::Typedef(typedef) => self.typedef(typedef),
                Unit::Declaration(declaration) => self.global(declaration),
                Unit::Proctype(proctype) => self.signature(proctype),
                Unit::Ltl(_) => {}
            }
        }
    }

    fn mtype_list(&mut self, list: &MtypeList) {
        let set = match &list.set {
            None => MtypeId::new(0),
            Some(name) => match self.names.mtype_names.get(&name.text) {
                Some(&known) => known,
                None => {
                    let id = MtypeId::new(self.names.mtypes.len());
                    self.names.mtypes.push(Mtype { name: name.text.clone(), names: Vec::new() });
                    self.names.mtype_names.insert(name.text.clone(), id);
                    id
                }
            },
        };
        // The last name of a list has the least number.
        for name in list.names.iter().rev() {
            if let Some(&(_, _, old)) = self.names.symbols.get(&name.text) {
                self.complain(redeclared("the symbolic constant", name, old));
                continue;
            }
            if let Some(&old) = self.names.global_names.get(&name.text) {
                let old = self.names.globals[old.index()].span;
                self.complain(redeclared("the name", name, old));
                continue;
            }
            let names = &mut self.names.mtypes[set.index()].names;
            names.push(name.text.clone());
            let value = names.len();
            if value > MAX_SYMBOLS {
                let message = format!("there are more than {MAX_SYMBOLS} symbolic constants in one set");
                self.complain(fail("too-many", message, name.span, ""));
                return;
            }
            self.names.symbols.insert(name.text.clone(), (set, value as i32, name.span));
        }
    }

    fn typedef(&mut self, typedef: &Typedef) {
        if let Some(&old) = self.names.struct_names.get(&typedef.name.text) {
            let old = self.names.structs[old.index()].span;
            self.complain(redeclared("the typedef", &typedef.name, old));
            return;
        }
        let mut fields: Vec<Variable> = Vec::new();
        let (mut size, mut depth) = (0usize, 1);
        for declaration in &typedef.fields {
            for declarator in &declaration.variables {
                if let Some(old) = fields.iter().find(|field| field.name == declarator.name.text) {
                    let error = redeclared("the field", &declarator.name, old.span);
                    self.complain(error);
                    continue;
                }
                let field = self.variable(declaration, declarator, true);
                let Some(field) = self.take(field) else { continue };
                size = size.saturating_add(self.n_scalars_of(&field));
                if let Type::Struct(inner) = field.ty {
                    depth = depth.max(self.names.struct_sizes[inner.index()].1 + 1);
                }
                fields.push(field);
            }
        }
        if depth > MAX_STRUCT_DEPTH || size > self.limits.array {
            let limit = self.limits.array;
            let message = format!("the typedef `{}` is too large", typedef.name.text);
            let help = format!(
                "at most {limit} scalars, and {MAX_STRUCT_DEPTH} typedefs in each other, are allowed"
            );
            self.complain(fail_with_help("too-large", message, typedef.name.span, help));
            return;
        }
        let id = StructId::new(self.names.structs.len());
        self.names.struct_names.insert(typedef.name.text.clone(), id);
        self.names.struct_sizes.push((size, depth));
        self.names.structs.push(Struct { name: typedef.name.text.clone(), fields, span: typedef.name.span });
    }

    fn global(&mut self, declaration: &Declaration) {
        for declarator in &declaration.variables {
            let name = &declarator.name;
            if let Some(&old) = self.names.global_names.get(&name.text) {
                let old = self.names.globals[old.index()].span;
                self.complain(redeclared("the variable", name, old));
                continue;
            }
            let variable = self.variable(declaration, declarator, true);
            let Some(variable) = self.take(variable) else {
                self.names.broken = true;
                continue;
            };
            if let Err(error) = self.count_scalars(&variable) {
                self.complain(error);
                continue;
            }
            self.names.global_names.insert(name.text.clone(), GlobalId::new(self.names.globals.len()));
            self.names.globals.push(variable);
        }
    }

    /// Counts the scalars of a variable.
    pub(super) fn count_scalars(&mut self, variable: &Variable) -> Resolved<()> {
        self.names.n_scalars = self.names.n_scalars.saturating_add(self.n_scalars_of(variable));
        if self.names.n_scalars > self.limits.variables {
            let limit = self.limits.variables;
            let message = format!("the variables of this model are more than {limit} scalars");
            return Err(fail("too-large", message, variable.span, "the limit is reached here"));
        }
        Ok(())
    }

    fn n_scalars_of(&self, variable: &Variable) -> usize {
        let of_one = match variable.ty {
            Type::Struct(id) => self.names.struct_sizes[id.index()].0,
            _ => 1,
        };
        of_one.saturating_mul(variable.length.unwrap_or(1) as usize)
    }

    /// One declared variable. `with_init` says whether its initial value counts here.
    pub(super) fn variable(
        &mut self,
        declaration: &Declaration,
        declarator: &Declarator,
        with_init: bool,
    ) -> Resolved<Variable> {
        let name = &declarator.name;
        if let Some(&(_, _, old)) = self.names.symbols.get(&name.text) {
            return Err(redeclared("the name", name, old));
        }
        if is_predefined(&name.text) {
            let message = format!("`{}` is predefined and cannot be declared", name.text);
            return Err(fail("redeclared", message, name.span, ""));
        }
        let mut ty = self.type_of(&declaration.ty)?;
        if let Some(width) = &declarator.width {
            ty = self.width(&declaration.ty, width)?;
        } else if matches!(ty, Type::Unsigned(_)) {
            let message = format!("the width of the unsigned variable `{}` is missing", name.text);
            return Err(fail_with_help(
                "bad-width",
                message,
                name.span,
                format!("write `{} : 3`", name.text),
            ));
        }
        let length = match &declarator.length {
            Some(length) => Some(self.length(name, length, ty)?),
            None => None,
        };
        let mut variable = Variable {
            name: name.text.clone(),
            ty,
            length,
            init: Init::Zero,
            visibility: declaration.visibility,
            span: name.span,
        };
        if with_init && let Some(init) = &declarator.init {
            variable.init = self.init(&variable, init)?;
        }
        Ok(variable)
    }

    pub(super) fn type_of(&mut self, ty: &TypeName) -> Resolved<Type> {
        Ok(match &ty.kind {
            TypeKind::Bit => Type::Bit,
            TypeKind::Bool => Type::Bool,
            TypeKind::Byte => Type::Byte,
            TypeKind::Pid => Type::Pid,
            TypeKind::Short => Type::Short,
            TypeKind::Int => Type::Int,
            TypeKind::Unsigned => Type::Unsigned(1),
            TypeKind::Chan => Type::Chan,
            TypeKind::Mtype(None) => Type::Mtype(MtypeId::new(0)),
            TypeKind::Mtype(Some(name)) => match self.names.mtype_names.get(&name.text) {
                Some(&set) => Type::Mtype(set),
                None => {
                    let message = format!("there is no set of symbolic names `{}`", name.text);
                    let error = fail("unknown-type", message, name.span, "");
                    let known = self.names.mtypes.iter().map(|set| &*set.name);
                    return Err(suggest(error, &name.text, known));
                }
            },
            TypeKind::Named(name) => match self.names.struct_names.get(&name.text) {
                Some(&id) => Type::Struct(id),
                None => {
                    let message = format!("there is no type `{}`", name.text);
                    let error = fail("unknown-type", message, name.span, "");
                    let known = self.names.structs.iter().map(|known| &*known.name);
                    return Err(suggest(error, &name.text, known));
                }
            },
        })
    }

    fn width(&mut self, ty: &TypeName, width: &AstExpr) -> Resolved<Type> {
        if !matches!(ty.kind, TypeKind::Unsigned) {
            let message = "only an unsigned variable has a width";
            return Err(fail("bad-width", message, width.span, ""));
        }
        let value = self.constant(width)?;
        if !(1..=MAX_WIDTH).contains(&value) {
            let message = format!("the width of an unsigned variable is 1 to {MAX_WIDTH}, not {value}");
            return Err(fail("bad-width", message, width.span, ""));
        }
        Ok(Type::Unsigned(value as u8))
    }

    fn length(&mut self, name: &Name, length: &AstExpr, ty: Type) -> Resolved<u32> {
        let value = self.constant(length)?;
        let limit = self.limits.array;
        let of_one = match ty {
            Type::Struct(id) => self.names.struct_sizes[id.index()].0,
            _ => 1,
        };
        match u32::try_from(value) {
            Ok(length) if length >= 1 && (length as usize).saturating_mul(of_one) <= limit => Ok(length),
            Ok(length) if length >= 1 => {
                let message = format!("the array `{}` is too large: it has {length} elements", name.text);
                let help = format!("at most {limit} scalars are allowed in one array");
                Err(fail_with_help("too-large", message, name.span, help))
            }
            _ => {
                let message = format!("the array `{}` has {value} elements", name.text);
                Err(fail("bad-length", message, name.span, "there must be at least one"))
            }
        }
    }

    fn signature(&mut self, ast: &AstProctype) {
        let id = ProctypeId::new(self.names.signatures.len());
        let kind = kind_of(ast.kind);
        let name: Arc<str> = ast.name.text.clone();
        let old = self.names.signatures.iter().find(|old| old.name == name).map(|old| old.span);
        match old {
            Some(old) => {
                let what = if kind == ProctypeKind::Proctype { "the proctype" } else { "the part" };
                self.complain(redeclared(what, &ast.name, old));
            }
            None if kind == ProctypeKind::Proctype => _ = self.names.proctype_names.insert(name.clone(), id),
            None => {}
        }
        let mut parameters = Vec::new();
        for declaration in &ast.parameters {
            let ty = self.type_of(&declaration.ty);
            let ty = self.take(ty).unwrap_or(Type::Int);
            for declarator in &declaration.variables {
                parameters.push(ty);
                let wrong = match declarator {
                    Declarator { length: Some(_), .. } => "a parameter cannot be an array",
                    _ if self.contains_array(ty) => "a parameter cannot contain an array",
                    Declarator { init: Some(_), .. } => "a parameter cannot have an initial value",
                    _ => continue,
                };
                self.complain(fail("bad-parameter", wrong, declarator.span, ""));
            }
        }
        let n_active = match (&ast.active, ast.kind) {
            (_, BodyKind::Init) => 1,
            (Some(active), _) => {
                let count = self.active(active);
                self.take(count).unwrap_or(1)
            }
            (None, _) => 0,
        };
        if n_active > 0 && self.names.initial.len() + n_active > self.limits.processes {
            let message = format!("more than {} processes are active at the start", self.limits.processes);
            self.complain(fail("too-many", message, ast.name.span, ""));
        } else {
            self.names.initial.extend((0..n_active).map(|_| id));
        }
        self.names.signatures.push(Signature { name, kind, parameters, span: ast.name.span });
    }

    /// Whether a typedef has an array in it. Typedefs are not nested too deeply for recursion.
    fn contains_array(&self, ty: Type) -> bool {
        let Type::Struct(id) = ty else { return false };
        self.names.structs[id.index()]
            .fields
            .iter()
            .any(|field| field.length.is_some() || self.contains_array(field.ty))
    }

    fn active(&mut self, active: &Active) -> Resolved<usize> {
        let Some(count) = &active.count else { return Ok(1) };
        let value = self.constant(count)?;
        usize::try_from(value).ok().filter(|&value| value <= self.limits.processes).ok_or_else(|| {
            let message = format!("there cannot be {value} active processes");
            fail_with_help(
                "too-many",
                message,
                active.span,
                format!("at most {} are allowed", self.limits.processes),
            )
        })
    }
}

/// Whether a name means something everywhere.
pub(super) fn is_predefined(name: &str) -> bool {
    matches!(name, "_" | "_pid" | "_nr_pr" | "_last" | "_priority")
}

pub(super) fn redeclared(what: &str, name: &Name, old: Span) -> Fail {
    let error = fail("redeclared", format!("{what} `{}` is declared twice", name.text), name.span, "");
    Box::new(error.with_related(old, "it was declared here"))
}
