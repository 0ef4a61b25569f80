//! Users, their credentials, and what admits them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MfaPolicy, Timestamp};
use crate::ids::{ApiKeyId, AuthenticatorId, InvitationId, ProviderId, SessionProfileId, TagId, UserId};

/// Public key of a credential, with its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Credential {
    /// Public key: hex for API keys, base64url of the COSE key for passkeys.
    pub public_key: String,
    /// `CREDENTIAL_TYPE_*`.
    #[serde(rename = "type")]
    pub credential_type: String,
}

/// API key of a user.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Public key, with the curve as its type.
    pub credential: Credential,
    /// Unique id of the API key.
    pub api_key_id: ApiKeyId,
    /// Display name, chosen at registration.
    pub api_key_name: String,
    /// Time of registration.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Lifetime in seconds from registration; absent if the key does not expire.
    pub expiration_seconds: Option<String>,
}

/// Passkey or security key of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Authenticator {
    /// `AUTHENTICATOR_TRANSPORT_*`.
    pub transports: Vec<String>,
    /// Format of the attestation statement (Web Authentication §8).
    pub attestation_type: String,
    /// Model id of the authenticator: 16 bytes in base64url.
    pub aaguid: String,
    /// Credential id in base64url.
    pub credential_id: String,
    /// Model of the authenticator as text.
    pub model: String,
    /// COSE public key, with the credential type.
    pub credential: Credential,
    /// Unique id of the authenticator.
    pub authenticator_id: AuthenticatorId,
    /// Display name, chosen at registration.
    pub authenticator_name: String,
    /// Time of registration.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Identity at an OAuth issuer that may sign in as a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthProvider {
    /// Unique id of the provider entry.
    pub provider_id: ProviderId,
    /// Display name, chosen at registration.
    pub provider_name: String,
    /// Expected claim `iss` of an ID token.
    pub issuer: String,
    /// Expected claim `aud` of an ID token.
    pub audience: String,
    /// Expected claim `sub` of an ID token.
    pub subject: String,
    /// Time of registration.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A user of an organization with all credentials.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Unique id of the user.
    pub user_id: UserId,
    /// Display name.
    pub user_name: String,
    /// Email address, if one is set.
    pub user_email: Option<String>,
    /// Phone number in E.164 form, if one is set.
    pub user_phone_number: Option<String>,
    /// Passkeys and security keys.
    pub authenticators: Vec<Authenticator>,
    /// API keys that stamp requests of the user.
    pub api_keys: Vec<ApiKey>,
    /// Ids of the tags that the user has.
    pub user_tags: Vec<TagId>,
    /// OAuth identities that may sign in as the user.
    pub oauth_providers: Vec<OauthProvider>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// MFA policies of the user, in their order. Votes omit those of the voter.
    #[serde(default)]
    pub mfa_policies: Vec<MfaPolicy>,
}

impl User {
    /// Returns the public keys that can stamp requests of the user: those of API keys, then those of
    /// passkeys.
    pub fn public_keys(&self) -> impl Iterator<Item = &str> {
        let keys = self.api_keys.iter().map(|key| key.credential.public_key.as_str());
        let passkeys = self.authenticators.iter().map(|one| one.credential.public_key.as_str());
        // An authenticator that was stored as submitted, without verification, has no public key.
        keys.chain(passkeys.filter(|key| !key.is_empty()))
    }
}

/// Read-only session of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadOnlySession {
    /// Unique id of the session: the first 16 hex digits of the SHA-256 digest of its token.
    pub session_id: String,
    /// User in whose name the session queries.
    pub user_id: UserId,
    /// Time at which the session ends, in milliseconds since 1970.
    pub expires_at_millis: u64,
}

/// Last recorded use of a credential.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastUse {
    /// Id of the API key, passkey, OAuth identity or read-only session.
    pub credential_id: String,
    /// Time of the use, in milliseconds since 1970. Uses within the next hour are not recorded.
    pub at_millis: u64,
    /// Last use of a passkey whose signature counter was not higher than the one before: it may have been copied.
    pub counter_went_back: Option<CounterWentBack>,
}

/// Use of a passkey whose signature counter was not higher than the one before (Web Authentication §6.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CounterWentBack {
    /// Time of the use, in milliseconds since 1970.
    pub at_millis: u64,
    /// Counter of the use.
    pub counter: u32,
    /// Counter before.
    pub after: u32,
}

/// The newest event in the delivery of the mail with an invitation.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationMail {
    /// Invitation that the mail contains.
    pub invitation_id: InvitationId,
    /// `Send`, `Delivery`, `DeliveryDelay`, `Bounce`, `Expired` or `Displaced`.
    pub event_type: String,
    /// Answer of the mail server, or the reason why it did not answer; absent if the mail was only queued.
    pub answer: Option<String>,
    /// Time of the event, in milliseconds since 1970.
    pub at_millis: u64,
}

/// Lifetime of an invitation in milliseconds: one week.
pub const INVITATION_LIFE_MILLIS: u64 = 7 * 24 * 60 * 60 * 1000;

/// An invitation to become a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// Unique id of the invitation.
    pub invitation_id: InvitationId,
    /// Display name of the new user.
    pub receiver_user_name: String,
    /// Email address to which the invitation was sent.
    pub receiver_email: String,
    /// Ids of the tags of the new user.
    pub receiver_user_tags: Vec<TagId>,
    /// `ACCESS_TYPE_*`.
    pub access_type: String,
    /// `INVITATION_STATUS_*`.
    pub status: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// User who sent the invitation.
    pub sender_user_id: UserId,
}

/// Profile that restricts the sessions created with it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionProfile {
    /// Unique id of the profile.
    pub session_profile_id: SessionProfileId,
    /// Display name.
    pub session_profile_name: String,
    /// Condition expression that each activity of such a session must satisfy.
    pub scope: String,
    /// Maximum lifetime of such a session, in seconds.
    pub expiration_seconds: Option<String>,
    /// Free text for people.
    pub notes: Option<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}
