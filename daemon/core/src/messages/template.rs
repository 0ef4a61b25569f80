//! Templates of mail, and the secret that a message contains. Only this module uses the template library.
//!
//! The library never receives the secret: its buffers are not wiped. A mark takes the place of the secret until
//! the template is rendered.

use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

use super::LINK_SECRET;
use crate::error::Corrupt;

/// Represents the secret in a template. Names and URLs contain no control characters.
const MARK: &str = "\0";

/// A mail in text and HTML, in the language of the template library.
pub(super) struct Template {
    pub(super) text: &'static str,
    pub(super) html: &'static str,
}

/// What templates insert besides the secret.
pub(super) struct Values<'a> {
    pub(super) subject: &'a str,
    pub(super) app: &'a str,
    pub(super) lifetime: &'a str,
    pub(super) logo: Option<&'a str>,
    /// A link that contains [`LINK_SECRET`].
    pub(super) link: Option<&'a str>,
}

impl Template {
    /// Returns the text and the HTML of a mail.
    ///
    /// # Errors
    /// If the secret is not alphanumeric, a value contains control characters, or a template is malformed.
    pub(super) fn render(&self, values: &Values<'_>, secret: &str) -> Result<(String, String), Corrupt> {
        let Values { subject, app, lifetime, logo, link } = values;
        // Such a secret is the same in text, HTML and a URL.
        if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(Corrupt::Invariant("a mailed secret is not alphanumeric"));
        }
        let given = [Some(*subject), Some(*app), Some(*lifetime), *logo, *link];
        if given.into_iter().flatten().any(|value| value.chars().any(char::is_control)) {
            return Err(Corrupt::Invariant("a value of a mail contains control characters"));
        }
        let link = link.map(|link| fill(link, LINK_SECRET, MARK));
        let values = context! { subject, app, lifetime, logo, link, secret => MARK };
        let text = render(self.text, AutoEscape::None, &values)?;
        let html = render(self.html, AutoEscape::Html, &values)?;
        Ok((fill(&text, MARK, secret), fill(&html, MARK, secret)))
    }
}

/// Renders one template. Every value that it uses must be defined.
fn render(source: &str, escape: AutoEscape, values: &Value) -> Result<String, Corrupt> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(move |_| escape);
    environment.set_keep_trailing_newline(true);
    environment.set_trim_blocks(true);
    let rendered = environment.render_str(source, values);
    rendered.map_err(|_| Corrupt::Invariant("a template of a mail cannot be rendered"))
}

/// Replaces each mark in a text. The result is allocated once, so that no part of a secret remains in memory
/// that was freed.
pub(super) fn fill(text: &str, mark: &str, secret: &str) -> String {
    let marks = text.matches(mark).count();
    let mut filled = String::with_capacity(text.len().saturating_add(marks.saturating_mul(secret.len())));
    for (number, part) in text.split(mark).enumerate() {
        if number > 0 {
            filled.push_str(secret);
        }
        filled.push_str(part);
    }
    filled
}
