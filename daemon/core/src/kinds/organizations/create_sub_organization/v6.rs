//! Version 6: API keys on a selectable curve.

use super::results::WithWallet;
use super::{CreateSubOrganization, DisabledFeatures, Request};
use crate::kinds::prelude::*;
use crate::model::FeatureName;
use crate::params::WalletParams;
use crate::params::user::RootUserParamsV3;

/// Creates a sub-organization with its root users and, optionally, a wallet.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    sub_organization_name: Label,
    #[serde(default)]
    root_users: AtMost<RootUserParamsV3, BATCH>,
    root_quorum_threshold: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wallet: Option<WalletParams>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disable_email_recovery: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disable_email_auth: Option<bool>,
}

impl Version for Intent {
    type Kind = CreateSubOrganization;
    type Outcome = WithWallet;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6";
    const NUMBER: u16 = 72;
    const RESULT: &'static str = "createSubOrganizationResultV6";
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        Self {
            name: intent.sub_organization_name,
            root_users: intent.root_users.into_iter().map(Into::into).collect(),
            threshold: intent.root_quorum_threshold,
            private_keys: Vec::new(),
            wallet: intent.wallet,
            disabled: DisabledFeatures::from_flags([
                (FeatureName::EmailRecovery, intent.disable_email_recovery),
                (FeatureName::EmailAuth, intent.disable_email_auth),
            ]),
            verified_contact: false,
        }
    }
}
