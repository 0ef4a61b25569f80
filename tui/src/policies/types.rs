//! Activity types of the catalogue, as policies and their findings need them.

use quorate_common::catalog::KindEntry;
use quorate_policy::lint::ActivityType;

use crate::catalog;

/// Returns the activity types that policies decide on.
pub(crate) fn types() -> Vec<ActivityType> {
    let decided = catalog::all().filter_map(|entry| {
        let (action, resource) = acts(entry)?;
        Some(ActivityType { name: entry.activity_type.clone(), action, resource })
    });
    decided.collect()
}

/// Returns action and resource as policies match them, or `None` if policies do not decide on the type.
pub(super) fn acts(entry: &KindEntry) -> Option<(String, String)> {
    entry.acts.map(|(action, resource)| (action.name().to_owned(), resource.name().to_owned()))
}

/// Returns the activity types that create and change policies.
pub(crate) fn changing() -> Vec<String> {
    let changes_policies = |name: &str| {
        let starts = ["ACTIVITY_TYPE_CREATE_POLIC", "ACTIVITY_TYPE_UPDATE_POLIC"];
        starts.iter().any(|start| name.starts_with(start))
    };
    catalog::all().map(|entry| entry.activity_type.clone()).filter(|name| changes_policies(name)).collect()
}
