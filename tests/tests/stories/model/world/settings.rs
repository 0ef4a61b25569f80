//! What is set of an organization: as plain data, like the rest of the world.

use super::Organization;

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

impl Organization {
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

    /// Ids of all that is set.
    pub(in crate::model) fn setting_ids(&self) -> Vec<String> {
        let mut ids = self.webhook_endpoint_ids();
        ids.extend(self.session_profiles.iter().map(|profile| profile.id.clone()));
        ids.extend(self.contract_interface_ids());
        ids
    }
}
