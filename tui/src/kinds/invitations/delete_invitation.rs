//! Revokes an invitation.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_INVITATION", "Revoke invitation", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("invitationId")?;
    let named = context.invitation_named(id);
    let known = context.invitation(id);
    let address = known.map_or_else(String::new, |one| format!(" to {}", stated(&one.receiver_email)));
    let mut description = Description::new(
        known.map_or_else(
            || named.clone(),
            |one| format!("{} at {}", stated(&one.receiver_user_name), clean(&one.receiver_email)),
        ),
        format!("Revoke the invitation {named}{address}: the secret in its mail no longer works."),
    );
    let Some(known) = known else {
        description.flag_missing("unknown-invitation", &named);
        return Ok(description);
    };
    let status = known.status.strip_prefix("INVITATION_STATUS_").unwrap_or(&known.status);
    description.change("invitation", clean(status), "REVOKED");
    if status == "ACCEPTED" {
        description.flag_medium(
            "invitation-accepted",
            "Removes no access: the invitation has been accepted, and its user stays.",
        );
    }
    Ok(description)
}
