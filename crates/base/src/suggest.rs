//! "Did you mean …?": the nearest of a set of known names.

/// The known name nearest to `given` by edit distance, if it is near enough to be a slip: at most
/// a third of the letters differ, and not all of them. Letter case alone never counts.
/// Of equally near names the first is taken.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const MAX_LETTERS: usize = 64; // Longer "names" are not slips, and would cost quadratic time.
    let letters: Vec<char> = given.chars().take(MAX_LETTERS + 1).flat_map(char::to_lowercase).collect();
    if letters.len() > MAX_LETTERS {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let other: Vec<char> = name.chars().take(MAX_LETTERS + 1).flat_map(char::to_lowercase).collect();
        if other.len() > MAX_LETTERS || name == given {
            continue;
        }
        let allowed = letters.len().max(other.len()).div_ceil(3).min(letters.len().saturating_sub(1).max(1));
        let distance = edit_distance(&letters, &other);
        if distance <= allowed && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Number of insertions, deletions, replacements and swaps of neighbors (optimal string
/// alignment).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0usize; (a.len() + 1) * width];
    for (j, cell) in table[..width].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        table[i * width] = i;
        for j in 1..=b.len() {
            let replace = table[(i - 1) * width + j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let delete = table[(i - 1) * width + j] + 1;
            let insert = table[i * width + j - 1] + 1;
            let mut best = replace.min(delete).min(insert);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(table[(i - 2) * width + j - 2] + 1);
            }
            table[i * width + j] = best;
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let known = ["think", "left", "eat", "right"];
        assert_eq!(nearest("thnik", known), Some("think"));
        assert_eq!(nearest("Left", known), Some("left"));
        assert_eq!(nearest("rigth", known), Some("right"));
        assert_eq!(nearest("eats", known), Some("eat"));
        assert_eq!(nearest("garbage", known), None);
        assert_eq!(nearest("x", ["y"]), Some("y"), "one letter: one slip");
        assert_eq!(nearest("eat", []), None);
    }
}
