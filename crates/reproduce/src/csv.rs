//! Comma-separated values: lines that are written, and files that may have been cut short.
//!
//! Fields with commas, quotation marks or line breaks are quoted (RFC 4180). A file is only ever appended
//! to, so the end of one that was interrupted is a line without its end: that line is not read.

/// One line.
pub(crate) fn line(fields: &[String]) -> String {
    let quoted: Vec<String> = fields.iter().map(|field| quote(field)).collect();
    quoted.join(",") + "\n"
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// The complete lines of a file, and how many bytes they are.
pub(crate) fn parse(text: &str) -> (Vec<Vec<String>>, usize) {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut field = String::new();
    let mut is_quoted = false;
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' if is_quoted && chars.next_if(|(_, next)| *next == '"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut field)),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
                end = at + 1;
            }
            char => field.push(char),
        }
    }
    (records, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_a_cut_line_is_not() {
        let records =
            [vec!["a,b".to_owned(), "say \"x\"".to_owned()], vec![String::new(), "two\nlines".to_owned()]];
        let text: String = records.iter().map(|record| line(record)).collect();
        assert_eq!(parse(&text), (records.to_vec(), text.len()));
        let cut = format!("{text}1,2");
        assert_eq!(parse(&cut), (records.to_vec(), text.len()));
        let cut = &text[..text.len() - 3];
        assert_eq!(parse(cut).0, records[..1]);
    }
}
