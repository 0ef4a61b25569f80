//! What is set of an organization: as plain data, like the rest of the world.

use std::collections::BTreeSet;

use super::Organization;

/// Somebody may become a user.
pub(in crate::model) struct Invitation {
    pub(in crate::model) id: String,
    pub(in crate::model) name: String,
    pub(in crate::model) email: String,
    pub(in crate::model) tags: BTreeSet<String>,
    pub(in crate::model) access: &'static str,
    pub(in crate::model) sender: String,
    pub(in crate::model) status: InvitationStatus,
}

/// What became of an invitation. None gets as old as to lapse.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum InvitationStatus {
    Created,
    Accepted,
    Revoked,
}

impl Invitation {
    /// Whether it can be accepted.
    pub(in crate::model) fn waits(&self) -> bool {
        self.status == InvitationStatus::Created
    }
}

/// Where events are posted.
#[derive(Clone)]
pub(in crate::model) struct WebhookEndpoint {
    pub(in crate::model) id: String,
    pub(in crate::model) name: String,
    pub(in crate::model) url: String,
    pub(in crate::model) is_active: bool,
    pub(in crate::model) subscriptions: Vec<Subscription>,
}

/// What an endpoint is told of.
#[derive(Clone)]
pub(in crate::model) struct Subscription {
    pub(in crate::model) event: &'static str,
    pub(in crate::model) filters: Option<&'static str>,
    pub(in crate::model) is_active: Option<bool>,
}

/// What sessions that name it may do.
#[derive(Clone)]
pub(in crate::model) struct SessionProfile {
    pub(in crate::model) id: String,
    pub(in crate::model) name: String,
    pub(in crate::model) scope: &'static str,
    pub(in crate::model) expiration_seconds: Option<&'static str>,
    pub(in crate::model) notes: Option<&'static str>,
}

/// How calls of a contract are read.
pub(in crate::model) struct ContractInterface {
    pub(in crate::model) id: String,
    pub(in crate::model) address: String,
    /// What kind of chain, without its prefix.
    pub(in crate::model) chain: &'static str,
    pub(in crate::model) text: String,
    pub(in crate::model) label: String,
    pub(in crate::model) notes: &'static str,
}

/// From where requests are taken.
#[derive(Clone)]
pub(in crate::model) struct Allowlist {
    pub(in crate::model) is_enabled: bool,
    /// No two of them alike.
    pub(in crate::model) blocks: Vec<Block>,
    /// What happens where the address of a request is not known.
    pub(in crate::model) on_error: &'static str,
}

/// A block of addresses.
#[derive(Clone)]
pub(in crate::model) struct Block {
    /// Its first address and the length of its prefix.
    pub(in crate::model) network: String,
    pub(in crate::model) label: Option<String>,
}

/// How the service is paid for. No answer shows it; it is seen when it is deleted.
pub(in crate::model) struct PaymentMethod {
    /// None where it got an id of the daemon's, which nothing tells before it is gone.
    pub(in crate::model) id: Option<String>,
}

impl Organization {
    /// The list of everybody, or of the key with this public key.
    pub(in crate::model) fn allowlist_of(&self, public_key: Option<&str>) -> Option<&Allowlist> {
        let Some(public_key) = public_key else { return self.allowlist.as_ref() };
        let mut keys = self.users.iter().flat_map(|user| &user.api_keys);
        keys.find(|key| key.public_key == public_key)?.allowlist.as_ref()
    }

    /// The same, to be changed.
    pub(in crate::model) fn allowlist_mut(&mut self, public_key: Option<&str>) -> &mut Option<Allowlist> {
        let Some(public_key) = public_key else { return &mut self.allowlist };
        let mut keys = self.users.iter_mut().flat_map(|user| &mut user.api_keys);
        &mut keys.find(|key| key.public_key == public_key).expect("a key that is there").allowlist
    }

    /// The endpoint of this id.
    pub(in crate::model) fn webhook_endpoint(&self, id: &str) -> Option<&WebhookEndpoint> {
        self.webhook_endpoints.iter().find(|endpoint| endpoint.id == id)
    }

    /// Ids of the endpoints.
    pub(in crate::model) fn webhook_endpoint_ids(&self) -> Vec<String> {
        self.webhook_endpoints.iter().map(|endpoint| endpoint.id.clone()).collect()
    }

    /// Ids of the interfaces.
    pub(in crate::model) fn contract_interface_ids(&self) -> Vec<String> {
        self.contract_interfaces.iter().map(|interface| interface.id.clone()).collect()
    }

    /// The invitation of this id.
    pub(in crate::model) fn invitation(&self, id: &str) -> Option<&Invitation> {
        self.invitations.iter().find(|invitation| invitation.id == id)
    }

    /// Ids of the invitations.
    pub(in crate::model) fn invitation_ids(&self) -> Vec<String> {
        self.invitations.iter().map(|invitation| invitation.id.clone()).collect()
    }

    /// Ids of all that is set, and of invitations.
    pub(in crate::model) fn setting_ids(&self) -> Vec<String> {
        let mut ids = self.invitation_ids();
        ids.extend(self.webhook_endpoint_ids());
        ids.extend(self.session_profiles.iter().map(|profile| profile.id.clone()));
        ids.extend(self.contract_interface_ids());
        ids
    }
}
