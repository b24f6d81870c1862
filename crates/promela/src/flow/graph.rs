//! The last step: from what every element does to the graph of those that can be reached.

use std::sync::Arc;

use base::Diagnostic;
use rustc_hash::FxHashSet;

use super::build::{El, Kind};
use super::link::{Linked, Linker, MAX_EDGES, RawEdge, Step};
use super::{Edge, Flow, Location, LocationId};

impl<'p> Linker<'p, '_> {
    /// The statements whose edges an element has.
    fn own(&self, el: El) -> &[El] {
        match &self.steps[el] {
            Step::None => &[],
            Step::Edge(_) => &self.itself[el..=el],
            Step::Choice(options) => options,
        }
    }

    fn raw(&self, statement: El) -> Option<&RawEdge<'p>> {
        match &self.steps[statement] {
            Step::Edge(edge) => Some(edge),
            _ => None,
        }
    }

    /// Marks choices with what their options are marked with.
    pub(super) fn mark_choices(&mut self) {
        for el in 0..self.steps.len() {
            let Step::Choice(options) = &self.steps[el] else { continue };
            for option in options.clone() {
                let target = self.raw(option).and_then(|edge| edge.target);
                self.pass_marks(option, el, target);
            }
        }
    }

    /// The elements that are locations: those that can be reached. Their escapes' first elements
    /// are marked in `needed`, too.
    pub(super) fn reach(&self, initial: El) -> (Vec<bool>, Vec<bool>) {
        let mut is_reached = vec![false; self.steps.len()];
        is_reached[initial] = true;
        let mut needed = is_reached.clone();
        let mut pending = vec![initial];
        while let Some(el) = pending.pop() {
            needed[el] = true;
            let mut firsts: Vec<El> = Vec::new();
            for &statement in self.own(el) {
                for &first in &self.escapes[statement] {
                    if firsts.last() != Some(&first) {
                        firsts.push(first);
                    }
                }
            }
            firsts.sort_unstable();
            firsts.dedup();
            firsts.iter().for_each(|&first| needed[first] = true);
            let own = self.own(el).iter().chain(firsts.iter().flat_map(|&first| self.own(first)));
            for target in own.filter_map(|&statement| self.raw(statement)?.target) {
                if !std::mem::replace(&mut is_reached[target], true) {
                    pending.push(target);
                }
            }
        }
        (is_reached, needed)
    }

    /// The edges of the elements that are needed: statements and escapes. Those of escapes come
    /// first, the outermost ones before others.
    pub(super) fn edges(&self, needed: &[bool]) -> Linked<Vec<Vec<(El, usize)>>> {
        let mut n_edges = 0;
        let mut edges: Vec<Vec<(El, usize)>> = (0..needed.len())
            .map(|el| self.own(el).iter().map(|&statement| (statement, 0)).collect())
            .collect();
        for el in (0..needed.len()).filter(|&el| needed[el]) {
            let mut known: FxHashSet<El> = self.own(el).iter().copied().collect();
            // The last one found comes first.
            let mut found: Vec<(El, usize)> = Vec::new();
            let mut seen: FxHashSet<El> = FxHashSet::default();
            for &statement in self.own(el) {
                for &first in self.escapes[statement].iter().rev().filter(|&&first| seen.insert(first)) {
                    let new = edges[first].iter().filter(|(statement, _)| known.insert(*statement));
                    found.extend(new.map(|&(statement, _)| (statement, first + 1)));
                }
            }
            found.reverse();
            found.append(&mut edges[el]);
            edges[el] = found;
            // One more copy becomes an edge of the graph.
            self.cost.keep(edges[el].len() * (size_of::<(El, usize)>() + size_of::<Edge<'_>>()))?;
            n_edges += edges[el].len();
            if n_edges > MAX_EDGES {
                let message =
                    format!("this proctype has more than {MAX_EDGES} steps, escapes counted everywhere");
                let error = Diagnostic::error("too-large", message);
                return Err(error.at(self.at(el).span, "the limit is reached here").into());
            }
        }
        Ok(edges)
    }

    /// Where the end of an `if` may be the end, so may be what follows.
    pub(super) fn pass_end_marks(&mut self, edges: &[Vec<(El, usize)>]) {
        for (el, list) in edges.iter().enumerate() {
            if let [(statement, _)] = &list[..]
                && self.marks[el].end
                && matches!(self.at(*statement).kind, Kind::Join)
                && let Some(target) = self.raw(*statement).and_then(|edge| edge.target)
            {
                self.marks[target].end = true;
            }
        }
    }

    /// Makes locations of the elements that are reached.
    pub(super) fn flow(self, initial: El, is_reached: &[bool], edges: &[Vec<(El, usize)>]) -> Flow<'p> {
        let mut ids: Vec<Option<LocationId>> = vec![None; edges.len()];
        let reached = (0..edges.len()).filter(|&el| is_reached[el]);
        for (position, el) in reached.enumerate() {
            ids[el] = Some(LocationId::new(position));
        }
        let mut locations = Vec::new();
        let mut end = None;
        for (el, list) in edges.iter().enumerate() {
            let Some(id) = ids[el] else { continue };
            let is_stop = matches!(self.at(el).kind, Kind::Stop);
            if is_stop {
                end = Some(id);
            }
            let marks = self.marks[el];
            let list = if is_stop && self.elements.in_d_step { &[][..] } else { list };
            let made = list.iter().filter_map(|&(statement, escape)| {
                let edge = self.raw(statement)?;
                Some(self.edge(statement, edge, escape, id, &ids))
            });
            locations.push(Location {
                number: el as u32 + 1,
                edges: made.collect(),
                is_end: marks.end,
                is_accept: marks.accept,
                is_progress: marks.progress,
                span: self.at(el).span,
            });
        }
        let initial = ids[initial].unwrap_or(LocationId::new(0));
        let labels = self.elements.label_at.iter().map(|el| el.and_then(|el| ids[el])).collect();
        let n_elements = Some(edges.len()).filter(|&n| n == self.elements.n_read).map(|n| n as u32);
        Flow { initial, locations, labels, end, n_elements }
    }

    fn edge(
        &self,
        statement: El,
        edge: &RawEdge<'p>,
        escape: usize,
        from: LocationId,
        ids: &[Option<LocationId>],
    ) -> Edge<'p> {
        let element = self.at(statement);
        let text: Arc<str> = match element.kind {
            Kind::Basic(statement) | Kind::Else(statement) | Kind::Goto(_, statement) => {
                statement.text.clone()
            }
            Kind::Skip => "skip".into(),
            Kind::DStep(..) => "d_step".into(),
            Kind::Stop => "end".into(),
            _ => "goto".into(),
        };
        Edge {
            action: edge.action.clone(),
            target: edge.target.and_then(|target| ids[target]).unwrap_or(from),
            atomic: edge.atomic,
            escape: escape as u32,
            statement: statement as u32 + 1,
            span: element.span,
            text,
        }
    }
}
