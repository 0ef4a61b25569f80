//! Creates a user for the holder of an invitation's secret.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("ACCEPT_INVITATION", "Accept invitation", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("invitationId")?;
    let user = parameters.text("userId")?;
    let passkey = parameters.object("authenticator")?.ok_or_else(|| parameters.unknown("authenticator"))?;
    let passkey = quoted(passkey.text("authenticatorName")?);
    let invitation = context.invitation(id);
    let who = invitation.map_or_else(
        || "the invited person".to_owned(),
        |known| format!("{} ({})", stated(&known.receiver_user_name), clean(&known.receiver_email)),
    );
    let mut description = Description::new(
        invitation.map_or_else(|| clean(id), |known| stated(&known.receiver_user_name)),
        format!(
            "Make {who} a user with the id {}, which this person chose, and the passkey {passkey}, as defined by the \
             invitation {}. The mailed secret stamps this request; its key does not become a key of the user.",
            clean(user),
            context.invitation_named(id)
        ),
    );
    let Some(invitation) = invitation else {
        let text = format!("The invitation {} does not exist in this organization now.", clean(id));
        description.flag_medium("unknown-invitation", text);
        return Ok(description);
    };
    if !invitation.receiver_user_tags.is_empty() {
        let tags = invitation.receiver_user_tags.iter().map(|tag| context.tag_named(&tag.to_string()));
        let text = format!("The new user gets every right that policies give to {} at once.", listed(tags));
        description.flag_medium("joins-tag", text);
    }
    if invitation.status == "INVITATION_STATUS_REVOKED" {
        description.flag_medium("invitation-revoked", "Uses an invitation that has been revoked.");
    }
    Ok(description)
}
