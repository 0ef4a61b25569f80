//! Creates users with their credentials.

use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::model::{FeatureName, Organization};
use crate::params::NewUser;
use crate::params::user::UserParamsV4;

pub(in crate::kinds) struct CreateUsers;

/// Creates users with their credentials.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    users: AtMost<UserParamsV4, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_ids: AtMost<UserId, BATCH>,
}

impl Version for Intent {
    type Kind = CreateUsers;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USERS_V4";
    const NUMBER: u16 = 124;
    const RESULT: &'static str = "createUsersResult";
}

impl From<Intent> for Vec<NewUser> {
    fn from(intent: Intent) -> Self {
        intent.users.into_iter().map(Into::into).collect()
    }
}

impl Kind for CreateUsers {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Vec<NewUser>;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(users: &Vec<NewUser>, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        user::check_new(users, "users", sign_in(view.organization), view).map(|()| Default::default())
    }

    fn execute(
        users: Vec<NewUser>,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        Ok(Outcome { user_ids: AtMost::cut(user::add(users, context)?) })
    }
}

/// Returns the sign-in methods that the organization has enabled.
fn sign_in(organization: &Organization) -> SignIn {
    let on = |name| organization.feature(name).is_some();
    let email = on(FeatureName::EmailAuth) || on(FeatureName::OtpEmailAuth);
    SignIn { email, sms: on(FeatureName::SmsAuth) }
}

/// Version 1: P-256 keys and the original attestation format.
pub(in crate::kinds) mod v1 {
    use super::{AtMost, BATCH, CreateUsers, Deserialize, JsonSchema, NewUser, Outcome, Serialize, Version};
    use crate::params::user::UserParams;

    /// Creates users with their credentials.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        users: AtMost<UserParams, BATCH>,
    }

    impl Version for Intent {
        type Kind = CreateUsers;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USERS";
        const NUMBER: u16 = 2;
        const RESULT: &'static str = "createUsersResult";
    }

    impl From<Intent> for Vec<NewUser> {
        fn from(intent: Intent) -> Self {
            intent.users.into_iter().map(Into::into).collect()
        }
    }
}

/// Version 2: the current attestation format.
pub(in crate::kinds) mod v2 {
    use super::{AtMost, BATCH, CreateUsers, Deserialize, JsonSchema, NewUser, Outcome, Serialize, Version};
    use crate::params::user::UserParamsV2;

    /// Creates users with their credentials.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        users: AtMost<UserParamsV2, BATCH>,
    }

    impl Version for Intent {
        type Kind = CreateUsers;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USERS_V2";
        const NUMBER: u16 = 35;
        const RESULT: &'static str = "createUsersResult";
    }

    impl From<Intent> for Vec<NewUser> {
        fn from(intent: Intent) -> Self {
            intent.users.into_iter().map(Into::into).collect()
        }
    }
}

/// Version 3: API keys on a selectable curve, and OAuth identities given by token.
pub(in crate::kinds) mod v3 {
    use super::{AtMost, BATCH, CreateUsers, Deserialize, JsonSchema, NewUser, Outcome, Serialize, Version};
    use crate::params::user::UserParamsV3;

    /// Creates users with their credentials.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        users: AtMost<UserParamsV3, BATCH>,
    }

    impl Version for Intent {
        type Kind = CreateUsers;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USERS_V3";
        const NUMBER: u16 = 82;
        const RESULT: &'static str = "createUsersResult";
    }

    impl From<Intent> for Vec<NewUser> {
        fn from(intent: Intent) -> Self {
            intent.users.into_iter().map(Into::into).collect()
        }
    }
}
