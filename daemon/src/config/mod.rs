//! Configuration of `quorated serve`: one TOML file, a section per concern, checked in one step.
//!
//! Unknown keys are refused. All problems are reported together, each with its line and key. Secrets are
//! named by path, never written here. Nothing is read from the environment.

mod http;
mod key;
mod limits;
mod log;
mod mail;
mod organizations;
mod policies;
mod section;
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
pub use key::KeySource;
pub use limits::Limits;
pub use log::Log;
pub use mail::Mail;
pub use organizations::Organizations;
pub use policies::Policies;
pub use socket::Socket;
pub use store::Store;

use section::Document;

use crate::outbox::receiver::ReceiverPolicy;

/// Largest configuration file.
const FILE_BYTES: u64 = 1024 * 1024;

/// A checked configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The HTTP door; none when the file has no such section.
    pub http: Option<Http>,
    /// The local socket.
    pub socket: Socket,
    /// Where data is kept.
    pub store: Store,
    /// Where the root key comes from.
    pub key: KeySource,
    /// Which receivers of webhooks are reachable.
    pub webhook: ReceiverPolicy,
    /// How mail is sent, if it is.
    pub mail: Option<Mail>,
    /// Who may make organizations.
    pub organizations: Organizations,
    /// How policies are taken.
    pub policies: Policies,
    /// Logging.
    pub log: Log,
    /// How many of each thing, and how often.
    pub limits: Limits,
}

impl Config {
    /// Reads and checks a file. Relative paths in it are meant from its own directory.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Read { path: path.to_owned(), source };
        let size = fs::metadata(path).map_err(unreadable)?.len();
        if size > FILE_BYTES {
            return Err(unreadable(io::Error::from(io::ErrorKind::FileTooLarge)));
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::check(&text, directory)
            .map_err(|problems| ConfigError::Wrong { path: path.to_owned(), problems: Problems(problems) })
    }

    /// Checks a text; `directory` is what relative paths are meant from.
    pub fn check(text: &str, directory: &Path) -> Result<Self, Vec<Problem>> {
        let mut document = Document::parse(text, directory);
        let http = document.section("http", http::read);
        let socket = document.required_section("socket", socket::read);
        let store = document.required_section("store", store::read);
        let key = document.required_section("key", key::read);
        let webhook = document.section("webhook", webhook::read);
        let mail = document.section("mail", mail::read);
        let organizations = document.section("organizations", organizations::read);
        let policies = document.section("policies", policies::read);
        let log = document.section("log", log::read);
        let limits = document.section("limits", limits::read);
        let problems = document.finish();
        match (socket.flatten(), store.flatten(), key.flatten()) {
            (Some(socket), Some(store), Some(key)) if problems.is_empty() => Ok(Self {
                http: http.flatten(),
                socket,
                store,
                key,
                webhook: webhook.unwrap_or_default(),
                mail: mail.flatten(),
                organizations: organizations.unwrap_or_default(),
                policies: policies.unwrap_or_default(),
                log: log.unwrap_or_default(),
                limits: limits.unwrap_or_default(),
            }),
            _ => Err(problems),
        }
    }
}

/// One thing that is wrong in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Section and key, such as `http.listen`; empty when the text is no TOML at all.
    pub key: String,
    /// What is wrong; never the value of the key.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: ", self.line)?;
        if !self.key.is_empty() {
            write!(formatter, "{}: ", self.key)?;
        }
        formatter.write_str(&self.what)
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// File.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The file says something that it must not.
    #[error("{} is wrong:{problems}", path.display())]
    Wrong {
        /// File.
        path: PathBuf,
        /// All that is wrong, in the order of the lines.
        problems: Problems,
    },
}

/// Several problems, each on a line of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|problem| write!(formatter, "\n  {problem}"))
    }
}
