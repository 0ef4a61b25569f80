//! Creates, revokes and prunes invitations, and writes the email with their secret.

use quorate_chain::curve::{Curve, SecretKey};
use quorate_common::bounded::{Email, Label};
use quorate_common::ids::{InvitationId, OrganizationId, TagId, UserId};
use url::form_urlencoded;
use zeroize::Zeroizing;

use crate::error::{Corrupt, RequestError};
use crate::execution::Execution;
use crate::mail::Mail;
use crate::messages;
use crate::model::invitation::INVITATION_LIFE_MILLIS;
use crate::model::queued_message::Purpose;
use crate::model::{Change, Invitation, InvitationStatus};
use crate::params::user::AccessType;

/// An invitation to create.
pub struct New {
    /// Name of the new user.
    pub name: Label,
    /// Email address that the invitation is sent to.
    pub email: Email,
    /// Tags of the new user.
    pub tags: Vec<TagId>,
    /// Access type that the invitation states for the new user.
    pub access_type: AccessType,
    /// User who sends the invitation.
    pub sender: UserId,
}

/// Evicts the oldest invitations that can no longer be accepted until `more` new ones fit the limit.
pub fn make_room(more: usize, context: &mut Execution<'_>) {
    let view = context.view();
    let present = &view.organization.records.invitations;
    let limit = view.limits().records.invitations;
    let surplus = present.len().saturating_add(more).saturating_sub(limit);
    let mut ended: Vec<_> = present.iter().filter(|one| !one.waits(context.now())).collect();
    ended.sort_by_key(|one| (one.updated, one.id));
    for one in ended.into_iter().take(surplus) {
        context.change(Change::remove::<Invitation>(one.id));
    }
}

/// Creates an invitation and emails its secret.
///
/// # Errors
/// If the source of randomness yields no valid key.
pub fn invite(new: New, context: &mut Execution<'_>) -> Result<InvitationId, RequestError> {
    let now = context.now();
    let id = InvitationId::random(context.random());
    let secret = SecretKey::generate(Curve::P256, context.entropy())
        .map_err(|_| Corrupt::Invariant("the source of randomness yields no valid key"))?;
    let invitation = Invitation {
        id,
        name: new.name,
        email: new.email,
        tags: new.tags,
        access_type: new.access_type.name().to_owned(),
        sender: new.sender,
        public_key: secret.public().compressed_hex(),
        status: InvitationStatus::Created,
        created: now,
        updated: now,
    };
    let mut mail = mail(&invitation, &secret, context);
    mail.expires = Some(now.saturating_add(INVITATION_LIFE_MILLIS));
    mail.purpose = Some(Purpose::Invitation(id));
    context.send(mail);
    context.change(Change::put(invitation));
    Ok(id)
}

fn mail(invitation: &Invitation, secret: &SecretKey, context: &Execution<'_>) -> Mail {
    let organization = context.organization;
    let view = context.view();
    let sender = organization.user(invitation.sender).map_or("", |user| user.name.as_str());
    let [sender, name, shown_organization] =
        [sender, invitation.name.as_str(), organization.head.name.as_str()].map(|name| view.shown_name(name));
    let private_key = Zeroizing::new(const_hex::encode(secret.to_bytes().as_slice()));
    let names = [&shown_organization, &sender, &name];
    let page = view.installation().invitation_page();
    let page = page.map(|page| link(page, invitation, organization.id(), names, &private_key));
    let text = format!(
        "Hello {name},\n\n\
         {sender} invites you to become a user of the organization \"{organization}\".\n\n\
         {page}To accept{without_page}, submit an ACCEPT_INVITATION request that is stamped with the API\n\
         key below. The key accepts this invitation only, can be used once and expires after seven days.\n\n\
         organization  {organization_id}\n\
         invitation    {invitation_id}\n\
         public key    {public_key}\n\
         private key   {private_key}\n\n\
         Anyone who has this email can accept the invitation in your place. Do not forward it.\n",
        name = messages::shown(&name),
        sender = messages::shown(&sender),
        without_page = if page.is_some() { " without a browser" } else { "" },
        page = page.as_deref().map_or("", String::as_str),
        organization = messages::shown(&shown_organization),
        organization_id = organization.id(),
        invitation_id = invitation.id,
        public_key = invitation.public_key,
        private_key = private_key.as_str(),
    );
    let subject = messages::header(&format!("Invitation to {shown_organization}"));
    Mail::new(invitation.email.clone(), subject, text, String::clone(&private_key), context.now())
}

/// Returns the paragraph with the link to the page. The key is in the fragment, which browsers do not send.
fn link(
    page: &str,
    invitation: &Invitation,
    organization: OrganizationId,
    [organization_name, sender, user_name]: [&String; 3],
    private_key: &str,
) -> Zeroizing<String> {
    let Invitation { id, public_key, .. } = invitation;
    let names = [("organizationName", organization_name), ("sender", sender), ("userName", user_name)];
    let names = form_urlencoded::Serializer::new(String::new()).extend_pairs(names).finish();
    let fragment = Zeroizing::new(format!(
        "organization={organization}&invitation={id}&{names}&publicKey={public_key}&privateKey={private_key}"
    ));
    Zeroizing::new(format!("To accept, open this link in your browser:\n\n{page}#{}\n\n", fragment.as_str()))
}

/// Revokes the open invitations that were sent by these users.
pub fn revoke_sent_by(senders: &[UserId], context: &mut Execution<'_>) {
    let (now, view) = (context.now(), context.view());
    let is_affected = |one: &&Invitation| one.waits(now) && senders.contains(&one.sender);
    for one in view.organization.records.invitations.iter().filter(is_affected) {
        context.change(Change::put(one.with_status(InvitationStatus::Revoked, now)));
    }
}

/// Removes these tags from the open invitations.
pub fn untag(tags: &[TagId], context: &mut Execution<'_>) {
    let (now, view) = (context.now(), context.view());
    for one in view.organization.records.invitations.iter().filter(|one| one.waits(now)) {
        if one.tags.iter().any(|tag| tags.contains(tag)) {
            let remaining = one.tags.iter().copied().filter(|tag| !tags.contains(tag)).collect();
            context.change(Change::put(Invitation { tags: remaining, updated: now, ..one.clone() }));
        }
    }
}
