//! `stubborn translate`: formulas become automata; and how automata are shown.

use stubborn::automata::hoa;
use stubborn::base::Limit;
use stubborn::report::automaton::{self, AutomatonJson};
use stubborn::{Clock, Piece, Workshop, drawing};

use crate::args::{AutomatonFormat, TranslateArguments};
use crate::exit::{Exit, Failure};
use crate::terminal::{self, Display};
use crate::{model, output, spelling};

pub(crate) fn run(arguments: &TranslateArguments) -> Result<Exit, Failure> {
    let format = if arguments.json { AutomatonFormat::Json } else { arguments.format };
    let display = Display::new(true);
    let clock = model::clock(&arguments.resources, &display);
    let mut workshop = Workshop::new(arguments.max_states, &clock);
    let lines = match (&arguments.formula, &arguments.file) {
        (Some(formula), _) => vec![workshop.line(&spelling::text(formula, "formula"))?],
        (None, Some(path)) => workshop.lines(path)?,
        (None, None) => return Err(Failure::plain("usage", "give a formula, or --file FILE")),
    };
    let mut list = List::new(format, lines.len());
    let effort = arguments.effort;
    let shown = lines.iter().try_for_each(|line| {
        let piece = workshop.translate(line, arguments.negate, arguments.to, effort)?;
        list.show(&workshop, &piece, &clock)
    });
    list.end(shown)
}

/// Automata that are shown one after the other. As JSON, one is a document, and several are a list.
pub(crate) struct List {
    format: AutomatonFormat,
    is_list: bool,
    n_shown: usize,
}

impl List {
    pub(crate) fn new(format: AutomatonFormat, n: usize) -> List {
        List { format, is_list: n != 1 && format == AutomatonFormat::Json, n_shown: 0 }
    }

    /// Shows the next one; it may be that its format cannot.
    pub(crate) fn show(
        &mut self,
        workshop: &Workshop<'_>,
        piece: &Piece,
        clock: &Clock<'_>,
    ) -> Result<(), Failure> {
        let limited = |limit: Limit| Failure::Limit(limit.to_string());
        let (Piece { name, automaton, .. }, formulas) = (piece, workshop.formulas());
        match self.format {
            AutomatonFormat::Hoa => output::print(clock, hoa::write_any(automaton, formulas, Some(name)))?,
            AutomatonFormat::Dot => output::print(clock, automaton::to_dot(automaton, formulas))?,
            AutomatonFormat::Svg => {
                let picture = drawing::automaton::draw(automaton, formulas, name, &mut clock.budget());
                let picture = picture.map_err(limited)?.to_svg();
                let unseen = |reason| Failure::plain("not-supported", format!("{reason}; use --format dot"));
                output::print(clock, picture.map_err(unseen)?)?;
            }
            AutomatonFormat::Json => {
                if self.is_list {
                    terminal::print_stdout(if self.n_shown == 0 { "[\n" } else { ",\n" });
                }
                output::print_json(clock, &AutomatonJson { automaton, formulas, name }, None)?;
            }
            // One line each, for scripts.
            AutomatonFormat::Stats => {
                let stats = automaton::stats(automaton, &mut clock.budget()).map_err(limited)?;
                terminal::print_stdout(&format!("{stats}\n"));
            }
            AutomatonFormat::Spin => workshop.never_claim(piece, |claim| output::print(clock, claim))??,
        }
        self.n_shown += 1;
        Ok(())
    }

    /// Ends the list, also where something went wrong after its beginning.
    pub(crate) fn end(self, shown: Result<(), Failure>) -> Result<Exit, Failure> {
        let has_begun = self.is_list && self.n_shown > 0;
        if has_begun {
            terminal::print_stdout("]\n");
        }
        match shown {
            Ok(()) => Ok(Exit::Success),
            Err(failure) if has_begun => Ok(failure.report_beside()),
            Err(failure) => Err(failure),
        }
    }
}
