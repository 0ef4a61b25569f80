//! Renames the organization.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_ORGANIZATION_NAME", "Rename organization", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let name = parameters.text("organizationName")?;
    let now = &context.organization.head.organization_name;
    let mut description = Description::new(
        quoted(name),
        format!("Rename the organization {} to {}. Its id does not change.", quoted(now), quoted(name)),
    );
    description.change("name", clean(now), clean(name));
    Ok(description)
}
