//! Adds an endpoint that receives webhooks.

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version, endpoint};
use crate::text::quoted;

pub(super) struct CreateWebhookEndpoint;

impl Kind for CreateWebhookEndpoint {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT",
            intent: "createWebhookEndpointIntent",
            shape: "url name subscriptions[]:Subscription",
        }]
    }

    fn title(&self) -> &'static str {
        "Create webhook endpoint"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let url = parameters.text("url")?;
        let name = parameters.text("name")?;
        let hears = endpoint::hears(parameters)?;
        let told = if hears {
            format!("It is sent {}.", endpoint::NEWS)
        } else {
            "It asks for no news of activities, so nothing is posted.".to_owned()
        };
        let mut story = Story::new(
            format!("{} at {}", quoted(name), endpoint::place(url)),
            format!("Add the endpoint {} at {}. {told}", quoted(name), quoted(url)),
        );
        let before = scene.organization.webhook_endpoints.len();
        story.change("endpoints", before.to_string(), before.saturating_add(1).to_string(), "");
        if hears {
            let text = format!("whoever runs {} learns of every activity", endpoint::place(url));
            story.flag(Level::Med, "webhook-url", text);
            endpoint::filters(parameters, &mut story)?;
        }
        endpoint::destination(url, &mut story);
        endpoint::name(name, None, scene, &mut story);
        Ok(story)
    }
}
