//! Changes or removes the email address of a user.

use quorate_common::bounded::{Email, Text};
use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::make::user;
use crate::model::User;
use crate::params::credential::TOKEN;

/// Longest email address, in bytes.
const EMAIL: usize = 254;

pub(in crate::kinds) struct UpdateUserEmail;

/// Changes or removes the email address of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    /// New email address. An empty text removes it.
    user_email: Text<EMAIL>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verification_token: Option<Text<TOKEN>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
}

impl Version for Intent {
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

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, User), RequestError> {
        user::reject_verification_token(
            intent.verification_token.as_ref().is_some_and(|token| !token.as_str().is_empty()),
        )?;
        let email = user::contact(intent.user_email.as_str(), Email::parse, "userEmail")?;
        let user = User { email, email_verified: false, ..view.user(intent.user_id)?.clone() };
        Ok((Facts::default(), user))
    }

    fn execute(
        intent: Intent,
        user: User,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::PutUser(User { updated: context.now(), ..user }));
        Ok(Outcome { user_id: intent.user_id })
    }
}
