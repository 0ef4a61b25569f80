//! Creates users for machines, with API keys only.

use crate::kinds::prelude::*;
use crate::make::user::{self, SignIn};
use crate::params::NewUser;
use crate::params::user::{ApiOnlyUserParams, UsersResult};

/// Creates users for machines, with API keys only.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    api_only_users: AtMost<ApiOnlyUserParams, BATCH>,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request(Vec<NewUser>);

impl Version for Intent {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_API_ONLY_USERS";
    const NUMBER: u16 = 29;
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        Self(intent.api_only_users.into_iter().map(Into::into).collect())
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::User));
    type Plan = ();
    type Outcome = UsersResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        user::check_new(&self.0, "apiOnlyUsers", SignIn::default(), view)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<UsersResult, RequestError> {
        Ok(UsersResult { user_ids: AtMost::cut(user::add(self.0, context)?) })
    }
}
