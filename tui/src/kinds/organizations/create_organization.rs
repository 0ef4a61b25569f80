//! Creates a top-level organization.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("CREATE_ORGANIZATION", "Create organization", describe);

fn describe(parameters: &Reader<'_>, _: &ReviewContext<'_>) -> Result<Description> {
    let name = quoted(parameters.text("organizationName")?);
    let passkey = parameters.object("rootAuthenticator")?;
    let passkey = passkey.ok_or_else(|| parameters.unknown("rootAuthenticator"))?;
    let passkey = quoted(passkey.text("authenticatorName")?);
    let email = clean(parameters.text("rootEmail")?);
    let id = parameters.maybe_text("rootUserId")?.map(|id| format!(" The id of the user is {}.", clean(id)));
    let mut description = Description::new(
        name.clone(),
        format!(
            "Create the organization {name} with one root user, {email}, who holds the passkey {passkey} \
             and has the same name.{}",
            id.unwrap_or_default()
        ),
    );
    description.flag_medium("one-can-act", "Its only root user can do anything in it alone.");
    Ok(description)
}
