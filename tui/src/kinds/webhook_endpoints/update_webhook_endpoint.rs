//! Changes an endpoint that receives webhooks.

use crate::kinds::prelude::*;
use crate::kinds::shared::endpoint;

pub(super) const KIND: Kind = Kind::new("UPDATE_WEBHOOK_ENDPOINT", "Change webhook endpoint", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("endpointId")?;
    let named = context.endpoint_named(id);
    let now = context.endpoint(id);
    let mut description = Description::new(String::new(), String::new());
    let mut brief = vec![now.map_or_else(|| clean(id), |endpoint| quoted(&endpoint.name))];
    let mut sentences = vec![format!("Change the endpoint {named}.")];
    if let Some(url) = parameters.maybe_text("url")? {
        let before = now.map(|endpoint| endpoint.url.as_str());
        sentences.push(format!("Its URL becomes {}.", quoted(url)));
        description.change("URL", before.map_or_else(|| "?".to_owned(), clean), clean(url));
        brief.push(format!("to {}", endpoint::display_host(url)));
        flag_new_url(before, url, &mut description);
    }
    if let Some(name) = parameters.maybe_text("name")? {
        sentences.push(format!("Its name becomes {}.", quoted(name)));
        let before = now.map_or_else(|| "?".to_owned(), |endpoint| clean(&endpoint.name));
        description.change("name", before, clean(name));
        brief.push(format!("named {}", quoted(name)));
        endpoint::flag_name(name, Some(id), context, &mut description);
    }
    if parameters.has("isActive") {
        let active = parameters.boolean("isActive")?;
        let word = |active: bool| if active { "active" } else { "inactive" };
        let before = now.map_or("?", |endpoint| word(endpoint.is_active));
        description.change("state", before, word(active));
        brief.push(word(active).to_owned());
        sentences.push(activity_sentence(active, &mut description));
    }
    if sentences.len() == 1 {
        sentences.push("Nothing changes.".to_owned());
    }
    description.flag_if_missing("unknown-endpoint", now.is_some(), &named);
    description.brief = brief.join(", ");
    description.sentence = sentences.join(" ");
    Ok(description)
}

/// Returns what follows from the state of an endpoint that is set, and flags it.
fn activity_sentence(active: bool, description: &mut Description) -> String {
    if active {
        description.flag_medium("webhook-url", "The operator of the endpoint may see every activity.");
        format!("It receives what it subscribes to, which may be {}.", endpoint::ACTIVITY_EVENTS)
    } else {
        description.flag_medium("webhook-removed", "This endpoint receives no further events.");
        "Nothing more is posted to it.".to_owned()
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
        description.flag_medium("webhook-host", text);
    }
    endpoint::flag_url(url, description);
}
