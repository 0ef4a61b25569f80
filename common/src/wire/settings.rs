//! Settings of an organization.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use crate::ids::{EndpointId, OrganizationId, SmartContractInterfaceId};

/// An enabled feature of an organization.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Feature {
    /// `FEATURE_NAME_*`.
    pub name: String,
    /// Value of the feature, if it has one.
    pub value: Option<String>,
}

/// Subscription of a webhook endpoint to one type of events.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSubscription {
    /// Name of the event type, such as `ACTIVITY_UPDATES`.
    pub event_type: String,
    /// JSON text for clients. It is stored and returned, and it filters no events.
    pub filters_json: Option<String>,
    /// Whether the subscription is active; absent means active.
    pub is_active: Option<bool>,
}

/// HTTP endpoint that receives webhooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Interface of a smart contract: an ABI or an IDL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IpAllowlistRule {
    /// Network and prefix length in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3).
    pub cidr: String,
    /// Display name, if one is set.
    pub label: Option<String>,
    /// Time of creation, in milliseconds since 1970.
    pub created_at: String,
}

/// Allowlist of the client addresses from which requests are accepted.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IpAllowlist {
    /// Organization that the allowlist belongs to.
    pub organization_id: OrganizationId,
    /// Allowed address blocks.
    pub rules: Vec<IpAllowlistRule>,
    /// Public key of the API key that the allowlist restricts; absent for the whole organization.
    pub public_key: Option<String>,
    /// Whether the allowlist is enforced; absent for that of an API key, which always is.
    pub enabled: Option<bool>,
    /// `ALLOW` or `DENY`: the decision if the client address is unknown.
    pub on_evaluation_error: String,
}

/// Payment method of an organization. Nothing is ever charged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
