//! Lists of numbers by key, of which most are 0: sorted by key, without zeros.

/// Numbers of places or transitions.
pub(crate) type Sparse = Vec<(u32, i64)>;

/// The number of a key; 0 if it is not there.
pub(crate) fn number_of<K: Copy + Ord>(list: &[(K, i64)], key: K) -> i64 {
    list.binary_search_by_key(&key, |(its, _)| *its).map_or(0, |at| list[at].1)
}

/// The keys of two lists in order, each with its number in both.
pub(crate) fn pairs<'l, K: Copy + Ord>(
    a: &'l [(K, i64)],
    b: &'l [(K, i64)],
) -> impl Iterator<Item = (K, i64, i64)> + 'l {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    std::iter::from_fn(move || {
        let key = match (a.peek(), b.peek()) {
            (Some(a), Some(b)) => a.0.min(b.0),
            (Some(only), None) | (None, Some(only)) => only.0,
            (None, None) => return None,
        };
        let of_a = a.next_if(|(its, _)| *its == key).map_or(0, |(_, number)| *number);
        let of_b = b.next_if(|(its, _)| *its == key).map_or(0, |(_, number)| *number);
        Some((key, of_a, of_b))
    })
}

/// Combines numbers key by key; those that become 0 are left out. Nothing if one cannot be combined.
pub(crate) fn combine(
    a: &[(u32, i64)],
    b: &[(u32, i64)],
    function: impl Fn(i64, i64) -> Option<i64>,
) -> Option<Sparse> {
    let mut result = Sparse::with_capacity(a.len() + b.len());
    for (key, of_a, of_b) in pairs(a, b) {
        let number = function(of_a, of_b)?;
        if number != 0 {
            result.push((key, number));
        }
    }
    Some(result)
}
