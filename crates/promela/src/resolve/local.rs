//! Declarations among statements.

use base::Span;

use crate::ast::{Declaration, Init as AstInit, VarRef};
use crate::errors::{fail, fail_with_help};
use crate::eval;
use crate::program::{Exclusive, Init, Place, ProctypeId, Step, Stmt, StmtKind, Type, VarId, Variable};

use super::loops::int;
use super::{Resolved, Resolver};

impl Resolver<'_> {
    /// A declaration among statements: at the start of the body it says what the variable is when
    /// the process starts; later it is a statement.
    pub(super) fn local_declaration(&mut self, declaration: &Declaration) -> Resolved<Vec<Stmt>> {
        let started = self.current.as_ref().is_some_and(|current| current.started);
        let mut list = Vec::new();
        for declarator in &declaration.variables {
            // The initial value cannot use the variable itself.
            let value = declarator.init.as_ref().map(|init| self.local_init(declarator.name.span, init));
            let Some(id) = self.bind_next(&declarator.name) else { continue };
            let value = match value {
                Some(value) => self.take(value).unwrap_or(Init::Zero),
                None => Init::Zero,
            };
            let Some(index) = self.current.as_ref().map(|current| current.index) else { continue };
            if !started {
                self.names.frames[index].locals[id.index()].init = value;
                continue;
            }
            let variable = &self.names.frames[index].locals[id.index()];
            let (name, ty, length) = (variable.name.clone(), variable.ty, variable.length);
            let (span, root) = (declarator.span, VarId::Local(id));
            // As in Spin, only the first element of an array is set then.
            let steps = length.map(|_| Step::Index(int(0, span))).into_iter().collect();
            let place = Place { root, steps, ty, span: declarator.name.span };
            let is_struct = matches!(ty, Type::Struct(_));
            let (kind, text) = match value {
                Init::Zero | Init::Expr(_) if is_struct => (StmtKind::Declare(root), format!("{name}")),
                Init::Zero => (StmtKind::Assign(place, int(0, span)), format!("{name} = 0")),
                Init::Expr(value) => {
                    let text = match eval::constant(&value) {
                        Some(value) => format!("{name} = {value}"),
                        None => format!("{name} = …"),
                    };
                    (StmtKind::Assign(place, value), text)
                }
                // All elements in one step: Spin has no such statement.
                Init::List(values) => {
                    let element = |(at, value): (usize, i32)| {
                        let steps = vec![Step::Index(int(at as i32, span))];
                        let place = Place { steps, ..place.clone() };
                        let text = format!("{name}[{at}] = {value}").into();
                        Stmt {
                            kind: StmtKind::Assign(place, int(value, span)),
                            labels: Vec::new(),
                            span,
                            text,
                        }
                    };
                    let all = values.into_iter().take(length.unwrap_or(0) as usize);
                    (StmtKind::DStep(all.enumerate().map(element).collect()), String::new())
                }
                Init::Channel(_) => {
                    let message = format!("the channel `{name}` gets its value after a statement");
                    let help = "write its declaration at the start of the proctype";
                    self.complain(fail_with_help("late-declaration", message, span, help));
                    continue;
                }
            };
            list.push(Stmt { kind, labels: Vec::new(), span, text: text.into() });
        }
        Ok(list)
    }

    /// The initial value of the next variable of the frame.
    fn local_init(&mut self, span: Span, init: &AstInit) -> Resolved<Init> {
        let Some(current) = &self.current else {
            return Err(fail("misplaced", "this cannot be declared here", span, ""));
        };
        let (index, next) = (current.index, current.n_declared);
        let declared = &self.names.frames[index].locals[next];
        let variable = Variable {
            name: declared.name.clone(),
            ty: declared.ty,
            length: declared.length,
            init: Init::Zero,
            visibility: declared.visibility,
            span: declared.span,
        };
        self.init(&variable, init)
    }

    pub(super) fn exclusive(&mut self, is_send: bool, channels: &[VarRef]) -> Resolved<Vec<Stmt>> {
        for channel in channels {
            // A whole array of channels may be meant.
            let found = self.found(channel)?;
            let place = found.place;
            if place.ty != Type::Chan {
                return Err(fail("not-a-channel", "this is not a channel", channel.span, ""));
            }
            if let Some(current) = &self.current {
                let proctype = ProctypeId::new(current.index);
                self.names.exclusives.push(Exclusive { proctype, is_send, channel: place });
            }
        }
        Ok(Vec::new())
    }
}
