//! The settings of an organization as plain data.

use std::collections::BTreeSet;

use super::Organization;

/// An invitation to become a user.
pub(in crate::model) struct Invitation {
    pub(in crate::model) id: String,
    pub(in crate::model) name: String,
    pub(in crate::model) email: String,
    pub(in crate::model) tags: BTreeSet<String>,
    pub(in crate::model) access: &'static str,
    pub(in crate::model) sender: String,
    pub(in crate::model) status: InvitationStatus,
}

/// Status of an invitation. None becomes old enough to expire.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum InvitationStatus {
    Created,
    Accepted,
    Revoked,
}

impl Invitation {
    /// Returns whether it can be accepted.
    pub(in crate::model) fn waits(&self) -> bool {
        self.status == InvitationStatus::Created
    }
}

#[derive(Clone)]
pub(in crate::model) struct WebhookEndpoint {
    pub(in crate::model) id: String,
    pub(in crate::model) name: String,
    pub(in crate::model) url: String,
    pub(in crate::model) is_active: bool,
    pub(in crate::model) subscriptions: Vec<Subscription>,
}

/// A subscription of an endpoint to events.
#[derive(Clone)]
pub(in crate::model) struct Subscription {
    pub(in crate::model) event: &'static str,
    pub(in crate::model) filters: Option<&'static str>,
    pub(in crate::model) is_active: Option<bool>,
}

/// Permissions of the sessions that name it.
#[derive(Clone)]
pub(in crate::model) struct SessionProfile {
    pub(in crate::model) id: String,
    pub(in crate::model) name: String,
    pub(in crate::model) scope: &'static str,
    pub(in crate::model) expiration_seconds: Option<&'static str>,
    pub(in crate::model) notes: Option<&'static str>,
}

/// Interface to decode calls of a contract.
pub(in crate::model) struct ContractInterface {
    pub(in crate::model) id: String,
    pub(in crate::model) address: String,
    /// Type of the chain, without its prefix.
    pub(in crate::model) chain: &'static str,
    pub(in crate::model) text: String,
    pub(in crate::model) label: String,
    pub(in crate::model) notes: &'static str,
}

/// An IP allowlist.
#[derive(Clone)]
pub(in crate::model) struct Allowlist {
    pub(in crate::model) is_enabled: bool,
    /// Distinct blocks.
    pub(in crate::model) blocks: Vec<Block>,
    /// Behaviour if the address of a request is not known.
    pub(in crate::model) on_error: &'static str,
}

/// A block of addresses.
#[derive(Clone)]
pub(in crate::model) struct Block {
    /// First address and prefix length.
    pub(in crate::model) network: String,
    pub(in crate::model) label: Option<String>,
}

/// A payment method. No query shows it; only its deletion reports it.
pub(in crate::model) struct PaymentMethod {
    /// `None` if the daemon assigned the id, which is reported at the deletion only.
    pub(in crate::model) id: Option<String>,
}

impl Organization {
    /// Returns the list of the organization, or of the key with this public key.
    pub(in crate::model) fn allowlist_of(&self, public_key: Option<&str>) -> Option<&Allowlist> {
        let Some(public_key) = public_key else { return self.allowlist.as_ref() };
        let mut keys = self.users.iter().flat_map(|user| &user.api_keys);
        keys.find(|key| key.public_key == public_key)?.allowlist.as_ref()
    }

    /// Returns the same list mutably.
    pub(in crate::model) fn allowlist_mut(&mut self, public_key: Option<&str>) -> &mut Option<Allowlist> {
        let Some(public_key) = public_key else { return &mut self.allowlist };
        let mut keys = self.users.iter_mut().flat_map(|user| &mut user.api_keys);
        &mut keys.find(|key| key.public_key == public_key).expect("an existing key").allowlist
    }

    pub(in crate::model) fn webhook_endpoint(&self, id: &str) -> Option<&WebhookEndpoint> {
        self.webhook_endpoints.iter().find(|endpoint| endpoint.id == id)
    }

    pub(in crate::model) fn webhook_endpoint_ids(&self) -> Vec<String> {
        self.webhook_endpoints.iter().map(|endpoint| endpoint.id.clone()).collect()
    }

    pub(in crate::model) fn contract_interface_ids(&self) -> Vec<String> {
        self.contract_interfaces.iter().map(|interface| interface.id.clone()).collect()
    }

    pub(in crate::model) fn invitation(&self, id: &str) -> Option<&Invitation> {
        self.invitations.iter().find(|invitation| invitation.id == id)
    }

    pub(in crate::model) fn invitation_ids(&self) -> Vec<String> {
        self.invitations.iter().map(|invitation| invitation.id.clone()).collect()
    }

    /// Returns the ids of all settings and invitations.
    pub(in crate::model) fn setting_ids(&self) -> Vec<String> {
        let mut ids = self.invitation_ids();
        ids.extend(self.webhook_endpoint_ids());
        ids.extend(self.session_profiles.iter().map(|profile| profile.id.clone()));
        ids.extend(self.contract_interface_ids());
        ids
    }
}
