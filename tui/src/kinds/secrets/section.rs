//! Imported secrets.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Secret;

use crate::kinds::section::Row;
use crate::text::quoted;

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |secret: &Secret| {
        let name = secret.name.as_deref().map_or_else(|| "unnamed".to_owned(), quoted);
        ("secret", format!("{} {name}", secret.secret_id))
    };
    organization.secrets.iter().map(line).collect()
}
