//! Invitations: how they come about, with the secret that is mailed, and what makes room for them.

use quorate_chain::curve::{Curve, SecretKey};
use quorate_common::bounded::{Email, Label};
use quorate_common::ids::{InvitationId, TagId, UserId};
use zeroize::Zeroizing;

use crate::cx::Cx;
use crate::mail::Mail;
use crate::model::{Change, Invitation, InvitationStatus};
use crate::params::user::AccessType;
use crate::refusal::{Corrupt, Refusal};

/// An invitation that is to be made.
pub struct New {
    /// Name that the new user gets.
    pub name: Label,
    /// Where the mail goes.
    pub email: Email,
    /// Tags that the new user gets.
    pub tags: Vec<TagId>,
    /// How the new user is to get in.
    pub access_type: AccessType,
    /// Who invites.
    pub sender: UserId,
}

/// Forgets the oldest invitations that wait no more, where there would be too many.
pub fn make_room(more: usize, cx: &mut Cx<'_, '_>) {
    let view = cx.view();
    let present = &view.organization.invitations;
    let limit = view.limits().invitations;
    let surplus = present.len().saturating_add(more).saturating_sub(limit);
    let mut ended: Vec<_> = present.iter().filter(|one| !one.waits(cx.now())).collect();
    ended.sort_by_key(|one| (one.updated, one.id));
    for one in ended.into_iter().take(surplus) {
        cx.change(Change::RemoveInvitation(one.id));
    }
}

/// Adds an invitation and mails its secret.
pub fn invite(new: New, cx: &mut Cx<'_, '_>) -> Result<InvitationId, Refusal> {
    let now = cx.now();
    let id = InvitationId::random(cx.random());
    let secret = SecretKey::generate(Curve::P256, cx.entropy())
        .map_err(|_| Corrupt::Invariant("the random source gives no key"))?;
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
    let mail = mail(&invitation, &secret, cx);
    cx.send(mail);
    cx.change(Change::PutInvitation(invitation));
    Ok(id)
}

fn mail(invitation: &Invitation, secret: &SecretKey, cx: &Cx<'_, '_>) -> Mail {
    let organization = cx.organization;
    let sender = organization.user(invitation.sender).map_or_else(String::new, |user| user.name.to_string());
    let private_key = Zeroizing::new(const_hex::encode(secret.to_bytes().as_slice()));
    let text = format!(
        "Hello {name},\n\n\
         {sender} invites you to become a user of the organization \"{organization}\".\n\n\
         To accept, submit ACCEPT_INVITATION, stamped with this API key. It opens this invitation and\n\
         nothing else, once, within seven days.\n\n\
         organization  {organization_id}\n\
         invitation    {invitation_id}\n\
         public key    {public_key}\n\
         private key   {private_key}\n\n\
         Whoever has this mail can accept in your place: keep it to yourself.\n",
        name = invitation.name,
        organization = organization.head.name,
        organization_id = organization.id(),
        invitation_id = invitation.id,
        public_key = invitation.public_key,
        private_key = private_key.as_str(),
    );
    Mail {
        to: invitation.email.clone(),
        subject: format!("Invitation to {}", organization.head.name),
        text,
        attempts: 0,
        due: cx.now(),
    }
}

/// Takes back the invitations that wait and were sent by users who go.
pub fn revoke_of(senders: &[UserId], cx: &mut Cx<'_, '_>) {
    let (now, view) = (cx.now(), cx.view());
    let theirs = |one: &&Invitation| one.waits(now) && senders.contains(&one.sender);
    for one in view.organization.invitations.iter().filter(theirs) {
        cx.change(Change::PutInvitation(one.with_status(InvitationStatus::Revoked, now)));
    }
}

/// Takes tags that go off the invitations that wait.
pub fn untag(tags: &[TagId], cx: &mut Cx<'_, '_>) {
    let (now, view) = (cx.now(), cx.view());
    for one in view.organization.invitations.iter().filter(|one| one.waits(now)) {
        if one.tags.iter().any(|tag| tags.contains(tag)) {
            let kept = one.tags.iter().copied().filter(|tag| !tags.contains(tag)).collect();
            cx.change(Change::PutInvitation(Invitation { tags: kept, updated: now, ..one.clone() }));
        }
    }
}
