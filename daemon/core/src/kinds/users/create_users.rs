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

impl Form for Intent {
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

    fn rules(users: &Vec<NewUser>, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        user::check_new(users, "users", sign_in(view.organization), view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(users: Vec<NewUser>, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        Ok(Outcome { user_ids: AtMost::cut(user::add(users, cx)?) })
    }
}

/// The ways to sign in that the organization has switched on.
fn sign_in(organization: &Organization) -> SignIn {
    let on = |name| organization.feature(name).is_some();
    SignIn {
        email: on(FeatureName::EmailAuth) || on(FeatureName::OtpEmailAuth),
        sms: on(FeatureName::SmsAuth),
    }
}

/// First version: P-256 keys, older attestations.
pub(in crate::kinds) mod v1 {
    use super::{AtMost, BATCH, CreateUsers, Deserialize, Form, JsonSchema, NewUser, Outcome, Serialize};
    use crate::params::user::UserParams;

    /// Creates users with their credentials.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        users: AtMost<UserParams, BATCH>,
    }

    impl Form for Intent {
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

/// Second version: current attestations.
pub(in crate::kinds) mod v2 {
    use super::{AtMost, BATCH, CreateUsers, Deserialize, Form, JsonSchema, NewUser, Outcome, Serialize};
    use crate::params::user::UserParamsV2;

    /// Creates users with their credentials.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        users: AtMost<UserParamsV2, BATCH>,
    }

    impl Form for Intent {
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

/// Third version: keys on curves of choice, OAuth identities by token.
pub(in crate::kinds) mod v3 {
    use super::{AtMost, BATCH, CreateUsers, Deserialize, Form, JsonSchema, NewUser, Outcome, Serialize};
    use crate::params::user::UserParamsV3;

    /// Creates users with their credentials.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        users: AtMost<UserParamsV3, BATCH>,
    }

    impl Form for Intent {
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
