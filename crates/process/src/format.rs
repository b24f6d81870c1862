//! `.proc` texts with the blanks where they should be.
//!
//! Lines stay lines: what changes is how they are indented, the blanks between signs, and that what states do is
//! aligned where states follow each other line by line. Comments and formulas are kept as they are. A text with
//! mistakes is left alone, and so is one of which anything but blanks would change.

use base::{Budget, SourceId};

use crate::lexer::{self, Kind};
use crate::meter::Meter;
use crate::parse;

/// Columns of one level.
const LEVEL: usize = 4;

/// Longer heads of states are not waited for.
const MAX_HEAD: usize = 24;

/// The same text, formatted; nothing if it has mistakes.
pub(crate) fn format(text: &str) -> Option<String> {
    let (source, meter) = (SourceId::new(0), Meter::new(Budget::unlimited()));
    if !parse::file(text, source, &meter).1.is_empty() {
        return None;
    }
    let lines = lines(text, &meter);
    let formatted = write(&lines);
    let words = |text: &str| -> Vec<String> {
        let pieces = lines_flat(text, &meter);
        // Formulas, comments and all signs: everything but blanks.
        pieces.into_iter().map(|piece| piece.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    (words(text) == words(&formatted)).then_some(formatted)
}

/// A token, a comment, or a formula.
#[derive(Clone, Debug)]
struct Piece<'t> {
    text: &'t str,
    kind: PieceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceKind {
    Token(Kind),
    Comment,
    Formula,
}

fn lines_flat<'t>(text: &'t str, meter: &Meter<'_>) -> Vec<Piece<'t>> {
    lines(text, meter).into_iter().flatten().collect()
}

/// The lines of a text, each as its pieces; a piece may go on over several lines.
fn lines<'t>(text: &'t str, meter: &Meter<'_>) -> Vec<Vec<Piece<'t>>> {
    let tokens = lexer::tokens(text, SourceId::new(0), 0, meter);
    let mut lines: Vec<Vec<Piece<'t>>> = vec![Vec::new()];
    let mut add = |piece: Option<Piece<'t>>| match (piece, lines.last_mut()) {
        (Some(piece), Some(line)) => line.push(piece),
        _ => lines.push(Vec::new()),
    };
    let (mut end, mut index) = (0, 0);
    while index < tokens.len() {
        let token = tokens[index];
        let start = token.span.start as usize;
        gap(&text[end..start], &mut add);
        end = token.span.end as usize;
        let word = &text[start..end];
        if token.kind != Kind::End {
            add(Some(Piece { text: word, kind: PieceKind::Token(token.kind) }));
        }
        index += 1;
        // `ltl name = …`: the formula is one piece.
        let is_formula = index >= 3
            && token.kind == Kind::Assign
            && tokens[index - 3].kind == Kind::Name
            && &text[tokens[index - 3].span.start as usize..tokens[index - 3].span.end as usize] == "ltl"
            && tokens[index - 2].kind == Kind::Name;
        if is_formula {
            let rest = &tokens[index..];
            let length = rest.iter().position(|token| matches!(token.kind, Kind::Semicolon | Kind::End));
            let length = length.unwrap_or(0);
            if length > 0 {
                let (first, last) = (rest[0].span.start as usize, rest[length - 1].span.end as usize);
                gap(&text[end..first], &mut add);
                add(Some(Piece { text: &text[first..last], kind: PieceKind::Formula }));
                (end, index) = (last, index + length);
            }
        }
    }
    lines
}

/// The comments and the ends of lines between two tokens.
fn gap<'t>(mut blank: &'t str, add: &mut impl FnMut(Option<Piece<'t>>)) {
    while let Some(first) = blank.chars().next() {
        let length = if blank.starts_with("//") {
            blank.find('\n').unwrap_or(blank.len())
        } else if blank.starts_with("/*") {
            blank.find("*/").map_or(blank.len(), |end| end + 2)
        } else {
            if first == '\n' {
                add(None);
            }
            blank = &blank[first.len_utf8()..];
            continue;
        };
        add(Some(Piece { text: blank[..length].trim_end(), kind: PieceKind::Comment }));
        blank = &blank[length..];
    }
}

/// A line that is written.
struct Line {
    indent: usize,
    text: String,
    /// For the head of a state that is followed by what it does: how long it is.
    head: Option<usize>,
    /// Whether the line goes on with `|`.
    is_alternative: bool,
}

fn write(lines: &[Vec<Piece<'_>>]) -> String {
    let mut written: Vec<Option<Line>> = Vec::new();
    let mut depth = 0_usize;
    // Whether something was begun in an earlier line and is not ended.
    let mut is_open = false;
    for pieces in lines {
        if pieces.is_empty() {
            if written.last().is_some_and(Option::is_some) {
                written.push(None);
            }
            continue;
        }
        let tokens = || {
            pieces.iter().filter_map(|piece| match piece.kind {
                PieceKind::Token(kind) => Some(kind),
                PieceKind::Formula => Some(Kind::Name),
                PieceKind::Comment => None,
            })
        };
        let first = tokens().next();
        let closes = usize::from(first == Some(Kind::CloseBrace));
        let level = depth.saturating_sub(closes) + usize::from(is_open && first.is_some());
        let (text, head) = join(pieces);
        let head = head.filter(|_| !is_open && depth == 1);
        let is_alternative = is_open && first == Some(Kind::Bar);
        written.push(Some(Line { indent: LEVEL * level, text, head, is_alternative }));
        for kind in tokens() {
            match kind {
                Kind::OpenBrace => depth += 1,
                Kind::CloseBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            is_open = !matches!(kind, Kind::Semicolon | Kind::OpenBrace | Kind::CloseBrace);
        }
    }
    while written.last().is_some_and(Option::is_none) {
        written.pop();
    }
    align(&mut written);
    let mut text = String::new();
    for line in written {
        if let Some(line) = line {
            text.extend(std::iter::repeat_n(' ', line.indent));
            text += &line.text;
        }
        text.push('\n');
    }
    text
}

/// Aligns what states do that follow each other line by line, and their further alternatives.
fn align(lines: &mut [Option<Line>]) {
    let mut at = 0;
    while at < lines.len() {
        let belongs = |line: &Option<Line>| {
            line.as_ref().is_some_and(|line| line.head.is_some() || line.is_alternative)
        };
        let n = lines[at..].iter().take_while(|line| belongs(line)).count();
        let heads = || lines[at..at + n].iter().flatten().filter_map(|line| line.head);
        let widest = heads().filter(|&head| head <= MAX_HEAD).max().unwrap_or(0);
        let mut column = None;
        for line in lines[at..at + n].iter_mut().flatten() {
            if let Some(head) = line.head {
                let width = head.max(widest);
                line.text.insert_str(head, &" ".repeat(width - head));
                column = Some(line.indent + width + 1);
            } else if let Some(column) = column {
                line.indent = column - 2;
            }
        }
        at += n.max(1);
    }
}

/// The pieces of a line with the blanks that they need, and how long the head of a state is, with its colon.
fn join(pieces: &[Piece<'_>]) -> (String, Option<usize>) {
    let mut text = String::new();
    let mut head = None;
    let mut brackets = 0_usize;
    let mut is_head = true;
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 && needs_blank(pieces, index) {
            text.push(' ');
        }
        text += piece.text;
        match piece.kind {
            PieceKind::Token(Kind::OpenBracket) => brackets += 1,
            PieceKind::Token(Kind::CloseBracket) => brackets = brackets.saturating_sub(1),
            PieceKind::Token(Kind::Colon) if is_head && brackets == 0 => {
                is_head = false;
                // The width of a text is counted in letters, and heads have no others than those of ASCII.
                if index + 1 < pieces.len() && text.is_ascii() {
                    head = Some(text.len());
                }
            }
            PieceKind::Token(Kind::Name) if is_head => {}
            PieceKind::Token(_) if is_head && brackets > 0 => {}
            _ => is_head = false,
        }
    }
    (text, head)
}

/// Whether there is a blank before a piece.
fn needs_blank(pieces: &[Piece<'_>], index: usize) -> bool {
    let (PieceKind::Token(before), PieceKind::Token(here)) = (pieces[index - 1].kind, pieces[index].kind)
    else {
        return !matches!(pieces[index].kind, PieceKind::Token(Kind::Semicolon));
    };
    // `deadlock-free`.
    let word = |at: usize| pieces.get(at).map_or("", |piece| piece.text);
    let is_hyphen =
        |at: usize| word(at) == "-" && at > 0 && word(at - 1) == "deadlock" && word(at + 1) == "free";
    if is_hyphen(index) || is_hyphen(index - 1) {
        return false;
    }
    // A sign, not a difference.
    let is_sign = |at: usize| {
        let earlier = at.checked_sub(1).map(|at| pieces[at].kind);
        !matches!(
            earlier,
            Some(PieceKind::Token(
                Kind::Name | Kind::Number | Kind::CloseParen | Kind::CloseBracket | Kind::True | Kind::False
            ))
        )
    };
    match (before, here) {
        (_, Kind::Semicolon) => before == Kind::Colon,
        (_, Kind::Comma | Kind::CloseBracket | Kind::CloseParen | Kind::Colon)
        | (Kind::OpenBracket | Kind::OpenParen | Kind::Not, _)
        | (_, Kind::At | Kind::DotDot | Kind::DotDotEqual)
        | (Kind::At | Kind::DotDot | Kind::DotDotEqual, _)
        | (Kind::Name | Kind::CloseBracket, Kind::OpenBracket) => false,
        (Kind::Minus, _) => !is_sign(index - 1),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_put_where_they_should_be() {
        let text = "const  N=-3+ 1 ;\n\n\n\nprocess P[i in 0 .. N]{\n// a comment\nred :go[ i ]->green;\n  a_state: b -> c\n|d->e   for j in 0..N when j!=i; // why\n end: ;\n}\ndeadlock - free;\nltl f=[]<>  (P[0]@red) ;\ninvariant  x = !(P[0]@red&&1<2)\n -> true;";
        let wanted = "const N = -3 + 1;\n\nprocess P[i in 0..N] {\n    // a comment\n    red:     go[i] -> green;\n    a_state: b -> c\n           | d -> e for j in 0..N when j != i; // why\n    end:     ;\n}\ndeadlock-free;\nltl f = []<>  (P[0]@red);\ninvariant x = !(P[0]@red && 1 < 2)\n    -> true;\n";
        assert_eq!(format(text).as_deref(), Some(wanted));
        assert_eq!(format(wanted).as_deref(), Some(wanted), "once is enough");
    }

    #[test]
    fn texts_with_mistakes_are_left_alone() {
        assert_eq!(format("process P { a: b -> ; }"), None);
        assert_eq!(format("process P { a: b -> a; } /* open"), None);
    }

    #[test]
    fn all_models_can_be_formatted_and_once_is_enough() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        let mut n_models = 0;
        for entry in std::fs::read_dir(folder).expect("there are models") {
            let path = entry.expect("it can be listed").path();
            if path.extension().is_some_and(|ending| ending == "proc") {
                let text = std::fs::read_to_string(&path).expect("it is text");
                let once = format(&text).unwrap_or_else(|| panic!("{} cannot be formatted", path.display()));
                assert_eq!(format(&once).as_ref(), Some(&once), "{}", path.display());
                n_models += 1;
            }
        }
        assert!(n_models > 10);
    }
}
