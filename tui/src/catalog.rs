//! The catalog that this console was built with: each activity type with its gate, its action and resource, and
//! the schema of its parameters. It is part of the program, so that a daemon cannot change it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use quorate_common::catalog::{Catalog, KindEntry};

const TEXT: &str = include_str!("../../assets/catalog.json");

static TYPES: LazyLock<Result<BTreeMap<String, KindEntry>, String>> = LazyLock::new(|| parse(TEXT));

fn parse(text: &str) -> Result<BTreeMap<String, KindEntry>, String> {
    let catalog: Catalog =
        serde_json::from_str(text).map_err(|error| format!("the embedded catalog is invalid: {error}"))?;
    Ok(catalog.kinds.into_iter().map(|entry| (entry.activity_type.clone(), entry)).collect())
}

/// Checks the catalog. The console does not start with an invalid one, because it would know no type.
///
/// # Errors
///
/// Fails if the catalog is invalid.
pub(crate) fn check() -> Result<(), &'static str> {
    TYPES.as_ref().map(|_| ()).map_err(String::as_str)
}

/// Returns all activity types, sorted.
pub(crate) fn all() -> impl Iterator<Item = &'static KindEntry> {
    TYPES.iter().flat_map(BTreeMap::values)
}

/// Returns the entry of an activity type.
pub(crate) fn of_type(activity_type: &str) -> Option<&'static KindEntry> {
    TYPES.as_ref().ok()?.get(activity_type)
}

#[cfg(test)]
mod tests {
    use quorate_common::catalog::{Action, Resource};

    use super::*;

    #[test]
    fn embedded_catalog_is_valid() {
        assert_eq!(check(), Ok(()));
        assert!(all().count() > 60);
        let sign = of_type("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2").and_then(|entry| entry.acts);
        assert_eq!(sign, Some((Action::Sign, Resource::PrivateKey)));
        assert!(of_type("ACTIVITY_TYPE_NOTHING").is_none());
    }

    #[test]
    fn invalid_catalog_is_an_error() {
        let without_gate = TEXT.replacen(r#""gate""#, r#""gates""#, 1);
        for text in ["", "{}", r#"{"kinds": [{}], "queries": []}"#, &without_gate] {
            assert!(parse(text).is_err_and(|error| error.contains("the embedded catalog is invalid")));
        }
    }
}
