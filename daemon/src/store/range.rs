//! Ranges of keys.

use std::ops::Bound;

use quorate_core::world::{Order, Page};

/// The start and the end of a range of keys.
pub(super) type Range = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// Returns the bounds of a page: within the prefix, and after the cursor. Returns `None` if nothing is between
/// them.
pub(super) fn bounds(page: &Page<'_>) -> Option<Range> {
    let first = page.prefix.to_vec();
    let beyond = successor(page.prefix).map_or(Bound::Unbounded, Bound::Excluded);
    let (start, end) = match (page.after, page.order) {
        (None, _) => (Bound::Included(first), beyond),
        (Some(after), Order::Ascending) => (Bound::Excluded(after.max(page.prefix).to_vec()), beyond),
        (Some(after), Order::Descending) => (Bound::Included(first), Bound::Excluded(after.to_vec())),
    };
    let is_empty = match (&start, &end) {
        (Bound::Excluded(start) | Bound::Included(start), Bound::Excluded(end)) => start >= end,
        _ => false,
    };
    (!is_empty).then_some((start, end))
}

/// Returns the smallest key that is greater than all keys with this prefix.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut key = prefix.to_vec();
    while let Some(last) = key.pop() {
        if let Some(next) = last.checked_add(1) {
            key.push(next);
            return Some(key);
        }
    }
    None
}
