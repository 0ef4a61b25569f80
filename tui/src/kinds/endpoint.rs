//! What is told of endpoints that receive webhooks.

use super::{Level, Reader, Scene, Story, Undecodable};
use crate::text::{clean, quoted};

/// The event that tells of activities.
const ACTIVITY_UPDATES: &str = "ACTIVITY_UPDATES";
/// What an endpoint is sent that hears of activities.
pub(super) const NEWS: &str = "each new state of every activity of this organization and of its sub-organizations, with what was asked, votes \
     and results";

/// Host and port of a URL that is written in the one way that all programs read alike.
pub(super) fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let known = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    (known && !host.is_empty() && host.bytes().all(plain)).then_some(host)
}

/// Where a URL leads, for lists.
pub(super) fn place(url: &str) -> String {
    host(url).map_or_else(|| quoted(url), clean)
}

/// Remarks on where a URL leads.
pub(super) fn destination(url: &str, story: &mut Story) {
    if host(url).is_none() {
        let text = format!("programs may disagree on which host {} names", quoted(url));
        story.flag(Level::Med, "unclear-host", text);
    }
    if !url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://")) {
        story.flag(Level::Med, "without-tls", "without TLS, others can read on the way what is posted");
    }
}

/// Whether an endpoint with the subscriptions that are asked for hears of activities.
pub(super) fn hears(parameters: &Reader<'_>) -> Result<bool, Undecodable> {
    let mut hears = false;
    for subscription in parameters.list("subscriptions")? {
        let active = !subscription.has("isActive") || subscription.yes("isActive")?;
        hears |= active && subscription.text("eventType")? == ACTIVITY_UPDATES;
    }
    Ok(hears)
}

/// A filter looks as if it kept something back.
pub(super) fn filters(parameters: &Reader<'_>, story: &mut Story) -> Result<(), Undecodable> {
    for subscription in parameters.list("subscriptions")? {
        if subscription.maybe_text("filtersJson")?.is_some() {
            let text = "filters are kept as a note: they hold nothing back";
            story.flag(Level::Med, "filters-nothing", text);
            return Ok(());
        }
    }
    Ok(())
}

/// Remarks on the name of an endpoint.
pub(super) fn name(name: &str, id: Option<&str>, scene: &Scene<'_>, story: &mut Story) {
    let mut others = scene.organization.webhook_endpoints.iter();
    let other = |id: &str, known: &str| !known.eq_ignore_ascii_case(id);
    if others.any(|one| one.name == name && id.is_none_or(|id| other(id, &one.endpoint_id.to_string()))) {
        story.flag(Level::Med, "same-name", format!("there is an endpoint named {} already", quoted(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_only_where_all_programs_agree() {
        for (url, expected) in [
            ("https://hooks.acme.example/a?b", Some("hooks.acme.example")),
            ("HTTPS://hooks.acme.example:8443", Some("hooks.acme.example:8443")),
            ("https://[2001:db8::1]/", Some("[2001:db8::1]")),
            ("http://a", Some("a")),
            ("https://hooks.acme.example@evil.example/", None),
            ("https:evil.example/://hooks.acme.example", None),
            ("https:///evil.example", None),
            ("https://evil.example\\@hooks.acme.example", None),
            ("https://h%6foks.acme.example", None),
            ("ftp://hooks.acme.example", None),
            ("hooks.acme.example", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
