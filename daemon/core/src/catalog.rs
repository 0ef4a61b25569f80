//! The catalogue as data, built from the tables.

use quorate_common::catalog::Catalog;

use crate::{kinds, queries};

/// All kinds and queries.
pub fn catalog() -> Catalog {
    Catalog {
        kinds: kinds::all().iter().map(crate::kind::Entry::describe).collect(),
        queries: queries::names().map(|name| format!("/public/v1/query/{name}")).collect(),
    }
}
