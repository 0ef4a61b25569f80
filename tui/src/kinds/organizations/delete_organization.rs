//! Deletes the organization itself.

use super::deletion;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_ORGANIZATION", "Delete organization", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("organizationId")?;
    let mut description = deletion::describe("organization", true, context);
    if !context.organization.head.organization_id.to_string().eq_ignore_ascii_case(id) {
        let text = format!("Names another organization than the one it was proposed in: {}.", clean(id));
        description.flag_high("other-organization", text);
    }
    Ok(description)
}
