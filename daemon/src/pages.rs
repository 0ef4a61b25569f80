//! The pages for people who have a browser and no console: they accept invitations, and review and approve
//! activities with a passkey.
//!
//! The files are built in and contain no data of any organization. The pages send their requests to the API, with
//! stamps like every client. This module reads no request except its path, its method and its entity tags.

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::listener::{Answer, Content, Incoming, PageFile};

/// Path of the pages.
pub const PATH: &str = "/pages/";
/// Name of the page for invitations. The fragment of its URL contains the key of an invitation.
const ACCEPT: &str = "accept";

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
/// The script. Its parts are files, of which each one uses only those before it.
const SCRIPT_TEXT: &str = concat!(
    include_str!("../../assets/pages/bytes.js"),
    include_str!("../../assets/pages/signatures.js"),
    include_str!("../../assets/pages/proof.js"),
    include_str!("../../assets/pages/client.js"),
    include_str!("../../assets/pages/accept.js"),
    include_str!("../../assets/pages/approve.js"),
);

/// Settings of the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagesSettings {
    /// URL under which browsers reach the HTTP listener; `None` for `localhost` with the port of the listener.
    pub url: Option<String>,
    /// Id of the relying party of the passkeys.
    pub relying_party_id: String,
    /// Whether activities of kinds that can be dangerous may be approved in the browser.
    pub allow_high: bool,
}

impl PagesSettings {
    /// Returns the URL of the page for invitations. `base_url` is the URL of the listener.
    pub fn invitation_page(&self, base_url: &str) -> String {
        let local = || {
            let port = base_url.rsplit_once(':').map_or("", |(_, port)| port);
            format!("http://localhost:{port}")
        };
        format!("{}{PATH}{ACCEPT}", self.url.clone().unwrap_or_else(local))
    }
}

/// The files of the pages.
pub struct Pages {
    files: Vec<(&'static str, PageFile)>,
}

impl Pages {
    /// Creates the files.
    pub fn new(settings: &PagesSettings) -> Self {
        let PagesSettings { relying_party_id, allow_high, url: _ } = settings;
        let settings = json!({ "relyingPartyId": relying_party_id, "allowHigh": allow_high }).to_string();
        let built_in = |text: &'static str| Bytes::from_static(text.as_bytes());
        let files = [
            ("", HTML, built_in(include_str!("../../assets/pages/index.html"))),
            (ACCEPT, HTML, built_in(include_str!("../../assets/pages/accept.html"))),
            ("approve", HTML, built_in(include_str!("../../assets/pages/approve.html"))),
            ("pages.css", STYLE, built_in(include_str!("../../assets/pages/pages.css"))),
            ("pages.js", SCRIPT, built_in(SCRIPT_TEXT)),
            ("icon.svg", "image/svg+xml", built_in(include_str!("../../assets/pages/icon.svg"))),
            ("settings.json", "application/json", settings.into()),
        ];
        Self {
            files: files
                .into_iter()
                .filter_map(|(name, kind, bytes)| Some((name, file(kind, bytes)?)))
                .collect(),
        }
    }

    /// Answers a request for the file with this name.
    pub fn answer(&self, name: &str, incoming: &Incoming) -> Answer {
        let Some((name, file)) = self.files.iter().find(|(known, _)| *known == name) else {
            return Answer::not_found();
        };
        if incoming.method != Method::GET {
            return Answer::wrong_method();
        }
        let is_known = incoming.entity_tags.as_ref().is_some_and(|tags| lists(tags, &file.tag));
        let answer = if is_known {
            let file = PageFile { bytes: Bytes::new(), ..file.clone() };
            Answer {
                content: Content::Page(Box::new(file)),
                ..Answer::json(StatusCode::NOT_MODIFIED, Bytes::new())
            }
        } else {
            Answer { content: Content::Page(Box::new(file.clone())), ..Answer::ok(Bytes::new()) }
        };
        answer.cached(if *name == ACCEPT { "no-store" } else { "no-cache" }).of("pages")
    }
}

/// Returns a file with its tag, a digest of its bytes.
fn file(kind: &'static str, bytes: Bytes) -> Option<PageFile> {
    let digest = const_hex::encode(Sha256::digest(&bytes));
    let tag = HeaderValue::try_from(format!("\"{digest}\"")).ok()?;
    Some(PageFile { kind: HeaderValue::from_static(kind), bytes, tag })
}

/// Returns whether a value of `If-None-Match` contains the tag (RFC 9110 §13.1.2).
fn lists(tags: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(tags), Ok(tag)) = (tags.to_str(), tag.to_str()) else { return false };
    tags.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_tags_are_compared_weakly() {
        let check = |tags: &'static str, expected: bool| {
            let tag = HeaderValue::from_static("\"abc\"");
            assert_eq!(lists(&HeaderValue::from_static(tags), &tag), expected, "{tags}");
        };
        check("\"abc\"", true);
        check("W/\"abc\"", true);
        check("\"x\", \"abc\"", true);
        check("*", true);
        check("\"ab\"", false);
        check("abc", false);
        check("", false);
    }

    #[test]
    fn links_name_the_configured_url_or_this_machine() {
        let settings = PagesSettings { url: None, relying_party_id: "localhost".into(), allow_high: false };
        assert_eq!(settings.invitation_page("http://127.0.0.1:8787"), "http://localhost:8787/pages/accept");
        let settings = PagesSettings { url: Some("https://keys.example.org/q".into()), ..settings };
        assert_eq!(
            settings.invitation_page("http://127.0.0.1:8787"),
            "https://keys.example.org/q/pages/accept"
        );
    }
}
