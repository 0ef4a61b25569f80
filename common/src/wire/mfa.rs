//! MFA policies of users: which authentication methods an activity requires.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use crate::bounded::AtMost;
use crate::ids::{MethodId, MfaPolicyId, UserId};
use crate::wire_enum;

/// Maximum number of steps of an MFA policy.
pub const MFA_STEPS: usize = 10;
/// Maximum number of methods to choose from in one step.
pub const MFA_METHODS: usize = 10;

wire_enum! {
    /// How a user can authenticate.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum AuthenticationType {
        /// A one-time code, sent to the verified mail address.
        EmailOtp = "AUTHENTICATION_TYPE_EMAIL_OTP",
        /// A one-time code, sent to the verified telephone number.
        SmsOtp = "AUTHENTICATION_TYPE_SMS_OTP",
        /// A passkey.
        Passkey = "AUTHENTICATION_TYPE_PASSKEY",
        /// An API key that was registered with its public key.
        ApiKey = "AUTHENTICATION_TYPE_API_KEY",
        /// An identity at an OAuth provider.
        Oauth = "AUTHENTICATION_TYPE_OAUTH",
        /// A session, whatever method created it.
        Session = "AUTHENTICATION_TYPE_SESSION",
    }
}

/// An authentication method.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuthenticationMethod {
    /// Type of the method.
    #[serde(rename = "type")]
    pub method_type: AuthenticationType,
    /// Authenticator, API key, OAuth provider or session profile that is required; any of the type if absent. The
    /// default session profile has the id zero. Not allowed for one-time codes.
    pub id: Option<MethodId>,
}

/// A step of an MFA policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequiredAuthenticationMethod {
    /// Methods of which one must be proven.
    #[serde(default)]
    pub any: AtMost<AuthenticationMethod, MFA_METHODS>,
}

/// A requirement of further authentication for activities of one user.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MfaPolicy {
    /// Unique id of the policy.
    pub mfa_policy_id: MfaPolicyId,
    /// Display name.
    pub mfa_policy_name: String,
    /// Activities that the policy applies to, in the policy language.
    pub condition: String,
    /// Steps that must be proven, in this order.
    pub required_authentication_methods: AtMost<RequiredAuthenticationMethod, MFA_STEPS>,
    /// Position among the MFA policies of the user. The first one that applies determines what is required.
    pub order: u32,
    /// Free text for people.
    pub notes: Option<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// What an MFA policy requires of a user for an activity, and what the user has proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MfaStatus {
    /// MFA policy that applies to the activity.
    pub mfa_policy_id: MfaPolicyId,
    /// User of the policy.
    pub user_id: UserId,
    /// Whether all steps are proven.
    pub satisfied: bool,
    /// Method by which each proven step was proven, in the order of the steps.
    pub satisfied_methods: AtMost<AuthenticationMethod, MFA_STEPS>,
    /// All steps of the policy.
    pub required_methods: AtMost<RequiredAuthenticationMethod, MFA_STEPS>,
}
