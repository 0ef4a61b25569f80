//! The messages of sign-in flows: mail in text and HTML, and SMS. This module writes messages and never sends
//! them.

mod template;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use quorate_common::bounded::{Email, Label, Phone};

use self::template::{Template, Values, fill};
use crate::error::Corrupt;
use crate::mail::Mail;
use crate::model::Millis;
use crate::sms::Sms;

/// What a link template contains where the secret is inserted.
pub const LINK_SECRET: &str = "%s";
/// What an SMS template contains where the code is inserted.
pub const SMS_CODE: &str = "{{.OtpCode}}";
/// Characters that reorder the text around them.
const BIDIRECTIONAL: [char; 12] = [
    '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
    '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];
/// Maximum number of characters of [`plain_name`].
const PLAIN_NAME_CHARS: usize = 24;
/// Name of the sender if a mail has its own sender address, but no name.
const SENDER_NAME: &str = "Notifications";

const CODE: Template = Template {
    text: include_str!("../../../../assets/mail/code.txt"),
    html: include_str!("../../../../assets/mail/code.html"),
};
const CREDENTIAL: Template = Template {
    text: include_str!("../../../../assets/mail/credential.txt"),
    html: include_str!("../../../../assets/mail/credential.html"),
};
const RECOVERY: Template = Template {
    text: include_str!("../../../../assets/mail/recovery.txt"),
    html: include_str!("../../../../assets/mail/recovery.html"),
};

/// How an application presents itself in messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Branding {
    /// Name of the application; `None` for the name of the organization.
    pub app_name: Option<String>,
    /// URL of a logo, with https. The daemon never fetches it.
    pub logo_url: Option<String>,
    /// Name of the sender.
    pub sender_name: Option<Label>,
    /// Address of the sender, which the configuration must allow.
    pub from: Option<Email>,
    /// Address for replies.
    pub reply_to: Option<Email>,
    /// Link that contains [`LINK_SECRET`] once, where the secret is inserted.
    pub link: Option<String>,
}

impl Branding {
    /// Returns whether a message has the service's sender and no link or logo of the client. It may name an application.
    pub const fn is_plain(&self) -> bool {
        let Self { app_name: _, logo_url, sender_name, from, reply_to, link } = self;
        logo_url.is_none() && sender_name.is_none() && from.is_none() && reply_to.is_none() && link.is_none()
    }
}

/// Returns the mail with a one-time code. A link contains the code as well.
///
/// # Errors
/// If a value contains control characters.
pub fn code(
    to: &Email,
    code: &str,
    minutes: u64,
    branding: &Branding,
    organization: &str,
    now: Millis,
) -> Result<Mail, Corrupt> {
    let app = app_name(branding, organization);
    compose(&CODE, to, &format!("Your code for {app}"), (code, minutes), branding, &app, now)
}

/// Returns the mail with the credential bundle of a new API key: in the link, or as text if there is no link.
///
/// # Errors
/// If a value contains control characters.
pub fn credential(
    to: &Email,
    bundle: &str,
    minutes: u64,
    branding: &Branding,
    organization: &str,
    now: Millis,
) -> Result<Mail, Corrupt> {
    let app = app_name(branding, organization);
    compose(&CREDENTIAL, to, &format!("Sign in to {app}"), (bundle, minutes), branding, &app, now)
}

/// Returns the mail with the credential bundle of a recovery key: in the link, or as text if there is no link.
///
/// # Errors
/// If a value contains control characters.
pub fn recovery(
    to: &Email,
    bundle: &str,
    minutes: u64,
    branding: &Branding,
    organization: &str,
    now: Millis,
) -> Result<Mail, Corrupt> {
    let app = app_name(branding, organization);
    let subject = format!("Recover your account with {app}");
    compose(&RECOVERY, to, &subject, (bundle, minutes), branding, &app, now)
}

/// Returns the SMS with a one-time code. The code replaces each [`SMS_CODE`] of the template.
pub fn code_sms(to: &Phone, code: &str, template: Option<&str>, app_name: &str, now: Millis) -> Sms {
    let app_name = shown(app_name);
    let default = format!("Your code for {app_name} is {SMS_CODE}. Do not share it with anybody.");
    Sms::new(to.clone(), fill(template.unwrap_or(&default), SMS_CODE, code), now)
}

/// Returns the name of the application, or of the organization if the application has none.
fn app_name(branding: &Branding, organization: &str) -> String {
    shown(branding.app_name.as_deref().unwrap_or(organization))
}

/// Returns a text for a message, with the code point in place of each character that moves or reorders other text:
/// control characters, line separators and bidirectional controls (UAX #9). Pages and the console show them in the same way.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() || BIDIRECTIONAL.contains(&letter) || matches!(letter, '\u{2028}' | '\u{2029}')
        {
            // Writing to a string does not fail.
            let _ = write!(shown, "<U+{:04X}>", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Returns a name that people whom the tenant does not know chose, for a message that they have sent: letters and spaces,
/// and few of them, so that it is neither an address nor a phone number nor a message of its own.
pub fn plain_name(name: &str) -> String {
    let letters = name.chars().filter(|one| one.is_alphabetic() || matches!(one, ' ' | '-' | '\''));
    let short: String = letters.take(PLAIN_NAME_CHARS).collect();
    let plain = short.split_whitespace().collect::<Vec<_>>().join(" ");
    if plain.is_empty() { "somebody".to_owned() } else { plain }
}

/// Returns a text for a header of a mail: as [`shown`], and without encoded words (RFC 2047), which mail programs would
/// replace with any text.
pub fn header(text: &str) -> String {
    shown(text).replace("=?", "= ?")
}

/// Renders a mail. `secret` contains the secret and its lifetime in minutes.
fn compose(
    template: &Template,
    to: &Email,
    subject: &str,
    (secret, minutes): (&str, u64),
    branding: &Branding,
    app: &str,
    now: Millis,
) -> Result<Mail, Corrupt> {
    let subject = header(subject);
    let values = Values {
        subject: &subject,
        app,
        lifetime: &lifetime(minutes),
        logo: branding.logo_url.as_deref(),
        link: branding.link.as_deref(),
    };
    let (text, html) = template.render(&values, secret)?;
    let mut mail = Mail::new(to.clone(), subject, text, secret.to_owned(), now);
    mail.html = Some(html);
    let sender_name = branding.sender_name.as_ref().map(|name| header(name.as_str()));
    let default = branding.from.as_ref().map(|_| SENDER_NAME);
    mail.sender_name = sender_name.or(default.map(str::to_owned));
    mail.from.clone_from(&branding.from);
    mail.reply_to.clone_from(&branding.reply_to);
    Ok(mail)
}

/// Returns a lifetime in words, in the largest unit that it is a multiple of.
fn lifetime(minutes: u64) -> String {
    let (count, unit) = match minutes {
        0 => return "less than a minute".to_owned(),
        minutes if minutes % 1440 == 0 => (minutes / 1440, "day"),
        minutes if minutes % 60 == 0 => (minutes / 60, "hour"),
        minutes => (minutes, "minute"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}
