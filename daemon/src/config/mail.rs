//! Section `[mail]`: the server that takes mail. Its password stands in a file of its own.

use std::path::PathBuf;
use std::str::FromStr;

use super::section::Section;
use crate::outbox::mail::{MailServer, Sender};

/// How mail is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The server.
    pub server: MailServer,
    /// Who mail is from.
    pub sender: Sender,
    /// Name at the server and the file of the password, if it asks for them.
    pub login: Option<(String, PathBuf)>,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Mail> {
    if section.has("server") != section.has("from") {
        section.complain("server and from belong together");
    }
    let server = section.parsed::<MailServer>("server");
    let sender = section.parsed::<Sender>("from");
    let plain = section.flag("allow_plain").unwrap_or_default();
    let login = match (section.text("username"), section.path("password_file")) {
        (Some(name), Some(file)) => Some((name, file)),
        (None, None) => None,
        _ => {
            section.complain("username and password_file belong together");
            None
        }
    };
    let server = server?;
    if login.is_some() && plain {
        section.complain("a password is not sent over a connection that may be plain");
    }
    Some(Mail { server: if plain { server.plain() } else { server }, sender: sender?, login })
}

impl FromStr for Sender {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or(r#"must be an address, such as "Quorate <quorate@example.org>""#)
    }
}
