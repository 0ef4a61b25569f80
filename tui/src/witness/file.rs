//! The file of the newest known checkpoint of each activity log.

use std::collections::BTreeMap;
use std::path::Path;

use quorate_common::activity_log::{Checkpoint, VerifierKey};
use quorate_common::ids::OrganizationId;
use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};

/// Maximum size of the file, in bytes.
const SIZE_LIMIT: u64 = 16 * 1024 * 1024;
/// Maximum number of organizations whose logs are known. Those beyond are not compared.
const ORGANIZATIONS: usize = 20_000;

/// The newest known checkpoint of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownLog {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) key: VerifierKey,
    /// The checkpoint as it was signed.
    pub(crate) note: String,
    /// When a daemon stated it, in milliseconds since 1970.
    pub(crate) seen_millis: u64,
    /// What was known before the last restore that this console noticed.
    pub(crate) before: Option<BeforeRestore>,
}

/// What was known of a log before its store was restored from a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BeforeRestore {
    /// Number of entries.
    pub(crate) entries: u64,
    /// When a daemon stated them, in milliseconds since 1970.
    pub(crate) seen_millis: u64,
}

/// The known logs, and the organizations that are in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownLogs {
    /// By the name of the log.
    logs: BTreeMap<String, KnownLog>,
    organizations: BTreeMap<OrganizationId, String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Content {
    logs: Vec<StoredLog>,
    /// Names of the logs of organizations.
    organizations: BTreeMap<OrganizationId, String>,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredLog {
    verifier_key: String,
    checkpoint: String,
    seen_millis: u64,
    before_restore: Option<BeforeRestore>,
}

impl KnownLogs {
    /// Loads the file. Nothing is known if it does not exist. An unreadable file is an error, because starting over would
    /// trust any daemon.
    pub(crate) fn load(path: &Path) -> Result<Self, FileError> {
        match files::read_own(path, SIZE_LIMIT)? {
            Some(bytes) => Self::parse(&bytes).ok_or_else(|| FileError::Content(path.to_owned())),
            None => Ok(Self::default()),
        }
    }

    /// Saves the file, readable by its owner only.
    pub(crate) fn save(&self, path: &Path) -> Result<(), FileError> {
        let log = |known: &KnownLog| StoredLog {
            verifier_key: known.key.to_string(),
            checkpoint: known.note.clone(),
            seen_millis: known.seen_millis,
            before_restore: known.before,
        };
        let content = Content {
            logs: self.logs.values().map(log).collect(),
            organizations: self.organizations.clone(),
        };
        files::write_private(path, serde_json::to_string_pretty(&content).unwrap_or_default().as_bytes())
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let Content { logs, organizations } = serde_json::from_slice(bytes).ok()?;
        let known = |stored: StoredLog| {
            let key: VerifierKey = stored.verifier_key.parse().ok()?;
            let checkpoint = Checkpoint::open(&stored.checkpoint, &key).ok()?;
            let StoredLog { checkpoint: note, seen_millis, before_restore: before, .. } = stored;
            Some((checkpoint.origin.clone(), KnownLog { checkpoint, key, note, seen_millis, before }))
        };
        let logs: BTreeMap<_, _> = logs.into_iter().map(known).collect::<Option<_>>()?;
        organizations.values().all(|log| logs.contains_key(log)).then_some(Self { logs, organizations })
    }

    /// Returns what is known of the log of an organization.
    pub(crate) fn of(&self, organization: OrganizationId) -> Option<&KnownLog> {
        self.logs.get(self.organizations.get(&organization)?)
    }

    /// Returns the log with a name.
    pub(crate) fn named(&self, name: &str) -> Option<&KnownLog> {
        self.logs.get(name)
    }

    /// Returns the log whose checkpoint was stated last.
    pub(crate) fn newest(&self) -> Option<&KnownLog> {
        self.logs.values().max_by_key(|known| known.seen_millis)
    }

    /// Keeps the checkpoint of the log of an organization, unless a newer one is known. Returns whether anything was new.
    pub(crate) fn keep(&mut self, organization: OrganizationId, mut newer: KnownLog) -> bool {
        let name = newer.checkpoint.origin.clone();
        let is_in_log = self.organizations.get(&organization) == Some(&name);
        let has_room =
            self.organizations.len() < ORGANIZATIONS || self.organizations.contains_key(&organization);
        if has_room {
            self.organizations.insert(organization, name.clone());
        }
        let is_added = has_room && !is_in_log;
        match self.logs.get(&name) {
            None if !has_room => false,
            None => {
                self.logs.insert(name, newer);
                true
            }
            Some(known) => {
                let order = |known: &KnownLog| (known.checkpoint.epoch, known.checkpoint.size);
                if order(known) >= order(&newer) {
                    return is_added;
                }
                let is_restored = known.checkpoint.epoch < newer.checkpoint.epoch;
                let before = BeforeRestore { entries: known.checkpoint.size, seen_millis: known.seen_millis };
                newer.before = if is_restored { Some(before) } else { known.before };
                self.logs.insert(name, newer);
                true
            }
        }
    }

    /// Replaces what is known of the log of an organization.
    pub(crate) fn replace(&mut self, organization: OrganizationId, accepted: KnownLog) {
        self.organizations.insert(organization, accepted.checkpoint.origin.clone());
        self.logs.insert(accepted.checkpoint.origin.clone(), accepted);
    }
}
