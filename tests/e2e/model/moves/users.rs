//! Users: created in each version of the request, changed as a whole and in parts, deleted.

use serde_json::{Value, json};

use super::people::{self, NewUser, Schema};
use super::{Move, new_ids, put, texts};
use crate::model::chooser::Chooser;
use crate::model::objections::Objections;
use crate::model::world::{Invitation, InvitationStatus, Organization, Tagged, User};

const UNKNOWN_USER: &str = "unable to find user";

/// Versions of the request and their members.
const VERSIONS: [(&str, Schema); 5] = [
    ("CREATE_USERS", Schema { members: &["accessType", "userTags"], names_curve: false }),
    ("CREATE_USERS_V2", Schema { members: &["authenticators", "userTags"], names_curve: false }),
    (
        "CREATE_USERS_V3",
        Schema { members: &["authenticators", "userPhoneNumber", "userTags"], names_curve: true },
    ),
    (
        "CREATE_USERS_V4",
        Schema {
            members: &["authenticators", "oauthProviders", "userPhoneNumber", "userTags"],
            names_curve: true,
        },
    ),
    ("CREATE_API_ONLY_USERS", Schema { members: &["userTags"], names_curve: false }),
];

struct Create {
    name: &'static str,
    schema: Schema,
    users: Vec<NewUser>,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let (name, schema) = chooser.one(&VERSIONS);
    let count = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3]);
    let mut users: Vec<NewUser> = (0..count).map(|_| NewUser::choose(chooser, schema)).collect();
    if schema.has("authenticators") && chooser.rarely() {
        // More than the limit permits, each valid by itself.
        users = (0..100).map(|_| machine(chooser)).collect();
    }
    Box::new(Create { name, schema, users })
}

fn machine(chooser: &mut Chooser<'_>) -> NewUser {
    let name = format!("machine {}", chooser.number());
    NewUser { name, authenticators: vec![people::NewAuthenticator::choose(chooser)], ..NewUser::default() }
}

impl Move for Create {
    fn name(&self) -> &'static str {
        self.name
    }

    fn result_name(&self) -> &'static str {
        if self.name == "CREATE_API_ONLY_USERS" { "createApiOnlyUsersResult" } else { "createUsersResult" }
    }

    fn parameters(&self) -> Value {
        let users: Vec<Value> = self.users.iter().map(|user| user.json(self.schema)).collect();
        let member = if self.name == "CREATE_API_ONLY_USERS" { "apiOnlyUsers" } else { "users" };
        json!({ (member): users })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        // API-only users do not read mail.
        let is_contact_enough = self.name != "CREATE_API_ONLY_USERS";
        people::object_to_users(&mut objections, organization, &self.users, is_contact_enough);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["userIds"], self.users.len());
        let created = self.users.iter().zip(ids).map(|(user, id)| user.to_model(id));
        organization.users.extend(created);
    }
}

/// Changes of a user.
#[derive(Default)]
struct Change {
    name: &'static str,
    result_name: &'static str,
    user: String,
    new_name: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    tags: Vec<String>,
}

pub(super) fn update(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let user = chooser.id(&chooser.organization().user_ids());
    let tags = chooser.organization().tag_ids(Tagged::Users);
    Box::new(Change {
        name: "UPDATE_USER",
        result_name: "updateUserResult",
        user,
        new_name: chooser.maybe(|chooser| chooser.name("user")),
        email: chooser.maybe(Chooser::email),
        phone: chooser.maybe(Chooser::phone_number),
        tags: chooser.optional_ids(&tags),
    })
}

pub(super) fn rename(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let user = chooser.id(&chooser.organization().user_ids());
    let new_name = Some(chooser.name("user"));
    let (name, result_name) = ("UPDATE_USER_NAME", "updateUserNameResult");
    Box::new(Change { name, result_name, user, new_name, ..Change::default() })
}

pub(super) fn change_email(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let user = chooser.id(&chooser.organization().user_ids());
    let email = Some(if chooser.choices.one_in(4) { String::new() } else { chooser.email() });
    let (name, result_name) = ("UPDATE_USER_EMAIL", "updateUserEmailResult");
    Box::new(Change { name, result_name, user, email, ..Change::default() })
}

pub(super) fn change_phone_number(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let user = chooser.id(&chooser.organization().user_ids());
    let phone = Some(if chooser.choices.one_in(4) { String::new() } else { chooser.phone_number() });
    let (name, result_name) = ("UPDATE_USER_PHONE_NUMBER", "updateUserPhoneNumberResult");
    Box::new(Change { name, result_name, user, phone, ..Change::default() })
}

impl Move for Change {
    fn name(&self) -> &'static str {
        self.name
    }

    fn result_name(&self) -> &'static str {
        self.result_name
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "userId": self.user });
        put(&mut parameters, "userName", self.new_name.as_deref());
        put(&mut parameters, "userEmail", self.email.as_deref());
        put(&mut parameters, "userPhoneNumber", self.phone.as_deref());
        put(&mut parameters, "userTagIds", (!self.tags.is_empty()).then(|| self.tags.clone()));
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.exists(&self.user, organization.user(&self.user).is_some(), UNKNOWN_USER);
        if let Some(name) = &self.new_name {
            objections.label(name);
        }
        people::object_to_email(&mut objections, self.email.as_deref());
        people::object_to_phone_number(&mut objections, self.phone.as_deref());
        let is_tag = |id: &str| organization.tag(Tagged::Users, id).is_some();
        objections.tags_exist(&self.tags, is_tag, "no user tag found");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result["userId"], self.user.as_str());
        let user = organization.user_mut(&self.user);
        if let Some(name) = &self.new_name {
            user.name.clone_from(name);
        }
        // An empty text removes a contact.
        if let Some(email) = &self.email {
            user.email = Some(email.clone()).filter(|email| !email.is_empty());
        }
        if let Some(phone) = &self.phone {
            user.phone = Some(phone.clone()).filter(|phone| !phone.is_empty());
        }
        // An empty list of tags means no change.
        if !self.tags.is_empty() {
            user.tags = self.tags.iter().cloned().collect();
        }
    }
}

struct Delete {
    ids: Vec<String>,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let organization = chooser.organization();
    let mut fitting = organization.user_ids();
    if !chooser.choices.one_in(5) {
        fitting.retain(|id| !organization.members.contains(id));
    }
    Box::new(Delete { ids: chooser.ids(&fitting) })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_USERS"
    }

    fn result_name(&self) -> &'static str {
        "deleteUsersResult"
    }

    fn parameters(&self) -> Value {
        json!({ "userIds": self.ids })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.ids);
        objections.all_exist(&self.ids, |id| organization.user(id).is_some(), UNKNOWN_USER);
        let is_member = self.ids.iter().any(|id| organization.members.contains(id));
        objections.invalid(is_member, "quorum users missing");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(texts(&result["userIds"]), self.ids);
        let is_deleted = |user: &mut User| self.ids.contains(&user.id);
        // Waiting invitations of deleted senders are revoked.
        let is_revoked = |one: &&mut Invitation| one.waits() && self.ids.contains(&one.sender);
        for invitation in organization.invitations.iter_mut().filter(is_revoked) {
            invitation.status = InvitationStatus::Revoked;
        }
        for user in organization.users.extract_if(.., is_deleted) {
            organization.deleted_ids.extend(user.credential_ids().into_iter().chain([user.id]));
        }
    }
}
