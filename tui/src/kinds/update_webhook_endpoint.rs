//! Changes an endpoint that receives webhooks.

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version, endpoint};
use crate::text::{clean, quoted};

pub(super) struct UpdateWebhookEndpoint;

impl Kind for UpdateWebhookEndpoint {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT",
            intent: "updateWebhookEndpointIntent",
            schema: "endpointId url name isActive",
        }]
    }

    fn title(&self) -> &'static str {
        "Change webhook endpoint"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("endpointId")?;
        let named = scene.endpoint_named(id);
        let now = scene.endpoint(id);
        let mut description = Description::new(String::new(), String::new());
        let mut brief = vec![now.map_or_else(|| clean(id), |endpoint| quoted(&endpoint.name))];
        let mut sentences = vec![format!("Change the endpoint {named}.")];
        if let Some(url) = parameters.maybe_text("url")? {
            let before = now.map(|endpoint| endpoint.url.as_str());
            sentences.push(format!("Its URL becomes {}.", quoted(url)));
            description.change("URL", before.map_or_else(|| "?".to_owned(), clean), clean(url), "");
            brief.push(format!("to {}", endpoint::display_host(url)));
            flag_new_url(before, url, &mut description);
        }
        if let Some(name) = parameters.maybe_text("name")? {
            sentences.push(format!("Its name becomes {}.", quoted(name)));
            let before = now.map_or_else(|| "?".to_owned(), |endpoint| clean(&endpoint.name));
            description.change("name", before, clean(name), "");
            brief.push(format!("named {}", quoted(name)));
            endpoint::flag_name(name, Some(id), scene, &mut description);
        }
        if parameters.has("isActive") {
            let active = parameters.yes("isActive")?;
            let word = |active: bool| if active { "active" } else { "inactive" };
            let before = now.map_or("?", |endpoint| word(endpoint.is_active));
            description.change("state", before, word(active), "");
            brief.push(word(active).to_owned());
            if active {
                sentences.push(format!(
                    "It receives what it subscribes to, which may be {}.",
                    endpoint::ACTIVITY_EVENTS
                ));
                description.flag(
                    Level::Med,
                    "webhook-url",
                    "The operator of the endpoint may see every activity.",
                );
            } else {
                sentences.push("Nothing more is posted to it.".to_owned());
                description.flag(Level::Med, "webhook-removed", "This endpoint receives no further events.");
            }
        }
        if sentences.len() == 1 {
            sentences.push("Nothing changes.".to_owned());
        }
        if now.is_none() {
            description.flag(
                Level::Med,
                "unknown-endpoint",
                format!("{named} does not exist in this organization now."),
            );
        }
        description.brief = brief.join(", ");
        description.sentence = sentences.join(" ");
        Ok(description)
    }
}

/// Flags a URL that replaces another one.
fn flag_new_url(before: Option<&str>, url: &str, description: &mut Description) {
    let host = |url: &str| endpoint::host(url).map(str::to_ascii_lowercase);
    let stays = host(url).is_some() && before.and_then(host) == host(url);
    if !stays {
        let instead =
            before.map_or_else(String::new, |url| format!(" instead of {}", endpoint::display_host(url)));
        let text = format!("Activities are reported to {}{instead}.", endpoint::display_host(url));
        description.flag(Level::Med, "webhook-host", text);
    }
    endpoint::flag_url(url, description);
}
