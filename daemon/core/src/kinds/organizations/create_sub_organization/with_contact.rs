//! Versions 7 and 8: phone numbers and verified contacts.

use super::results::WalletOutcome;
use super::{DisabledFeatures, Request};
use crate::kinds::prelude::*;
use crate::params::credential::{OauthProviderParams, OauthProviderParamsV2, VerificationToken};
use crate::params::one_time_code::ClientSignature;
use crate::params::user::RootUserParamsV4;
use crate::params::{NewUser, WalletParams};

/// Creates a sub-organization with its root users and, optionally, a wallet.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "U: Deserialize<'de>"))]
pub(in crate::kinds) struct WithContact<U: Serialize> {
    sub_organization_name: Label,
    #[serde(default)]
    root_users: AtMost<U, BATCH>,
    root_quorum_threshold: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wallet: Option<WalletParams>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disable_email_recovery: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disable_email_auth: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disable_sms_auth: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disable_otp_email_auth: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verification_token: Option<VerificationToken>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_signature: Option<ClientSignature>,
}

pub(in crate::kinds) type V7 = WithContact<RootUserParamsV4<OauthProviderParams>>;
/// Version 8: OAuth identities given by their claims.
pub(in crate::kinds) type V8 = WithContact<RootUserParamsV4<OauthProviderParamsV2>>;

impl Version for V7 {
    type Kind = Request<WalletOutcome>;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
    const NUMBER: u16 = 79;
}

impl Version for V8 {
    type Kind = Request<WalletOutcome>;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
    const NUMBER: u16 = 122;
}

impl<U: Serialize + Into<NewUser>> From<WithContact<U>> for Request<WalletOutcome> {
    fn from(intent: WithContact<U>) -> Self {
        Self {
            wallet: intent.wallet,
            disabled: DisabledFeatures::from_flags([
                (FeatureName::EmailRecovery, intent.disable_email_recovery),
                (FeatureName::EmailAuth, intent.disable_email_auth),
                (FeatureName::SmsAuth, intent.disable_sms_auth),
                (FeatureName::OtpEmailAuth, intent.disable_otp_email_auth),
            ]),
            verified_contact: intent.verification_token.is_some() || intent.client_signature.is_some(),
            ..Self::new(intent.sub_organization_name, intent.root_users, intent.root_quorum_threshold)
        }
    }
}
