//! Stored things as queries and votes show them: member names and types exactly as clients read them.

use serde::{Deserialize, Serialize};

use crate::ids::{
    ActivityId, ApiKeyId, AuthenticatorId, EndpointId, EvaluationId, InvitationId, OrganizationId, PolicyId,
    PrivateKeyId, ProviderId, SessionProfileId, SmartContractInterfaceId, TagId, UserId, VoteId,
    WalletAccountId, WalletId,
};

mod secret;

pub use secret::{Secret, StaticProperty};

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

impl User {
    /// Public keys by which requests of theirs are stamped: of API keys, and of passkeys.
    pub fn public_keys(&self) -> impl Iterator<Item = &str> {
        let keys = self.api_keys.iter().map(|key| key.credential.public_key.as_str());
        let passkeys = self.authenticators.iter().map(|one| one.credential.public_key.as_str());
        // An authenticator that was carried as given has none.
        keys.chain(passkeys.filter(|key| !key.is_empty()))
    }
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
    /// Time expression; absent when unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
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

/// An invitation to become a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// Id.
    pub invitation_id: InvitationId,
    /// Name that the new user gets.
    pub receiver_user_name: String,
    /// Where the invitation was sent.
    pub receiver_email: String,
    /// Ids of tags that the new user gets.
    pub receiver_user_tags: Vec<TagId>,
    /// `ACCESS_TYPE_*`.
    pub access_type: String,
    /// `INVITATION_STATUS_*`.
    pub status: String,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
    /// Who invites.
    pub sender_user_id: UserId,
}

/// What an endpoint wants to be told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSubscription {
    /// `ACTIVITY_UPDATES` and other names of events.
    pub event_type: String,
    /// JSON text that clients keep beside it; it filters nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters_json: Option<String>,
    /// Whether it counts; absent means yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
}

/// An endpoint that receives webhooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEndpoint {
    /// Id.
    pub endpoint_id: EndpointId,
    /// Organization.
    pub organization_id: OrganizationId,
    /// Where events are posted.
    pub url: String,
    /// Name.
    pub name: String,
    /// Whether anything is posted.
    pub is_active: bool,
    /// What it wants to be told of.
    pub subscriptions: Vec<WebhookSubscription>,
}

/// What sessions may be limited to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionProfile {
    /// Id.
    pub session_profile_id: SessionProfileId,
    /// Name.
    pub session_profile_name: String,
    /// Condition expression that each activity of such a session must fulfil.
    pub scope: String,
    /// Longest life of such a session, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiration_seconds: Option<String>,
    /// Notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
}

/// The interface of a smart contract: an ABI or IDL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SmartContractInterface {
    /// Organization.
    pub organization_id: OrganizationId,
    /// Id.
    pub smart_contract_interface_id: SmartContractInterfaceId,
    /// Address of the contract or program.
    pub smart_contract_address: String,
    /// JSON of the interface; empty where only a list is shown.
    pub smart_contract_interface: String,
    /// `SMART_CONTRACT_INTERFACE_TYPE_*`.
    #[serde(rename = "type")]
    pub interface_type: String,
    /// Name.
    pub label: String,
    /// Notes.
    pub notes: String,
    /// Created at.
    pub created_at: Timestamp,
    /// Last changed at.
    pub updated_at: Timestamp,
}

/// A smart contract interface by what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SmartContractInterfaceReference {
    /// Id.
    pub smart_contract_interface_id: SmartContractInterfaceId,
    /// Address of the contract or program.
    pub smart_contract_address: String,
    /// SHA-256 of the interface, hex.
    pub digest: String,
}

/// A block of addresses that requests may come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IpAllowlistRule {
    /// Network and prefix length (RFC 4632 §3.1, RFC 4291 §2.3).
    pub cidr: String,
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Created at, milliseconds since 1970.
    pub created_at: String,
}

/// From which addresses requests are taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IpAllowlist {
    /// Organization.
    pub organization_id: OrganizationId,
    /// Blocks.
    pub rules: Vec<IpAllowlistRule>,
    /// API key it is about; absent for the whole organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// Whether it is on; absent for that of an API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// `ALLOW` or `DENY`: what happens when the address is not known.
    pub on_evaluation_error: String,
}

/// How the service is paid for. Nothing is ever charged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentMethod {
    /// Id.
    pub payment_method_id: String,
    /// Last four digits of a card; empty when only an id was given.
    pub last_four: String,
    /// Who holds it.
    pub card_holder_name: String,
    /// Mail address of the holder.
    pub card_holder_email: String,
}

/// What a policy said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyOutcome {
    /// The policy.
    pub policy_id: PolicyId,
    /// `OUTCOME_*`.
    pub outcome: String,
}

/// What each policy said when a vote was cast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyEvaluation {
    /// Id.
    pub id: EvaluationId,
    /// Activity voted on.
    pub activity_id: ActivityId,
    /// Its organization.
    pub organization_id: OrganizationId,
    /// The vote.
    pub vote_id: VoteId,
    /// Policies that were asked; none where the root quorum was met or decides alone.
    pub policy_evaluations: Vec<PolicyOutcome>,
    /// When the vote was cast.
    pub created_at: Timestamp,
}
