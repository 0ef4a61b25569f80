//! Deletes an endpoint that receives webhooks.

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version, endpoint};
use crate::text::quoted;

pub(super) struct DeleteWebhookEndpoint;

impl Kind for DeleteWebhookEndpoint {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT",
            intent: "deleteWebhookEndpointIntent",
            schema: "endpointId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete webhook endpoint"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("endpointId")?;
        let named = scene.endpoint_named(id);
        let known = scene.endpoint(id);
        let address = known.map_or_else(String::new, |endpoint| format!(" at {}", quoted(&endpoint.url)));
        let brief = known.map_or_else(
            || named.clone(),
            |one| format!("{} at {}", quoted(&one.name), endpoint::display_host(&one.url)),
        );
        let mut description = Description::new(
            brief,
            format!("Delete the endpoint {named}{address}. Pending deliveries are still made."),
        );
        let before = scene.organization.webhook_endpoints.len();
        description.change("endpoints", before.to_string(), before.saturating_sub(1).to_string(), "");
        description.flag(Level::Med, "webhook-removed", "This endpoint receives no further events.");
        if known.is_none() {
            description.flag(
                Level::Med,
                "unknown-endpoint",
                format!("{named} does not exist in this organization now."),
            );
        }
        Ok(description)
    }
}
