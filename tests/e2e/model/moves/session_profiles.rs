//! Session profiles: created by the parent for itself and its children; never changed and never deleted.

use serde_json::{Value, json};

use super::{Move, put, text};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::{Organization, SessionProfile};

const PROFILES: usize = 100;

/// Conditions, the last four of which are invalid: an incomplete one, an empty one, one about votes, which
/// conditions cannot use, and a number.
const SCOPES: [&str; 7] = [
    "true",
    "activity.kind == 'SIGN_RAW_PAYLOAD'",
    "activity.resource == 'WALLET' && activity.action == 'CREATE'",
    "activity.kind ==",
    " ",
    "approvers.count() >= 1",
    "1",
];
const GOOD_SCOPES: usize = 3;
/// Lifetimes of sessions, the last two of which are invalid.
const LIVES: [Option<&str>; 5] = [None, Some("900"), Some("86400"), Some("0"), Some("a while")];
const GOOD_LIVES: usize = 3;

struct Create {
    name: String,
    scope: &'static str,
    life: Option<&'static str>,
    notes: Option<&'static str>,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let name = chooser.name("profile");
    let scopes = if chooser.rarely() { &SCOPES[GOOD_SCOPES..] } else { &SCOPES[..GOOD_SCOPES] };
    let lives = if chooser.rarely() { &LIVES[GOOD_LIVES..] } else { &LIVES[..GOOD_LIVES] };
    let (scope, life) = (chooser.one(scopes), chooser.one(lives));
    Box::new(Create { name, scope, life, notes: chooser.one(&[None, Some("a note")]) })
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_SESSION_PROFILE"
    }

    fn result_name(&self) -> &'static str {
        "createSessionProfileResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "sessionProfileName": self.name, "scope": self.scope });
        put(&mut parameters, "expirationSeconds", self.life);
        put(&mut parameters, "notes", self.notes);
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.named(organization.is_child, Code::InvalidArgument, "", "INVALID_ACTIVITY_CALLER");
        let present = organization.session_profiles.iter();
        objections.free_label(&self.name, present.map(|profile| profile.name.as_str()));
        objections.invalid(!SCOPES[..GOOD_SCOPES].contains(&self.scope), "");
        objections.invalid(!LIVES[..GOOD_LIVES].contains(&self.life), "");
        objections.capacity(organization.session_profiles.len(), 1, PROFILES, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        organization.session_profiles.push(SessionProfile {
            id: text(&result["sessionProfileId"]),
            name: self.name.clone(),
            scope: self.scope,
            expiration_seconds: self.life,
            notes: self.notes,
        });
    }
}
