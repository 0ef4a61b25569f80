//! Versions 4 to 6: a wallet instead of private keys.

use super::results::WalletOutcome;
use super::{DisabledFeatures, Request};
use crate::kinds::prelude::*;
use crate::params::credential::{ApiKeyParams, ApiKeyParamsV2};
use crate::params::user::{RootUserParams, RootUserParamsV2};
use crate::params::{NewUser, WalletParams};

/// Creates a sub-organization with its root users and, optionally, a wallet.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "U: Deserialize<'de>"))]
pub(in crate::kinds) struct WithWallet<U: Serialize> {
    sub_organization_name: Label,
    #[serde(default)]
    root_users: AtMost<U, BATCH>,
    root_quorum_threshold: i32,
    wallet: Option<WalletParams>,
    disable_email_recovery: Option<bool>,
    disable_email_auth: Option<bool>,
}

pub(in crate::kinds) type V4 = WithWallet<RootUserParams>;
/// Version 5: OAuth identities.
pub(in crate::kinds) type V5 = WithWallet<RootUserParamsV2<ApiKeyParams>>;
/// Version 6: API keys on a selectable curve.
pub(in crate::kinds) type V6 = WithWallet<RootUserParamsV2<ApiKeyParamsV2>>;

impl Version for V4 {
    type Kind = Request<WalletOutcome>;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4";
    const NUMBER: u16 = 55;
}

impl Version for V5 {
    type Kind = Request<WalletOutcome>;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5";
    const NUMBER: u16 = 67;
}

impl Version for V6 {
    type Kind = Request<WalletOutcome>;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6";
    const NUMBER: u16 = 72;
}

impl<U: Serialize + Into<NewUser>> From<WithWallet<U>> for Request<WalletOutcome> {
    fn from(intent: WithWallet<U>) -> Self {
        Self {
            wallet: intent.wallet,
            disabled: DisabledFeatures::from_flags([
                (FeatureName::EmailRecovery, intent.disable_email_recovery),
                (FeatureName::EmailAuth, intent.disable_email_auth),
            ]),
            ..Self::new(intent.sub_organization_name, intent.root_users, intent.root_quorum_threshold)
        }
    }
}
