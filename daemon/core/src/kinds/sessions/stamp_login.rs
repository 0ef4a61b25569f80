//! Opens a session for the user whose stamp proves them.

use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::make::session::{self, Login};
use crate::params::session::{LoginParams, LoginResult};

/// Opens a session for the caller: an expiring key, which a signed token describes.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct Intent(LoginParams);

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_STAMP_LOGIN";
    const NUMBER: u16 = 87;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    const GATE: Gate = Gate::OwnCredential;
    const ATTESTED: bool = true;
    const SCOPE: CredentialScope = CredentialScope::SubOrganizations;
    type Plan = Login;
    type Outcome = LoginResult;

    fn rules(&self, view: &View<'_>) -> Result<Login, RequestError> {
        session::check_login(&self.0, view)
    }

    fn own_credentials_of(&self, view: &View<'_>) -> Option<UserId> {
        Some(view.proposer)
    }

    fn execute(self, login: Login, context: &mut Execution<'_>) -> Result<LoginResult, RequestError> {
        Ok(LoginResult { session: login.open(context.user(context.proposer)?.clone(), context)? })
    }
}
