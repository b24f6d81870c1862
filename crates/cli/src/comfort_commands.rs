//! `stubborn init`, `completions`, `man`, `lsp` and `mcp`: what makes every day easier.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use stubborn::Limits;
use stubborn::base::Diagnostic;

use crate::args::{
    Arguments, CompletionsArguments, InitArguments, LspArguments, ManArguments, McpArguments, STARTS, Start,
};
use crate::exit::{Exit, Failure};
use crate::terminal;

/// Writes a model to start from.
pub(crate) fn init(arguments: &InitArguments) -> Result<Exit, Failure> {
    // The name of a language is no name of a file, unless the language is said, too.
    let given = arguments.file.as_deref();
    let is_named = |name: &str| given == Some(Path::new(name)) && arguments.language.is_none();
    let by_name = STARTS.iter().find(|(name, ..)| is_named(name));
    let file = given.filter(|_| by_name.is_none());
    let ending = file.and_then(Path::extension).and_then(|ending| ending.to_str());
    let by_ending = STARTS.iter().find(|(.., start)| Some(start.ending) == ending);
    let said = arguments.language.or(by_name.or(by_ending).map(|&(.., start)| start));
    let Start { ending, what, text } = match (said, ending) {
        (Some(start), _) => start,
        (None, None) => STARTS[0].2,
        (None, Some(ending)) => {
            let message = format!("no language has files that end in `.{ending}`");
            let help = "use a name that ends in `.proc`, `.pml`, `.pnml` or `.rs`, or say --language";
            return Err(Diagnostic::error("unknown-language", message).with_help(help).into());
        }
    };
    let path = file.map_or_else(|| PathBuf::from(format!("model.{ending}")), Path::to_path_buf);
    let name = path.display();
    let written = fs::File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let message = format!("`{name}` exists, and is not overwritten");
            Failure::from(Diagnostic::error("exists", message).with_help("choose another name"))
        }
        _ => Failure::plain("cannot-write", format!("cannot write `{name}`: {error}")),
    })?;
    let next = match ending {
        "rs" => "add `stubborn` to your [dev-dependencies], and try: cargo test".to_owned(),
        _ => format!("try: stubborn check {name}"),
    };
    terminal::print_stdout(&format!("wrote {name}, {what}; {next}\n"));
    Ok(Exit::Success)
}

/// Serves an agent.
pub(crate) fn serve_agent(arguments: &McpArguments) -> Result<Exit, Failure> {
    let limits = Limits::default().time(arguments.timeout).memory(arguments.max_memory);
    let settings =
        mcp::Settings { folder: arguments.folder.clone(), limits, jobs: usize::from(arguments.jobs) };
    mcp::stdio(&settings)
        .map_err(|error| Failure::plain("protocol", format!("cannot serve an agent: {error}")))?;
    Ok(Exit::Success)
}

/// Serves an editor.
pub(crate) fn serve_editor(_arguments: &LspArguments) -> Result<Exit, Failure> {
    lsp::stdio()
        .map_err(|error| Failure::plain("protocol", format!("the editor is not understood: {error}")))?;
    Ok(Exit::Success)
}

/// Prints what a shell needs.
pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "stubborn", &mut script);
    terminal::print_stdout(&String::from_utf8_lossy(&script));
    Ok(Exit::Success)
}

/// Writes manual pages.
pub(crate) fn man(arguments: &ManArguments) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    let failed = |reason: String| {
        Failure::plain("cannot-write", format!("cannot write to `{}`: {reason}", folder.display()))
    };
    if !folder.is_dir() {
        return Err(failed("there is no such folder".to_owned()));
    }
    let written = clap_mangen::generate_to(Arguments::command().disable_help_subcommand(true), folder);
    written.map_err(|error| failed(error.to_string()))?;
    terminal::print_stdout(&format!("wrote the manual pages to {}\n", folder.display()));
    Ok(Exit::Success)
}
