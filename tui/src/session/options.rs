//! What the command line and the environment select.

use std::path::PathBuf;

use crate::config::Selection;

/// Heading of the options that every command accepts, in help texts.
pub(crate) const GLOBAL_OPTIONS: &str = "Global options";

/// Global options that select the context.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Context {
    /// Context to use: a section [contexts.NAME] of config.toml [env: `QUORATE_CONTEXT`]
    #[arg(id = "context", long = "context", global = true, help_heading = GLOBAL_OPTIONS, value_name = "NAME", conflicts_with = "credentials")]
    pub(crate) named: Option<String>,
    /// Path of the daemon's local socket [env: `QUORATE_SOCKET`]
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// URL of a daemon elsewhere, https:// [env: `QUORATE_URL`]
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "URL", conflicts_with = "socket")]
    pub(crate) url: Option<String>,
    /// Pin of the TLS key of that daemon: sha256/ and the base64 digest of its public key [env: `QUORATE_PIN`]
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "PIN", conflicts_with = "ca_file")]
    pub(crate) pin: Option<String>,
    /// PEM file of the certificate authorities that may vouch for that daemon, instead of those of the system [env: `QUORATE_CA_FILE`]
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Organization to work with, by id or name; votes are signed for an id only [env: `QUORATE_ORGANIZATION`]
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "ORGANIZATION")]
    pub(crate) organization: Option<String>,
    /// Key to sign with: the name of a key file, agent:KEY, pkcs11:TOKEN/LABEL or fido2:NAME, see `quorate key ls` [env: `QUORATE_KEY`]
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "KEY", conflicts_with = "credentials")]
    pub(crate) key: Option<String>,
    /// Sign with a key from the credentials file that `quorated dev` wrote
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "FILE")]
    pub(crate) credentials: Option<PathBuf>,
    /// User to act as, by name or id [env: `QUORATE_USER`]
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// Read the passphrase from the first line of this file descriptor
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "N")]
    pub(crate) passphrase_fd: Option<u32>,
    /// The environment variables; none unless the program starts with them.
    #[arg(skip)]
    pub(crate) environment: Environment,
}

impl Context {
    /// Returns what the options select.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            socket: self.socket.clone(),
            url: self.url.clone(),
            pin: self.pin.clone(),
            ca_file: self.ca_file.clone(),
            organization: self.organization.clone(),
            user: self.user.clone(),
            key: self.key.clone(),
        }
    }
}

/// Values of the environment variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) context: Option<String>,
    pub(crate) selection: Selection,
}

impl Environment {
    /// Reads the variables. An empty one is not set.
    pub(crate) fn read() -> Self {
        let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        // Text that is not UTF-8 names nothing, and the error shows it.
        let text = |name: &str| of(name).map(|value| value.to_string_lossy().into_owned());
        Self {
            context: text("QUORATE_CONTEXT"),
            selection: Selection {
                socket: of("QUORATE_SOCKET").map(PathBuf::from),
                url: text("QUORATE_URL"),
                pin: text("QUORATE_PIN"),
                ca_file: of("QUORATE_CA_FILE").map(PathBuf::from),
                organization: text("QUORATE_ORGANIZATION"),
                user: text("QUORATE_USER"),
                key: text("QUORATE_KEY"),
            },
        }
    }
}
