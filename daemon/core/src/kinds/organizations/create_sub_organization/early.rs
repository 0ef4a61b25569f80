//! Versions 1 to 3: one root user, several root users, and private keys.

use super::Request;
use super::results::{Ids, KeysOutcome};
use crate::kinds::prelude::*;
use crate::params::credential::AuthenticatorParamsV2;
use crate::params::user::RootUserParams;
use crate::params::{NewUser, PrivateKeyParams};

/// Creates a sub-organization with one root user, who has one authenticator.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    name: Label,
    root_authenticator: AuthenticatorParamsV2,
}

impl Version for V1 {
    type Kind = Request<Ids>;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION";
    const NUMBER: u16 = 37;
}

impl From<V1> for Request<Ids> {
    fn from(intent: V1) -> Self {
        let root_user = NewUser::new(intent.root_authenticator.name(), None);
        let authenticators = vec![intent.root_authenticator.into()];
        Self::new(intent.name, [NewUser { authenticators, ..root_user }], 1)
    }
}

/// Creates a sub-organization with its root users.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    sub_organization_name: Label,
    #[serde(default)]
    root_users: AtMost<RootUserParams, BATCH>,
    root_quorum_threshold: i32,
}

impl Version for V2 {
    type Kind = Request<Ids>;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2";
    const NUMBER: u16 = 38;
    const RESULT: Option<&'static str> = Some("createSubOrganizationResult");
}

impl From<V2> for Request<Ids> {
    fn from(intent: V2) -> Self {
        Self::new(intent.sub_organization_name, intent.root_users, intent.root_quorum_threshold)
    }
}

/// Creates a sub-organization with its root users and private keys.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V3 {
    sub_organization_name: Label,
    #[serde(default)]
    root_users: AtMost<RootUserParams, BATCH>,
    root_quorum_threshold: i32,
    #[serde(default)]
    private_keys: AtMost<PrivateKeyParams, BATCH>,
}

impl Version for V3 {
    type Kind = Request<KeysOutcome>;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3";
    const NUMBER: u16 = 44;
}

impl From<V3> for Request<KeysOutcome> {
    fn from(intent: V3) -> Self {
        Self {
            private_keys: intent.private_keys.into_vec(),
            ..Self::new(intent.sub_organization_name, intent.root_users, intent.root_quorum_threshold)
        }
    }
}
