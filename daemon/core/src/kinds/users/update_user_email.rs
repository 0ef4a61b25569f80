//! Changes the mail address of a user, or takes it away.

use quorate_common::bounded::{Email, Text};
use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::make::user;
use crate::model::User;
use crate::params::credential::TOKEN;

/// Longest mail address, in bytes.
const EMAIL: usize = 254;

pub(in crate::kinds) struct UpdateUserEmail;

/// Gives a user another mail address, or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    /// The new mail address; an empty text takes it away.
    user_email: Text<EMAIL>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verification_token: Option<Text<TOKEN>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
}

impl Form for Intent {
    type Kind = UpdateUserEmail;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_EMAIL";
    const NUMBER: u16 = 90;
    const RESULT: &'static str = "updateUserEmailResult";
}

impl Kind for UpdateUserEmail {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = User;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, User), Refusal> {
        user::no_token(intent.verification_token.as_ref().is_some_and(|token| !token.as_str().is_empty()))?;
        let email = user::contact(intent.user_email.as_str(), Email::parse, "userEmail")?;
        let user = User { email, email_verified: false, ..view.user(intent.user_id)?.clone() };
        Ok((Facts::default(), user))
    }

    fn execute(intent: Intent, user: User, cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        cx.change(Change::PutUser(User { updated: cx.now(), ..user }));
        Ok(Outcome { user_id: intent.user_id })
    }
}
