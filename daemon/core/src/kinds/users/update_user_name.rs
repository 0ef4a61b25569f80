//! Renames a user.

use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::model::User;

pub(in crate::kinds) struct UpdateUserName;

/// Renames a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    user_name: Label,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
}

impl Version for Intent {
    type Kind = UpdateUserName;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_NAME";
    const NUMBER: u16 = 89;
    const RESULT: &'static str = "updateUserNameResult";
}

impl Kind for UpdateUserName {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = User;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, User), RequestError> {
        let user = view.user(intent.user_id)?.clone();
        Ok((Facts::default(), user))
    }

    fn execute(
        intent: Intent,
        user: User,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::PutUser(User { name: intent.user_name, updated: context.now(), ..user }));
        Ok(Outcome { user_id: intent.user_id })
    }
}
