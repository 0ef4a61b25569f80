//! Changes or removes the phone number of a user.

use quorate_common::bounded::{Phone, Text};
use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::make::user;
use crate::model::User;
use crate::params::credential::TOKEN;

/// Longest phone number, in bytes.
const PHONE: usize = 16;

pub(in crate::kinds) struct UpdateUserPhoneNumber;

/// Changes or removes the phone number of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    /// New phone number. An empty text removes it.
    user_phone_number: Text<PHONE>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verification_token: Option<Text<TOKEN>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
}

impl Version for Intent {
    type Kind = UpdateUserPhoneNumber;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER";
    const NUMBER: u16 = 91;
    const RESULT: &'static str = "updateUserPhoneNumberResult";
}

impl Kind for UpdateUserPhoneNumber {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = User;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, User), RequestError> {
        user::reject_verification_token(
            intent.verification_token.as_ref().is_some_and(|token| !token.as_str().is_empty()),
        )?;
        let phone = user::contact(intent.user_phone_number.as_str(), Phone::parse, "userPhoneNumber")?;
        let user = User { phone, phone_verified: false, ..view.user(intent.user_id)?.clone() };
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
