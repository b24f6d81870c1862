//! Markup: everything that comes from a model goes through here.

pub(super) use base::text::escape_xml as escape;

/// A text in which `…` between backquotes is code.
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
        assert_eq!(escape_quoted("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
        assert_eq!(escape_quoted("a ` b"), "a ` b");
        assert_eq!(escape_json(r#"{"a":"</script><!--&"}"#), r#"{"a":"\u003c/script\u003e\u003c!--\u0026"}"#);
    }
}
