//! What [`language`] asks of a front end, for Petri nets.

use std::sync::Arc;

use base::{Budget, Diagnostic, Diagnostics, Limit, SourceId, SourceMap};
use drawing::Drawing;
use language::{
    Asked, File, Language, Loader, Options, Preserve, Property, PropertyKind, Purpose, Refined, Rules,
    Simpler, Story, Trouble, View,
};
use ltl::Formulas;
use model::{ActionSystem, ExprId, StepError};

use crate::bounds::Bounds;
use crate::facts::Facts;
use crate::lower::Model;
use crate::mcc::Examination;
use crate::simpler::Smaller;
use crate::symbolic::Symbolic;
use crate::xml::to_utf8;
use crate::{pnml, proposition};

/// Petri nets.
pub static LANGUAGE: Language = Language {
    name: "petri",
    a_model: "a Petri net",
    extensions: &["pnml"],
    recognizes: is_xml,
    read,
    // Nobody writes PNML by hand.
    outline: |_, _, _, _, _| language::Outline::default(),
    words: &[],
    format: None,
};

/// Whether a file begins like XML, in whatever encoding.
fn is_xml(bytes: &[u8]) -> bool {
    let is_skipped =
        |byte: &u8| byte.is_ascii_whitespace() || [0, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF].contains(byte);
    bytes.iter().find(|byte| !is_skipped(byte)) == Some(&b'<')
}

fn read(
    file: File,
    options: &Options,
    sources: &mut SourceMap,
    _loader: &mut Loader<'_>,
    budget: &mut Budget<'_>,
) -> Result<Box<dyn language::Model>, Trouble> {
    if let Some((name, _)) = options.definitions.first() {
        let message = format!("a net has no constant `{name}` that could be set");
        return Err(Diagnostic::error("unknown-constant", message).into());
    }
    let source = add_xml(file, sources, budget)?;
    let net = pnml::read(&sources.get(source).text, source, budget)?;
    Ok(Box::new(Model::new(&Arc::new(net), budget)?))
}

/// Adds the text of an XML file, whatever its encoding.
fn add_xml(file: File, sources: &mut SourceMap, budget: &mut Budget<'_>) -> Result<SourceId, Trouble> {
    budget.hold(file.bytes.len() as u64)?;
    let bytes = to_utf8(&file.name, file.bytes)?;
    Ok(sources.add(file.name, bytes)?)
}

impl language::Model for Model {
    fn copy(&self) -> Box<dyn language::Model> {
        Box::new(self.clone())
    }

    fn n_changes(&self) -> u32 {
        self.n_widened
    }

    fn language(&self) -> &'static str {
        LANGUAGE.name
    }

    fn warnings(&self) -> &Diagnostics {
        &self.net().warnings
    }

    fn draw(&self, _title: &str, budget: &mut Budget<'_>) -> Result<Option<Drawing>, Limit> {
        self.net().draw(budget).map(Some)
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

    /// To replay runs and to walk about, there is room for all tokens that there can be.
    fn view(&self, purpose: Purpose, budget: &mut Budget<'_>) -> Result<View, Trouble> {
        let system = match purpose {
            Purpose::Replay | Purpose::Walk => {
                Arc::new(self.lowered(&Bounds::all(self.net(), i64::MAX), budget)?)
            }
            _ => self.system.clone(),
        };
        let story = self.net().colors.clone().map(|colors| colors as Arc<dyn Story>);
        Ok(View { system, story })
    }

    /// The language is described at the head of the crate.
    fn resolve(&mut self, text: &str, source: SourceId, offset: usize) -> Result<ExprId, Diagnostics> {
        let net = self.net().clone();
        let exprs = &mut Arc::make_mut(&mut self.system).exprs;
        proposition::resolve(&net, exprs, text, source, offset).map_err(|error| (*error).into())
    }

    fn properties(&mut self) -> Result<Vec<Property>, Diagnostics> {
        let (name, kind) = ("deadlock-free".to_owned(), PropertyKind::DeadlockFree);
        Ok(vec![Property { name, span: None, asked: Asked::ByDefault, kind }])
    }

    fn can_refine(&self, error: &StepError) -> bool {
        self.can_widen(error)
    }

    fn refine(&mut self, error: &StepError, budget: &mut Budget<'_>) -> Result<Refined, Trouble> {
        Ok(if self.widen(error, budget)? { Refined::Room } else { Refined::No })
    }

    fn contest_file(
        &mut self,
        file: File,
        sources: &mut SourceMap,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Property>, Trouble> {
        let source = add_xml(file, sources, budget)?;
        self.read_formulas(&sources.get(source).text, source, budget)
    }

    fn examination(&mut self, name: &str, budget: &mut Budget<'_>) -> Result<Option<Property>, Trouble> {
        Ok(self.global_question(name.parse::<Examination>()?, budget)?)
    }

    fn facts(&self, budget: &mut Budget<'_>) -> Result<Option<Box<dyn language::Facts>>, Limit> {
        let reducer = self.reducer(budget)?;
        Ok(Some(Box::new(Facts::new(&reducer, budget)?)))
    }

    fn diagram(&self, budget: &mut Budget<'_>) -> Result<Option<Box<dyn language::Diagram>>, Limit> {
        let reducer = self.reducer(budget)?;
        let symbolic = Symbolic::new(self.net().clone(), reducer.sums(), budget)?;
        Ok(symbolic.map(|symbolic| Box::new(symbolic) as Box<dyn language::Diagram>))
    }

    fn simplify(
        &mut self,
        preserve: Preserve,
        about: &[ExprId],
        rules: &Rules,
        budget: &mut Budget<'_>,
    ) -> Option<Simpler> {
        let Smaller { model, exprs, way } = self.smaller(preserve, about, rules, budget)?;
        Some(Simpler { model: Box::new(model), exprs, what: way.describe(), back: Box::new(way) })
    }
}
