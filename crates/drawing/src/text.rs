//! Text in pictures: how wide it is, and how it is cut.

/// Size of letters.
pub(super) const FONT_SIZE: f64 = 13.0;
/// Height of a line.
pub(super) const LINE: f64 = 16.0;
/// Longer lines are cut.
const MAX_LETTERS: usize = 36;
/// Of more lines, the last is replaced by how many there are.
const MAX_LINES: usize = 6;

/// A text that was made to fit.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) lines: Vec<String>,
    /// Whether something was left out.
    pub(super) is_cut: bool,
}

impl Fitted {
    /// The lines of a text, not too many and not too long.
    pub(super) fn new(text: &str) -> Fitted {
        let mut is_cut = false;
        let mut lines: Vec<String> = Vec::new();
        let n_lines = text.lines().count();
        let n_shown = if n_lines > MAX_LINES { MAX_LINES - 1 } else { n_lines };
        for line in text.lines().take(n_shown) {
            let n_letters = line.chars().count();
            if n_letters > MAX_LETTERS {
                // The end tells more than the middle: it often is a number.
                let (head, tail) = (MAX_LETTERS * 2 / 3, MAX_LETTERS / 3 - 1);
                let start: String = line.chars().take(head).collect();
                let end: String = line.chars().skip(n_letters - tail).collect();
                lines.push(format!("{start}…{end}"));
                is_cut = true;
            } else {
                lines.push(line.to_owned());
            }
        }
        if n_lines > n_shown {
            lines.push(format!("… {} more", base::text::grouped((n_lines - n_shown) as u64)));
            is_cut = true;
        }
        Fitted { lines, is_cut }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn width(&self) -> f64 {
        self.lines.iter().map(|line| width(line)).fold(0.0, f64::max)
    }

    pub(super) fn height(&self) -> f64 {
        LINE * self.lines.len() as f64
    }
}

/// About how wide a line is, rather too much than too little: nobody knows the reader's fonts.
fn width(line: &str) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '(' | ')' | '[' | ']' => 0.4,
        'f' | 'r' | 't' | ' ' | '"' | '{' | '}' | '-' => 0.45,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        'A'..='Z' | '&' | '<' | '>' | '=' | '+' => 0.78,
        // Signs of other scripts may be as wide as they are high.
        c if c as u32 > 0x2fff => 1.1,
        _ => 0.64,
    };
    FONT_SIZE * line.chars().map(letter).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        let fitted = Fitted::new(&format!("short\n{}_17", "x".repeat(100)));
        assert_eq!(fitted.lines[0], "short");
        assert!(fitted.is_cut && fitted.lines[1].chars().count() == MAX_LETTERS);
        assert!(fitted.lines[1].ends_with("x_17"));
        let many = Fitted::new(&"a\n".repeat(10));
        assert_eq!((many.lines.len(), many.lines[5].as_str()), (6, "… 5 more"));
        assert!(!Fitted::new(&"a\n".repeat(6)).is_cut);
    }
}
