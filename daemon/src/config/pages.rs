//! Section `[pages]`: the pages for people who have a browser and no console.

use url::{Host, Url};

use super::http;
use super::section::Section;

/// Settings of the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// URL under which browsers reach the HTTP listener, without a trailing slash.
    pub url: String,
    /// Id of the relying party of the passkeys: the host name of the URL, or a domain above it.
    pub relying_party_id: String,
    /// Whether activities of kinds that can be dangerous may be approved in the browser.
    pub allow_high: bool,
}

/// Reads the section; returns `None` if the pages are not enabled.
pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Pages> {
    let enabled = section.flag("enabled").unwrap_or_default();
    let url = if enabled { section.required("url", read_url) } else { read_url(section, "url") };
    let relying_party_id = section.text("relying_party_id");
    let allow_high = section.flag("allow_high").unwrap_or_default();
    let (url, host) = url?;
    let relying_party_id = relying_party_id.unwrap_or_else(|| host.clone());
    if !is_at_or_above(&relying_party_id, &host) {
        section.report("relying_party_id must be the host name of url, or a domain above it");
        return None;
    }
    enabled.then_some(Pages { url, relying_party_id, allow_high })
}

fn read_url(section: &mut Section<'_, '_>, key: &str) -> Option<(String, String)> {
    section.parsed_with(key, page_url)
}

/// Parses the URL and returns it with its host name. Browsers use passkeys only on pages that were loaded with https
/// from a host with a name, or from this machine.
fn page_url(text: &str) -> Result<(String, String), &'static str> {
    let expected = r#"must be an https URL with a host name, such as "https://keys.example.org""#;
    let url = http::base_url(text).map_err(|_| expected)?;
    let parsed = Url::parse(&url).map_err(|_| expected)?;
    match parsed.host() {
        Some(Host::Domain(host)) if parsed.scheme() == "https" || host == "localhost" => {
            Ok((url.clone(), host.to_owned()))
        }
        _ => Err(expected),
    }
}

fn is_at_or_above(domain: &str, host: &str) -> bool {
    let below = host.strip_suffix(domain);
    !domain.is_empty()
        && !domain.starts_with('.')
        && below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
