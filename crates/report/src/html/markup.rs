//! Markup: everything that comes from a model goes through here.

/// The text as it stands between tags or between quotation marks. What XML cannot say becomes a replacement
/// character.
pub(super) fn escape(text: &str) -> String {
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

/// The same, where `…` between backquotes is code.
pub(super) fn escape_quoted(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        // They are not in pairs.
        return escape(text);
    }
    let mut marked = String::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        let piece = escape(piece);
        if index % 2 == 1 {
            marked += &format!("<code>{piece}</code>");
        } else {
            marked += &piece;
        }
    }
    marked
}

/// A JSON document as it may stand inside of a script element, in HTML as well as in XML.
pub(super) fn escape_json(json: &str) -> String {
    // Outside of strings there are none of these.
    json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e").replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_through() {
        assert_eq!(
            escape("<a href='x'>\"&\u{0}\u{202e}"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\u{fffd}\u{fffd}"
        );
        assert_eq!(escape_quoted("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
        assert_eq!(escape_quoted("a ` b"), "a ` b");
        assert_eq!(escape_json(r#"{"a":"</script><!--&"}"#), r#"{"a":"\u003c/script\u003e\u003c!--\u0026"}"#);
    }
}
