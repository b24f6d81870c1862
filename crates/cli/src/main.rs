//! The `stubborn` command: arguments, terminal, files that are written, exit codes. What is computed is up to
//! the library `stubborn`.
#![allow(clippy::print_stdout, clippy::print_stderr)] // This is where output happens.

mod args;
mod automaton_command;
mod certify_command;
mod check_command;
mod comfort_commands;
mod cross_command;
mod device;
mod draw_command;
mod emit;
mod exit;
mod explain_command;
mod explore_command;
mod mcc_command;
mod model;
mod output;
mod reproduce_command;
mod serve_command;
mod simulate_command;
mod spelling;
mod terminal;
mod together;
mod translate_command;
mod watch;

use std::process::ExitCode;

use args::Command;
use clap::Parser as _;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    terminal::set_color(arguments.color);
    let result = match &arguments.command {
        Command::Check(arguments) => check_command::run(arguments, check_command::Telling::Answers),
        Command::Certify(arguments) => certify_command::run(arguments),
        Command::Explain(arguments) => explain_command::run(arguments),
        Command::Explore(arguments) => explore_command::run(arguments),
        Command::Draw(arguments) => draw_command::run(arguments),
        Command::Simulate(arguments) => simulate_command::run(arguments),
        Command::Serve(arguments) => serve_command::run(arguments),
        Command::Mcc(arguments) => mcc_command::run(arguments),
        Command::Translate(arguments) => translate_command::run(arguments),
        Command::Automaton(arguments) => automaton_command::run(arguments),
        Command::Reproduce(arguments) => reproduce_command::run(arguments),
        Command::Devices(arguments) => device::list(arguments),
        Command::Lsp(arguments) => comfort_commands::serve_editor(arguments),
        Command::Mcp(arguments) => comfort_commands::serve_agent(arguments),
        Command::Init(arguments) => comfort_commands::init(arguments),
        Command::Completions(arguments) => comfort_commands::completions(arguments),
        Command::Man(arguments) => comfort_commands::man(arguments),
    };
    let exit = result.unwrap_or_else(|failure| failure.report(arguments.command.json()));
    if terminal::stdout_failed() { exit::Exit::BadInput.into() } else { exit.into() }
}
