//! Merges rows of the database with the values before a group.

use std::cmp::Ordering;

use quorate_core::world::Order;

/// Returns up to `limit` rows in order. A key in `before` has the value given there, or no record.
pub(super) fn merge<'b>(
    rows: impl Iterator<Item = sled::Result<(sled::IVec, sled::IVec)>>,
    before: impl Iterator<Item = (&'b [u8], Option<&'b sled::IVec>)>,
    order: Order,
    limit: usize,
) -> sled::Result<Vec<(Vec<u8>, sled::IVec)>> {
    let (mut rows, mut before) = (rows.peekable(), before.peekable());
    let mut found = Vec::new();
    while found.len() < limit {
        let next = match (rows.peek(), before.peek()) {
            (None, None) => break,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) | (Some(Err(_)), Some(_)) => Ordering::Less,
            (Some(Ok((key, _))), Some((other, _))) => match order {
                Order::Ascending => key.as_ref().cmp(other),
                Order::Descending => key.as_ref().cmp(other).reverse(),
            },
        };
        if next == Ordering::Less {
            if let Some(row) = rows.next() {
                let (key, value) = row?;
                found.push((key.to_vec(), value));
            }
            continue;
        }
        if next == Ordering::Equal {
            rows.next();
        }
        if let Some((key, Some(value))) = before.next() {
            found.push((key.to_vec(), value.clone()));
        }
    }
    Ok(found)
}
