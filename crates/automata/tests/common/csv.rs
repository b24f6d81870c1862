//! Lines of the corpus with Spot's figures.

/// The fields of a line of comma-separated values; a field in quotes may contain commas and, doubled,
/// quotes.
pub(crate) fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => fields[last].push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields[last].push(character),
        }
    }
    fields
}
