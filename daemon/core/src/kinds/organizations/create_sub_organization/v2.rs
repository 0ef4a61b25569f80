//! Version 2: several root users.

use super::results::Ids;
use super::{CreateSubOrganization, DisabledFeatures, Request};
use crate::kinds::prelude::*;
use crate::params::user::RootUserParams;

/// Creates a sub-organization with its root users.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    sub_organization_name: Label,
    #[serde(default)]
    root_users: AtMost<RootUserParams, BATCH>,
    root_quorum_threshold: i32,
}

impl Version for Intent {
    type Kind = CreateSubOrganization;
    type Outcome = Ids;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2";
    const NUMBER: u16 = 38;
    const RESULT: &'static str = "createSubOrganizationResult";
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        Self {
            name: intent.sub_organization_name,
            root_users: intent.root_users.into_iter().map(Into::into).collect(),
            threshold: intent.root_quorum_threshold,
            private_keys: Vec::new(),
            wallet: None,
            disabled: DisabledFeatures::default(),
            verified_contact: false,
        }
    }
}
