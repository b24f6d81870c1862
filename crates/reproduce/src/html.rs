//! The report as one page: no scripts, nothing from a network, readable on a phone and in the dark, and
//! well-formed as XML.

use std::fmt::Write as _;

use crate::document::{Finding, Judgment, Part, Section, Table};
use crate::plot::{self, escape};

const STYLE: &str = "\
  :root { color-scheme: light dark; --text: #1f2328; --paper: #ffffff; --soft: #f6f8fa; --line: #d1d9e0;
    --quiet: #57606a; --link: #0b5cad; --good: #116329; --good-back: #dafbe1; --fair: #7a4d05;
    --fair-back: #fff3cd; --bad: #a40e26; --bad-back: #ffebe9; --none: #424a53; --none-back: #eaeef2 }
  @media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --paper: #0d1117; --soft: #151b23;
    --line: #3d444d; --quiet: #9198a1; --link: #6cb6ff; --good: #7ee2a0; --good-back: #0f3d22;
    --fair: #f2cc60; --fair-back: #3d2e00; --bad: #ffa198; --bad-back: #4c1014; --none: #d1d7e0;
    --none-back: #2a313c } }
  * { box-sizing: border-box }
  body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--paper); color: var(--text);
    font: 1rem/1.5 system-ui, -apple-system, \"Segoe UI\", \"DejaVu Sans\", sans-serif }
  h1 { font-size: 1.7rem; line-height: 1.2 }
  h2 { font-size: 1.3rem; line-height: 1.3; margin-top: 3rem; border-top: 1px solid var(--line);
    padding-top: 1rem }
  h3 { font-size: 1.05rem; margin-top: 2rem }
  a { color: var(--link) } p, li { max-width: 46rem } .quiet { color: var(--quiet) }
  .scroll { overflow-x: auto; margin: 1.5rem 0 0.5rem } .scroll:focus { outline: 2px solid var(--link) }
  table { border-collapse: separate; border-spacing: 0; font-size: 0.9rem;
    font-variant-numeric: tabular-nums }
  caption { text-align: left; font-weight: 600; padding: 0 0 0.4rem }
  th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right;
    white-space: nowrap }
  thead th { background: var(--soft); vertical-align: bottom; white-space: normal; min-width: 4rem }
  th[scope=row], thead th:first-child, .text { text-align: left } 
  th[scope=row] { font-weight: 500; position: sticky; left: 0; background: var(--paper) }
  tbody .long { white-space: normal; min-width: 13rem }
  dl.findings { margin: 1rem 0 }
  .findings div { border-left: 4px solid var(--line); padding: 0.2rem 0 0.2rem 0.8rem; margin: 0.8rem 0 }
  .findings dt { font-weight: 600 } .findings dd { margin: 0.2rem 0 0 }
  .judgment { display: inline-block; font-size: 0.85rem; font-weight: 600; padding: 0 0.5rem;
    border-radius: 1rem; white-space: nowrap }
  .confirmed { color: var(--good); background: var(--good-back) }
  .partly { color: var(--fair); background: var(--fair-back) }
  .not { color: var(--bad); background: var(--bad-back) }
  .nodata { color: var(--none); background: var(--none-back) }
  figure { display: inline-block; vertical-align: top; max-width: 100%; margin: 1.5rem 1.5rem 0.5rem 0 }
  svg.plot { max-width: 100%; height: auto }
  @media (max-width: 32rem) { table { font-size: 0.8rem } th, td { padding: 0.2rem 0.35rem }
    thead th { min-width: 0 } tbody .long { min-width: 9rem } }
  details { margin: 0.8rem 0 } summary { cursor: pointer; color: var(--link) }
  code { font: 0.85rem ui-monospace, \"DejaVu Sans Mono\", monospace; background: var(--soft);
    padding: 0.1rem 0.25rem; overflow-wrap: anywhere }
  details ul { padding-left: 1.1rem } details li { margin: 0.4rem 0 }
";

/// The page.
pub(crate) fn page(title: &str, summary: &[String], sections: &[Section]) -> String {
    // Writing to a string cannot fail.
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{0}</title>\n<style>\n{STYLE}{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n",
        escape(title),
        plot::style()
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
    let mut table = Table::new("All claims at a glance", &["Claim", "Paper", "Verdict of our figures"]);
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
