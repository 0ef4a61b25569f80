//! The catalog of activity types and queries as data, built from their tables.

use quorate_common::catalog::Catalog;

use crate::{kinds, queries};

/// Returns all activity types and queries.
pub fn catalog() -> Catalog {
    Catalog {
        kinds: kinds::all().iter().map(crate::kind::Entry::describe).collect(),
        queries: queries::all().iter().map(|entry| entry.path()).collect(),
    }
}
