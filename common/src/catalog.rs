//! The catalogue: a description of each activity kind and each query as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an activity of a kind does; policies match on it as `activity.action`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    /// Creates an object.
    Create,
    /// Changes an object.
    Update,
    /// Deletes an object.
    Delete,
    /// Signs with a key.
    Sign,
    /// Exports a key.
    Export,
    /// Imports a key.
    Import,
}

impl Action {
    /// Returns the value of `activity.action` in policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Sign => "SIGN",
            Self::Export => "EXPORT",
            Self::Import => "IMPORT",
        }
    }
}

/// What an activity of a kind acts on; policies match on it as `activity.resource`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Resource {
    /// Organizations and sub-organizations.
    Organization,
    /// Settings of an organization.
    Config,
    /// Users and their tags.
    User,
    /// API keys, authenticators and OAuth providers.
    Credential,
    /// Policies of an organization.
    Policy,
    /// Private keys, and every kind that signs.
    PrivateKey,
    /// Wallets and their accounts.
    Wallet,
    /// Invitations to become a user.
    Invitation,
    /// Payment method of the organization.
    PaymentMethod,
    /// Subscription of the organization.
    Subscription,
    /// Endpoints that receive webhooks.
    WebhookEndpoint,
    /// Interfaces of smart contracts.
    SmartContractInterface,
    /// Session profiles, which restrict sessions.
    SessionProfile,
    /// Imported secrets.
    Secret,
}

impl Resource {
    /// Returns the value of `activity.resource` in policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Organization => "ORGANIZATION",
            Self::Config => "CONFIG",
            Self::User => "USER",
            Self::Credential => "CREDENTIAL",
            Self::Policy => "POLICY",
            Self::PrivateKey => "PRIVATE_KEY",
            Self::Wallet => "WALLET",
            Self::Invitation => "INVITATION",
            Self::PaymentMethod => "PAYMENT_METHOD",
            Self::Subscription => "SUBSCRIPTION",
            Self::WebhookEndpoint => "WEBHOOK_ENDPOINT",
            Self::SmartContractInterface => "SMART_CONTRACT_INTERFACE",
            Self::SessionProfile => "SESSION_PROFILE",
            Self::Secret => "SECRET",
        }
    }
}

/// Who decides on activities of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Gate {
    /// The root quorum or a policy.
    Policy,
    /// The root quorum only; no policy can permit it.
    RootQuorum,
    /// As [`Gate::Policy`]; a user may also do it to their own credentials.
    OwnCredential,
    /// A vote on another activity: the users who can still decide that activity.
    Vote,
    /// As [`Gate::Policy`], but the proposer must be a root user.
    RootUser,
    /// The holder of the secret of an invitation.
    Invitation,
    /// The holder of the passkey that the request registers.
    #[serde(rename = "FOUNDER")]
    Registrant,
}

/// One version of an activity kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KindEntry {
    /// `ACTIVITY_TYPE_*`.
    #[serde(rename = "type")]
    pub activity_type: String,
    /// URL path of the submit operation.
    pub path: String,
    /// Name of the member of `intent`.
    pub intent: String,
    /// Name of the member of `result`; absent for votes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Who decides on activities of this kind.
    pub gate: Gate,
    /// What policies match on; absent if policies are not consulted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts: Option<(Action, Resource)>,
    /// One sentence that describes the kind.
    pub description: String,
    /// JSON Schema of the parameters.
    pub parameters: Value,
    /// JSON Schema of the result.
    pub outcome: Value,
}

/// All activity kinds and queries of the API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// Activity kinds, sorted by type.
    pub kinds: Vec<KindEntry>,
    /// URL paths of the queries, sorted.
    pub queries: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_the_wire() {
        for (action, name) in [(Action::Sign, "SIGN"), (Action::Import, "IMPORT")] {
            assert_eq!((action.name(), serde_json::to_value(action).ok()), (name, Some(Value::from(name))));
        }
        let resources = [Resource::User, Resource::PrivateKey, Resource::SmartContractInterface];
        for (resource, name) in resources.into_iter().zip(["USER", "PRIVATE_KEY", "SMART_CONTRACT_INTERFACE"])
        {
            assert_eq!(
                (resource.name(), serde_json::to_value(resource).ok()),
                (name, Some(Value::from(name)))
            );
        }
    }
}
