//! What [`language`] asks of a front end, for process networks.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Budget, Diagnostic, Diagnostics, SourceId, SourceMap, Span};
use language::moves::{Idle, Move, Moves};
use language::{
    Asked, Fairness, File, Language, Loader, Outline, Property, PropertyKind, Purpose, Trouble, View,
};
use ltl::Formulas;
use model::{ActionSystem, ExprId, LabelId, VarId};

use crate::labels::TAU;
use crate::{Model, Options, format, load, outline};

/// Process networks.
pub static LANGUAGE: Language = Language {
    name: "process",
    a_model: "a process network",
    extensions: &["proc"],
    recognizes: |_| false,
    read,
    outline,
    words: &[
        "const",
        "process",
        "tester",
        "spec",
        "ltl",
        "invariant",
        "fair",
        "weak",
        "strong",
        "just",
        "deadlock-free",
        "extern",
        "initial",
        "alphabet",
        "watch",
        "reject",
        "deadlock",
        "livelock",
        "infinite",
        "for",
        "when",
        "in",
        "tau",
        "true",
        "false",
        "forall",
        "exists",
        "count",
    ],
    format: Some(format::format),
};

fn outline(
    file: File,
    options: &language::Options,
    sources: &mut SourceMap,
    _loader: &mut Loader<'_>,
    budget: &mut Budget<'_>,
) -> Outline {
    let Ok(source) = sources.add(file.name, file.bytes) else { return Outline::default() };
    let number =
        |(name, value): &(String, Option<String>)| Some((name.clone(), value.as_ref()?.parse().ok()?));
    let constants: Vec<(String, i64)> = options.definitions.iter().filter_map(number).collect();
    outline::outline(&sources.get(source).text, source, &constants, budget)
}

fn read(
    file: File,
    options: &language::Options,
    sources: &mut SourceMap,
    loader: &mut Loader<'_>,
    budget: &mut Budget<'_>,
) -> Result<Box<dyn language::Model>, Trouble> {
    budget.hold(2 * file.bytes.len() as u64)?;
    let source = sources.add(file.name, file.bytes)?;
    let mut constants = Vec::new();
    for (name, value) in &options.definitions {
        let number = match value {
            Some(value) => value.parse().map_err(|_| format!("`{value}` is not a 64-bit integer")),
            None => Err(format!("it needs a value, like {name}=13")),
        };
        let number = number.map_err(|message| {
            Diagnostic::error("usage", format!("the constant `{name}` cannot be set: {message}"))
        })?;
        constants.push((name.clone(), number));
    }
    let options = Options { constants, ..Options::default() };
    Ok(Box::new(load(sources, source, &options, loader, budget)?))
}

impl language::Model for Model {
    fn copy(&self) -> Box<dyn language::Model> {
        Box::new(self.clone())
    }

    fn language(&self) -> &'static str {
        LANGUAGE.name
    }

    fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    fn system(&self) -> &ActionSystem {
        &self.system
    }

    fn parts(&mut self) -> (&mut ActionSystem, &mut Formulas) {
        (Arc::make_mut(&mut self.system), &mut self.formulas)
    }

    fn formulas(&mut self) -> &mut Formulas {
        &mut self.formulas
    }

    /// One system serves all purposes.
    fn view(&self, _purpose: Purpose, _budget: &mut Budget<'_>) -> Result<View, Trouble> {
        Ok(View { system: self.system.clone(), story: None })
    }

    fn resolve(&mut self, text: &str, source: SourceId, offset: usize) -> Result<ExprId, Diagnostics> {
        self.expression(text, source, offset)
    }

    fn properties(&mut self) -> Result<Vec<Property>, Diagnostics> {
        let by_default = self.deadlock_free.is_some() || self.properties.is_empty();
        let deadlock_free = Property {
            name: "deadlock-free".to_owned(),
            span: self.deadlock_free,
            asked: if by_default { Asked::ByDefault } else { Asked::ByName },
            kind: PropertyKind::DeadlockFree,
        };
        Ok(std::iter::once(deadlock_free).chain(self.properties.iter().cloned()).collect())
    }

    fn fairness(&self) -> &[Fairness] {
        &self.fairness
    }

    fn has_moves(&self) -> bool {
        true
    }

    /// A written move stands for those of all processes of its kind, and for all values of its indices.
    fn idle(&self, moves: &Moves) -> Vec<Idle> {
        // By place: of which kind, whether a process gets there, and whether it happens.
        let mut all: BTreeMap<u32, (Span, &str, bool, bool)> = BTreeMap::new();
        for (number, written) in self.written.iter().enumerate() {
            let process = VarId::new(number);
            for one in &written.moves {
                let Some(span) = written.spans.get(one.written as usize) else { continue };
                let label = (one.label != TAU).then(|| LabelId::new(one.label as usize));
                let (from, to) = (i64::from(one.from), i64::from(one.to));
                let known = all.entry(span.start).or_insert((*span, &written.kind, false, false));
                known.2 |= moves.reaches(process, from);
                known.3 |= moves.has(&Move { process, label, from, to });
            }
        }
        let idle = all.into_values().filter(|(.., happens)| !happens);
        idle.map(|(span, kind, reached, _)| Idle { process: kind.to_owned(), span, reached }).collect()
    }
}
