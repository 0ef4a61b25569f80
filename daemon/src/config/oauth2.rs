//! Section `[oauth2]`: sign-in with providers that issue no ID tokens of their own, for whose users the daemon issues
//! them.

use super::http;
use super::section::Section;
use crate::oauth2::{Endpoints, Oauth2Settings};
use crate::outgoing::{OutgoingUrl, ReceiverPolicy};

/// Reads the section; returns `None` if OAuth 2.0 is not enabled.
pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Oauth2Settings> {
    let enabled = section.flag("enabled").unwrap_or_default();
    let issuer = if enabled { section.required("issuer", issuer) } else { issuer(section, "issuer") };
    let mut settings = Oauth2Settings::new(issuer.unwrap_or_default());
    settings.key_generation = section.number("key_generation", 1..=u32::MAX).unwrap_or(1);
    settings.receivers = ReceiverPolicy {
        allow_networks: section.networks("allow_networks").unwrap_or_default(),
        allow_http: section.flag("allow_http").unwrap_or_default(),
    };
    let receivers = settings.receivers.clone();
    endpoints(section, ["x_token_url", "x_user_url"], &receivers, &mut settings.x);
    endpoints(section, ["discord_token_url", "discord_user_url"], &receivers, &mut settings.discord);
    enabled.then_some(settings)
}

fn issuer(section: &mut Section<'_, '_>, key: &str) -> Option<String> {
    section.parsed_with(key, http::base_url)
}

/// Replaces the endpoints of a provider by those that are set.
fn endpoints(
    section: &mut Section<'_, '_>,
    [token, user]: [&str; 2],
    receivers: &ReceiverPolicy,
    endpoints: &mut Endpoints,
) {
    for (key, endpoint) in [(token, &mut endpoints.token), (user, &mut endpoints.user)] {
        let Some(url) = section.text(key) else { continue };
        match OutgoingUrl::check(&url, receivers) {
            Ok(_) => *endpoint = url,
            Err(reason) => section.report(&format!("{key} {reason}")),
        }
    }
}
