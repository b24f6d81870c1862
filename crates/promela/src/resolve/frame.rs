//! The frame of a proctype: its variables in order, its labels, and its scopes.
//!
//! Scopes are numbered in the order in which they open; the walk over the statements
//! ([`super::stmt`]) opens them in the same order, so it finds the same numbers.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast::{Declaration, Name, Proctype as AstProctype, Stmt, StmtKind};
use crate::errors::{fail, suggest};
use crate::program::{Init, Label, LabelId, LocalId, Type, Variable, Visibility};

use super::declare::redeclared;
use super::{FoundLabel, Resolved, Resolver};

#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) locals: Vec<Variable>,
    pub(super) labels: Vec<FoundLabel>,
    /// The positions of the labels of one name.
    by_name: FxHashMap<Arc<str>, Vec<usize>>,
    /// The scope around each scope; the first one is that of the proctype.
    scopes: Vec<Option<u32>>,
}

/// Where the walk that builds a frame is.
struct Walk {
    frame: Frame,
    scope: u32,
    d_step: Option<u32>,
    n_d_steps: u32,
}

impl Resolver<'_> {
    /// Collects the variables and labels of a proctype.
    pub(super) fn build_frame(&mut self, index: usize, ast: &AstProctype) {
        let frame = Frame { scopes: vec![None], ..Frame::default() };
        let mut walk = Walk { frame, scope: 0, d_step: None, n_d_steps: 0 };
        for declaration in &ast.parameters {
            self.frame_variables(declaration, &mut walk);
        }
        self.frame_sequence(&ast.body, &mut walk);
        debug_assert_eq!(index, self.names.frames.len());
        self.names.frames.push(walk.frame);
    }

    fn frame_variables(&mut self, declaration: &Declaration, walk: &mut Walk) {
        for declarator in &declaration.variables {
            let variable = self.variable(declaration, declarator, false);
            let mut variable = self.take(variable).unwrap_or_else(|| Variable {
                name: declarator.name.text.clone(),
                ty: Type::Int,
                length: None,
                init: Init::Zero,
                visibility: Visibility::Plain,
                span: declarator.name.span,
            });
            if let Err(error) = self.count_scalars(&variable) {
                self.complain(error);
                variable.length = None;
            }
            walk.frame.locals.push(variable);
        }
    }

    fn frame_sequence(&mut self, body: &[Stmt], walk: &mut Walk) {
        for statement in body {
            self.frame_statement(statement, walk);
        }
    }

    fn frame_scope(&mut self, body: &[Stmt], walk: &mut Walk) {
        let outer = walk.scope;
        walk.scope = walk.frame.scopes.len() as u32;
        walk.frame.scopes.push(Some(outer));
        self.frame_sequence(body, walk);
        walk.scope = outer;
    }

    fn frame_statement(&mut self, statement: &Stmt, walk: &mut Walk) {
        for name in &statement.labels {
            let same_name = walk.frame.by_name.entry(name.text.clone()).or_default();
            let known =
                same_name.iter().map(|&index| &walk.frame.labels[index]).find(|old| old.scope == walk.scope);
            let known = known.map(|old| old.label.span);
            same_name.push(walk.frame.labels.len());
            if let Some(old) = known {
                self.complain(redeclared("the label", name, old));
            }
            let label = Label { name: name.text.clone(), span: name.span, is_remote: false };
            walk.frame.labels.push(FoundLabel { label, scope: walk.scope, d_step: walk.d_step });
        }
        match &statement.kind {
            StmtKind::Declaration(declaration) => self.frame_variables(declaration, walk),
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().for_each(|option| self.frame_sequence(option, walk));
            }
            StmtKind::Atomic(body)
            | StmtKind::Block(body)
            | StmtKind::ForRange { body, .. }
            | StmtKind::ForIn { body, .. } => self.frame_scope(body, walk),
            StmtKind::Inlined { name, body } => {
                self.calls.push((name.text.clone(), statement.span));
                self.frame_scope(body, walk);
                self.calls.pop();
            }
            StmtKind::DStep(body) => {
                let outer = walk.d_step;
                if outer.is_none() {
                    walk.n_d_steps += 1;
                    walk.d_step = Some(walk.n_d_steps);
                }
                self.frame_scope(body, walk);
                walk.d_step = outer;
            }
            StmtKind::Unless(parts) => {
                self.frame_statement(&parts.0, walk);
                self.frame_statement(&parts.1, walk);
            }
            _ => {}
        }
    }

    /// Opens a scope.
    pub(super) fn enter_scope(&mut self) {
        if let Some(current) = &mut self.current {
            current.open.push(current.n_scopes);
            current.n_scopes += 1;
            current.scopes.push(FxHashMap::default());
        }
    }

    pub(super) fn leave_scope(&mut self) {
        if let Some(current) = &mut self.current {
            current.open.pop();
            current.scopes.pop();
        }
    }

    /// Makes the next declared variable of the frame visible by its name.
    pub(super) fn bind_next(&mut self, name: &Name) -> Option<LocalId> {
        let current = self.current.as_mut()?;
        let id = LocalId::new(current.n_declared);
        current.n_declared += 1;
        let index = current.index;
        let old = current.scopes.last_mut()?.insert(name.text.clone(), id);
        if let Some(old) = old {
            let old = self.names.frames[index].locals[old.index()].span;
            self.complain(redeclared("the variable", name, old));
        }
        Some(id)
    }

    pub(super) fn bind_parameters(&mut self, ast: &AstProctype) {
        for declaration in &ast.parameters {
            for declarator in &declaration.variables {
                self.bind_next(&declarator.name);
            }
        }
    }

    /// The local variable that a name means here.
    pub(super) fn local(&self, name: &str) -> Option<LocalId> {
        let current = self.current.as_ref()?;
        current.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// The label that a `goto` means: one of the same scope, or else of a scope around it, or else
    /// any, as Spin chooses.
    pub(super) fn goto_label(&mut self, name: &Name) -> Resolved<LabelId> {
        let Some(current) = &self.current else {
            return Err(fail("unknown-label", format!("there is no label `{}`", name.text), name.span, ""));
        };
        let frame = &self.names.frames[current.index];
        let here = current.open.last().copied().unwrap_or(0);
        let named = frame.by_name.get(&name.text).map_or(&[][..], |named| named);
        let scope = |index: &&usize| frame.labels[**index].scope;
        let same = named.iter().find(|index| scope(index) == here);
        let around = same.or_else(|| named.iter().find(|index| frame.is_around(scope(index), here)));
        match around.or_else(|| named.last()) {
            Some(&index) => {
                let declared = frame.labels[index].label.span;
                self.note_use(name, declared);
                Ok(LabelId::new(index))
            }
            None => {
                let message = format!("there is no label `{}` in this proctype", name.text);
                let error = fail("unknown-label", message, name.span, "");
                let known = frame.labels.iter().map(|found| &*found.label.name);
                Err(suggest(error, &name.text, known))
            }
        }
    }

    /// The label of a proctype that `P@label` means: the outermost one.
    pub(super) fn remote_label(&mut self, proctype: usize, name: &Name) -> Resolved<LabelId> {
        let labels = &mut self.names.frames[proctype].labels;
        let named = labels.iter().enumerate().filter(|(_, found)| found.label.name == name.text);
        let Some(index) = named.min_by_key(|(_, found)| found.scope).map(|(index, _)| index) else {
            let owner = self.names.signatures[proctype].name.clone();
            let message = format!("the proctype `{owner}` has no label `{}`", name.text);
            let error = fail("unknown-label", message, name.span, "");
            return Err(suggest(error, &name.text, labels.iter().map(|found| &*found.label.name)));
        };
        labels[index].label.is_remote = true;
        let declared = labels[index].label.span;
        self.note_use(name, declared);
        Ok(LabelId::new(index))
    }

    /// A variable of a proctype by its name, whatever its scope: the first one.
    pub(super) fn remote_local(&mut self, proctype: usize, name: &Name) -> Resolved<LocalId> {
        let locals = &self.names.frames[proctype].locals;
        match locals.iter().position(|local| local.name == name.text) {
            Some(index) => {
                let declared = locals[index].span;
                self.note_use(name, declared);
                Ok(LocalId::new(index))
            }
            None => {
                let owner = &self.names.signatures[proctype].name;
                let message = format!("the proctype `{owner}` has no variable `{}`", name.text);
                let error = fail("unknown-variable", message, name.span, "");
                Err(suggest(error, &name.text, locals.iter().map(|local| &*local.name)))
            }
        }
    }

    /// A variable that is not in the text: the counter of a loop over a channel.
    pub(super) fn counter(&mut self, span: base::Span) -> Option<LocalId> {
        let current = self.current.as_mut()?;
        current.n_counters += 1;
        let name: Arc<str> = format!("_counter{}", current.n_counters).into();
        let locals = &mut self.names.frames[current.index].locals;
        let id = LocalId::new(locals.len());
        let visibility = Visibility::Plain;
        locals.push(Variable { name, ty: Type::Byte, length: None, init: Init::Zero, visibility, span });
        Some(id)
    }
}

impl Frame {
    /// Whether one scope contains another.
    fn is_around(&self, outer: u32, inner: u32) -> bool {
        let mut scope = Some(inner);
        while let Some(at) = scope {
            if at == outer {
                return true;
            }
            scope = self.scopes.get(at as usize).copied().flatten();
        }
        false
    }
}
