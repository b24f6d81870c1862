//! Texts as people read them: numbers with their units, and what must be protected in a page or a picture.

use std::fmt;

/// Text that a function writes: it is made while it is shown, so that it need not fit into memory, and whoever it is
/// written to can stop it.
pub struct Shown<F>(pub F);

impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Shown<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

/// A number of bytes as people read it: `1.5 MB`.
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => count(bytes, "byte"),
        _ if value < 9.95 => format!("{value:.1} {}", UNITS[unit]),
        _ => format!("{value:.0} {}", UNITS[unit]),
    }
}

/// A count with its noun: `1 state`, `2 states`. Digits are grouped by thousands with blanks.
pub fn count(n: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('s') {
        _ if n == 1 => noun.to_owned(),
        Some(stem) if stem.ends_with('s') => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", grouped(n))
}

/// Digits grouped by thousands: `59 048`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A text as it stands between the tags or quotation marks of XML and HTML. What XML cannot say becomes a
/// replacement character.
pub fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(letter),
            '\r' => {}
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            // Signs that turn the direction of what follows could make a text look like another one.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A text as it stands between the quotation marks of DOT.
pub fn escape_dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(human_bytes(12), "12 bytes");
        assert_eq!(human_bytes(1_500), "1.5 kB");
        assert_eq!(human_bytes(999_600), "1.0 MB");
        assert_eq!(human_bytes(24_000_000_000), "24 GB");
        assert_eq!(count(1, "state"), "1 state");
        assert_eq!(count(59_048, "state"), "59 048 states");
        assert_eq!(count(2, "process"), "2 processes");
        assert_eq!(grouped(1_000_000), "1 000 000");
    }
    #[test]
    fn nothing_gets_through() {
        assert_eq!(
            escape_xml("<a href='x'>\"&\u{0}\u{202e}"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\u{fffd}\u{fffd}"
        );
    }
}
