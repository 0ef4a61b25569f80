//! Section `[mail]`: the mail server. Its password is in a separate file.

use std::path::PathBuf;
use std::str::FromStr;

use super::section::Section;
use crate::outbox::mail::{MailServer, Sender, SenderDomain};

/// Mail settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// Server that accepts outgoing mail.
    pub server: MailServer,
    /// Sender address.
    pub sender: Sender,
    /// Domains that mail may be sent from, besides the sender address.
    pub domains: Vec<SenderDomain>,
    /// Whether users of sub-organizations may customize the sender, the logo and the link of mail.
    pub child_branding: bool,
    /// User name and password file, if the server requires a login.
    pub login: Option<(String, PathBuf)>,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Mail> {
    if section.has("server") != section.has("from") {
        section.report("server and from must be set together");
    }
    let server = section.parsed::<MailServer>("server");
    let sender = section.parsed::<Sender>("from");
    let domains = section.parsed_list::<SenderDomain>("from_domains").unwrap_or_default();
    let child_branding = section.flag("sub_organization_branding").unwrap_or_default();
    let plain = section.flag("allow_plain").unwrap_or_default();
    let login = match (section.text("username"), section.path("password_file")) {
        (Some(name), Some(file)) => Some((name, file)),
        (None, None) => None,
        _ => {
            section.report("username and password_file must be set together");
            None
        }
    };
    let server = server?;
    if login.is_some() && plain {
        section.report("allow_plain cannot be combined with a password, which could be sent without TLS");
    }
    let server = if plain { server.plain() } else { server };
    Some(Mail { server, sender: sender?, domains, child_branding, login })
}

impl FromStr for Sender {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or(r#"must be an address, such as "Quorate <quorate@example.org>""#)
    }
}
