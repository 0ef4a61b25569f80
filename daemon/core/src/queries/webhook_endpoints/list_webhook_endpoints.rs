//! Lists all webhook endpoints.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all webhook endpoints, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListWebhookEndpoints {}

impl Query for ListWebhookEndpoints {
    type Answer = Vec<wire::WebhookEndpoint>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::WebhookEndpoint>, RequestError> {
        let endpoints = context.organization.records.webhook_endpoints.iter();
        let created = |endpoint: &&WebhookEndpoint| (endpoint.created, endpoint.id);
        Ok(oldest_first(endpoints, created, |endpoint| endpoint.wire(context.id())))
    }
}
