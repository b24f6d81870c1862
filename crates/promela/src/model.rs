//! A model that can be checked: the code of a program, and what the program wants to be checked.

use std::sync::Arc;

use base::Diagnostics;
use ltl::{Formula, Formulas, Prop};
use model::{ActionSystem, ExprId, StepError, Steps, System as _};
use rustc_hash::FxHashSet;

use crate::lower::{Claim, Code, Purpose};
use crate::program::{ProctypeId, ProctypeKind, Program};

/// A model in Promela.
#[derive(Debug)]
pub struct Model {
    /// The code, without assertions.
    pub code: Code,
    /// The pool of the formulas.
    pub formulas: Formulas,
}

/// A formula of a model.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// What it says.
    pub formula: Formula,
    /// The expressions of its propositions.
    pub propositions: Vec<(Prop, ExprId)>,
}

/// How far a model is run to find out which processes there are.
const MAX_STATES: usize = 20_000;

impl Model {
    /// The model of a program.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn new(program: Program) -> Result<Model, Diagnostics> {
        let code = Code::new(Arc::new(program), Purpose::Formulas)?;
        Ok(Model { code: discover(code)?, formulas: Formulas::new() })
    }

    /// The system.
    pub fn system(&self) -> &ActionSystem {
        &self.code.system
    }

    /// The same code with assertions, in which runs that end where they may go on for ever.
    ///
    /// # Errors
    /// None, after the code was made.
    pub fn safety(&self) -> Result<Code, Diagnostics> {
        self.code.with_purpose(Purpose::Assertions)
    }

    /// The same without assertions.
    ///
    /// # Errors
    /// None, after the code was made.
    pub fn ends(&self) -> Result<Code, Diagnostics> {
        self.code.with_purpose(Purpose::EndStates)
    }

    /// The same code with assertions, for simulation.
    ///
    /// # Errors
    /// None, after the code was made.
    pub fn simulation(&self) -> Result<Code, Diagnostics> {
        self.code.with_purpose(Purpose::Simulation)
    }

    /// Makes the code that a fault says is missing, if it does. Everything that was resolved must be
    /// resolved again.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn extend(&mut self, error: &StepError) -> Result<bool, Diagnostics> {
        let Some(code) = self.code.extend(error)? else { return Ok(false) };
        self.code = discover(code)?;
        Ok(true)
    }

    /// The formulas of the model.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn properties(&mut self) -> Result<Vec<Property>, Diagnostics> {
        let program = self.code.program().clone();
        let mut properties = Vec::new();
        for property in &program.formulas {
            let (formula, propositions) = program.ltl(&property.formula, &mut self.formulas);
            let mut resolved = Vec::new();
            for (prop, expr) in propositions {
                resolved.push((prop, self.code.expression(expr)?));
            }
            properties.push(Property { name: property.name.to_string(), formula, propositions: resolved });
        }
        Ok(properties)
    }

    /// The names of the never claims of the model.
    pub fn claim_names(&self) -> Vec<String> {
        let claims = self.code.program().proctypes.iter();
        claims
            .filter(|proctype| proctype.kind == ProctypeKind::Never)
            .map(|proctype| proctype.name.to_string())
            .collect()
    }

    /// The never claims of the model, each with its name.
    ///
    /// # Errors
    /// What is legal, but not supported.
    pub fn claims(&mut self) -> Result<Vec<(String, Claim)>, Diagnostics> {
        let program = self.code.program().clone();
        let mut claims = Vec::new();
        for (index, proctype) in program.proctypes.iter().enumerate() {
            if proctype.kind == ProctypeKind::Never {
                let claim = self.code.claim(ProctypeId::new(index), &mut self.formulas)?;
                claims.push((proctype.name.to_string(), claim));
            }
        }
        Ok(claims)
    }
}

/// Runs a model for a while, and makes the code that is missing.
fn discover(mut code: Code) -> Result<Code, Diagnostics> {
    loop {
        match missing(&code) {
            Some(error) => match code.extend(&error)? {
                Some(more) => code = more,
                None => return Ok(code),
            },
            None => return Ok(code),
        }
    }
}

/// A fault that says that code is missing, if one is met soon.
fn missing(code: &Code) -> Option<StepError> {
    let system = &code.system;
    let mut scratch = system.new_scratch();
    let mut steps = Steps::new(system.width());
    let mut queue: Vec<Box<[u32]>> = system.initial().map(Into::into).collect();
    let mut known: FxHashSet<Box<[u32]>> = queue.iter().cloned().collect();
    let mut next = 0;
    while next < queue.len() && queue.len() < MAX_STATES {
        steps.clear();
        if let Err(error) = system.successors(&queue[next], &mut scratch, &mut steps)
            && code.can_extend(&error)
        {
            return Some(error);
        }
        for (_, target) in steps.iter() {
            if !known.contains(target) {
                let target: Box<[u32]> = target.into();
                known.insert(target.clone());
                queue.push(target);
            }
        }
        next += 1;
    }
    None
}
