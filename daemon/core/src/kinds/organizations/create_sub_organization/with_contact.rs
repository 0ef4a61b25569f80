//! Versions 7 and 8: phone numbers and verified contacts.

use super::results::WalletOutcome;
use super::{DisabledFeatures, Request};
use crate::kinds::prelude::*;
use crate::make::sign_up::SignUp;
use crate::params::WalletParams;
use crate::params::credential::{OauthProviderParams, OauthProviderParamsV2, VerificationToken};
use crate::params::one_time_code::ClientSignature;
use crate::params::user::{OauthProviderFormat, RootUserParamsV4};

/// Creates a sub-organization with its root users and, optionally, a wallet.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "U: Deserialize<'de>"))]
pub(in crate::kinds) struct WithContact<U: Serialize> {
    sub_organization_name: Label,
    #[serde(default)]
    root_users: AtMost<U, BATCH>,
    root_quorum_threshold: i32,
    wallet: Option<WalletParams>,
    disable_email_recovery: Option<bool>,
    disable_email_auth: Option<bool>,
    disable_sms_auth: Option<bool>,
    disable_otp_email_auth: Option<bool>,
    verification_token: Option<VerificationToken>,
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

impl From<V7> for Request<WalletOutcome> {
    fn from(intent: V7) -> Self {
        intent.into_request(false)
    }
}

impl From<V8> for Request<WalletOutcome> {
    fn from(intent: V8) -> Self {
        intent.into_request(true)
    }
}

impl<O: OauthProviderFormat + for<'de> Deserialize<'de>> WithContact<RootUserParamsV4<O>> {
    /// Converts the request. With `is_bound`, its verification token must be bound to a key.
    fn into_request(self, is_bound: bool) -> Request<WalletOutcome> {
        let users = self.root_users.iter();
        let sign_up = SignUp::read(self.verification_token, self.client_signature, users, is_bound);
        Request {
            wallet: self.wallet,
            disabled: DisabledFeatures::from_flags([
                (FeatureName::EmailRecovery, self.disable_email_recovery),
                (FeatureName::EmailAuth, self.disable_email_auth),
                (FeatureName::SmsAuth, self.disable_sms_auth),
                (FeatureName::OtpEmailAuth, self.disable_otp_email_auth),
            ]),
            sign_up,
            ..Request::new(self.sub_organization_name, self.root_users, self.root_quorum_threshold)
        }
    }
}
