//! Who decides on each type of activity and what policies match on, from the catalogue that this console was built
//! with, so that a daemon cannot talk it into another rule.

use std::sync::LazyLock;

use quorate_common::catalog::Gate;
use serde::Deserialize;

/// A type of activity.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Kind {
    /// `ACTIVITY_TYPE_*`.
    #[serde(rename = "type")]
    pub(super) activity_type: String,
    /// Who decides.
    pub(super) gate: Gate,
    /// Action and resource; absent where policies are not asked.
    #[serde(default)]
    pub(super) acts: Option<(String, String)>,
}

#[derive(Deserialize)]
struct Catalog {
    kinds: Vec<Kind>,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let catalog: Result<Catalog, _> = serde_json::from_str(include_str!("../../../assets/catalog.json"));
    // The file is a golden of the daemon's own table; a test reads it.
    catalog.map(|catalog| catalog.kinds).unwrap_or_default()
});

/// All types.
pub(super) fn all() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter()
}

/// The type of this name.
pub(super) fn of_type(activity_type: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.activity_type == activity_type)
}
