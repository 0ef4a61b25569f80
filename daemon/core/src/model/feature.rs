//! Features: settings of an organization that are on or off, some with a value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum FeatureName {
    /// Mail recovery for root users.
    #[serde(rename = "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY")]
    RootUserEmailRecovery,
    /// Allowed origins of passkeys.
    #[serde(rename = "FEATURE_NAME_WEBAUTHN_ORIGINS")]
    WebauthnOrigins,
    /// Sign-in by mailed credential.
    #[serde(rename = "FEATURE_NAME_EMAIL_AUTH")]
    EmailAuth,
    /// Recovery by mail.
    #[serde(rename = "FEATURE_NAME_EMAIL_RECOVERY")]
    EmailRecovery,
    /// Webhooks for activities, posted to a URL.
    #[serde(rename = "FEATURE_NAME_WEBHOOK")]
    Webhook,
    /// Sign-in by code over SMS.
    #[serde(rename = "FEATURE_NAME_SMS_AUTH")]
    SmsAuth,
    /// Sign-in by code over mail.
    #[serde(rename = "FEATURE_NAME_OTP_EMAIL_AUTH")]
    OtpEmailAuth,
    /// Stored without effect.
    #[serde(rename = "FEATURE_NAME_AUTH_PROXY")]
    AuthProxy,
    /// Stored without effect.
    #[serde(rename = "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED")]
    SolanaRentPrefund,
    /// Stored without effect.
    #[serde(rename = "FEATURE_NAME_SWAP_CONFIG")]
    SwapConfig,
    /// Stored without effect.
    #[serde(rename = "FEATURE_NAME_EARN_CONFIG")]
    EarnConfig,
}

impl FeatureName {
    /// Returns the name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RootUserEmailRecovery => "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY",
            Self::WebauthnOrigins => "FEATURE_NAME_WEBAUTHN_ORIGINS",
            Self::EmailAuth => "FEATURE_NAME_EMAIL_AUTH",
            Self::EmailRecovery => "FEATURE_NAME_EMAIL_RECOVERY",
            Self::Webhook => "FEATURE_NAME_WEBHOOK",
            Self::SmsAuth => "FEATURE_NAME_SMS_AUTH",
            Self::OtpEmailAuth => "FEATURE_NAME_OTP_EMAIL_AUTH",
            Self::AuthProxy => "FEATURE_NAME_AUTH_PROXY",
            Self::SolanaRentPrefund => "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED",
            Self::SwapConfig => "FEATURE_NAME_SWAP_CONFIG",
            Self::EarnConfig => "FEATURE_NAME_EARN_CONFIG",
        }
    }
}

/// Parses the value of `FEATURE_NAME_WEBAUTHN_ORIGINS`: a JSON array, a comma-separated list, or one origin.
pub fn origins(value: &str) -> Vec<String> {
    serde_json::from_str(value).unwrap_or_else(|_| {
        let listed = value.split(',').map(str::trim).filter(|origin| !origin.is_empty());
        listed.map(str::to_owned).collect()
    })
}
