//! The context of the console: daemon, organization, user and key. Resolved once from arguments, credentials
//! and configuration; used by the command line and the screens.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use quorate_common::console::{DaemonStatus, OrganizationDetail};
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::stamp::Stamp;
use serde::Deserialize;
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

use super::identity::Identity;
use super::names;
use super::options::Context;
use super::reader::ReadingKey;
use super::settings::Settings;
use crate::config::Config;
use crate::failure::{Exit, Failure, Result};
use crate::files::{self, FileError, Folders};
use crate::keys::{self, CredentialsKey, Description, KeySource, Secret, Sources, passphrase};
use crate::link::{Client, Pin, Reader, RemoteUrl, Trust};
use crate::output;
use crate::proof::Viewer;
use crate::text::{clean, quoted};
use crate::witness::Witness;

const CREDENTIALS_LIMIT: u64 = 1024 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credentials {
    socket: PathBuf,
    organization_id: OrganizationId,
    #[serde(default)]
    organization_name: String,
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

/// Where the daemon is.
enum Place {
    Socket(PathBuf),
    /// Elsewhere, and what vouches for its TLS key.
    Url(RemoteUrl, Trust),
}

impl Place {
    /// Returns the place that a URL is.
    ///
    /// # Errors
    /// If the URL, the pin or their combination is not valid.
    fn at_url(url: &str, pin: Option<&str>, ca_file: Option<PathBuf>) -> Result<Self> {
        let invalid = |text: String| Failure::new(Exit::Usage, text);
        let url: RemoteUrl = url.parse().map_err(invalid)?;
        let pin: Option<Pin> =
            pin.map(str::parse).transpose().map_err(|error| invalid(format!("invalid pin: {error}")))?;
        let trust = match (pin, ca_file) {
            (Some(_), Some(_)) => {
                return Err(invalid(
                    "a pin and a file of authorities exclude each other: choose one".to_owned(),
                ));
            }
            (Some(pin), None) => Trust::Pinned(pin),
            (None, Some(path)) => Trust::File(path),
            (None, None) => Trust::System,
        };
        if !url.has_tls() && trust != Trust::System {
            return Err(invalid(
                "a pin or a file of authorities needs a URL that begins with https://".to_owned(),
            ));
        }
        Ok(Self::Url(url, trust))
    }

    /// Returns what vouches for what the daemon states, as the header shows it.
    fn transport(&self) -> &'static str {
        match self {
            Self::Socket(_) => "local socket",
            Self::Url(url, trust) => {
                if url.has_tls() {
                    trust.shown()
                } else {
                    "HTTP on this host"
                }
            }
        }
    }
}

/// What the arguments, the credentials or the configuration select.
struct Selected {
    place: Place,
    viewer: Viewer,
    organization_name: Option<String>,
    user_name: Option<String>,
    /// The key to sign with; read only without one.
    key: Option<Arc<dyn KeySource>>,
    /// The same key once more, which only reads: votes lock and unlock their own.
    reading: Option<Arc<dyn KeySource>>,
    /// See [`Identity::is_of_other`].
    is_of_other: bool,
}

/// A resolved context.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) identity: Identity,
    key: Option<Arc<dyn KeySource>>,
    passphrase: passphrase::Source,
    /// The id of the organization that was named or is the only one, once it is known.
    found: OnceCell<OrganizationId>,
    pub(crate) folders: Folders,
    /// The options that selected this.
    pub(crate) context: Context,
}

impl Session {
    /// Resolves the context without connecting to the daemon.
    pub(crate) fn new(context: &Context, folders: &Folders) -> Result<Self> {
        let selected = match &context.credentials {
            Some(path) => from_credentials(context, path)?,
            None => from_configuration(context, folders)?,
        };
        // A command ends soon, so it unlocks its key once.
        let reading = selected.key.clone();
        Self::of(context, folders, Selected { reading, ..selected })
    }

    /// Resolves the context of a console that runs for long. If the daemon is at a URL, the key is unlocked for reading.
    pub(crate) async fn interactive(context: &Context, folders: &Folders) -> Result<Self> {
        let selected = match &context.credentials {
            Some(path) => from_credentials(context, path)?,
            None => from_configuration(context, folders)?,
        };
        let session = Self::of(context, folders, selected)?;
        session.client.unlock().await?;
        Ok(session)
    }

    fn of(context: &Context, folders: &Folders, selected: Selected) -> Result<Self> {
        let Selected { place, viewer, organization_name, user_name, key, reading, is_of_other } = selected;
        let described = key.as_ref().map(|key| key.describe());
        let viewer = Viewer {
            selected: described
                .map(|key| format!("key {}", quoted(&key.name)))
                .or_else(|| named(&viewer, user_name.as_deref())),
            organization_name: organization_name.clone(),
            ..viewer
        };
        let identity = Identity {
            viewer,
            organization_name,
            user_name,
            public_key: described.map(|key| key.public_key.clone()),
            key_name: described.map(|key| key.name.clone()),
            key_warning: described.and_then(|key| key.warning.clone()),
            needs_passphrase: described.is_some_and(|key| key.secret.is_some()),
            secret: described.and_then(|key| key.secret).unwrap_or_default(),
            dev_only: context.credentials.is_some(),
            socket: String::new(),
            transport: place.transport(),
            is_of_other,
        };
        let passphrase =
            context.passphrase_fd.map_or(passphrase::Source::Terminal, passphrase::Source::Descriptor);
        let client = match place {
            Place::Socket(path) => Client::new(path),
            Place::Url(url, trust) => {
                let reader = reading.map(|key| Arc::new(ReadingKey::new(key, passphrase)) as Arc<dyn Reader>);
                Client::remote(url, &trust, identity.viewer.organization, reader)?
            }
        };
        let client = client.with_witness(Witness::new(folders.checkpoints()));
        let identity = Identity { socket: client.address(), ..identity };
        Ok(Self {
            client,
            identity,
            key,
            passphrase,
            found: OnceCell::new(),
            folders: folders.clone(),
            context: context.clone(),
        })
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

    /// Returns the pinned organization, the one that was named, or the only one that the daemon has.
    pub(crate) async fn organization_id(&self) -> Result<OrganizationId> {
        if let Some(id) = self.identity.viewer.organization {
            return Ok(id);
        }
        let find = async || match &self.identity.organization_name {
            Some(name) => names::organization(&self.client, name).await,
            None => self.only_organization().await,
        };
        self.found.get_or_try_init(find).await.copied()
    }

    async fn only_organization(&self) -> Result<OrganizationId> {
        let page = self.client.organizations(None, None).await?;
        match page.organizations.as_slice() {
            [only] if page.next.is_none() => Ok(only.organization_id),
            [] => Err(Failure::new(Exit::NotFound, "the daemon has no organization yet")),
            _ => Err(Failure::new(
                Exit::Usage,
                "several organizations exist: choose one with --organization, see `quorate org ls`",
            )),
        }
    }

    /// Signs a request body. Prompts for what unlocks the key if it is locked.
    pub(crate) async fn prompt_and_sign(&self, body: &str) -> Result<Stamp> {
        let key = self.key()?;
        let Description { name, secret, warning, .. } = key.describe();
        if let Some(warning) = warning {
            output::warn(warning);
        }
        let needs_touch = secret.is_some_and(Secret::needs_touch);
        let secret = match secret.filter(|_| key.is_locked()) {
            Some(secret) => {
                passphrase::read(self.passphrase, &format!("{} for key {name}: ", secret.word()))?
            }
            None => Zeroizing::default(),
        };
        if needs_touch {
            output::prompt("touch the security key when it blinks");
        }
        // An agent may ask a person, who can still interrupt this program meanwhile.
        let (key, body) = (Arc::clone(key), body.to_owned());
        let signed =
            tokio::task::spawn_blocking(move || keys::sign(key.as_ref(), body.as_bytes(), &secret)).await;
        Ok(signed.map_err(|error| Failure::new(Exit::Failed, error.to_string()))??)
    }

    /// Signs a request body with this passphrase or PIN, which is empty if none is needed.
    pub(crate) fn sign(&self, body: &str, secret: &str) -> Result<Stamp> {
        Ok(keys::sign(self.key()?.as_ref(), body.as_bytes(), secret)?)
    }

    /// Cancels a signature that waits for a person.
    pub(crate) fn cancel_signature(&self) {
        if let Some(key) = &self.key {
            key.cancel();
        }
    }

    /// Wipes what unlocks the key.
    pub(crate) fn lock(&self) {
        if let Some(key) = &self.key {
            key.lock();
        }
    }

    /// Returns whether the key needs a passphrase or PIN to sign. Waits while it signs.
    pub(crate) fn is_locked(&self) -> bool {
        self.key.as_ref().is_none_or(|key| key.is_locked())
    }

    /// Wipes what unlocks the key, also for reading at a URL.
    pub(crate) fn lock_all(&self) {
        self.lock();
        self.client.lock();
    }

    fn key(&self) -> Result<&Arc<dyn KeySource>> {
        let none =
            || Failure::new(Exit::Usage, "no key is selected: name one with --key KEY or in config.toml");
        self.key.as_ref().ok_or_else(none)
    }
}

fn from_configuration(context: &Context, folders: &Folders) -> Result<Selected> {
    let config = Config::load(folders)?;
    let settings = Settings::of(context, &config)?;
    let Settings { socket, url, pin, ca_file, organization, user, key, is_of_other, .. } = settings;
    let place = match url {
        None => Place::Socket(socket.value),
        Some(url) => {
            let pin = pin.map(|pin| pin.value);
            Place::at_url(&url.value, pin.as_deref(), ca_file.map(|file| file.value))?
        }
    };
    let open = || key.as_ref().map(|key| Sources::configured(folders, &config).open(&key.value)).transpose();
    let key_again = if matches!(place, Place::Url(..)) { open()? } else { None };
    let key = open()?;
    let (organization, organization_name) = id_or_name(organization.map(|setting| setting.value));
    let (user, user_name) = id_or_name(user.map(|setting| setting.value));
    let viewer =
        Viewer { organization, user, is_remote: matches!(place, Place::Url(..)), ..Viewer::default() };
    Ok(Selected { place, viewer, organization_name, user_name, key, reading: key_again, is_of_other })
}

/// Returns the user who was selected without a key.
fn named(viewer: &Viewer, user_name: Option<&str>) -> Option<String> {
    let user = user_name.map(quoted).or_else(|| viewer.user.map(|id| id.to_string()))?;
    Some(format!("user {user}"))
}

/// Returns the id that a text is, otherwise the name.
fn id_or_name<T: FromStr>(text: Option<String>) -> (Option<T>, Option<String>) {
    let id = text.as_ref().and_then(|text| text.parse().ok());
    let name = if id.is_some() { None } else { text };
    (id, name)
}

fn credentials(path: &Path) -> Result<Credentials> {
    let missing = || Failure::new(Exit::NotFound, format!("credentials file {} not found", path.display()));
    let bytes = Zeroizing::new(files::read_private(path, CREDENTIALS_LIMIT)?.ok_or_else(missing)?);
    Ok(serde_json::from_slice(&bytes).map_err(|_| FileError::Content(path.to_owned()))?)
}

/// Checks that a credentials file can be used.
pub(crate) fn check_credentials(path: &Path) -> Result<()> {
    credentials(path).map(drop)
}

fn from_credentials(context: &Context, path: &Path) -> Result<Selected> {
    let invalid = || FileError::Content(path.to_owned());
    let credentials = credentials(path)?;
    let (user, key) = match &context.user {
        None => (None, None),
        Some(wanted) => {
            let named = |user: &&RootUser| user.user_name == *wanted || user.user_id.to_string() == *wanted;
            let unknown = || {
                let text = format!("the credentials file has no user named {}", clean(wanted));
                Failure::new(Exit::NotFound, text)
            };
            let user = credentials.root_users.iter().find(named).ok_or_else(unknown)?;
            let secret = const_hex::decode_to_array(user.private_key.as_str()).map_err(|_| invalid())?;
            let key = CredentialsKey::new(Zeroizing::new(secret), user.public_key.clone());
            (Some(user.user_id), Some(Arc::new(key) as Arc<dyn KeySource>))
        }
    };
    let is_own = |name: &String| *name == credentials.organization_name;
    let (id, organization_name) = id_or_name(context.organization.clone().filter(|name| !is_own(name)));
    let own = organization_name.is_none().then_some(credentials.organization_id);
    let place = match &context.url {
        None => Place::Socket(context.socket.clone().unwrap_or(credentials.socket)),
        Some(url) => Place::at_url(url, context.pin.as_deref(), context.ca_file.clone())?,
    };
    let is_remote = matches!(place, Place::Url(..));
    let viewer = Viewer { organization: id.or(own), user, is_remote, ..Viewer::default() };
    // Such a key is never locked.
    let reading = key.clone();
    Ok(Selected { place, viewer, organization_name, user_name: None, key, reading, is_of_other: false })
}
