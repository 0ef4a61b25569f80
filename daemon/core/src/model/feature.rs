//! Features: settings of an organization that are on or off, some with a value.

use quorate_common::wire_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

wire_enum! {
    /// The name of a feature.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum FeatureName {
        /// Mail recovery for root users.
        RootUserEmailRecovery = "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY",
        /// Allowed origins of passkeys.
        WebauthnOrigins = "FEATURE_NAME_WEBAUTHN_ORIGINS",
        /// Sign-in by mailed credential.
        EmailAuth = "FEATURE_NAME_EMAIL_AUTH",
        /// Recovery by mail.
        EmailRecovery = "FEATURE_NAME_EMAIL_RECOVERY",
        /// Webhooks for activities, posted to a URL.
        Webhook = "FEATURE_NAME_WEBHOOK",
        /// Sign-in by code over SMS.
        SmsAuth = "FEATURE_NAME_SMS_AUTH",
        /// Sign-in by code over mail.
        OtpEmailAuth = "FEATURE_NAME_OTP_EMAIL_AUTH",
        /// Stored without effect.
        AuthProxy = "FEATURE_NAME_AUTH_PROXY",
        /// Stored without effect.
        SolanaRentPrefund = "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED",
        /// Stored without effect.
        SwapConfig = "FEATURE_NAME_SWAP_CONFIG",
        /// Stored without effect.
        EarnConfig = "FEATURE_NAME_EARN_CONFIG",
    }
}

/// Parses the value of `FEATURE_NAME_WEBAUTHN_ORIGINS`: a JSON array, a comma-separated list, or one origin.
pub fn origins(value: &str) -> Vec<String> {
    serde_json::from_str(value).unwrap_or_else(|_| {
        let listed = value.split(',').map(str::trim).filter(|origin| !origin.is_empty());
        listed.map(str::to_owned).collect()
    })
}
