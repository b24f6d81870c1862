//! `stubborn automaton`: reads automata (HOA or never claims), works on them, and answers questions about them.

use serde_json::json;
use stubborn::report::outcome::SCHEMA;
use stubborn::{Clock, Saying, Workshop};

use crate::args::{AutomatonArguments, AutomatonFormat};
use crate::exit::{Exit, Failure};
use crate::terminal::{self, Display};
use crate::translate_command::List;
use crate::{model, spelling};

pub(crate) fn run(arguments: &AutomatonArguments) -> Result<Exit, Failure> {
    let display = Display::new(true);
    let clock = model::clock(&arguments.resources, &display);
    let mut workshop = Workshop::new(arguments.max_states, &clock);
    for path in &arguments.files {
        workshop.read(path)?;
    }
    for text in &arguments.ltl {
        workshop.add_formula(&spelling::text(text, "--ltl"))?;
    }
    if arguments.product {
        workshop.combine()?;
    }
    if arguments.stutter_closure {
        workshop.close_under_stuttering()?;
    }
    if arguments.complement {
        workshop.complement()?;
    }
    if arguments.simplify {
        workshop.simplify()?;
    }
    let said = ask(&mut workshop, arguments)?;
    if said.is_empty() { show(&workshop, arguments, &clock) } else { Ok(print(&said, arguments.json)) }
}

/// What is said to the questions that were asked.
fn ask(workshop: &mut Workshop<'_>, arguments: &AutomatonArguments) -> Result<Vec<Saying>, Failure> {
    let mut said = Vec::new();
    let n = workshop.pieces().len();
    if arguments.equivalent {
        if n != 2 {
            let message = format!("--equivalent compares two automata, not {n}");
            return Err(Failure::plain("usage", message));
        }
        said.push(workshop.equivalent(0, 1)?);
    }
    if let Some(text) = &arguments.accepts {
        said.push(workshop.accepts(&spelling::text(text, "--accepts"))?);
    }
    if arguments.empty {
        for at in 0..n {
            said.push(workshop.is_empty(at)?);
        }
    }
    if arguments.stutter_invariant {
        for at in 0..n {
            said.push(workshop.is_stutter_invariant(at)?);
        }
    }
    Ok(said)
}

fn print(said: &[Saying], json: bool) -> Exit {
    if json {
        let entry = |Saying { question, holds, witness }: &Saying| {
            let witness: serde_json::Map<String, serde_json::Value> =
                witness.iter().map(|(what, word)| ((*what).to_owned(), word.clone().into())).collect();
            json!({"question": question, "answer": holds, "witness": witness})
        };
        let answers: Vec<_> = said.iter().map(entry).collect();
        let document = json!({"schema": SCHEMA, "answers": answers});
        terminal::print_stdout(&format!("{document:#}\n"));
    } else {
        for Saying { question, holds, witness } in said {
            let answer = match holds {
                Some(true) => "yes",
                Some(false) => "no",
                None => "unknown (it takes more states than --max-states)",
            };
            terminal::print_stdout(&format!("{question}: {answer}\n"));
            witness.iter().for_each(|(what, word)| terminal::print_stdout(&format!("  {what}: {word}\n")));
        }
    }
    if said.iter().any(|saying| saying.holds == Some(false)) {
        Exit::Violated
    } else if said.iter().any(|saying| saying.holds.is_none()) {
        Exit::Undecided
    } else {
        Exit::Success
    }
}

fn show(workshop: &Workshop<'_>, arguments: &AutomatonArguments, clock: &Clock<'_>) -> Result<Exit, Failure> {
    let format = match (arguments.stats, arguments.json) {
        (true, _) => AutomatonFormat::Stats,
        (false, true) => AutomatonFormat::Json,
        (false, false) => arguments.format,
    };
    let n = workshop.pieces().len();
    let mut list = List::new(format, n);
    let shown = (0..n).try_for_each(|at| {
        let piece = match arguments.to {
            Some(to) => workshop.convert(at, to)?,
            None => workshop.tidied(at)?,
        };
        list.show(workshop, &piece, clock)
    });
    list.end(shown)
}
