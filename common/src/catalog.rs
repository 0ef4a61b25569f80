//! The catalogue: each kind of activity and each query described as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a kind does, as policies match on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    /// Makes a thing.
    Create,
    /// Changes a thing.
    Update,
    /// Removes a thing.
    Delete,
    /// Signs with a key.
    Sign,
    /// Takes a key out.
    Export,
    /// Brings a key in.
    Import,
}

impl Action {
    /// What policies call `activity.action`.
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

/// What a kind acts on, as policies match on it.
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
    /// Policies.
    Policy,
    /// Private keys; also whatever signs.
    PrivateKey,
    /// Wallets and their accounts.
    Wallet,
    /// Invitations to become a user.
    Invitation,
    /// How the service is paid for.
    PaymentMethod,
    /// What is paid for.
    Subscription,
    /// Endpoints that receive webhooks.
    WebhookEndpoint,
    /// Interfaces of smart contracts.
    SmartContractInterface,
    /// What sessions may be limited to.
    SessionProfile,
    /// Secrets that were brought in.
    Secret,
}

impl Resource {
    /// What policies call `activity.resource`.
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

/// Who decides on a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Gate {
    /// Root quorum, or a policy.
    Policy,
    /// Root quorum only; no policy can grant it.
    RootQuorum,
    /// As `POLICY`, and a user may do it to credentials of their own.
    OwnCredential,
    /// A vote on another activity: those who can still decide it.
    Vote,
    /// As `POLICY`, but a root user must ask.
    RootUser,
    /// Whoever holds the secret of an invitation.
    Invitation,
    /// Whoever holds the passkey that it registers.
    Founder,
}

/// One kind of activity, in one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KindEntry {
    /// `ACTIVITY_TYPE_*`.
    #[serde(rename = "type")]
    pub activity_type: String,
    /// Path of the submit operation.
    pub path: String,
    /// Member of `intent`.
    pub intent: String,
    /// Member of `result`; absent for votes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Who decides.
    pub gate: Gate,
    /// What policies match on; absent where policies are not consulted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts: Option<(Action, Resource)>,
    /// What it does, in a sentence.
    pub description: String,
    /// JSON schema of the parameters.
    pub parameters: Value,
    /// JSON schema of the result.
    pub outcome: Value,
}

/// All kinds, sorted by type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The kinds.
    pub kinds: Vec<KindEntry>,
    /// Paths of the queries, sorted.
    pub queries: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_wire() {
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
