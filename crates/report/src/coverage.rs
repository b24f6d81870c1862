//! What of a model ever happens: actions, statements, values; as text, JSON, a page, and beside the source.

use std::fmt::{self, Write as _};

use base::text::escape_xml as escape;
use language::story::Unreached;
use serde::Serialize;

use crate::count;
use crate::outcome::ModelInfo;
use crate::remark::Remark;

/// Of more values than these, only the bounds are told.
pub(crate) const MAX_VALUES: usize = 12;

/// What `explore --coverage` says.
#[derive(Clone, Debug, Serialize)]
pub struct CoverageReport {
    /// Version of this document.
    pub schema: u32,
    /// The model.
    pub model: ModelInfo,
    /// Whether all states were seen: otherwise what is said to be missing may only not have been met.
    pub complete: bool,
    /// Why not.
    #[serde(rename = "reason", serialize_with = "Remark::serialize_all")]
    pub remarks: Vec<Remark>,
    /// States that were seen.
    pub states: u64,
    /// What never happens.
    pub never_executed: Vec<Unreached>,
    /// The variables that never get some of their values.
    pub never_taken: Vec<Untaken>,
}

/// Values that a variable never gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Untaken {
    /// The variable; a process, if the values are places in its code.
    pub variable: String,
    /// How many values it gets.
    pub taken: u64,
    /// How many it could get by its range.
    pub of: u64,
    /// The least and the greatest value that it gets.
    pub between: (String, String),
    /// The values that it never gets, if they have names.
    pub never: Vec<String>,
}

impl fmt::Display for Untaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Untaken { variable, taken, of, between: (least, most), never } = self;
        if !never.is_empty() {
            let shown: Vec<&str> = never.iter().take(MAX_VALUES).map(String::as_str).collect();
            let more = never.len().saturating_sub(MAX_VALUES);
            write!(f, "{variable}: never {}", shown.join(", "))?;
            return if more > 0 { write!(f, " and {more} more") } else { Ok(()) };
        }
        write!(f, "{variable}: {taken} of {of} values, from {least} to {most}")
    }
}

impl fmt::Display for CoverageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.model.to_text())?;
        match Remark::join(&self.remarks) {
            Some(why) => writeln!(f, "{} seen; incomplete: {why}", count(self.states, "state"))?,
            None => writeln!(f, "{}, all of them", count(self.states, "state"))?,
        }
        match self.never_executed.is_empty() {
            true => writeln!(f, "everything is executed")?,
            false => writeln!(f, "never executed:")?,
        }
        self.never_executed.iter().try_for_each(|what| writeln!(f, "  {}", what.to_text()))?;
        if self.never_taken.is_empty() {
            return writeln!(f, "every value is taken");
        }
        writeln!(f, "values never taken:")?;
        self.never_taken.iter().try_for_each(|what| writeln!(f, "  {what}"))
    }
}

impl CoverageReport {
    /// The source with a mark before each line with a statement that is never executed.
    pub fn annotated(&self, source: &str) -> String {
        let mut text = String::new();
        for (index, line) in source.lines().enumerate() {
            let mark = if self.is_unreached(index + 1) { "#####" } else { "" };
            _ = writeln!(text, "{mark:>5} {:>5}: {line}", index + 1);
        }
        text
    }

    fn is_unreached(&self, at: usize) -> bool {
        self.never_executed
            .iter()
            .any(|what| matches!(what, Unreached::Statement { line, file: None, .. } if *line == at))
    }

    /// A page for a browser.
    pub fn to_html(&self, source: Option<&str>) -> String {
        let title = escape(&format!("Coverage of {}", self.model.file));
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>{title}</title>\n<style>\n\
             body {{ font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }}\n\
             pre {{ line-height: 1.4; overflow-x: auto; }}\nmark {{ background: #fc8; color: #000; }}\n\
             </style>\n</head>\n<body>\n<h1>{title}</h1>\n<pre>{}</pre>\n",
            escape(&self.to_string())
        );
        if let Some(source) = source {
            page += "<h2>Source</h2>\n<pre>";
            for (index, line) in source.lines().enumerate() {
                let line = escape(line);
                _ = match self.is_unreached(index + 1) {
                    true => writeln!(page, "<mark>{:>5}  {line}</mark>", index + 1),
                    false => writeln!(page, "{:>5}  {line}", index + 1),
                };
            }
            page += "</pre>\n";
        }
        page + "</body>\n</html>\n"
    }
}
