//! Descriptions and flags that the kinds on webhook endpoints share.

use crate::kinds::prelude::*;

/// The event type of activity updates.
const ACTIVITY_UPDATES: &str = "ACTIVITY_UPDATES";
/// What an endpoint with a subscription to activity updates receives.
pub(in crate::kinds) const ACTIVITY_EVENTS: &str = "each new state of every activity of this organization and of its \
    sub-organizations, with the request, the votes and the results";

/// Returns host and port of a URL, or `None` if programs could disagree on the host.
pub(in crate::kinds) fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let known = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    (known && !host.is_empty() && host.bytes().all(plain)).then_some(host)
}

/// Returns the host of a URL for lists, or the whole URL if its host is unclear.
pub(in crate::kinds) fn display_host(url: &str) -> String {
    host(url).map_or_else(|| quoted(url), clean)
}

/// Flags a URL with an unclear host or without TLS.
pub(in crate::kinds) fn flag_url(url: &str, description: &mut Description) {
    if host(url).is_none() {
        let text = format!(
            "Events may go to another host than it seems: programs may disagree on the host of {}.",
            quoted(url)
        );
        description.flag_medium("unclear-host", text);
    }
    if !url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://")) {
        description.flag_medium(
            "without-tls",
            "Others on the network can read what is posted: the URL does not use TLS.",
        );
    }
}

/// Returns whether the requested subscriptions include activity updates.
pub(in crate::kinds) fn receives_activities(parameters: &Reader<'_>) -> Result<bool> {
    let mut receives_activities = false;
    for subscription in parameters.list("subscriptions")? {
        let active = !subscription.has("isActive") || subscription.boolean("isActive")?;
        receives_activities |= active && subscription.text("eventType")? == ACTIVITY_UPDATES;
    }
    Ok(receives_activities)
}

/// Flags filters, because the daemon does not apply them.
pub(in crate::kinds) fn flag_filters(parameters: &Reader<'_>, description: &mut Description) -> Result<()> {
    for subscription in parameters.list("subscriptions")? {
        if subscription.maybe_text("filtersJson")?.is_some() {
            let text = "Every activity is sent in spite of the filters: they are stored as a note only.";
            description.flag_medium("filters-nothing", text);
            return Ok(());
        }
    }
    Ok(())
}

/// Flags the name of an endpoint if another one has it.
pub(in crate::kinds) fn flag_name(
    name: &str,
    id: Option<&str>,
    context: &ReviewContext<'_>,
    description: &mut Description,
) {
    let mut others = context.organization.webhook_endpoints.iter();
    let other = |id: &str, known: &str| !known.eq_ignore_ascii_case(id);
    if others.any(|one| one.name == name && id.is_none_or(|id| other(id, &one.endpoint_id.to_string()))) {
        description.flag_same_name("an endpoint", name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_known_only_if_all_programs_agree() {
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
