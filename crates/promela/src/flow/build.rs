//! The first half: statements to a list of elements, numbered as Spin numbers them.
//!
//! An element is a basic statement or a mark: the choice of an `if`, the place where its options
//! meet again, the place behind a loop, and so on. Elements of a sequence are linked; options share
//! the mark at which they end. Numbers are given in the order in which a parser that works from the
//! bottom up would see the statements.

use base::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{ExprKind, Label, LabelId, Stmt, StmtKind};

/// An element, by its position.
pub(super) type El = usize;
/// A sequence, by its position.
pub(super) type Seq = usize;

/// What is to be built.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// Claims keep all their `skip`.
    pub(super) is_claim: bool,
    /// In a d_step, atomic sequences are blocks.
    pub(super) in_d_step: bool,
    /// The closing brace.
    pub(super) end: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'p> {
    Basic(&'p Stmt),
    Else(&'p Stmt),
    /// A `skip` that is not in the text.
    Skip,
    Goto(Target, &'p Stmt),
    /// Where options meet again, or where a loop begins.
    Join,
    /// Behind a loop.
    LoopEnd,
    If,
    Do,
    Unless,
    Atomic(Seq),
    DStep(Seq, &'p [Stmt]),
    Block(Seq),
    /// The end of the body.
    Stop,
}

/// Where a jump leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Label(LabelId),
    /// Behind the loop of this number.
    Loop(usize),
}

#[derive(Debug)]
pub(super) struct Element<'p> {
    pub(super) kind: Kind<'p>,
    pub(super) next: Option<El>,
    /// The process keeps its hold after this element.
    pub(super) atom: bool,
    /// This is the last element of an atomic sequence.
    pub(super) last_atom: bool,
    /// It is inside a d_step.
    pub(super) in_d_step: bool,
    /// Options, or the two parts of an `unless`.
    pub(super) subs: Vec<Seq>,
    /// What this element may be left for, the outermost first.
    pub(super) escapes: Vec<Seq>,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    pub(super) first: El,
    pub(super) last: El,
    /// The last element that belongs to the sequence alone.
    pub(super) extent: El,
}

/// All elements of a body.
pub(super) struct Elements<'p> {
    pub(super) list: Vec<Element<'p>>,
    pub(super) sequences: Vec<Sequence>,
    pub(super) body: Seq,
    pub(super) labels: &'p [Label],
    /// The element of each label.
    pub(super) label_at: Vec<Option<El>>,
    /// The element behind each loop.
    pub(super) loop_ends: Vec<Option<El>>,
    pub(super) in_d_step: bool,
    /// How many there are when the body was read; some may be added later.
    pub(super) n_read: usize,
}

/// Builds the elements of a body.
pub(super) fn elements<'p>(body: &'p [Stmt], labels: &'p [Label], setting: Setting) -> Elements<'p> {
    let mut builder = Builder {
        elements: Elements {
            list: Vec::new(),
            sequences: Vec::new(),
            body: 0,
            labels,
            label_at: vec![None; labels.len()],
            loop_ends: Vec::new(),
            in_d_step: setting.in_d_step,
            n_read: 0,
        },
        labels_of: FxHashMap::default(),
        attached: FxHashSet::default(),
        loops: Vec::new(),
        is_claim: setting.is_claim,
        in_d_step: setting.in_d_step,
    };
    let mut sequence = Open::default();
    for statement in body {
        builder.statement(statement, &mut sequence);
    }
    let stop = builder.element(Kind::Stop, setting.end);
    builder.append(stop, &mut sequence);
    builder.elements.body = builder.close(sequence);
    builder.elements.n_read = builder.elements.list.len();
    builder.split_remote_jumps();
    builder.elements
}

/// A sequence that is being built.
#[derive(Clone, Copy, Default)]
struct Open {
    ends: Option<(El, El)>,
}

pub(super) struct Builder<'p> {
    pub(super) elements: Elements<'p>,
    /// The labels of an element, in the order in which they were placed.
    labels_of: FxHashMap<El, Vec<LabelId>>,
    /// Which escapes were attached to which sequences.
    pub(super) attached: FxHashSet<(Seq, Seq)>,
    /// The numbers of the open loops.
    loops: Vec<usize>,
    is_claim: bool,
    in_d_step: bool,
}

/// A statement whose parts are built.
enum Prepared {
    Basic,
    Choice(Vec<Seq>, Option<usize>),
    Block(Seq),
    Unless(Seq, Seq),
}

/// One part of an `unless`.
enum Part<'p> {
    Built(Seq),
    Later(&'p Stmt, Prepared),
}

impl<'p> Builder<'p> {
    pub(super) fn element(&mut self, kind: Kind<'p>, span: Span) -> El {
        self.elements.list.push(Element {
            kind,
            next: None,
            atom: false,
            last_atom: false,
            in_d_step: false,
            subs: Vec::new(),
            escapes: Vec::new(),
            span,
        });
        self.elements.list.len() - 1
    }

    pub(super) fn at(&mut self, el: El) -> &mut Element<'p> {
        &mut self.elements.list[el]
    }

    fn statement(&mut self, statement: &'p Stmt, sequence: &mut Open) {
        let prepared = self.prepare(statement);
        self.add(statement, prepared, sequence);
    }

    fn sequence(&mut self, body: &'p [Stmt]) -> Seq {
        let mut sequence = Open::default();
        for statement in body {
            self.statement(statement, &mut sequence);
        }
        self.close(sequence)
    }

    fn close(&mut self, sequence: Open) -> Seq {
        // Errors in a body may have left nothing of a sequence; then there is no program either.
        let (first, last) = sequence.ends.unwrap_or_else(|| {
            let span = Span::new(base::SourceId::new(0), 0, 0);
            let skip = self.element(Kind::Skip, span);
            (skip, skip)
        });
        self.elements.sequences.push(Sequence { first, last, extent: last });
        self.elements.sequences.len() - 1
    }

    /// Builds the parts of a statement.
    fn prepare(&mut self, statement: &'p Stmt) -> Prepared {
        match &statement.kind {
            StmtKind::If(options) => Prepared::Choice(self.options(options, true), None),
            StmtKind::Do(options) | StmtKind::For(options) => {
                let number = self.elements.loop_ends.len();
                self.elements.loop_ends.push(None);
                self.loops.push(number);
                let options = self.options(options, matches!(statement.kind, StmtKind::Do(_)));
                self.loops.pop();
                Prepared::Choice(options, Some(number))
            }
            StmtKind::Atomic(body) => {
                let sequence = self.sequence(body);
                if !self.in_d_step {
                    self.make_atomic(sequence, false);
                }
                Prepared::Block(sequence)
            }
            StmtKind::DStep(body) => {
                let sequence = self.sequence(body);
                if !self.in_d_step {
                    self.make_atomic(sequence, true);
                }
                Prepared::Block(sequence)
            }
            StmtKind::Block(body) => Prepared::Block(self.sequence(body)),
            StmtKind::Unless(parts) => {
                let main = self.part(&parts.0);
                let escape = self.part(&parts.1);
                let escape = self.finish(escape);
                Prepared::Unless(self.finish(main), escape)
            }
            _ => Prepared::Basic,
        }
    }

    fn part(&mut self, statement: &'p Stmt) -> Part<'p> {
        match &statement.kind {
            StmtKind::Block(body) if statement.labels.is_empty() => Part::Built(self.sequence(body)),
            _ => Part::Later(statement, self.prepare(statement)),
        }
    }

    fn finish(&mut self, part: Part<'p>) -> Seq {
        match part {
            Part::Built(sequence) => sequence,
            Part::Later(statement, prepared) => {
                let mut sequence = Open::default();
                self.add(statement, prepared, &mut sequence);
                self.close(sequence)
            }
        }
    }

    fn options(&mut self, options: &'p [Vec<Stmt>], is_written: bool) -> Vec<Seq> {
        let built: Vec<Seq> = options.iter().map(|option| self.sequence(option)).collect();
        if is_written && !self.is_claim {
            built.iter().for_each(|&option| self.drop_useless(option));
        }
        built
    }

    /// Drops `skip` after `skip` or `printf`, but not the last statement.
    fn drop_useless(&mut self, option: Seq) {
        let Sequence { first, last, .. } = self.elements.sequences[option];
        let mut before = first;
        let mut n_useless = 0;
        let mut next = Some(first);
        while let Some(el) = next {
            let (is_skip, is_print) = match self.elements.list[el].kind {
                Kind::Basic(statement) => is_useless(statement),
                _ => (false, false),
            };
            let has_label = self.labels_of.contains_key(&el);
            n_useless = if (is_skip || is_print) && !has_label { n_useless + 1 } else { 0 };
            next = self.elements.list[el].next;
            if n_useless > 1 && is_skip && el != first && el != last {
                self.at(before).next = next;
            } else {
                before = el;
            }
        }
    }

    /// Adds the elements of a statement to a sequence.
    fn add(&mut self, statement: &'p Stmt, prepared: Prepared, sequence: &mut Open) {
        let span = statement.span;
        match prepared {
            Prepared::Choice(options, number) => {
                let el = self.choice(options, number, span, sequence);
                self.place_labels(statement, el);
            }
            Prepared::Unless(main, escape) => {
                let el = self.unless(main, escape, span, sequence);
                self.place_labels(statement, el);
            }
            Prepared::Basic | Prepared::Block(_) => {
                let kind = self.kind(statement, &prepared);
                let el = self.element(kind, span);
                self.place_labels(statement, el);
                self.append(el, sequence);
            }
        }
    }

    fn kind(&mut self, statement: &'p Stmt, prepared: &Prepared) -> Kind<'p> {
        match (&statement.kind, prepared) {
            (StmtKind::Atomic(_), Prepared::Block(inner)) if !self.in_d_step => Kind::Atomic(*inner),
            (StmtKind::DStep(body), Prepared::Block(inner)) if !self.in_d_step => Kind::DStep(*inner, body),
            (_, Prepared::Block(inner)) => Kind::Block(*inner),
            (StmtKind::Goto(label), _) => Kind::Goto(Target::Label(*label), statement),
            (StmtKind::Break, _) => match self.loops.last() {
                Some(&number) => Kind::Goto(Target::Loop(number), statement),
                None => Kind::Basic(statement),
            },
            (StmtKind::Else, _) => Kind::Else(statement),
            _ => Kind::Basic(statement),
        }
    }

    fn place_labels(&mut self, statement: &Stmt, el: El) {
        for &label in statement.labels.iter().rev() {
            if let Some(place) = self.elements.label_at.get_mut(label.index()) {
                *place = Some(el);
                self.labels_of.entry(el).or_default().push(label);
            }
        }
    }

    fn append(&mut self, el: El, sequence: &mut Open) {
        let is_special = |label: &Label| label.is_accept() || label.is_end() || label.is_progress();
        if let Kind::Goto(..) = self.elements.list[el].kind {
            let here = self.labels_of.get(&el).map_or(&[][..], |labels| labels);
            if here.iter().any(|label| is_special(&self.elements.labels[label.index()]))
                && let Some(&label) = here.last()
            {
                let span = self.elements.list[el].span;
                let skip = self.element(Kind::Skip, span);
                self.elements.label_at[label.index()] = Some(skip);
                self.link(skip, sequence);
            }
        }
        self.link(el, sequence);
    }

    fn link(&mut self, el: El, sequence: &mut Open) {
        match &mut sequence.ends {
            None => sequence.ends = Some((el, el)),
            Some((_, last)) => {
                let before = std::mem::replace(last, el);
                self.at(before).next = Some(el);
            }
        }
    }

    /// Appends a shared mark to a closed sequence.
    fn link_closed(&mut self, el: El, sequence: Seq) {
        let before = std::mem::replace(&mut self.elements.sequences[sequence].last, el);
        self.at(before).next = Some(el);
    }

    fn choice(
        &mut self,
        mut options: Vec<Seq>,
        number: Option<usize>,
        span: Span,
        sequence: &mut Open,
    ) -> El {
        let kind = if number.is_some() { Kind::Do } else { Kind::If };
        let choice = self.element(kind, span);
        let join = self.element(Kind::Join, span);
        let is_else = |this: &Self, option: Seq| {
            matches!(this.elements.list[this.elements.sequences[option].first].kind, Kind::Else(_))
        };
        if let Some(position) = options.iter().position(|&option| is_else(self, option)) {
            let otherwise = options.remove(position);
            options.push(otherwise);
        }
        for &option in &options {
            self.link_closed(join, option);
        }
        self.at(choice).subs = options;
        let mut end = join;
        if let Some(number) = number {
            self.link(join, sequence);
            end = self.element(Kind::LoopEnd, span);
            self.elements.loop_ends[number] = Some(end);
        }
        self.link(choice, sequence);
        self.link(end, sequence);
        choice
    }

    fn unless(&mut self, main: Seq, escape: Seq, span: Span, sequence: &mut Open) -> El {
        let unless = self.element(Kind::Unless, span);
        let join = self.element(Kind::Join, span);
        self.at(unless).subs = vec![main, escape];
        self.link_closed(join, main);
        self.link_closed(join, escape);
        self.attach(main, escape);
        self.link(unless, sequence);
        self.link(join, sequence);
        unless
    }
}

/// Whether a statement is `skip`, and whether it prints.
fn is_useless(statement: &Stmt) -> (bool, bool) {
    match &statement.kind {
        StmtKind::Expr(expr) => (matches!(expr.kind, ExprKind::Int(1)), false),
        StmtKind::Print(..) | StmtKind::PrintM(_) => (false, true),
        _ => (false, false),
    }
}
