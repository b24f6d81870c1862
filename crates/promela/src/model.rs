//! A model that can be checked: the code of a program, and what the program wants to be checked.

use std::cell::OnceCell;
use std::sync::Arc;

use base::{Budget, Diagnostics, SourceId, SourceMap};
use language::story::Story;
use language::{
    Asked, File, Language, Ltl, Outline, Property, PropertyKind, Purpose, Refined, Trouble, View,
};
use ltl::Formulas;
use model::{ActionSystem, ExprId, StepError};

use crate::discover::discover;
use crate::lower::tell::Teller;
use crate::lower::{self, Code};
use crate::outline::outline;
use crate::program::{Expr, Formula, ProctypeId, ProctypeKind, Program};
use crate::{Limits, Loader, Options, Questions, read};

/// Promela.
pub const LANGUAGE: Language = Language {
    name: "promela",
    a_model: "a Promela model",
    extensions: &["pml", "prom", "promela", "spin", "prm", "pr"],
    recognizes,
    read: |file, options, sources, loader, budget| {
        Ok(Box::new(Model::read(file, options, sources, loader, budget)?))
    },
    outline: |file, options, sources, loader, budget| {
        let Ok(source) = sources.add(file.name, file.bytes) else { return Outline::default() };
        outline(sources, source, &from(options), loader, budget)
    },
    words: &[
        "active", "assert", "atomic", "bit", "bool", "break", "byte", "c_code", "chan", "d_step", "do",
        "else", "empty", "enabled", "eval", "false", "fi", "for", "full", "goto", "hidden", "if", "in",
        "init", "inline", "int", "len", "local", "ltl", "mtype", "nempty", "never", "nfull", "notrace", "od",
        "of", "pid", "printf", "printm", "priority", "proctype", "provided", "run", "select", "short",
        "show", "skip", "timeout", "trace", "true", "typedef", "unless", "unsigned", "xr", "xs", "_pid",
        "_nr_pr", "_last", "np_",
    ],
    format: None,
};

/// What is said about a model, as the front end understands it. A name alone has the value 1, as for the C preprocessor.
fn from(options: &language::Options) -> Options {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "1".to_owned());
    let defines = options.definitions.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    Options { defines, limits: Limits { processes: options.max_processes, ..Limits::default() } }
}

/// Whether a line or statement begins with `proctype`, `active` or `init`, as in no other language; only the beginning counts.
fn recognizes(bytes: &[u8]) -> bool {
    const MAX_BYTES: usize = 1 << 16;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
    let begins = |line: &str| {
        let mut words = line.split([' ', '\t', '(', '[']).filter(|word| !word.is_empty());
        match words.next() {
            Some("proctype" | "init") => true,
            Some("active") => words.any(|word| word == "proctype"),
            _ => false,
        }
    };
    text.split(['\n', ';', '}']).any(begins)
}

/// A model in Promela.
#[derive(Clone, Debug)]
pub struct Model {
    /// The code, without assertions.
    code: Code,
    /// The same for other purposes, as far as it was needed.
    others: [OnceCell<Code>; 3],
    formulas: Formulas,
    questions: Questions,
    /// What was asked about this code.
    asked: Vec<Expr>,
    /// About the text, then about questions.
    warnings: Diagnostics,
    sources: SourceMap,
    file: String,
    n_changes: u32,
}

impl Model {
    /// The model in a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place; or the budget is spent.
    pub fn read(
        file: File,
        options: &language::Options,
        sources: &mut SourceMap,
        loader: &mut Loader<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Model, Trouble> {
        let source = sources.add(file.name.clone(), file.bytes)?;
        let (program, questions) = read(sources, source, &from(options), loader, budget)?;
        Model::new(program, questions, file.name, sources.clone(), budget)
    }

    /// The model of a program, which is in this file.
    ///
    /// # Errors
    /// What is legal, but not supported; or the budget is spent.
    pub fn new(
        program: Program,
        questions: Questions,
        file: String,
        sources: SourceMap,
        budget: &mut Budget<'_>,
    ) -> Result<Model, Trouble> {
        let warnings = program.warnings.clone();
        let code = Code::new(Arc::new(program), lower::Purpose::Formulas, budget)?;
        let code = discover(code, budget)?;
        let (others, formulas) = (Default::default(), Formulas::new());
        let asked = Vec::new();
        Ok(Model { code, others, formulas, questions, asked, warnings, sources, file, n_changes: 0 })
    }

    /// The code for a purpose.
    fn code_for(&self, purpose: Purpose, budget: &mut Budget<'_>) -> Result<&Code, Trouble> {
        let (at, purpose) = match purpose {
            Purpose::Runs | Purpose::Replay => return Ok(&self.code),
            Purpose::Assertions => (0, lower::Purpose::Assertions),
            Purpose::EndStates => (1, lower::Purpose::EndStates),
            Purpose::Walk => (2, lower::Purpose::Simulation),
        };
        if let Some(code) = self.others[at].get() {
            return Ok(code);
        }
        let code = self.code.with_purpose(purpose, budget)?;
        Ok(self.others[at].get_or_init(|| code))
    }

    /// The expressions of the system that these are.
    fn expressions<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr> + Clone,
    ) -> Result<Vec<ExprId>, Diagnostics> {
        self.asked.extend(exprs.clone().into_iter().cloned());
        self.code.expressions(exprs)
    }

    fn ltl(&mut self, formula: &Formula) -> Result<Ltl, Diagnostics> {
        let program = self.code.program().clone();
        let (formula, propositions) = program.ltl(formula, &mut self.formulas);
        let exprs = self.expressions(propositions.iter().map(|(_, expr)| *expr))?;
        let propositions = propositions.iter().map(|(prop, _)| *prop).zip(exprs).collect();
        Ok(Ltl { formula, propositions })
    }

    /// That an expression is false again and again; or, for ever from some point on.
    fn again_and_again(&mut self, text: &str, expr: ExprId, for_ever: bool) -> Ltl {
        let formulas = &mut self.formulas;
        let prop = formulas.proposition(text);
        let holds = formulas.prop(prop);
        let fails = formulas.not(holds);
        let formula = if for_ever {
            let always = formulas.globally(fails);
            formulas.finally(always)
        } else {
            let some_day = formulas.finally(fails);
            formulas.globally(some_day)
        };
        Ltl { formula, propositions: vec![(prop, expr)] }
    }
}

impl language::Model for Model {
    fn copy(&self) -> Box<dyn language::Model> {
        Box::new(self.clone())
    }

    fn n_changes(&self) -> u32 {
        self.n_changes
    }

    fn language(&self) -> &'static str {
        LANGUAGE.name
    }

    fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    fn system(&self) -> &ActionSystem {
        &self.code.system
    }

    fn parts(&mut self) -> (&mut ActionSystem, &mut Formulas) {
        (Arc::make_mut(&mut self.code.system), &mut self.formulas)
    }

    fn formulas(&mut self) -> &mut Formulas {
        &mut self.formulas
    }

    fn view(&self, purpose: Purpose, budget: &mut Budget<'_>) -> Result<View, Trouble> {
        let code = self.code_for(purpose, budget)?.clone();
        let system = code.system.clone();
        let teller = Teller { code, sources: self.sources.clone(), file: self.file.clone() };
        let story: Arc<dyn Story> = Arc::new(teller);
        Ok(View { system, story: Some(story) })
    }

    fn resolve(&mut self, text: &str, source: SourceId, offset: usize) -> Result<ExprId, Diagnostics> {
        let expr = self.questions.expression(text, source, offset)?;
        self.warnings.extend(self.questions.warnings.drain(..));
        Ok(self.expressions([&expr])?[0])
    }

    fn formula(&mut self, source: SourceId, sources: &SourceMap) -> Result<Ltl, Diagnostics> {
        let formula = self.questions.formula(&sources.get(source).text, source, 0)?;
        self.warnings.extend(self.questions.warnings.drain(..));
        self.ltl(&formula)
    }

    fn properties(&mut self) -> Result<Vec<Property>, Diagnostics> {
        let program = self.code.program().clone();
        let property = |name: &str, span, asked, kind| Property { name: name.to_owned(), span, asked, kind };
        let mut properties = vec![
            property("assertions", None, Asked::ByDefault, PropertyKind::Assertions),
            property("end-states", None, Asked::ByDefault, PropertyKind::EndStates),
        ];
        for declared in &program.formulas {
            let kind = PropertyKind::Ltl(self.ltl(&declared.formula)?);
            properties.push(property(&declared.name, Some(declared.span), Asked::ByDefault, kind));
        }
        for (index, proctype) in program.proctypes.iter().enumerate() {
            if proctype.kind == ProctypeKind::Never {
                let claim = self.code.claim(ProctypeId::new(index), &mut self.formulas)?;
                let kind = PropertyKind::Claim(claim);
                properties.push(property(&proctype.name, Some(proctype.span), Asked::ByDefault, kind));
            }
        }
        let (idles, accepts) = (self.code.non_progress()?, self.code.accepts()?);
        let progress = PropertyKind::Progress(self.again_and_again("np_", idles, false));
        properties.push(property("progress", None, Asked::ByKind, progress));
        let acceptance = PropertyKind::Acceptance(self.again_and_again("accept_", accepts, true));
        properties.push(property("acceptance", None, Asked::ByKind, acceptance));
        Ok(properties)
    }

    fn can_refine(&self, error: &StepError) -> bool {
        self.code.can_extend(error)
    }

    fn refine(&mut self, error: &StepError, budget: &mut Budget<'_>) -> Result<Refined, Trouble> {
        let Some(code) = self.code.extend(error, &self.asked, budget)? else { return Ok(Refined::No) };
        let code = discover(code, budget)?;
        let others = self.others.iter().filter_map(OnceCell::get);
        budget.release(self.code.bytes() + others.map(Code::bytes).sum::<u64>());
        self.code = code;
        (self.others, self.asked) = (Default::default(), Vec::new());
        self.n_changes += 1;
        Ok(Refined::Parts)
    }

    fn complete(&mut self) {
        self.n_changes += u32::from(self.code.complete());
        self.others.iter_mut().filter_map(OnceCell::get_mut).for_each(|code| _ = code.complete());
    }
}
