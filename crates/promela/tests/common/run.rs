//! Runs a model in all ways.

use std::sync::Arc;

use base::{Budget, Diagnostics};
use model::{StepError, Steps, System as _};
use rustc_hash::FxHashSet;
use stubborn_promela::lower::{Code, Purpose};

use super::{read_text, wrong};

/// What is found out about a model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// How many states it has.
    pub(crate) states: usize,
    /// What goes wrong, or nothing.
    pub(crate) fault: String,
    /// Whether it never ends where it may not.
    pub(crate) ends_well: bool,
}

/// Searches a model for each purpose, or says why that is not possible.
pub(crate) fn run(text: &str) -> Result<Found, String> {
    let message =
        |errors: Diagnostics| errors.iter().map(|error| error.message.clone()).next().unwrap_or_default();
    let program = Arc::new(read_text(text).0.map_err(message)?);
    let counted = search(&program, Purpose::Formulas).map_err(message)?;
    let asserted = search(&program, Purpose::Assertions).map_err(message)?;
    let ended = search(&program, Purpose::EndStates).map_err(message)?;
    Ok(Found { states: counted.states, fault: asserted.fault, ends_well: ended.ends_well })
}

fn search(program: &Arc<stubborn_promela::Program>, purpose: Purpose) -> Result<Found, Diagnostics> {
    let mut code = Code::new(program.clone(), purpose, &mut Budget::unlimited()).map_err(wrong)?;
    loop {
        let (found, error) = search_once(&code);
        match error {
            Some(error) => match code.extend(&error, &[], &mut Budget::unlimited()).map_err(wrong)? {
                Some(more) => code = more,
                None => return Ok(found),
            },
            None => return Ok(found),
        }
    }
}

fn search_once(code: &Code) -> (Found, Option<StepError>) {
    let system = &*code.system;
    let (mut scratch, mut steps) = (system.new_scratch(), Steps::new(system.width()));
    let mut queue: Vec<Box<[u32]>> = system.initial().map(Into::into).collect();
    let mut known: FxHashSet<Box<[u32]>> = queue.iter().cloned().collect();
    let (mut next, mut ends_well) = (0, true);
    while next < queue.len() {
        steps.clear();
        if let Err(error) = system.successors(&queue[next], &mut scratch, &mut steps) {
            let fault = code.describe(&error);
            return (Found { states: queue.len(), fault, ends_well }, Some(error));
        }
        ends_well &= steps.iter().next().is_some();
        for (_, target) in steps.iter() {
            if known.insert(target.into()) {
                queue.push(target.into());
            }
        }
        next += 1;
    }
    (Found { states: queue.len(), fault: String::new(), ends_well }, None)
}
