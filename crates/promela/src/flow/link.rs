//! The second half: elements to locations and edges.
//!
//! 1. Every basic element gets its edge, every choice the list of its options' first elements.
//! 2. Choices among choices become one choice; a choice has the edges of its options.
//! 3. What cannot be reached is left out.
//! 4. The edges of escapes are put in front.

use std::sync::Arc;

use base::Diagnostic;
use language::Trouble;

use super::build::{El, Element, Elements, Kind, Seq, Sequence, Target};
use super::{Action, Edge, Flow, Location, inner_flow};
use crate::cost::Cost;

/// Longer chains of jumps are refused; Spin refuses more than 500.
const MAX_JUMPS: usize = 1000;

/// Graphs with more edges are refused: every location has the edges of all escapes around it.
pub(super) const MAX_EDGES: usize = 1_000_000;

/// What an element takes until its graph is made, and the location that becomes of it.
const ELEMENT_BYTES: usize =
    size_of::<Element<'_>>() + size_of::<Step<'_>>() + size_of::<Location<'_>>() + size_of::<Edge<'_>>();

pub(super) type Linked<T> = Result<T, Trouble>;

pub(super) fn link<'p>(elements: Elements<'p>, cost: &dyn Cost) -> Linked<Flow<'p>> {
    cost.keep(elements.list.len() * ELEMENT_BYTES)?;
    let (n, n_sequences) = (elements.list.len(), elements.sequences.len());
    let mut linker = Linker {
        cost,
        elements,
        done: vec![false; n],
        finished: vec![false; n_sequences],
        steps: (0..n).map(|_| Step::None).collect(),
        escapes: vec![Vec::new(); n],
        marks: vec![Marks::default(); n],
        itself: (0..n).collect(),
    };
    linker.place_marks();
    linker.tie_ends();
    let body = linker.elements.body;
    let first = linker.elements.sequences[body].first;
    linker.sequence(body)?;
    let initial = linker.follow(first, linker.elements.list[first].atom)?;
    linker.flatten_choices()?;
    linker.mark_choices();
    let (is_reached, needed) = linker.reach(initial);
    let edges = linker.edges(&needed)?;
    linker.pass_end_marks(&edges);
    Ok(linker.flow(initial, &is_reached, &edges))
}

/// What an element does.
pub(super) enum Step<'p> {
    /// It is not a location.
    None,
    Edge(RawEdge<'p>),
    /// The first elements of the options.
    Choice(Vec<El>),
}

pub(super) struct RawEdge<'p> {
    pub(super) action: Action<'p>,
    pub(super) target: Option<El>,
    pub(super) atomic: bool,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) end: bool,
    pub(super) accept: bool,
    pub(super) progress: bool,
}

pub(super) struct Linker<'p, 'c> {
    pub(super) cost: &'c dyn Cost,
    pub(super) elements: Elements<'p>,
    done: Vec<bool>,
    /// The sequences of which all elements are done.
    finished: Vec<bool>,
    pub(super) steps: Vec<Step<'p>>,
    /// The first elements of the escapes of each basic element, the outermost first.
    pub(super) escapes: Vec<Vec<El>>,
    pub(super) marks: Vec<Marks>,
    /// Each element, to have slices of one.
    pub(super) itself: Vec<El>,
}

impl<'p> Linker<'p, '_> {
    pub(super) fn at(&self, el: El) -> &Element<'p> {
        &self.elements.list[el]
    }

    fn place_marks(&mut self) {
        for (label, el) in self.elements.labels.iter().zip(&self.elements.label_at) {
            let Some(el) = *el else { continue };
            let marks = &mut self.marks[el];
            marks.end |= label.is_end();
            marks.accept |= label.is_accept();
            marks.progress |= label.is_progress();
        }
        for (el, element) in self.elements.list.iter().enumerate() {
            self.marks[el].end |= matches!(element.kind, Kind::Stop);
        }
    }

    /// The last element of a block leads to what follows the block.
    fn tie_ends(&mut self) {
        for el in (0..self.elements.list.len()).rev() {
            let (Kind::Atomic(inner) | Kind::Block(inner) | Kind::DStep(inner, _)) = self.at(el).kind else {
                continue;
            };
            let mut next = self.at(el).next;
            while let Some(join) = next.filter(|&next| matches!(self.at(next).kind, Kind::Join)) {
                next = self.at(join).next;
            }
            let last = self.elements.sequences[inner].last;
            match self.at(last).next {
                None => self.elements.list[last].next = next,
                Some(after) if matches!(self.at(after).kind, Kind::Goto(..)) => {
                    self.elements.sequences[inner].last = after;
                }
                Some(_) => {}
            }
        }
    }

    fn target(&self, target: Target) -> Option<El> {
        match target {
            Target::Label(label) => self.elements.label_at.get(label.index()).copied().flatten(),
            Target::Loop(number) => self.elements.loop_ends[number],
        }
    }

    /// Where control comes to rest if it goes to an element: jumps and marks are passed, but an
    /// atomic sequence is not left on the way.
    fn follow(&self, start: El, atomic: bool) -> Linked<El> {
        let mut el = start;
        for _ in 0..MAX_JUMPS {
            let next = match self.at(el).kind {
                Kind::Goto(target, _) => self.target(target),
                Kind::Join | Kind::LoopEnd => self.at(el).next,
                Kind::Unless => self.at(el).subs.first().map(|&main| self.elements.sequences[main].first),
                _ => return Ok(el),
            };
            let Some(next) = next else { return Ok(el) };
            if next == el {
                break;
            }
            if atomic && !self.at(next).atom {
                return Ok(el);
            }
            el = next;
        }
        let message = "jumps lead only to jumps here, in a circle or very many times";
        Err(Diagnostic::error("endless-jump", message).at(self.at(start).span, "from here").into())
    }

    /// The first element of an option.
    fn first(&self, sequence: Seq) -> El {
        let mut el = self.elements.sequences[sequence].first;
        for _ in 0..MAX_JUMPS {
            let next = match self.at(el).kind {
                Kind::Join => self.at(el).next,
                Kind::Unless => self.at(el).subs.first().map(|&main| self.elements.sequences[main].first),
                _ => None,
            };
            match next {
                Some(next) => el = next,
                None => break,
            }
        }
        el
    }

    /// Finds what the elements of a sequence do.
    fn sequence(&mut self, sequence: Seq) -> Linked<()> {
        if self.finished[sequence] {
            return Ok(());
        }
        let Sequence { first, last, .. } = self.elements.sequences[sequence];
        let mut next = Some(first);
        while let Some(el) = next {
            if !std::mem::replace(&mut self.done[el], true) {
                self.element(el)?;
            }
            next = if el == last { None } else { self.at(el).next };
        }
        self.finished[sequence] = true;
        Ok(())
    }

    fn element(&mut self, el: El) -> Linked<()> {
        self.cost.tick()?;
        match self.at(el).kind {
            Kind::Unless => match self.at(el).subs.first().copied() {
                Some(main) => self.sequence(main),
                None => Ok(()),
            },
            Kind::If | Kind::Do => {
                let subs = self.at(el).subs.clone();
                let firsts = subs.iter().map(|&option| self.first(option));
                let options = firsts.filter(|&first| !self.is_dead(first)).collect();
                self.steps[el] = Step::Choice(options);
                subs.into_iter().try_for_each(|option| self.sequence(option))
            }
            Kind::Atomic(inner) | Kind::Block(inner) => {
                self.enter(el, inner);
                self.steps[el] = Step::Choice(vec![self.first(inner)]);
                self.sequence(inner)
            }
            Kind::DStep(inner, body) => {
                self.enter(el, inner);
                let flow = inner_flow(body, self.elements.labels, self.at(el).span, self.cost)?;
                self.basic(el, Action::DStep(Arc::new(flow)))
            }
            Kind::Basic(statement) => self.basic(el, Action::Stmt(statement)),
            Kind::Else(_) => self.basic(el, Action::Else),
            Kind::Skip | Kind::Goto(..) | Kind::Join | Kind::LoopEnd => self.basic(el, Action::Jump),
            Kind::Stop => self.basic(el, Action::End),
        }
    }

    /// Ties the end of a block to what follows, and looks at the jumps in it.
    fn enter(&mut self, el: El, inner: Seq) {
        self.patch_jumps(inner);
        let (next, last) = (self.at(el).next, self.elements.sequences[inner].last);
        self.elements.list[last].next = next;
    }

    /// A jump out of an atomic sequence ends the hold; one into an atomic sequence keeps it.
    fn patch_jumps(&mut self, sequence: Seq) {
        let Sequence { first, extent, .. } = self.elements.sequences[sequence];
        let mut next = Some(first);
        while let Some(el) = next {
            if let Kind::Goto(target, _) = self.at(el).kind {
                let inside = self.target(target).is_some_and(|to| self.at(to).atom || self.at(to).last_atom);
                let element = &mut self.elements.list[el];
                if (element.atom || element.last_atom) && !inside {
                    (element.atom, element.last_atom) = (false, true);
                }
                if element.last_atom && inside {
                    (element.atom, element.last_atom) = (true, false);
                }
            } else {
                for option in self.at(el).subs.clone() {
                    self.patch_jumps(option);
                }
            }
            next = if el == extent { None } else { self.at(el).next };
        }
    }

    /// An option that begins with the constant 0 is none.
    fn is_dead(&self, el: El) -> bool {
        let Kind::Basic(statement) = self.at(el).kind else { return false };
        let crate::program::StmtKind::Expr(expr) = &statement.kind else { return false };
        matches!(expr.kind, crate::program::ExprKind::Int(0)) && self.at(el).escapes.is_empty()
    }

    /// An element with an edge of its own.
    fn basic(&mut self, el: El, action: Action<'p>) -> Linked<()> {
        let element = self.at(el);
        let atomic = element.atom;
        let next = match element.kind {
            Kind::Goto(target, _) => self.target(target),
            _ => element.next,
        };
        let target = next.map(|next| self.follow(next, atomic)).transpose()?;
        let is_join = matches!(element.kind, Kind::Join);
        let escapes = if is_join { Vec::new() } else { element.escapes.clone() };
        self.steps[el] = Step::Edge(RawEdge { action, target, atomic });
        for &escape in &escapes {
            let first = self.follow(self.elements.sequences[escape].first, atomic)?;
            self.escapes[el].push(first);
        }
        escapes.into_iter().try_for_each(|escape| self.sequence(escape))
    }

    /// Makes choices among choices one choice. What an inner choice is marked with, the outer one
    /// is marked with, too.
    fn flatten_choices(&mut self) -> Linked<()> {
        let mut n_options = 0;
        loop {
            let mut changed = false;
            for el in 0..self.steps.len() {
                let Step::Choice(options) = &self.steps[el] else { continue };
                if !options.iter().any(|&option| matches!(self.steps[option], Step::Choice(_))) {
                    continue;
                }
                let mut flat = Vec::new();
                for option in options.clone() {
                    match &self.steps[option] {
                        Step::Choice(inner) => {
                            for target in inner.clone() {
                                flat.push(target);
                                self.pass_marks(option, el, Some(target));
                            }
                            changed = true;
                        }
                        _ => {
                            flat.push(option);
                            self.pass_marks(option, el, None);
                        }
                    }
                }
                self.cost.keep(flat.len() * size_of::<El>())?;
                n_options += flat.len();
                if n_options > MAX_EDGES {
                    let message = format!("nested selections have more than {MAX_EDGES} options together");
                    return Err(Diagnostic::error("too-large", message).at(self.at(el).span, "").into());
                }
                self.steps[el] = Step::Choice(flat);
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// A choice may end where one of its options may; what is passed on the way to a target counts
    /// as if it were at the target.
    pub(super) fn pass_marks(&mut self, passed: El, choice: El, target: Option<El>) {
        let marks = self.marks[passed];
        self.marks[choice].end |= marks.end;
        if let Some(target) = target {
            self.marks[target].accept |= marks.accept;
            self.marks[target].progress |= marks.progress;
        }
    }
}
