//! Version 3: private keys.

use super::results::WithKeys;
use super::{CreateSubOrganization, DisabledFeatures, Request};
use crate::kinds::prelude::*;
use crate::params::PrivateKeyParams;
use crate::params::user::RootUserParams;

/// Creates a sub-organization with its root users and private keys.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    sub_organization_name: Label,
    #[serde(default)]
    root_users: AtMost<RootUserParams, BATCH>,
    root_quorum_threshold: i32,
    #[serde(default)]
    private_keys: AtMost<PrivateKeyParams, BATCH>,
}

impl Version for Intent {
    type Kind = CreateSubOrganization;
    type Outcome = WithKeys;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3";
    const NUMBER: u16 = 44;
    const RESULT: &'static str = "createSubOrganizationResultV3";
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        Self {
            name: intent.sub_organization_name,
            root_users: intent.root_users.into_iter().map(Into::into).collect(),
            threshold: intent.root_quorum_threshold,
            private_keys: intent.private_keys.into_vec(),
            wallet: None,
            disabled: DisabledFeatures::default(),
            verified_contact: false,
        }
    }
}
