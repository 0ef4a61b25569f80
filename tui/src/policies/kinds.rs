//! Who decides on each activity type, and the action and resource that policies match. Read from the
//! catalogue that this console was built with, so that a daemon cannot change it.

use std::sync::LazyLock;

use quorate_common::catalog::Gate;
use serde::Deserialize;

/// An activity type.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Kind {
    /// `ACTIVITY_TYPE_*`.
    #[serde(rename = "type")]
    pub(super) activity_type: String,
    /// Who decides.
    pub(super) gate: Gate,
    /// Action and resource; absent if policies do not decide on the type.
    #[serde(default)]
    pub(super) acts: Option<(String, String)>,
}

#[derive(Deserialize)]
struct Catalog {
    kinds: Vec<Kind>,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let catalog: Result<Catalog, _> = serde_json::from_str(include_str!("../../../assets/catalog.json"));
    // The file is a golden file of the daemon's own table; a test parses it.
    catalog.map(|catalog| catalog.kinds).unwrap_or_default()
});

/// Returns all types.
pub(super) fn all() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter()
}

/// Returns the type with this name.
pub(super) fn of_type(activity_type: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.activity_type == activity_type)
}
