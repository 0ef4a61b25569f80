//! Adds an endpoint that receives webhooks.

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version, endpoint};
use crate::text::quoted;

pub(super) struct CreateWebhookEndpoint;

impl Kind for CreateWebhookEndpoint {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT",
            intent: "createWebhookEndpointIntent",
            schema: "url name subscriptions[]:Subscription",
        }]
    }

    fn title(&self) -> &'static str {
        "Create webhook endpoint"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let url = parameters.text("url")?;
        let name = parameters.text("name")?;
        let receives_activities = endpoint::receives_activities(parameters)?;
        let effect = if receives_activities {
            format!("It receives {}.", endpoint::ACTIVITY_EVENTS)
        } else {
            "It does not subscribe to activity updates, so nothing is posted to it.".to_owned()
        };
        let mut description = Description::new(
            format!("{} at {}", quoted(name), endpoint::display_host(url)),
            format!("Add the endpoint {} at {}. {effect}", quoted(name), quoted(url)),
        );
        let before = scene.organization.webhook_endpoints.len();
        description.change("endpoints", before.to_string(), before.saturating_add(1).to_string(), "");
        if receives_activities {
            let text = format!("The operator of {} sees every activity.", endpoint::display_host(url));
            description.flag(Level::Med, "webhook-url", text);
            endpoint::flag_filters(parameters, &mut description)?;
        }
        endpoint::flag_url(url, &mut description);
        endpoint::flag_name(name, None, scene, &mut description);
        Ok(description)
    }
}
