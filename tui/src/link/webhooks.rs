//! Requests about webhook receivers.

use quorate_common::console::{
    FEATURE, RetriedDelivery, WebhookAttempt, WebhookDeliveries, WebhookReceivers,
};
use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};

use super::client::Client;
use super::error::Result;

/// A webhook receiver: an endpoint of an organization, or the URL of its webhook feature.
pub(crate) type ReceiverId = (OrganizationId, Option<EndpointId>);

impl Client {
    /// Queries the webhook receivers of an organization.
    pub(crate) async fn webhooks(&self, id: OrganizationId) -> Result<WebhookReceivers> {
        self.read(&format!("/console/v1/organizations/{id}/webhooks")).await
    }

    /// Queries the waiting deliveries to a receiver, and the last attempts.
    pub(crate) async fn deliveries(&self, receiver: ReceiverId) -> Result<WebhookDeliveries> {
        self.read(&format!("{}/deliveries", path(receiver))).await
    }

    /// Requests that the delivery of an activity is repeated. The activity is given with its organization.
    pub(crate) async fn retry_delivery(
        &self,
        receiver: ReceiverId,
        (organization, activity): (OrganizationId, ActivityId),
    ) -> Result<RetriedDelivery> {
        let path = path(receiver);
        self.act(&format!("{path}/retry?organization={organization}&activity={activity}"), Vec::new()).await
    }

    /// Requests that a test event is posted to a receiver, and waits until the attempt ends.
    pub(crate) async fn test_webhook(&self, receiver: ReceiverId) -> Result<WebhookAttempt> {
        self.act(&format!("{}/test", path(receiver)), Vec::new()).await
    }
}

fn path((organization, endpoint): ReceiverId) -> String {
    let receiver = endpoint.map_or_else(|| FEATURE.to_owned(), |id| id.to_string());
    format!("/console/v1/organizations/{organization}/webhooks/{receiver}")
}
