//! Creates users for machines, with API keys only.

use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::params::NewUser;
use crate::params::user::ApiOnlyUserParams;

pub(in crate::kinds) struct CreateApiOnlyUsers;

/// Creates users for machines, with API keys only.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    api_only_users: AtMost<ApiOnlyUserParams, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_ids: AtMost<UserId, BATCH>,
}

impl Version for Intent {
    type Kind = CreateApiOnlyUsers;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_API_ONLY_USERS";
    const NUMBER: u16 = 29;
    const RESULT: &'static str = "createApiOnlyUsersResult";
}

impl From<Intent> for Vec<NewUser> {
    fn from(intent: Intent) -> Self {
        intent.api_only_users.into_iter().map(Into::into).collect()
    }
}

impl Kind for CreateApiOnlyUsers {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Vec<NewUser>;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(users: &Vec<NewUser>, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        user::check_new(users, "apiOnlyUsers", SignIn::default(), view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        users: Vec<NewUser>,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        Ok(Outcome { user_ids: AtMost::cut(user::add(users, context)?) })
    }
}
