//! Parts of the ordered keys of the store.

/// The direction in which a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Smallest key first.
    Ascending,
    /// Largest key first.
    Descending,
}

/// A part of an ordered range of keys.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Prefix of all keys of the range.
    pub prefix: &'a [u8],
    /// The page starts after this key, in the direction of reading; `None` starts at the first key.
    pub after: Option<&'a [u8]>,
    /// Direction of reading.
    pub order: Order,
    /// Maximum number of keys.
    pub limit: usize,
}

impl<'a> Page<'a> {
    /// Returns the page of the first `limit` keys.
    pub const fn first(prefix: &'a [u8], limit: usize) -> Self {
        Self { prefix, after: None, order: Order::Ascending, limit }
    }

    /// Returns the page of the last `limit` keys, in descending order.
    pub const fn last(prefix: &'a [u8], limit: usize) -> Self {
        Self { prefix, after: None, order: Order::Descending, limit }
    }
}
