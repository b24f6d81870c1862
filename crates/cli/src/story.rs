//! Tells runs of models in Promela in the words of their text.

use std::sync::Arc;

use base::{SourceMap, Span};
use model::{ActionId, VarId};
use promela::lower::Code;
use promela::lower::tell;
use report::story::{Item, Message, Position, Statement, Story, Way};

/// A model in Promela, and its text.
pub(crate) struct PromelaStory {
    code: Code,
    sources: SourceMap,
    /// The file of the model.
    file: String,
}

/// Longer statements are cut where a process waits.
const MAX_LETTERS: usize = 60;

impl PromelaStory {
    /// Tells runs of this code.
    pub(crate) fn new(code: &Code, sources: &SourceMap, file: &str) -> Arc<PromelaStory> {
        Arc::new(PromelaStory { code: code.clone(), sources: sources.clone(), file: file.to_owned() })
    }

    /// The file, if it is not the model's own, and the line.
    fn place(&self, span: Span) -> (Option<String>, usize) {
        let source = self.sources.get(span.source);
        let file = (source.name != self.file).then(|| source.name.clone());
        (file, source.position(span.start).0)
    }
}

impl Story for PromelaStory {
    fn statements(&self, action: ActionId, before: &[i64]) -> Vec<Statement> {
        let statement = |told: tell::Statement| {
            let (file, line) = self.place(told.span);
            let message = told.message.map(|message| Message {
                channel: message.channel,
                values: message.values,
                way: match message.way {
                    tell::Way::Sent => Way::Sent,
                    tell::Way::Received => Way::Received,
                    tell::Way::Handed(to) => Way::Handed(to),
                },
            });
            let (process, output) = (told.process, told.output);
            Statement { process, file, line, text: told.text.to_string(), output, message }
        };
        self.code.tell(action, before).into_iter().map(statement).collect()
    }

    fn items(&self, state: &[i64]) -> Vec<Item> {
        let item =
            |item: tell::Item| Item { name: item.name, value: item.value, is_channel: item.is_channel };
        self.code.items(state).into_iter().map(item).collect()
    }

    fn places(&self, state: &[i64]) -> Vec<Position> {
        let place = |position: tell::Position| {
            let (file, line) = self.place(position.span);
            let words = self.sources.slice(position.span).split_whitespace().collect::<Vec<_>>().join(" ");
            let mut text: String = words.chars().take(MAX_LETTERS).collect();
            if text.len() < words.len() {
                text.push('…');
            }
            let tell::Position { process, may_stay, is_over, .. } = position;
            Position { process, file, line, text, may_stay, is_over }
        };
        self.code.positions(state).into_iter().map(place).collect()
    }

    fn location(&self, process: &str) -> Option<VarId> {
        let slot = process.rsplit_once('(')?.1.strip_suffix(')')?;
        let name = format!("_pc[{slot}]");
        let variables = self.code.system.variables();
        variables.iter().position(|variable| variable.name == name).map(VarId::new)
    }
}
