//! Changes an endpoint that receives webhooks.

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version, endpoint};
use crate::text::{clean, quoted};

pub(super) struct UpdateWebhookEndpoint;

impl Kind for UpdateWebhookEndpoint {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT",
            intent: "updateWebhookEndpointIntent",
            shape: "endpointId url name isActive",
        }]
    }

    fn title(&self) -> &'static str {
        "Change webhook endpoint"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("endpointId")?;
        let named = scene.endpoint_named(id);
        let now = scene.endpoint(id);
        let mut story = Story::new(String::new(), String::new());
        let mut brief = vec![now.map_or_else(|| clean(id), |endpoint| quoted(&endpoint.name))];
        let mut told = vec![format!("Change the endpoint {named}.")];
        if let Some(url) = parameters.maybe_text("url")? {
            let before = now.map(|endpoint| endpoint.url.as_str());
            told.push(format!("Its URL becomes {}.", quoted(url)));
            story.change("URL", before.map_or_else(|| "?".to_owned(), clean), clean(url), "");
            brief.push(format!("to {}", endpoint::place(url)));
            moved(before, url, &mut story);
        }
        if let Some(name) = parameters.maybe_text("name")? {
            told.push(format!("Its name becomes {}.", quoted(name)));
            let before = now.map_or_else(|| "?".to_owned(), |endpoint| clean(&endpoint.name));
            story.change("name", before, clean(name), "");
            brief.push(format!("named {}", quoted(name)));
            endpoint::name(name, Some(id), scene, &mut story);
        }
        if parameters.has("isActive") {
            let active = parameters.yes("isActive")?;
            let word = |active: bool| if active { "active" } else { "silent" };
            let before = now.map_or("?", |endpoint| word(endpoint.is_active));
            story.change("state", before, word(active), "");
            brief.push(word(active).to_owned());
            if active {
                told.push(format!("It is sent what it subscribes to, which may be {}.", endpoint::NEWS));
                story.flag(
                    Level::Med,
                    "webhook-url",
                    "whoever runs the endpoint may learn of every activity",
                );
            } else {
                told.push("Nothing is posted to it any more.".to_owned());
                story.flag(Level::Med, "webhook-removed", "this endpoint hears of nothing any more");
            }
        }
        if told.len() == 1 {
            told.push("Nothing of it changes.".to_owned());
        }
        if now.is_none() {
            story.flag(Level::Med, "unknown-endpoint", format!("{named} is not in this organization now"));
        }
        story.brief = brief.join(", ");
        story.sentence = told.join(" ");
        Ok(story)
    }
}

/// Remarks on a URL that takes the place of another.
fn moved(before: Option<&str>, url: &str, story: &mut Story) {
    let host = |url: &str| endpoint::host(url).map(str::to_ascii_lowercase);
    let stays = host(url).is_some() && before.and_then(host) == host(url);
    if !stays {
        let instead = before.map_or_else(String::new, |url| format!(" instead of {}", endpoint::place(url)));
        let text = format!("{} is told of activities{instead}", endpoint::place(url));
        story.flag(Level::Med, "webhook-host", text);
    }
    endpoint::destination(url, story);
}
