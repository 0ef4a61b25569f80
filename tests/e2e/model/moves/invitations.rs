//! Invitations: sent, revoked, and accepted with the mailed secret.

use serde_json::{Value, json};

use super::people::{self, NewAuthenticator};
use super::{Move, new_ids};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::{Invitation, InvitationStatus, Organization, Tagged, User};

const INVITATIONS: usize = 100;
const USERS: usize = 100;
const UNKNOWN_INVITATION: &str = "no invitation found";
/// Access types, the last of which is invalid.
const ACCESS: [&str; 4] = ["ACCESS_TYPE_WEB", "ACCESS_TYPE_API", "ACCESS_TYPE_ALL", "ACCESS_TYPE_NONE"];
const GOOD_ACCESS: usize = 3;

struct NewInvitation {
    name: String,
    email: String,
    tags: Vec<String>,
    access: &'static str,
    sender: String,
}

impl NewInvitation {
    fn choose(chooser: &mut Chooser<'_>, sender: &str) -> Self {
        let tags = chooser.organization().tag_ids(Tagged::Users);
        let access = if chooser.rarely() { ACCESS[GOOD_ACCESS] } else { chooser.one(&ACCESS[..GOOD_ACCESS]) };
        Self {
            name: chooser.name("guest"),
            email: chooser.email(),
            tags: chooser.optional_ids(&tags),
            access,
            sender: if chooser.rarely() {
                chooser.id(&chooser.organization().user_ids())
            } else {
                sender.to_owned()
            },
        }
    }

    fn json(&self) -> Value {
        json!({
            "receiverUserName": self.name,
            "receiverUserEmail": self.email,
            "receiverUserTags": self.tags,
            "accessType": self.access,
            "senderUserId": self.sender,
        })
    }

    fn object(&self, objections: &mut Objections, organization: &Organization) {
        objections.label(&self.name);
        people::object_to_email(objections, Some(&self.email));
        let is_tag = |id: &str| organization.tag(Tagged::Users, id).is_some();
        objections.tags_exist(&self.tags, is_tag, "no user tag found");
        objections.invalid(!ACCESS[..GOOD_ACCESS].contains(&self.access), "");
        let is_there = organization.user(&self.sender).is_some();
        objections.exists(&self.sender, is_there, "unable to find user");
    }

    fn to_model(&self, id: String) -> Invitation {
        Invitation {
            id,
            name: self.name.clone(),
            email: self.email.clone(),
            tags: self.tags.iter().cloned().collect(),
            access: self.access,
            sender: self.sender.clone(),
            status: InvitationStatus::Created,
        }
    }
}

struct Create {
    invitations: Vec<NewInvitation>,
    can_be_sent: bool,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let count = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3]);
    let voters: Vec<String> = chooser.organization().voters().into_iter().map(|(user, _)| user).collect();
    let sender = chooser.choices.pick(&voters).cloned().unwrap_or_default();
    let invitations = (0..count).map(|_| NewInvitation::choose(chooser, &sender)).collect();
    Box::new(Create { invitations, can_be_sent: chooser.world.sends_mail })
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_INVITATIONS"
    }

    fn result_name(&self) -> &'static str {
        "createInvitationsResult"
    }

    fn parameters(&self) -> Value {
        json!({ "invitations": self.invitations.iter().map(NewInvitation::json).collect::<Vec<_>>() })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.named(!self.can_be_sent, Code::InvalidArgument, "", "EMAIL_SENDING_DISABLED");
        objections.batch(&self.invitations);
        for invitation in &self.invitations {
            invitation.object(&mut objections, organization);
        }
        objections.distinct(&self.invitations.iter().map(|one| &one.email).collect::<Vec<_>>());
        let waiting = organization.invitations.iter().filter(|one| one.waits()).count();
        objections.capacity(waiting, self.invitations.len(), INVITATIONS, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["invitationIds"], self.invitations.len());
        let created = self.invitations.iter().zip(ids).map(|(invitation, id)| invitation.to_model(id));
        organization.invitations.extend(created);
    }

    fn senders(&self) -> Vec<&str> {
        self.invitations.iter().map(|one| one.sender.as_str()).collect()
    }
}

struct Delete {
    id: String,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Delete { id: chooser.id(&chooser.organization().invitation_ids()) })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_INVITATION"
    }

    fn result_name(&self) -> &'static str {
        "deleteInvitationResult"
    }

    fn parameters(&self) -> Value {
        json!({ "invitationId": self.id })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let invitation = organization.invitation(&self.id);
        objections.exists(&self.id, invitation.is_some(), UNKNOWN_INVITATION);
        let is_accepted = invitation.is_some_and(|one| one.status == InvitationStatus::Accepted);
        objections.invalid(is_accepted, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({ "invitationId": self.id }));
        let invitation = organization.invitations.iter_mut().find(|one| one.id == self.id);
        invitation.expect("an existing invitation").status = InvitationStatus::Revoked;
    }
}

struct Accept {
    invitation: String,
    user: String,
    authenticator: NewAuthenticator,
    is_old: bool,
    /// Id of the invitation whose secret stamps the request.
    opened: String,
}

/// Accepts an invitation with the secret of the invitation `opened`.
pub(in crate::model) fn accept(chooser: &mut Chooser<'_>, opened: &str) -> (Box<dyn Move>, String) {
    let (opened, organization) = (opened.to_owned(), chooser.organization());
    let others = organization.invitation_ids();
    let is_other = chooser.rarely();
    let invitation = if is_other { chooser.id(&others) } else { opened.clone() };
    let new = format!("00000000-0000-4000-9000-{:012}", chooser.number());
    // Ids of deleted users are not used here.
    let existing =
        chooser.choices.pick(&organization.user_ids()).filter(|_| chooser.choices.one_in(12)).cloned();
    let user = existing.unwrap_or(new);
    let authenticator = NewAuthenticator::choose(chooser);
    let is_old = chooser.choices.one_in(2);
    (Box::new(Accept { invitation, user: user.clone(), authenticator, is_old, opened }), user)
}

impl Move for Accept {
    fn name(&self) -> &'static str {
        if self.is_old { "ACCEPT_INVITATION" } else { "ACCEPT_INVITATION_V2" }
    }

    fn result_name(&self) -> &'static str {
        "acceptInvitationResult"
    }

    fn parameters(&self) -> Value {
        let old = self.authenticator.old_json(&self.user);
        let authenticator = if self.is_old { old } else { self.authenticator.json() };
        json!({ "invitationId": self.invitation, "userId": self.user, "authenticator": authenticator })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let authenticators = std::slice::from_ref(&self.authenticator);
        people::object_to_authenticators(&mut objections, organization, 0, authenticators);
        objections.when(organization.user(&self.user).is_some(), Code::AlreadyExists, "");
        objections.invalid(self.invitation.len() != 36, "");
        if self.invitation != self.opened {
            objections.denied("request not authorized");
            return objections;
        }
        let waits = organization.invitation(&self.invitation).is_some_and(Invitation::waits);
        objections.invalid(!waits, "");
        objections.capacity(organization.users.len(), 1, USERS, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({ "invitationId": self.invitation, "userId": self.user }));
        let mut invitations = organization.invitations.iter_mut();
        let invitation = invitations.find(|one| one.id == self.invitation).expect("an existing invitation");
        invitation.status = InvitationStatus::Accepted;
        organization.users.push(User {
            id: self.user.clone(),
            name: invitation.name.clone(),
            email: Some(invitation.email.clone()),
            tags: invitation.tags.clone(),
            authenticators: vec![self.authenticator.to_model(None)],
            ..User::default()
        });
    }

    fn is_decided_by_key(&self) -> bool {
        true
    }
}
