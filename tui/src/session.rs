//! The context of the console: daemon, organization, user and key. Resolved once from arguments, credentials
//! and configuration; used by the command line and the screens.

use std::path::{Path, PathBuf};

use quorate_common::activity::{Activity, Status};
use quorate_common::console::{ActivityRow, DaemonStatus, Mode, OrganizationDetail};
use quorate_common::ids::{ActivityId, OrganizationId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_common::wire::User;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::ballot::{Ballot, Choice, Outcome};
use crate::book::Book;
use crate::clock::now_millis;
use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::files::{self, FileError, Folders};
use crate::journal::{self, Entry};
use crate::keys::file::KeyFile;
use crate::keys::{canonical, passphrase};
use crate::known_keys::KnownKeys;
use crate::link::Client;
use crate::proof::{BURST, BURST_MILLIS, Evidence, Review, Sibling, Siblings, Viewer, rival};
use crate::text::{clean, quoted};

const CREDENTIALS_LIMIT: u64 = 1024 * 1024;

/// Global options that select the context.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Context {
    /// Path of the daemon's local socket
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Organization to work with; votes are signed for this one only
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) organization: Option<OrganizationId>,
    /// Name of the key to sign with, see `quorate key ls`
    #[arg(long, global = true, value_name = "NAME", conflicts_with = "credentials")]
    pub(crate) key: Option<String>,
    /// Credentials file of a DEV daemon, instead of a configured key
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) credentials: Option<PathBuf>,
    /// User to act as, by name or id
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Read the passphrase from the first line of this file descriptor
    #[arg(long, global = true, value_name = "N")]
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

/// The user and key of the console, without any secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Pinned organization and user, as far as they were given.
    pub(crate) viewer: Viewer,
    /// User name, if no user id was given.
    pub(crate) user_name: Option<String>,
    pub(crate) public_key: Option<String>,
    pub(crate) key_name: Option<String>,
    /// Whether a passphrase is needed to sign.
    pub(crate) needs_passphrase: bool,
    /// Whether only a DEV daemon may be used.
    pub(crate) dev_only: bool,
    /// Socket path, cleaned.
    pub(crate) socket: String,
}

impl Identity {
    /// Returns the viewer within this organization: the user who was given, otherwise the holder of the key.
    pub(crate) fn viewer_in(&self, organization: &OrganizationDetail) -> Viewer {
        let by_name = || {
            let wanted = self.user_name.as_ref()?;
            organization.users.iter().find(|user| user.user_name == *wanted).map(|user| user.user_id)
        };
        let by_key = || {
            let public = self.public_key.as_ref()?;
            let holds = |user: &&User| {
                user.api_keys.iter().any(|key| key.credential.public_key.eq_ignore_ascii_case(public))
            };
            organization.users.iter().find(holds).map(|user| user.user_id)
        };
        let user = if self.user_name.is_some() { by_name() } else { self.viewer.user.or_else(by_key) };
        Viewer { organization: self.viewer.organization, user }
    }

    /// Returns whether a user or a key was given and must therefore match the organization.
    pub(crate) const fn is_selected(&self) -> bool {
        self.user_name.is_some() || self.viewer.user.is_some() || self.public_key.is_some()
    }

    /// Returns why user and key do not match an organization, if so. The user must be a member, and the key
    /// must belong to the user.
    pub(crate) fn mismatch(&self, organization: &OrganizationDetail) -> Option<Failure> {
        let id = organization.head.organization_id;
        let is_wanted = |user: &&User| match &self.user_name {
            Some(name) => user.user_name == *name,
            None => Some(user.user_id) == self.viewer.user,
        };
        let mut wanted = organization.users.iter().filter(is_wanted);
        let user = wanted.next();
        let named = self.user_name.clone().or_else(|| self.viewer.user.map(|user| user.to_string()));
        match (&named, user) {
            (Some(name), None) => {
                return Some(Failure::new(
                    Exit::NotFound,
                    format!("user {} is not in organization {id}", quoted(name)),
                ));
            }
            (Some(name), Some(_)) if wanted.next().is_some() => {
                let text =
                    format!("several users of organization {id} are named {}: use the user id", quoted(name));
                return Some(Failure::new(Exit::Usage, text));
            }
            _ => {}
        }
        let public = self.public_key.as_ref()?;
        let has = |user: &User| {
            let mut keys = user.api_keys.iter();
            keys.any(|key| canonical(&key.credential.public_key) == canonical(public))
        };
        let key = quoted(self.key_name.as_deref().unwrap_or_default());
        let text = match user {
            Some(user) if has(user) => return None,
            Some(user) => format!("key {key} is not an API key of user {}", quoted(&user.user_name)),
            None if organization.users.iter().any(has) => return None,
            None => format!("key {key} is not an API key of any user of organization {id}"),
        };
        Some(Failure::new(Exit::Denied, text))
    }

    /// Returns why this daemon cannot be used, if so. A credentials file works with DEV daemons only.
    pub(crate) fn daemon_error(&self, status: &DaemonStatus) -> Option<String> {
        let refused = self.dev_only && status.mode != Mode::Dev;
        refused.then(|| "a credentials file is for DEV daemons only; this is a production daemon".to_owned())
    }
}

/// A resolved context.
pub(crate) struct Session {
    pub(crate) client: Client,
    /// Pinned organization and user.
    pub(crate) viewer: Viewer,
    /// User name, until the organization maps it to an id.
    user_name: Option<String>,
    pub(crate) key: KeySource,
    /// Whether only a DEV daemon may be used.
    dev_only: bool,
    passphrase: passphrase::Source,
    pub(crate) folders: Folders,
}

impl Session {
    /// Resolves the context without connecting to the daemon.
    pub(crate) fn new(context: &Context, folders: &Folders) -> Result<Self, Failure> {
        let passphrase =
            context.passphrase_fd.map_or(passphrase::Source::Ask, passphrase::Source::Descriptor);
        if let Some(path) = &context.credentials {
            return Self::from_credentials(context, path, passphrase, folders);
        }
        let config = Config::load(folders)?;
        let key = match context.key.clone().or(config.key) {
            Some(name) => KeySource::File { file: KeyFile::load(folders, &name)?, name },
            None => KeySource::None,
        };
        let named = context.user.as_ref().and_then(|user| user.parse().ok());
        Ok(Self {
            client: Client::new(
                context.socket.clone().or(config.socket).unwrap_or_else(files::default_socket),
            ),
            viewer: Viewer {
                organization: context.organization.or(config.organization),
                user: named.or(if context.user.is_some() { None } else { config.user }),
            },
            user_name: context.user.clone().filter(|_| named.is_none()),
            key,
            dev_only: false,
            passphrase,
            folders: folders.clone(),
        })
    }

    fn from_credentials(
        context: &Context,
        path: &Path,
        passphrase: passphrase::Source,
        folders: &Folders,
    ) -> Result<Self, Failure> {
        let missing =
            || Failure::new(Exit::NotFound, format!("credentials file {} not found", path.display()));
        let bytes = Zeroizing::new(files::read_secret(path, CREDENTIALS_LIMIT)?.ok_or_else(missing)?);
        let credentials: Credentials =
            serde_json::from_slice(&bytes).map_err(|_| FileError::Content(path.to_owned()))?;
        let (user, key) = match &context.user {
            None => (None, KeySource::None),
            Some(wanted) => {
                let named =
                    |user: &&RootUser| user.user_name == *wanted || user.user_id.to_string() == *wanted;
                let unknown = || {
                    Failure::new(
                        Exit::NotFound,
                        format!("the credentials file has no user named {}", clean(wanted)),
                    )
                };
                let user = credentials.root_users.iter().find(named).ok_or_else(unknown)?;
                let secret = const_hex::decode_to_array(user.private_key.as_str())
                    .map_err(|_| FileError::Content(path.to_owned()))?;
                (
                    Some(user.user_id),
                    KeySource::Plain { secret: Zeroizing::new(secret), public_key: user.public_key.clone() },
                )
            }
        };
        Ok(Self {
            client: Client::new(context.socket.clone().unwrap_or(credentials.socket)),
            viewer: Viewer { organization: context.organization.or(Some(credentials.organization_id)), user },
            user_name: None,
            key,
            dev_only: true,
            passphrase,
            folders: folders.clone(),
        })
    }

    /// Returns the public key, if there is a key.
    pub(crate) fn public_key(&self) -> Option<&str> {
        match &self.key {
            KeySource::None => None,
            KeySource::Plain { public_key, .. } => Some(public_key),
            KeySource::File { file, .. } => Some(file.public_key()),
        }
    }

    /// Queries the daemon's status. Fails for a credentials file if the daemon is not a DEV daemon.
    pub(crate) async fn daemon_status(&self) -> Result<DaemonStatus, Failure> {
        let status = self.client.status().await?;
        match self.identity().daemon_error(&status) {
            Some(error) => Err(Failure::new(Exit::Denied, error)),
            None => Ok(status),
        }
    }

    /// Queries the daemon's status and checks that user and key, if given, match the organization.
    pub(crate) async fn check_context(&self) -> Result<DaemonStatus, Failure> {
        let status = self.daemon_status().await?;
        if self.identity().is_selected() {
            self.organization().await?;
        }
        Ok(status)
    }

    /// Queries the organization and checks that user and key match it.
    pub(crate) async fn organization(&self) -> Result<OrganizationDetail, Failure> {
        let organization = self.client.organization(self.organization_id().await?).await?;
        match self.identity().mismatch(&organization) {
            Some(mismatch) => Err(mismatch),
            None => Ok(organization),
        }
    }

    /// Returns the pinned organization, or the only one that the daemon has.
    pub(crate) async fn organization_id(&self) -> Result<OrganizationId, Failure> {
        if let Some(id) = self.viewer.organization {
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

    /// Returns the viewer within this organization.
    pub(crate) fn viewer_in(&self, organization: &OrganizationDetail) -> Viewer {
        self.identity().viewer_in(organization)
    }

    /// Returns the user and key without any secret.
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            viewer: self.viewer.clone(),
            user_name: self.user_name.clone(),
            public_key: self.public_key().map(str::to_owned),
            key_name: match &self.key {
                KeySource::None => None,
                KeySource::Plain { .. } => Some("credentials file".to_owned()),
                KeySource::File { name, .. } => Some(name.clone()),
            },
            needs_passphrase: matches!(self.key, KeySource::File { .. }),
            dev_only: self.dev_only,
            socket: clean(&self.client.socket().display().to_string()),
        }
    }

    /// Fetches and examines one activity.
    pub(crate) async fn review(&self, reference: &str) -> Result<Review, Failure> {
        let reference = checked_reference(reference)?;
        self.daemon_status().await?;
        let id = self.organization_id().await?;
        let record = self.client.record(id, &reference).await?;
        if let Some(mismatch) = self.identity().mismatch(&record.organization) {
            return Err(mismatch);
        }
        let siblings = self.siblings(id, &record.row.activity).await?;
        let known_keys = pin_keys(&self.folders, &record.organization)?;
        let book = Book::load(&self.folders.book())?;
        let viewer = self.viewer_in(&record.organization);
        Ok(Review::of(&Evidence {
            record: &record,
            siblings: &siblings,
            known_keys: &known_keys,
            book: &book,
            viewer: &viewer,
            now: now_millis(),
            reference: Some(&reference),
        }))
    }

    /// Returns all waiting activities of the organization.
    pub(crate) async fn waiting(&self, id: OrganizationId) -> Result<Vec<ActivityRow>, Failure> {
        let mut rows = Vec::new();
        let mut after = None;
        loop {
            let page = self.client.waiting(id, after).await?;
            rows.extend(page.activities);
            after = page.next;
            if after.is_none() {
                return Ok(rows);
            }
        }
    }

    /// Returns the other waiting activities that affect the flags of this one. They are few among all that
    /// wait.
    async fn siblings(&self, id: OrganizationId, activity: &Activity) -> Result<Siblings, Failure> {
        let mut rivals = Vec::new();
        if let Some(rival) = rival(&activity.activity_type) {
            let types = [rival.to_owned()];
            let page = self.client.activities(id, &[Status::ConsensusNeeded], &types, None, 2).await?;
            rivals.extend(page.activities.iter().filter_map(|row| Sibling::of(&row.activity)));
        }
        let proposer = activity.votes.first().map(|vote| vote.user_id);
        let created = activity.created_at.millis();
        let since = created.saturating_sub(BURST_MILLIS);
        let mut recent: Vec<Sibling> = Vec::new();
        let mut after = None;
        loop {
            let page = self.client.waiting(id, after).await?;
            let siblings = page.activities.iter().filter_map(|row| Sibling::of(&row.activity));
            let all: Vec<Sibling> = siblings.collect();
            let is_old = all.iter().any(|sibling| sibling.created < since);
            // A sibling that was already found by its type would count twice as a rival.
            let own = all.into_iter().filter(|sibling| {
                sibling.proposer == proposer && sibling.created.abs_diff(created) <= BURST_MILLIS
            });
            recent.extend(own.map(|sibling| Sibling { rival: None, ..sibling }));
            after = page.next;
            if is_old || after.is_none() || recent.len() > BURST {
                break;
            }
        }
        let rivals = rivals.into_iter().map(|sibling| Sibling { proposer: None, ..sibling });
        Ok(rivals.chain(recent).collect())
    }

    /// Unlocks the key. Asks for the passphrase if one is needed.
    pub(crate) fn stamper(&self) -> Result<Stamper, Failure> {
        let KeySource::File { name, .. } = &self.key else { return self.unlock("") };
        let passphrase = passphrase::read(self.passphrase, &format!("Passphrase for key {name}: "))?;
        self.unlock(&passphrase)
    }

    /// Unlocks the key with this passphrase.
    pub(crate) fn unlock(&self, passphrase: &str) -> Result<Stamper, Failure> {
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

/// Pins new keys, names and the quorum of the organization, and returns the known keys.
pub(crate) fn pin_keys(folders: &Folders, organization: &OrganizationDetail) -> Result<KnownKeys, Failure> {
    let path = folders.known_keys();
    let mut known_keys = KnownKeys::load(&path)?;
    if known_keys.pin_new(organization, now_millis()) {
        known_keys.save(&path)?;
    }
    Ok(known_keys)
}

/// Appends the decision to the user's journal.
pub(crate) fn record_decision(
    folders: &Folders,
    review: &Review,
    ballot: &Ballot,
    (activity_id, outcome): (ActivityId, &str),
    note: Option<&str>,
) -> Result<(), Failure> {
    let entry = Entry {
        previous: String::new(),
        at_millis: now_millis(),
        organization_id: review.activity.organization_id,
        activity_id,
        fingerprint: ballot.fingerprint.to_string(),
        sentence: review.sentence.clone(),
        choice: ballot.choice.word().to_owned(),
        outcome: outcome.to_owned(),
        organization_version: review.organization.head.version,
        note: note.map(str::to_owned),
    };
    Ok(journal::append(&folders.journal(), entry)?)
}

/// Returns the target activity of a vote and its outcome. The daemon answers a rejection with the vote's own
/// activity, so the target is read again.
pub(crate) async fn resolve_outcome(
    client: &Client,
    ballot: &Ballot,
    answered: Activity,
    id: OrganizationId,
) -> Result<(Activity, Outcome), Failure> {
    let target = match ballot.choice {
        Choice::Approve | Choice::Propose => answered,
        Choice::Reject => client.record(id, &ballot.fingerprint.to_string()).await?.row.activity,
    };
    let outcome = Outcome::of(target.status);
    Ok((target, outcome))
}

/// Validates an activity reference. Accepts only an activity id or a fingerprint, so that it cannot change
/// the request path.
fn checked_reference(reference: &str) -> Result<String, Failure> {
    let bare = reference.strip_prefix("sha256:").unwrap_or(reference);
    let is_hash = bare.len() == 64 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        return Ok(format!("sha256:{}", bare.to_ascii_lowercase()));
    }
    match reference.parse::<ActivityId>() {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(Failure::new(
            Exit::Usage,
            "invalid reference: use an activity id or a fingerprint (sha256: and 64 hex digits)",
        )),
    }
}
