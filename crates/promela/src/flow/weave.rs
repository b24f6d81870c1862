//! What concerns many elements at once: escapes, atomic sequences, and jumps that others look at.

use super::build::{Builder, El, Kind, Seq, Sequence};

impl Builder<'_> {
    /// Lets all elements of a sequence be left for an escape.
    pub(super) fn attach(&mut self, sequence: Seq, escape: Seq) {
        if !self.attached.insert((sequence, escape)) {
            return;
        }
        let Sequence { first, extent, .. } = self.elements.sequences[sequence];
        let mut next = Some(first);
        while let Some(el) = next {
            self.attach_one(el, escape);
            next = if el == extent { None } else { self.elements.list[el].next };
        }
    }

    fn attach_one(&mut self, el: El, escape: Seq) {
        if self.elements.list[el].escapes.contains(&escape) {
            return;
        }
        for inner in self.elements.list[el].escapes.clone() {
            self.attach(inner, escape);
        }
        self.at(el).escapes.insert(0, escape);
        match self.elements.list[el].kind {
            Kind::Unless => {
                if let Some(&main) = self.elements.list[el].subs.first() {
                    self.attach(main, escape);
                }
            }
            Kind::If | Kind::Do => {
                for option in self.elements.list[el].subs.clone() {
                    self.attach(option, escape);
                }
            }
            Kind::DStep(inner, _) => self.attach_one(self.elements.sequences[inner].first, escape),
            Kind::Atomic(inner) | Kind::Block(inner) => self.attach(inner, escape),
            _ => {}
        }
    }

    /// Marks a sequence as atomic, or as a d_step.
    pub(super) fn make_atomic(&mut self, sequence: Seq, d_step: bool) {
        self.mark_atomic(sequence, d_step);
        let last = self.elements.sequences[sequence].last;
        match self.elements.list[last].kind {
            Kind::Atomic(inner) | Kind::Block(inner) => self.make_atomic(inner, d_step),
            Kind::Unless => {
                if let Some(&main) = self.elements.list[last].subs.first() {
                    self.make_atomic(main, d_step);
                }
            }
            _ => {
                self.at(last).atom = false;
                self.at(last).last_atom = true;
            }
        }
    }

    fn mark_atomic(&mut self, sequence: Seq, d_step: bool) {
        let Sequence { first, last, .. } = self.elements.sequences[sequence];
        let mut next = Some(first);
        while let Some(el) = next {
            let element = self.at(el);
            element.atom = true;
            element.in_d_step |= d_step;
            match element.kind {
                Kind::Atomic(inner) | Kind::Block(inner) => {
                    element.kind = Kind::Block(inner);
                    self.mark_atomic(inner, d_step);
                }
                Kind::DStep(inner, _) if d_step => {
                    element.kind = Kind::Block(inner);
                    self.mark_atomic(inner, d_step);
                }
                _ => {}
            }
            for sub in self.elements.list[el].subs.clone() {
                self.mark_atomic(sub, d_step);
            }
            next = if el == last { None } else { self.elements.list[el].next };
        }
    }

    /// A jump that a remote reference looks at is a `skip` and then a jump.
    pub(super) fn split_remote_jumps(&mut self) {
        for index in 0..self.elements.labels.len() {
            let Some(el) = self.elements.label_at[index].filter(|_| self.elements.labels[index].is_remote)
            else {
                continue;
            };
            let Kind::Goto(..) = self.elements.list[el].kind else { continue };
            let (kind, next, span) = {
                let element = &self.elements.list[el];
                (element.kind, element.next, element.span)
            };
            let jump = self.element(kind, span);
            self.at(jump).next = next;
            let element = self.at(el);
            (element.kind, element.next) = (Kind::Skip, Some(jump));
        }
    }
}
