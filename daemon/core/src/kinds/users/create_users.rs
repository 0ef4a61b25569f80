//! Creates users with their credentials.

use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::model::Organization;
use crate::params::NewUser;
use crate::params::credential::{OauthProviderParams, OauthProviderParamsV2};
use crate::params::user::{UserParams, UserParamsV2, UserParamsV3, UsersResult};

/// Creates users with their credentials.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "U: Deserialize<'de>"))]
pub(in crate::kinds) struct Intent<U: Serialize> {
    #[serde(default)]
    users: AtMost<U, BATCH>,
}

/// Version 1: P-256 keys and the original attestation format.
pub(in crate::kinds) type V1 = Intent<UserParams>;
/// Version 2: the current attestation format.
pub(in crate::kinds) type V2 = Intent<UserParamsV2>;
/// Version 3: API keys on a selectable curve, and OAuth identities given by token.
pub(in crate::kinds) type V3 = Intent<UserParamsV3<OauthProviderParams>>;
/// Version 4: OAuth identities may be given by their claims.
pub(in crate::kinds) type V4 = Intent<UserParamsV3<OauthProviderParamsV2>>;

/// The version-independent parameters.
pub(in crate::kinds) struct Request(Vec<NewUser>);

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USERS";
    const NUMBER: u16 = 2;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USERS_V2";
    const NUMBER: u16 = 35;
    const RESULT: Option<&'static str> = Some("createUsersResult");
}

impl Version for V3 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USERS_V3";
    const NUMBER: u16 = 82;
    const RESULT: Option<&'static str> = Some("createUsersResult");
}

impl Version for V4 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USERS_V4";
    const NUMBER: u16 = 124;
    const RESULT: Option<&'static str> = Some("createUsersResult");
}

impl<U: Serialize + Into<NewUser>> From<Intent<U>> for Request {
    fn from(intent: Intent<U>) -> Self {
        Self(intent.users.into_iter().map(Into::into).collect())
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::User));
    type Plan = ();
    type Outcome = UsersResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        user::check_new(&self.0, "users", sign_in(view.organization), view)
    }

    fn has_secret(&self) -> bool {
        self.0.iter().any(NewUser::has_token)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<UsersResult, RequestError> {
        Ok(UsersResult { user_ids: AtMost::cut(user::add(self.0, context)?) })
    }
}

/// Returns the sign-in methods that the organization has enabled.
fn sign_in(organization: &Organization) -> SignIn {
    let on = |name| organization.feature(name).is_some();
    let email = on(FeatureName::EmailAuth) || on(FeatureName::OtpEmailAuth);
    SignIn { email, sms: on(FeatureName::SmsAuth) }
}
