//! Removes an endpoint that receives webhooks.

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version, endpoint};
use crate::text::quoted;

pub(super) struct DeleteWebhookEndpoint;

impl Kind for DeleteWebhookEndpoint {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT",
            intent: "deleteWebhookEndpointIntent",
            shape: "endpointId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete webhook endpoint"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("endpointId")?;
        let named = scene.endpoint_named(id);
        let known = scene.endpoint(id);
        let place = known.map_or_else(String::new, |endpoint| format!(" at {}", quoted(&endpoint.url)));
        let brief = known.map_or_else(
            || named.clone(),
            |one| format!("{} at {}", quoted(&one.name), endpoint::place(&one.url)),
        );
        let mut story = Story::new(
            brief,
            format!("Delete the endpoint {named}{place}. What is under way to it is still delivered."),
        );
        let before = scene.organization.webhook_endpoints.len();
        story.change("endpoints", before.to_string(), before.saturating_sub(1).to_string(), "");
        story.flag(Level::Med, "webhook-removed", "this endpoint hears of nothing any more");
        if known.is_none() {
            story.flag(Level::Med, "unknown-endpoint", format!("{named} is not in this organization now"));
        }
        Ok(story)
    }
}
