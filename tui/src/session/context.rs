//! The context of the console: daemon, organization, user and key. Resolved once from arguments, credentials
//! and configuration; used by the command line and the screens.

use std::path::{Path, PathBuf};

use quorate_common::console::{DaemonStatus, OrganizationDetail};
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::identity::Identity;
use crate::config::Config;
use crate::failure::{Exit, Failure, Result};
use crate::files::{self, FileError, Folders};
use crate::keys::file::KeyFile;
use crate::keys::passphrase;
use crate::link::Client;
use crate::proof::Viewer;
use crate::text::clean;

/// Heading of the options that every command accepts, in help texts.
pub(crate) const GLOBAL_OPTIONS: &str = "Global options";
const CREDENTIALS_LIMIT: u64 = 1024 * 1024;

/// Global options that select the context.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Context {
    /// Path of the daemon's local socket
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Organization to work with; votes are signed for this one only
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "ID")]
    pub(crate) organization: Option<OrganizationId>,
    /// Name of the key to sign with, see `quorate key ls`
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "NAME", conflicts_with = "credentials")]
    pub(crate) key: Option<String>,
    /// Sign with a key from the credentials file that `quorated dev` wrote
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "FILE")]
    pub(crate) credentials: Option<PathBuf>,
    /// User to act as, by name or id
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Read the passphrase from the first line of this file descriptor
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS, value_name = "N")]
    pub(crate) passphrase_fd: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credentials {
    socket: PathBuf,
    organization_id: OrganizationId,
    root_users: Vec<RootUser>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RootUser {
    user_id: UserId,
    user_name: String,
    public_key: String,
    #[serde(deserialize_with = "wiped")]
    private_key: Zeroizing<String>,
}

fn wiped<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(deserializer).map(Zeroizing::new)
}

/// Location of the secret key.
pub(crate) enum KeySource {
    /// No key: read only.
    None,
    /// In a credentials file of a DEV daemon.
    Plain {
        /// Secret P-256 scalar.
        secret: Zeroizing<[u8; 32]>,
        /// Public key in hex.
        public_key: String,
    },
    /// In an encrypted key file.
    File { name: String, file: KeyFile },
}

impl KeySource {
    /// Returns the public key, if there is a key.
    fn public_key(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Plain { public_key, .. } => Some(public_key),
            Self::File { file, .. } => Some(file.public_key()),
        }
    }

    fn name(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Plain { .. } => Some("credentials file".to_owned()),
            Self::File { name, .. } => Some(name.clone()),
        }
    }
}

/// What the arguments, the credentials or the configuration select.
struct Selected {
    socket: PathBuf,
    viewer: Viewer,
    user_name: Option<String>,
    key: KeySource,
    /// See [`Identity::is_of_other`].
    is_of_other: bool,
}

/// A resolved context.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) identity: Identity,
    key: KeySource,
    passphrase: passphrase::Source,
    pub(crate) folders: Folders,
}

impl Session {
    /// Resolves the context without connecting to the daemon.
    pub(crate) fn new(context: &Context, folders: &Folders) -> Result<Self> {
        let Selected { socket, viewer, user_name, key, is_of_other } = match &context.credentials {
            Some(path) => from_credentials(context, path)?,
            None => from_configuration(context, folders)?,
        };
        let identity = Identity {
            viewer,
            user_name,
            public_key: key.public_key().map(str::to_owned),
            key_name: key.name(),
            needs_passphrase: matches!(key, KeySource::File { .. }),
            dev_only: context.credentials.is_some(),
            socket: clean(&socket.display().to_string()),
            is_of_other,
        };
        let passphrase =
            context.passphrase_fd.map_or(passphrase::Source::Terminal, passphrase::Source::Descriptor);
        Ok(Self { client: Client::new(socket), identity, key, passphrase, folders: folders.clone() })
    }

    /// Queries the daemon's status. Fails for a credentials file if the daemon is not a DEV daemon.
    pub(crate) async fn daemon_status(&self) -> Result<DaemonStatus> {
        let status = self.client.status().await?;
        match self.identity.daemon_error(&status) {
            Some(error) => Err(Failure::new(Exit::Denied, error)),
            None => Ok(status),
        }
    }

    /// Queries the daemon's status and checks that user and key, if given, match the organization.
    pub(crate) async fn check_context(&self) -> Result<DaemonStatus> {
        let status = self.daemon_status().await?;
        if self.identity.is_selected() {
            self.organization().await?;
        }
        Ok(status)
    }

    /// Queries the organization and checks that user and key match it.
    pub(crate) async fn organization(&self) -> Result<OrganizationDetail> {
        let organization = self.client.organization(self.organization_id().await?).await?;
        match self.identity.mismatch(&organization) {
            Some(mismatch) => Err(mismatch),
            None => Ok(organization),
        }
    }

    /// Returns the pinned organization, or the only one that the daemon has.
    pub(crate) async fn organization_id(&self) -> Result<OrganizationId> {
        if let Some(id) = self.identity.viewer.organization {
            return Ok(id);
        }
        let page = self.client.organizations(None, None).await?;
        match page.organizations.as_slice() {
            [only] if page.next.is_none() => Ok(only.organization_id),
            [] => Err(Failure::new(Exit::NotFound, "the daemon has no organization yet")),
            _ => Err(Failure::new(
                Exit::Usage,
                "several organizations exist: choose one with --organization ID, see `quorate org ls`",
            )),
        }
    }

    /// Unlocks the key. Prompts for the passphrase if one is needed.
    pub(crate) fn stamper(&self) -> Result<Stamper> {
        let KeySource::File { name, .. } = &self.key else { return self.unlock("") };
        let passphrase = passphrase::read(self.passphrase, &format!("Passphrase for key {name}: "))?;
        self.unlock(&passphrase)
    }

    /// Unlocks the key with this passphrase.
    pub(crate) fn unlock(&self, passphrase: &str) -> Result<Stamper> {
        match &self.key {
            KeySource::None => Err(Failure::new(
                Exit::Usage,
                "no key is selected: name one with --key NAME or in config.toml",
            )),
            KeySource::Plain { secret, .. } => Stamper::new(ApiKeyCurve::P256, secret)
                .map_err(|_| Failure::new(Exit::Failed, "the credentials file contains no valid P-256 key")),
            KeySource::File { file, .. } => Ok(file.unlock(passphrase)?),
        }
    }
}

fn from_configuration(context: &Context, folders: &Folders) -> Result<Selected> {
    let config = Config::load(folders)?;
    let key = match context.key.clone().or(config.key) {
        Some(name) => KeySource::File { file: KeyFile::load(folders, &name)?, name },
        None => KeySource::None,
    };
    let named = context.user.as_ref().and_then(|user| user.parse().ok());
    let is_other = context.organization.is_some() && context.organization != config.organization;
    let is_of_other = is_other && context.user.is_none() && context.key.is_none();
    let viewer = Viewer {
        organization: context.organization.or(config.organization),
        user: named.or(if context.user.is_some() { None } else { config.user }),
    };
    let socket = context.socket.clone().or(config.socket).unwrap_or_else(files::default_socket);
    let user_name = context.user.clone().filter(|_| named.is_none());
    Ok(Selected { socket, viewer, user_name, key, is_of_other })
}

fn from_credentials(context: &Context, path: &Path) -> Result<Selected> {
    let missing = || Failure::new(Exit::NotFound, format!("credentials file {} not found", path.display()));
    let invalid = || FileError::Content(path.to_owned());
    let bytes = Zeroizing::new(files::read_private(path, CREDENTIALS_LIMIT)?.ok_or_else(missing)?);
    let credentials: Credentials = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
    let (user, key) = match &context.user {
        None => (None, KeySource::None),
        Some(wanted) => {
            let named = |user: &&RootUser| user.user_name == *wanted || user.user_id.to_string() == *wanted;
            let unknown = || {
                let text = format!("the credentials file has no user named {}", clean(wanted));
                Failure::new(Exit::NotFound, text)
            };
            let user = credentials.root_users.iter().find(named).ok_or_else(unknown)?;
            let secret = const_hex::decode_to_array(user.private_key.as_str()).map_err(|_| invalid())?;
            let public_key = user.public_key.clone();
            (Some(user.user_id), KeySource::Plain { secret: Zeroizing::new(secret), public_key })
        }
    };
    let organization = context.organization.or(Some(credentials.organization_id));
    let socket = context.socket.clone().unwrap_or(credentials.socket);
    Ok(Selected { socket, viewer: Viewer { organization, user }, user_name: None, key, is_of_other: false })
}
