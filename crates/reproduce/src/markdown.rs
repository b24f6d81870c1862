//! One section as Markdown, for those who read texts; plots are files beside it.

use std::fmt::Write as _;

use crate::document::{Finding, Part, Section, Table};

/// The text.
pub(crate) fn section(section: &Section) -> String {
    // Writing to a string cannot fail.
    let mut text = format!("# {}\n", section.title);
    for paragraph in &section.introduction {
        _ = write!(text, "\n{paragraph}\n");
    }
    if !section.findings.is_empty() {
        text += "\n## What the paper claims, and what our figures say\n\n";
        for finding in &section.findings {
            let Finding { claim, published, judgment, evidence } = finding;
            _ = writeln!(text, "- {claim} **{}**\n  - The paper's figures: {published}.", judgment.name());
            _ = writeln!(text, "  - Ours: {evidence}");
        }
    }
    for part in &section.parts {
        match part {
            Part::Table(table) => write_table(&mut text, table),
            Part::Plot(plot) => {
                _ = write!(text, "\n![{}]({}.svg)\n", plot.title, plot.file);
            }
            Part::Commands { title, commands } => {
                _ = write!(text, "\n## {title}\n\n");
                for (what, command) in commands {
                    _ = writeln!(text, "- {what}: `{command}`");
                }
            }
        }
    }
    text
}

fn write_table(text: &mut String, table: &Table) {
    let line = |fields: &[String]| {
        let fields: Vec<String> = fields.iter().map(|field| field.replace('|', "\\|")).collect();
        format!("| {} |\n", fields.join(" | "))
    };
    _ = write!(text, "\n## {}\n\n{}", table.caption, line(&table.header));
    let rules: Vec<&str> =
        (0..table.header.len()).map(|index| if index == 0 { "---" } else { "---:" }).collect();
    _ = writeln!(text, "|{}|", rules.join("|"));
    for row in &table.rows {
        text.push_str(&line(row));
    }
    if let Some(note) = &table.note {
        _ = write!(text, "\n{note}\n");
    }
}
