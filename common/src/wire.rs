//! Stored objects as queries and votes return them. Member names and types are exactly those that clients
//! read.

use serde::{Deserialize, Serialize};

use crate::ids::{
    ActivityId, ApiKeyId, AuthenticatorId, EndpointId, EvaluationId, InvitationId, OrganizationId, PolicyId,
    PrivateKeyId, ProviderId, SessionProfileId, SmartContractInterfaceId, TagId, UserId, VoteId,
    WalletAccountId, WalletId,
};

mod secret;

pub use secret::{Secret, StaticProperty};

/// A point in time. Both members are decimal strings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: String,
    /// Nanoseconds within the second; always `0`.
    pub nanos: String,
}

impl Timestamp {
    /// Creates a timestamp from milliseconds since 1970. Fractions of a second are dropped.
    pub fn from_millis(millis: u64) -> Self {
        Self { seconds: (millis / 1000).to_string(), nanos: "0".to_owned() }
    }

    /// Returns the milliseconds since 1970, or zero if the text is not a number.
    pub fn millis(&self) -> u64 {
        self.seconds.parse::<u64>().unwrap_or(0).saturating_mul(1000)
    }
}

/// Public key of a credential, with its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credential {
    /// Public key: hex for API keys, base64url of the COSE key for passkeys.
    pub public_key: String,
    /// `CREDENTIAL_TYPE_*`.
    #[serde(rename = "type")]
    pub credential_type: String,
}

/// API key of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiration_seconds: Option<String>,
}

/// Passkey or security key of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Unique id of the user.
    pub user_id: UserId,
    /// Display name.
    pub user_name: String,
    /// Email address, if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_email: Option<String>,
    /// Phone number in E.164 form, if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// Always empty.
    #[serde(default)]
    pub mfa_policies: Vec<serde_json::Value>,
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

/// Address of a private key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Address {
    /// `ADDRESS_FORMAT_*`.
    pub format: String,
    /// Address in the notation of its chain.
    pub address: String,
}

/// A single private key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrivateKey {
    /// Unique id of the private key.
    pub private_key_id: PrivateKeyId,
    /// Public key in hex.
    pub public_key: String,
    /// Display name.
    pub private_key_name: String,
    /// `CURVE_*`.
    pub curve: String,
    /// Addresses in the order in which they were requested.
    pub addresses: Vec<Address>,
    /// Ids of the tags that the key has.
    pub private_key_tags: Vec<TagId>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Whether the key was ever exported.
    pub exported: bool,
    /// Whether the key was imported.
    pub imported: bool,
}

/// A wallet: key pairs that are derived from one seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wallet {
    /// Unique id of the wallet.
    pub wallet_id: WalletId,
    /// Display name.
    pub wallet_name: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Whether the seed was ever exported.
    pub exported: bool,
    /// Whether the seed was imported.
    pub imported: bool,
}

/// An account derived from a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WalletAccount {
    /// Unique id of the account.
    pub wallet_account_id: WalletAccountId,
    /// Organization that owns the wallet.
    pub organization_id: OrganizationId,
    /// Wallet that the account is derived from.
    pub wallet_id: WalletId,
    /// `CURVE_*`.
    pub curve: String,
    /// `PATH_FORMAT_*`.
    pub path_format: String,
    /// Derivation path as submitted.
    pub path: String,
    /// `ADDRESS_FORMAT_*`.
    pub address_format: String,
    /// Address in the notation of its chain.
    pub address: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Public key in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// Wallet of the account; present only if the query requests it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wallet_details: Option<Wallet>,
    /// Display name, if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Tag of users or of private keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tag {
    /// Unique id of the tag.
    pub tag_id: TagId,
    /// Display name.
    pub tag_name: String,
    /// `TAG_TYPE_*`.
    pub tag_type: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A policy with its expressions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Unique id of the policy.
    pub policy_id: PolicyId,
    /// Label, unique within the organization.
    pub policy_name: String,
    /// `EFFECT_*`.
    pub effect: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Free text for people.
    pub notes: String,
    /// Consensus expression; empty if unset.
    pub consensus: String,
    /// Condition expression; empty if unset.
    pub condition: String,
    /// Time expression; absent if unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// An enabled feature of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Feature {
    /// `FEATURE_NAME_*`.
    pub name: String,
    /// Value of the feature, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// A root quorum: its members and its threshold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quorum {
    /// Number of members whose approval is needed.
    pub threshold: u32,
    /// Members of the quorum.
    pub user_ids: Vec<UserId>,
}

/// An invitation to become a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Subscription of a webhook endpoint to one type of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSubscription {
    /// Name of the event type, such as `ACTIVITY_UPDATES`.
    pub event_type: String,
    /// JSON text for clients. It is stored and returned, and it filters no events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters_json: Option<String>,
    /// Whether the subscription is active; absent means active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
}

/// HTTP endpoint that receives webhooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpoint {
    /// Unique id of the endpoint.
    pub endpoint_id: EndpointId,
    /// Organization whose events are sent.
    pub organization_id: OrganizationId,
    /// URL to which events are posted.
    pub url: String,
    /// Display name.
    pub name: String,
    /// Whether events are posted to the endpoint.
    pub is_active: bool,
    /// Event types that the endpoint receives.
    pub subscriptions: Vec<WebhookSubscription>,
}

/// Profile that restricts the sessions created with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionProfile {
    /// Unique id of the profile.
    pub session_profile_id: SessionProfileId,
    /// Display name.
    pub session_profile_name: String,
    /// Condition expression that each activity of such a session must satisfy.
    pub scope: String,
    /// Maximum lifetime of such a session, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiration_seconds: Option<String>,
    /// Free text for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Interface of a smart contract: an ABI or an IDL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SmartContractInterface {
    /// Organization that uploaded the interface.
    pub organization_id: OrganizationId,
    /// Unique id of the interface.
    pub smart_contract_interface_id: SmartContractInterfaceId,
    /// Address of the contract or program.
    pub smart_contract_address: String,
    /// JSON text of the interface; empty in lists.
    pub smart_contract_interface: String,
    /// `SMART_CONTRACT_INTERFACE_TYPE_*`.
    #[serde(rename = "type")]
    pub interface_type: String,
    /// Display name.
    pub label: String,
    /// Free text for people.
    pub notes: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Reference to a smart contract interface, with the digest of its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SmartContractInterfaceReference {
    /// Unique id of the interface.
    pub smart_contract_interface_id: SmartContractInterfaceId,
    /// Address of the contract or program.
    pub smart_contract_address: String,
    /// SHA-256 digest of the interface in hex.
    pub digest: String,
}

/// Address block of an IP allowlist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IpAllowlistRule {
    /// Network and prefix length in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3).
    pub cidr: String,
    /// Display name, if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Time of creation, in milliseconds since 1970.
    pub created_at: String,
}

/// Allowlist of the client addresses from which requests are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IpAllowlist {
    /// Organization that the allowlist belongs to.
    pub organization_id: OrganizationId,
    /// Allowed address blocks.
    pub rules: Vec<IpAllowlistRule>,
    /// Public key of the API key that the allowlist restricts; absent for the whole organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// Whether the allowlist is enforced; absent for that of an API key, which always is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// `ALLOW` or `DENY`: the decision if the client address is unknown.
    pub on_evaluation_error: String,
}

/// Payment method of an organization. Nothing is ever charged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentMethod {
    /// Unique id of the payment method.
    pub payment_method_id: String,
    /// Last four digits of the card; empty if only an id was submitted.
    pub last_four: String,
    /// Name of the card holder.
    pub card_holder_name: String,
    /// Email address of the card holder.
    pub card_holder_email: String,
}

/// Outcome of one policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyOutcome {
    /// Policy that was evaluated.
    pub policy_id: PolicyId,
    /// `OUTCOME_*`.
    pub outcome: String,
}

/// Outcomes of the policies at the time of a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyEvaluation {
    /// Unique id of the evaluation.
    pub id: EvaluationId,
    /// Activity that the vote is about.
    pub activity_id: ActivityId,
    /// Organization of the activity.
    pub organization_id: OrganizationId,
    /// Vote that caused the evaluation.
    pub vote_id: VoteId,
    /// Policies that were evaluated; empty if the root quorum was met or decides alone.
    pub policy_evaluations: Vec<PolicyOutcome>,
    /// Time at which the vote was cast.
    pub created_at: Timestamp,
}
