//! Stored things as queries and votes show them: member names and types exactly as clients read them.

use serde::{Deserialize, Serialize};

use crate::ids::{
    ApiKeyId, AuthenticatorId, OrganizationId, PolicyId, PrivateKeyId, ProviderId, TagId, UserId,
    WalletAccountId, WalletId,
};

/// A point in time; both members are decimal strings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: String,
    /// Nanoseconds within the second; always `0`.
    pub nanos: String,
}

impl Timestamp {
    /// Of milliseconds since 1970; the part below a second is dropped.
    pub fn of_millis(millis: u64) -> Self {
        Self { seconds: (millis / 1000).to_string(), nanos: "0".to_owned() }
    }

    /// Milliseconds since 1970; zero if the text is not a number.
    pub fn millis(&self) -> u64 {
        self.seconds.parse::<u64>().unwrap_or(0).saturating_mul(1000)
    }
}

/// Public half of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credential {
    /// Hex for API keys, base64url of the COSE key for passkeys.
    pub public_key: String,
    /// `CREDENTIAL_TYPE_*`.
    #[serde(rename = "type")]
    pub credential_type: String,
}

/// An API key of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// Public key and type.
    pub credential: Credential,
    /// Id.
    pub api_key_id: ApiKeyId,
    /// Name.
    pub api_key_name: String,
    /// Registered at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
    /// Life in seconds from registration; absent means no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiration_seconds: Option<String>,
}

/// A passkey or security key of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Authenticator {
    /// `AUTHENTICATOR_TRANSPORT_*`.
    pub transports: Vec<String>,
    /// Attestation statement format.
    pub attestation_type: String,
    /// Model id, base64url of 16 bytes.
    pub aaguid: String,
    /// Raw credential id, base64url.
    pub credential_id: String,
    /// Model in words.
    pub model: String,
    /// Public key and type.
    pub credential: Credential,
    /// Id.
    pub authenticator_id: AuthenticatorId,
    /// Name.
    pub authenticator_name: String,
    /// Registered at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
}

/// An identity at an OAuth issuer that may sign in as a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OauthProvider {
    /// Id.
    pub provider_id: ProviderId,
    /// Name.
    pub provider_name: String,
    /// Claim `iss`.
    pub issuer: String,
    /// Claim `aud`.
    pub audience: String,
    /// Claim `sub`.
    pub subject: String,
    /// Registered at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Id.
    pub user_id: UserId,
    /// Name.
    pub user_name: String,
    /// Mail address, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_email: Option<String>,
    /// Telephone number, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_phone_number: Option<String>,
    /// Passkeys and security keys.
    pub authenticators: Vec<Authenticator>,
    /// API keys.
    pub api_keys: Vec<ApiKey>,
    /// Ids of tags.
    pub user_tags: Vec<TagId>,
    /// OAuth identities.
    pub oauth_providers: Vec<OauthProvider>,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
    /// Always empty.
    #[serde(default)]
    pub mfa_policies: Vec<serde_json::Value>,
}

/// An address of a private key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Address {
    /// `ADDRESS_FORMAT_*`.
    pub format: String,
    /// Text of the address.
    pub address: String,
}

/// A single private key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrivateKey {
    /// Id.
    pub private_key_id: PrivateKeyId,
    /// Public key, hex.
    pub public_key: String,
    /// Name.
    pub private_key_name: String,
    /// `CURVE_*`.
    pub curve: String,
    /// Addresses in the order asked for.
    pub addresses: Vec<Address>,
    /// Ids of tags.
    pub private_key_tags: Vec<TagId>,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
    /// Whether it ever left by export.
    pub exported: bool,
    /// Whether it came by import.
    pub imported: bool,
}

/// A wallet: key pairs that share a seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wallet {
    /// Id.
    pub wallet_id: WalletId,
    /// Name.
    pub wallet_name: String,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
    /// Whether it ever left by export.
    pub exported: bool,
    /// Whether it came by import.
    pub imported: bool,
}

/// An account derived from a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalletAccount {
    /// Id.
    pub wallet_account_id: WalletAccountId,
    /// Organization.
    pub organization_id: OrganizationId,
    /// Wallet.
    pub wallet_id: WalletId,
    /// `CURVE_*`.
    pub curve: String,
    /// `PATH_FORMAT_*`.
    pub path_format: String,
    /// Derivation path as given.
    pub path: String,
    /// `ADDRESS_FORMAT_*`.
    pub address_format: String,
    /// Text of the address.
    pub address: String,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
    /// Public key, hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The wallet itself, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet_details: Option<Wallet>,
    /// Name, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tag {
    /// Id.
    pub tag_id: TagId,
    /// Name.
    pub tag_name: String,
    /// `TAG_TYPE_*`.
    pub tag_type: String,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
}

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Id.
    pub policy_id: PolicyId,
    /// Name.
    pub policy_name: String,
    /// `EFFECT_*`.
    pub effect: String,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
    /// Notes.
    pub notes: String,
    /// Consensus expression; empty when unset.
    pub consensus: String,
    /// Condition expression; empty when unset.
    pub condition: String,
}

/// A feature that is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Feature {
    /// `FEATURE_NAME_*`.
    pub name: String,
    /// Its value, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Who may act as root, and how many must agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quorum {
    /// How many must agree.
    pub threshold: u32,
    /// Members.
    pub user_ids: Vec<UserId>,
}
