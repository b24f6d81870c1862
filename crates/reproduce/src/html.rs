//! The report as one page: no scripts, nothing from a network, readable on a phone and in the dark, and
//! well-formed as XML.

use std::fmt::Write as _;

use stubborn::base::text::escape_xml as escape;

use crate::document::{Finding, Judgment, Part, Section, Table};
use crate::plot;

const STYLE: &str = include_str!("page.css");

/// The page.
pub(crate) fn page(title: &str, summary: &[String], sections: &[Section]) -> String {
    // Writing to a string cannot fail.
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{0}</title>\n<style>\n{STYLE}{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n",
        escape(title),
        plot::STYLE
    );
    for text in summary {
        _ = writeln!(html, "<p>{}</p>", inline(text));
    }
    html += "<nav aria-label=\"Papers\"><ul>\n";
    for (index, section) in sections.iter().enumerate() {
        _ = writeln!(html, "<li><a href=\"#section-{index}\">{}</a></li>", escape(&section.title));
    }
    html += "</ul></nav>\n";
    write_table(&mut html, &overview(sections));
    for (index, section) in sections.iter().enumerate() {
        write_section(&mut html, index, section);
    }
    html + "</main>\n</body>\n</html>\n"
}

/// All claims at a glance.
fn overview(sections: &[Section]) -> Table {
    let mut table = Table::new("All claims at a glance", "Claim | Paper | Verdict of our figures");
    for section in sections {
        let paper = section.title.split(' ').next().unwrap_or_default();
        for finding in &section.findings {
            let judgment = finding.judgment.name().to_owned();
            table.rows.push(vec![finding.claim.clone(), paper.to_owned(), judgment]);
        }
    }
    table
}

/// A text, with blanks inside numbers that no line is broken at.
fn plain(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |index: usize| chars.get(index).is_some_and(char::is_ascii_digit);
    let unbroken = chars.iter().enumerate().map(|(index, char)| match char {
        ' ' if index > 0 && is_digit(index - 1) && is_digit(index + 1) => '\u{a0}',
        char => *char,
    });
    escape(&unbroken.collect::<String>())
}

/// A text in which code is marked by backquotes.
fn inline(text: &str) -> String {
    let mut html = String::new();
    for (index, piece) in text.split('`').enumerate() {
        html += &if index % 2 == 1 { format!("<code>{}</code>", escape(piece)) } else { plain(piece) };
    }
    html
}

fn write_section(html: &mut String, index: usize, section: &Section) {
    _ = writeln!(html, "<section aria-labelledby=\"section-{index}\">");
    _ = writeln!(html, "<h2 id=\"section-{index}\">{}</h2>", escape(&section.title));
    for text in &section.introduction {
        _ = writeln!(html, "<p>{}</p>", inline(text));
    }
    if !section.findings.is_empty() {
        html.push_str("<h3>What the paper claims, and what our figures say</h3>\n<dl class=\"findings\">\n");
        for finding in &section.findings {
            write_finding(html, finding);
        }
        html.push_str("</dl>\n");
    }
    for part in &section.parts {
        match part {
            Part::Table(table) => write_table(html, table),
            Part::Plot(plot) => {
                _ = write!(html, "<figure>\n{}</figure>\n", plot.to_svg(false));
            }
            Part::Commands { title, commands } => write_commands(html, title, commands),
        }
    }
    html.push_str("</section>\n");
}

fn write_finding(html: &mut String, finding: &Finding) {
    let class = match finding.judgment {
        Judgment::Confirmed => "confirmed",
        Judgment::Partly => "partly",
        Judgment::NotConfirmed => "not",
        Judgment::NoData => "nodata",
    };
    _ = writeln!(
        html,
        "<div><dt>{} <span class=\"judgment {class}\">{}</span></dt><dd><b>The paper's figures:</b> {}.</dd>\
         <dd><b>Ours:</b> {}</dd></div>",
        plain(&finding.claim),
        finding.judgment.name(),
        inline(&finding.published),
        inline(&finding.evidence)
    );
}

fn write_table(html: &mut String, table: &Table) {
    let caption = plain(&table.caption);
    _ = writeln!(html, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">");
    _ = writeln!(html, "<table>\n<caption>{caption}</caption>\n<thead><tr>");
    let classes: Vec<&str> = (0..table.header.len()).map(|column| class_of(table, column)).collect();
    for (name, class) in table.header.iter().zip(&classes) {
        _ = writeln!(html, "<th scope=\"col\"{class}>{}</th>", plain(name));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        html.push_str("<tr>");
        for (index, text) in row.iter().enumerate() {
            let (text, class) = (plain(text), classes.get(index).unwrap_or(&""));
            _ = match index {
                0 => write!(html, "<th scope=\"row\"{class}>{text}</th>"),
                _ => write!(html, "<td{class}>{text}</td>"),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
    if let Some(note) = &table.note {
        _ = writeln!(html, "<p class=\"quiet\">{}</p>", inline(note));
    }
}

/// How a column is set: numbers to the right, texts to the left, long ones on several lines.
fn class_of(table: &Table, column: usize) -> &'static str {
    let is_number = |text: &str| {
        let first = text.trim_start_matches(['>', ' ', '−']).chars().next();
        text == "–" || first.is_some_and(|char| char.is_ascii_digit())
    };
    let texts = || table.rows.iter().filter_map(|row| row.get(column));
    if texts().any(|text| text.chars().count() > 40) {
        " class=\"text long\""
    } else if texts().all(|text| is_number(text)) {
        ""
    } else {
        " class=\"text\""
    }
}

fn write_commands(html: &mut String, title: &str, commands: &[(String, String)]) {
    _ = writeln!(html, "<details><summary>{}</summary>\n<ul>", inline(title));
    for (what, command) in commands {
        _ = writeln!(html, "<li>{}<br/><code>{}</code></li>", escape(what), escape(command));
    }
    html.push_str("</ul></details>\n");
}
