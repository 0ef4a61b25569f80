//! The catalog: a description of each activity kind and each query as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire_enum;

wire_enum! {
    /// What an activity of a kind does; policies match on it as `activity.action`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Action {
        /// Creates an object.
        Create = "CREATE",
        /// Changes an object.
        Update = "UPDATE",
        /// Deletes an object.
        Delete = "DELETE",
        /// Signs with a key.
        Sign = "SIGN",
        /// Exports a key.
        Export = "EXPORT",
        /// Imports a key.
        Import = "IMPORT",
        /// Verifies a one-time code.
        Verify = "VERIFY",
    }
}

wire_enum! {
    /// What an activity of a kind acts on; policies match on it as `activity.resource`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Resource {
        /// Organizations and sub-organizations.
        Organization = "ORGANIZATION",
        /// Settings of an organization.
        Config = "CONFIG",
        /// Users and their tags.
        User = "USER",
        /// API keys, authenticators and OAuth providers.
        Credential = "CREDENTIAL",
        /// Sign-in and sessions.
        Auth = "AUTH",
        /// One-time codes.
        Otp = "OTP",
        /// The user of the authentication proxy.
        AuthProxy = "AUTH_PROXY",
        /// Recovery of users by email.
        Recovery = "RECOVERY",
        /// Policies of an organization.
        Policy = "POLICY",
        /// Private keys, and every kind that signs.
        PrivateKey = "PRIVATE_KEY",
        /// Wallets and their accounts.
        Wallet = "WALLET",
        /// Invitations to become a user.
        Invitation = "INVITATION",
        /// Payment method of the organization.
        PaymentMethod = "PAYMENT_METHOD",
        /// Subscription of the organization.
        Subscription = "SUBSCRIPTION",
        /// Endpoints that receive webhooks.
        WebhookEndpoint = "WEBHOOK_ENDPOINT",
        /// Interfaces of smart contracts.
        SmartContractInterface = "SMART_CONTRACT_INTERFACE",
        /// Session profiles, which restrict sessions.
        SessionProfile = "SESSION_PROFILE",
        /// MFA policies of users.
        MfaPolicy = "MFA_POLICY",
        /// Imported secrets.
        Secret = "SECRET",
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
    /// The caller, for themselves. Neither policies nor the root quorum are consulted.
    Caller,
    /// The holder of the secret of an invitation.
    Invitation,
    /// The holder of the passkey that the request registers.
    #[serde(rename = "FOUNDER")]
    Registrant,
}

/// One version of an activity kind.
#[serde_with::skip_serializing_none]
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
    pub result: Option<String>,
    /// Who decides on activities of this kind.
    pub gate: Gate,
    /// What policies match on; absent if policies are not consulted.
    pub acts: Option<(Action, Resource)>,
    /// One sentence that describes the kind.
    pub description: String,
    /// JSON Schema of the parameters.
    pub parameters: Value,
    /// JSON Schema of the result.
    pub outcome: Value,
}

/// The cost of answering a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Cost {
    /// Reads a few records at most.
    Small,
    /// Grows with the size of the organization, or evaluates policies.
    Large,
}

/// One query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryEntry {
    /// Last segment of the path.
    pub name: String,
    /// URL path of the query.
    pub path: String,
    /// One sentence that describes the answer.
    pub description: String,
    /// Cost of the answer.
    pub cost: Cost,
    /// JSON Schema of the body.
    pub request: Value,
    /// JSON Schema of the answer.
    pub answer: Value,
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
