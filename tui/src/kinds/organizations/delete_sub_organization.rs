//! Deletes the sub-organization to which the activity was submitted.

use super::deletion;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_SUB_ORGANIZATION", "Delete sub-organization", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let without_export = parameters.boolean("deleteWithoutExport")?;
    let mut description = deletion::describe("sub-organization", !without_export, context);
    if without_export {
        let text = "Also deletes keys that were never exported and may have no copy.";
        description.flag_medium("without-export", text);
    }
    Ok(description)
}
