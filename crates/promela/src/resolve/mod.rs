//! Names and types: from the syntax tree to the checked [`Program`].
//!
//! 1. Global declarations in the order of the text: sets of names, typedefs, variables, and the
//!    names and parameters of proctypes (`declare`, `init`).
//! 2. The locals and labels of all proctypes (`frame`), since `P:x` and `P@label` may refer to any
//!    of them.
//! 3. Bodies and formulas (`stmt`, `local`, `loops`, `expr`, `place`, `formula`).
//!    Traces have events only (`event`).
//! 4. What is probably a mistake (`suspect`).
//!
//! Scopes are those of Spin since version 6: every pair of braces is one, options are none.
//! More liberal than Spin: globals, proctypes and inlines may be used before they are declared, nested
//! blocks may repeat labels, and questions like `full(c)` may be negated.

mod declare;
mod event;
mod expr;
mod formula;
mod frame;
mod init;
mod local;
mod loops;
mod place;
mod stmt;
mod suspect;

use std::sync::Arc;

use base::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::ast::{BodyKind, Expr as AstExpr, Model, Name, Proctype as AstProctype, Unit};
use crate::cost::Cost;
use crate::errors::{Fail, Sink};
use crate::options::Limits;
use crate::program::{
    Exclusive, Formula, GlobalId, LocalId, Mtype, MtypeId, Proctype, ProctypeId, ProctypeKind, Program,
    Property, Struct, StructId, Type, Variable,
};

use frame::Frame;

type Resolved<T> = Result<T, Fail>;

/// Resolves a model. Errors go to the sink; there is no program then.
pub(crate) fn resolve(
    model: &Model,
    limits: &Limits,
    sink: &mut Sink,
    cost: &dyn Cost,
) -> Option<(Program, Names)> {
    resolve_with_uses(model, limits, sink, cost).0
}

/// The same, with all names that could be looked up, whether or not there is a program.
pub(crate) fn resolve_with_uses(
    model: &Model,
    limits: &Limits,
    sink: &mut Sink,
    cost: &dyn Cost,
) -> (Option<(Program, Names)>, Vec<Use>) {
    let names = Names { broken: model.broken, ..Names::default() };
    let mut resolver = Resolver::new(names, limits, sink, cost);
    resolver.declare_globals(model);
    resolver.check_traces();
    let bodies: Vec<&AstProctype> = model.units.iter().filter_map(proctype_of).collect();
    if resolver.sink.is_full() {
        return (None, resolver.names.uses);
    }
    for (index, body) in bodies.iter().enumerate() {
        resolver.build_frame(index, body);
    }
    let mut proctypes = Vec::new();
    for (index, body) in bodies.iter().enumerate() {
        proctypes.push(resolver.proctype(index, body));
    }
    resolver.formulas(model);
    if resolver.names.initial.is_empty() && !model.broken {
        resolver.complain_about_no_process(model, &bodies);
    }
    resolver.suspect();
    let uses = std::mem::take(&mut resolver.names.uses);
    if resolver.sink.has_errors() || resolver.sink.is_full() {
        return (None, uses);
    }
    let mut names = resolver.names;
    for (frame, proctype) in names.frames.iter().zip(&mut proctypes) {
        proctype.labels = frame.labels.iter().map(|found| found.label.clone()).collect();
        proctype.locals.clone_from(&frame.locals);
    }
    let program = Program {
        globals: names.globals.clone(),
        structs: names.structs.clone(),
        mtypes: names.mtypes.clone(),
        proctypes,
        initial: std::mem::take(&mut names.initial),
        formulas: std::mem::take(&mut names.properties),
        exclusives: std::mem::take(&mut names.exclusives),
        priorities: names.priorities,
        max_processes: limits.processes as u32,
        warnings: base::Diagnostics::new(),
        questions: Vec::new(),
    };
    (Some((program, names)), uses)
}

/// Resolves a formula that stands behind a model.
pub(crate) fn question(
    formula: &AstExpr,
    names: &mut Names,
    limits: &Limits,
    sink: &mut Sink,
    cost: &dyn Cost,
) -> Result<Formula, Fail> {
    let mut resolver = Resolver::new(std::mem::take(names), limits, sink, cost);
    let resolved = resolver.formula(formula);
    *names = resolver.names;
    resolved
}

fn proctype_of(unit: &Unit) -> Option<&AstProctype> {
    match unit {
        Unit::Proctype(proctype) => Some(proctype),
        _ => None,
    }
}

/// What `run` must know about a proctype.
#[derive(Clone, Debug)]
struct Signature {
    name: Arc<str>,
    kind: ProctypeKind,
    parameters: Vec<Type>,
    span: Span,
}

/// How a channel variable is used, to find channels that nobody reads.
#[derive(Clone, Copy, Debug, Default)]
struct ChannelUse {
    sends: u32,
    /// Receives, and uses by which it may become known elsewhere.
    others: u32,
}

/// What names mean at the end of a model.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Whether declarations may be missing, so that unknown names are not worth a word.
    broken: bool,
    globals: Vec<Variable>,
    global_names: FxHashMap<Arc<str>, GlobalId>,
    channel_uses: FxHashMap<GlobalId, ChannelUse>,
    structs: Vec<Struct>,
    struct_names: FxHashMap<Arc<str>, StructId>,
    /// Scalars in each typedef, and how deep typedefs are nested in it.
    struct_sizes: Vec<(usize, usize)>,
    mtypes: Vec<Mtype>,
    mtype_names: FxHashMap<Arc<str>, MtypeId>,
    /// Symbolic constants: their sets, values and places.
    symbols: FxHashMap<Arc<str>, (MtypeId, i32, Span)>,
    signatures: Vec<Signature>,
    proctype_names: FxHashMap<Arc<str>, ProctypeId>,
    frames: Vec<Frame>,
    initial: Vec<ProctypeId>,
    properties: Vec<Property>,
    exclusives: Vec<Exclusive>,
    /// Where a priority other than 1 is given first, or one is set.
    priorities: Option<Span>,
    /// Scalars in all variables so far.
    n_scalars: usize,
    /// Where names stand, and where what they mean is declared.
    uses: Vec<Use>,
}

/// A name that was looked up: what it is, where it stands, and where what it means is declared.
pub(crate) type Use = (Arc<str>, Span, Span);

impl Default for Names {
    fn default() -> Names {
        Names {
            broken: false,
            globals: Vec::new(),
            global_names: FxHashMap::default(),
            channel_uses: FxHashMap::default(),
            structs: Vec::new(),
            struct_names: FxHashMap::default(),
            struct_sizes: Vec::new(),
            mtypes: vec![Mtype { name: "".into(), names: Vec::new() }],
            mtype_names: FxHashMap::default(),
            symbols: FxHashMap::default(),
            signatures: Vec::new(),
            proctype_names: FxHashMap::default(),
            frames: Vec::new(),
            initial: Vec::new(),
            properties: Vec::new(),
            exclusives: Vec::new(),
            priorities: None,
            n_scalars: 0,
            uses: Vec::new(),
        }
    }
}

struct Resolver<'a> {
    names: Names,
    limits: &'a Limits,
    sink: &'a mut Sink,
    cost: &'a dyn Cost,
    /// The proctype whose body is being resolved.
    current: Option<Current>,
    /// The calls of inlines around the current statement, outermost first.
    calls: Vec<(Arc<str>, Span)>,
}

/// Where the resolver is in the body of a proctype.
struct Current {
    index: usize,
    /// The names of each open scope.
    scopes: Vec<FxHashMap<Arc<str>, LocalId>>,
    /// The number of each open scope, as in [`Frame::scopes`].
    open: Vec<u32>,
    n_scopes: u32,
    /// How many declared variables were met.
    n_declared: usize,
    n_labels: usize,
    /// The d_step around each open loop, if there is one.
    loops: Vec<Option<u32>>,
    /// The outermost d_step around the current statement.
    d_step: Option<u32>,
    n_d_steps: u32,
    /// Whether a statement was met, so that declarations are statements, too.
    started: bool,
    /// How many counters of `for (m in c)` were made.
    n_counters: usize,
}

impl<'a> Resolver<'a> {
    fn new(names: Names, limits: &'a Limits, sink: &'a mut Sink, cost: &'a dyn Cost) -> Resolver<'a> {
        Resolver { names, limits, sink, cost, current: None, calls: Vec::new() }
    }

    /// Keeps an error, with the calls of inlines that lead to it. If a part of the model could not be
    /// read, a name may be declared there.
    #[expect(clippy::boxed_local, reason = "errors travel boxed")]
    fn complain(&mut self, error: Fail) {
        if self.names.broken && error.code.starts_with("unknown-") {
            return;
        }
        let error = self.with_calls(*error);
        self.sink.push(error);
    }

    fn warn(&mut self, warning: Diagnostic) {
        let warning = self.with_calls(warning);
        self.sink.push(warning);
    }

    fn with_calls(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        const MAX_SHOWN: usize = 3;
        for (name, span) in self.calls.iter().rev().take(MAX_SHOWN) {
            diagnostic.related.push((*span, format!("in this call of `{name}`")));
        }
        diagnostic
    }

    /// Remembers what a name means.
    fn note_use(&mut self, name: &Name, declared: Span) {
        self.names.uses.push((name.text.clone(), name.span, declared));
    }

    /// Keeps the error of a result, if it has one.
    fn take<T>(&mut self, result: Resolved<T>) -> Option<T> {
        result.map_err(|error| self.complain(error)).ok()
    }

    fn proctype(&mut self, index: usize, ast: &AstProctype) -> Proctype {
        let signature = &self.names.signatures[index];
        let (kind, name, span) = (signature.kind, signature.name.clone(), signature.span);
        let n_parameters = signature.parameters.len();
        self.current = Some(Current::new(index));
        self.enter_scope();
        self.bind_parameters(ast);
        let provided = ast.provided.as_ref().and_then(|expr| {
            let expr = self.expr(expr);
            self.take(expr)
        });
        let priority = ast.priority.as_ref().and_then(|expr| self.priority(expr)).unwrap_or(1);
        let body = self.sequence(&ast.body);
        self.leave_scope();
        self.current = None;
        let id = ProctypeId::new(index);
        let active = self.names.initial.iter().filter(|&&initial| initial == id).count() as u32;
        let end = Span { start: ast.span.end.saturating_sub(1), ..ast.span };
        Proctype {
            name,
            kind,
            deterministic: ast.deterministic,
            active,
            priority,
            provided,
            n_parameters,
            locals: Vec::new(),
            labels: Vec::new(),
            body,
            span,
            end,
        }
    }

    fn complain_about_no_process(&mut self, model: &Model, bodies: &[&AstProctype]) {
        let place = bodies.first().map(|body| body.name.span).or_else(|| first_place(model));
        let mut error = Diagnostic::error("no-process", "no process is active at the start");
        if let Some(span) = place {
            error = error.at(span, "");
        }
        self.sink.push(error.with_help("write `active proctype P() { … }`, or `init { … }`"));
    }
}

fn first_place(model: &Model) -> Option<Span> {
    model.units.iter().find_map(|unit| match unit {
        Unit::Mtype(list) => list.names.first().map(|name| name.span),
        Unit::Typedef(typedef) => Some(typedef.name.span),
        Unit::Declaration(declaration) => Some(declaration.ty.span),
        Unit::Proctype(proctype) => Some(proctype.name.span),
        Unit::Ltl(ltl) => Some(ltl.span),
    })
}

impl Current {
    fn new(index: usize) -> Current {
        Current {
            index,
            scopes: Vec::new(),
            open: Vec::new(),
            n_scopes: 0,
            n_declared: 0,
            n_labels: 0,
            loops: Vec::new(),
            d_step: None,
            n_d_steps: 0,
            started: false,
            n_counters: 0,
        }
    }
}

fn kind_of(kind: BodyKind) -> ProctypeKind {
    match kind {
        BodyKind::Proctype => ProctypeKind::Proctype,
        BodyKind::Init => ProctypeKind::Init,
        BodyKind::Never => ProctypeKind::Never,
        BodyKind::Trace => ProctypeKind::Trace,
        BodyKind::NoTrace => ProctypeKind::NoTrace,
    }
}

/// A label as it was found, with where it may be seen.
#[derive(Clone, Debug)]
struct FoundLabel {
    label: crate::program::Label,
    scope: u32,
    d_step: Option<u32>,
}
