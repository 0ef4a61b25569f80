//! Configuration of `quorated serve`: one TOML file with a section per concern, validated in one step.
//!
//! Unknown keys are rejected. All problems are reported together, each with its line and key. Secrets are
//! referenced by path and never part of the file. Environment variables are not read.

mod auth_proxy;
mod http;
mod journal;
mod key;
mod limits;
mod log;
mod mail;
mod oauth2;
mod oidc;
mod organizations;
mod pages;
mod policies;
mod relations;
mod section;
mod sms;
mod socket;
mod store;
mod webhook;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use http::{Http, TlsFiles};
pub use key::{KeySource, TokenLabels};
pub use limits::Limits;
pub use log::Log;
pub use mail::Mail;
pub use organizations::Organizations;
pub use pages::Pages;
pub use policies::Policies;
pub use sms::Sms;
pub use socket::Socket;
pub use store::{Database, Store};

use relations::Relations;
use section::Document;

use crate::auth_proxy::Settings;
use crate::issuers::OidcSettings;
use crate::oauth2::Oauth2Settings;
use crate::outgoing::ReceiverPolicy;

/// Maximum size of a configuration file, in bytes.
const FILE_BYTES: u64 = 1024 * 1024;

/// A validated configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// HTTP listener; `None` if the file has no `[http]` section.
    pub http: Option<Http>,
    /// The local socket.
    pub socket: Socket,
    /// Location of the data.
    pub store: Store,
    /// Path of the journal; `None` if there is none.
    pub journal: Option<PathBuf>,
    /// Source of the root key.
    pub key: KeySource,
    /// Webhook receivers that may be reached.
    pub webhook: ReceiverPolicy,
    /// OpenID Connect issuers whose ID tokens are accepted.
    pub oidc: OidcSettings,
    /// Sign-in with OAuth 2.0 providers; `None` if it is not enabled.
    pub oauth2: Option<Oauth2Settings>,
    /// Mail settings; `None` if no mail is sent.
    pub mail: Option<Mail>,
    /// SMS settings; `None` if no SMS is sent.
    pub sms: Option<Sms>,
    /// The pages for browsers; `None` if they are not served.
    pub pages: Option<Pages>,
    /// Who may create organizations.
    pub organizations: Organizations,
    /// How policies are evaluated.
    pub policies: Policies,
    /// The authentication proxy; `None` if it is not served.
    pub auth_proxy: Option<Settings>,
    /// Log settings.
    pub log: Log,
    /// Limits on rates, memory and the number of resources.
    pub limits: Limits,
}

impl Config {
    /// Reads and validates a file. Relative paths in it are resolved from its directory.
    ///
    /// # Errors
    /// Returns [`ConfigError`] if the file cannot be read, exceeds 1 MiB or is invalid.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Read { path: path.to_owned(), source };
        let size = fs::metadata(path).map_err(unreadable)?.len();
        if size > FILE_BYTES {
            return Err(unreadable(io::Error::from(io::ErrorKind::FileTooLarge)));
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::check(&text, directory)
            .map_err(|problems| ConfigError::Invalid { path: path.to_owned(), problems: Problems(problems) })
    }

    /// Validates a text. Relative paths are resolved from `directory`.
    ///
    /// # Errors
    /// Returns all problems, in the order of their lines.
    pub fn check(text: &str, directory: &Path) -> Result<Self, Vec<Problem>> {
        let mut document = Document::parse(text, directory);
        let http = document.section("http", http::read);
        let socket = document.required_section("socket", socket::read);
        let store = document.required_section("store", store::read);
        let journal = document.section("journal", journal::read);
        let key = document.required_section("key", key::read);
        let webhook = document.section("webhook", webhook::read);
        let oidc = document.section("oidc", oidc::read).unwrap_or_default();
        let oauth2 = document.section("oauth2", oauth2::read).flatten();
        let mail = document.section("mail", mail::read).flatten();
        let sms = document.section("sms", sms::read).flatten();
        let pages = document.section("pages", pages::read);
        let organizations = document.section("organizations", organizations::read);
        let policies = document.section("policies", policies::read);
        let auth_proxy = document.section("auth_proxy", auth_proxy::read).flatten();
        // Codes by mail are a default only where mail can be sent.
        let lacks_mail = mail.is_none() && !document.has("auth_proxy", "methods");
        let auth_proxy =
            auth_proxy.map(|settings: Settings| if lacks_mail { settings.without_mail() } else { settings });
        let log = document.section("log", log::read);
        let limits = document.section("limits", limits::read);
        let (sends_mail, sends_sms) = (mail.is_some(), sms.is_some());
        let (oauth2_settings, proxy) = (oauth2.as_ref(), auth_proxy.as_ref());
        Relations { sends_mail, sends_sms, oidc: &oidc, oauth2: oauth2_settings, auth_proxy: proxy }
            .check(&mut document);
        let problems = document.finish();
        match (socket.flatten(), store.flatten(), key.flatten()) {
            (Some(socket), Some(store), Some(key)) if problems.is_empty() => Ok(Self {
                http: http.flatten(),
                socket,
                store,
                journal: journal.flatten(),
                key,
                webhook: webhook.unwrap_or_default(),
                auth_proxy: auth_proxy
                    .map(|settings| settings.within(&oidc).with_own_issuer(oauth2.as_ref())),
                oidc,
                oauth2,
                mail,
                sms,
                pages: pages.flatten(),
                organizations: organizations.unwrap_or_default(),
                policies: policies.unwrap_or_default(),
                log: log.unwrap_or_default(),
                limits: limits.unwrap_or_default(),
            }),
            _ => Err(problems),
        }
    }

    /// Returns what may be intended, but more likely is a mistake.
    pub fn warnings(&self) -> Vec<String> {
        relations::warnings(self)
    }
}

/// One problem in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line number, from 1.
    pub line: usize,
    /// Section and key, such as `http.listen`; empty if the text is not valid TOML.
    pub key: String,
    /// Description of the problem; never contains the value of the key.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: ", self.line)?;
        if !self.key.is_empty() {
            write!(formatter, "{}: ", self.key)?;
        }
        formatter.write_str(&self.message)
    }
}

/// An error while reading a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the read.
        #[source]
        source: io::Error,
    },
    /// The file has invalid contents.
    #[error("{}: invalid configuration:{problems}", path.display())]
    Invalid {
        /// Path of the file.
        path: PathBuf,
        /// All problems, in the order of their lines.
        problems: Problems,
    },
}

/// Problems, printed one per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|problem| write!(formatter, "\n  {problem}"))
    }
}
