//! Who can open the store: slots, and attempts to open one by shares.
//!
//! These are the only paths that a sealed daemon answers. Changes are for the user who runs the daemon.
//!
//! | request | body | answer |
//! |---|---|---|
//! | `GET /console/v1/seal` | | [`SealStatus`] |
//! | `POST /console/v1/unseal` | [`GivenShare`](crate::share::GivenShare) | [`ShareOutcome`] |
//! | `POST /console/v1/seal` | | [`SealStatus`]; the daemon then ends all requests and starts again, sealed |
//! | `POST /console/v1/rotate` | | [`SealingKeyStatus`]; another key seals all records from then on |
//! | `POST /console/v1/backup` | | a backup, in parts |
//! | `GET /console/v1/backup` | | [`BackupFailure`] |
//! | `POST /console/v1/backup/stored` | [`StoredBackup`] | `{}` |
//! | `POST /console/v1/release` | | `{}`; a restored store accepts changes from then on |
//! | `POST /console/v1/rekey` | [`NewShareSet`] | [`Letters`] |
//! | `POST /console/v1/slots` | [`NewKeySlot`] | [`SealStatus`] |
//! | `POST /console/v1/slots/ID/remove` | | [`SealStatus`] |

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::share::ShareLetter;

/// Whether the store is open, and what opens it.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SealStatus {
    /// Whether the daemon is sealed.
    pub sealed: bool,
    /// Public key that shares are encrypted to; absent if no slot waits for shares.
    pub attempt: Option<String>,
    /// Seconds until the attempt ends; absent before its first share.
    pub ends_in_seconds: Option<u64>,
    /// Slots of the store. A store of version 0.1 has one without an id.
    pub slots: Vec<SlotRow>,
}

/// The key that seals records, and whether records of earlier keys remain.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SealingKeyStatus {
    /// Number of its term. The key of term 0 is derived from the store key.
    pub term: u32,
    /// When its term began, in milliseconds since 1970; absent for term 0.
    pub begun: Option<u64>,
    /// Oldest term of which records may remain.
    pub oldest_term: u32,
    /// Number of values that it has sealed, counted ahead in blocks.
    pub sealings: u64,
    /// Number of sealings after which another key follows.
    pub most_sealings: u64,
    /// Number of records of earlier terms that were sealed again since the daemon started.
    pub sealed_again: u64,
}

/// Why the newest backup was not completed.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackupFailure {
    /// Describes the failure; absent if there was none.
    pub failure: Option<String>,
}

/// State of the journal.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JournalStatus {
    /// Time of the newest change in it, in milliseconds since 1970; absent if it has none.
    pub newest: Option<u64>,
    /// Why it cannot be written, so that changes of organizations are rejected; absent if it can.
    pub failure: Option<String>,
}

/// A backup that is durable where it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoredBackup {
    /// Time of which it contains the store, in milliseconds since 1970.
    pub ended: u64,
}

/// A slot.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlotRow {
    /// Id; absent in a store of version 0.1.
    pub id: Option<String>,
    /// Whether the slot opens the store.
    pub state: SlotCondition,
    /// What opens it.
    pub kind: SlotKind,
    /// Number of shares that open it; absent for other kinds.
    pub threshold: Option<u8>,
    /// Holders of its shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<HolderRow>,
    /// Slots that are removed when it becomes active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<String>,
}

/// Whether a slot opens the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SlotCondition {
    /// It opens nothing until enough holders have given their shares.
    Pending,
    /// It opens the store.
    Active,
}

/// What opens a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SlotKind {
    /// A key file.
    File,
    /// A passphrase.
    Passphrase,
    /// Shares of several holders.
    Shares,
    /// A program.
    Command,
    /// A key of a PKCS #11 token.
    Pkcs11,
}

/// Holder of a share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HolderRow {
    /// Number of the share.
    pub index: u8,
    /// Name.
    pub name: String,
    /// Key that the letter was encrypted to: a compressed point of P-256 in hexadecimal digits.
    pub public_key: String,
    /// Whether the share was given in this attempt.
    pub given: bool,
}

/// A new set of shares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewShareSet {
    /// Number of shares that open the slot, at least 2.
    pub threshold: u8,
    /// Holders, at most 16.
    pub holders: Vec<NewHolder>,
    /// Slots that are removed when the new one becomes active.
    pub replaces: Vec<String>,
}

/// Holder of a new share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewHolder {
    /// Name, unique in the set.
    pub name: String,
    /// Public key of P-256 in hexadecimal digits.
    pub public_key: String,
}

/// The letters of a new set of shares. The daemon does not keep them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Letters {
    /// Id of the set and of its slot.
    pub set: String,
    /// One letter for each holder.
    pub letters: Vec<ShareLetter>,
}

/// A new slot for what the daemon reads or calls: exactly one is given.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKeySlot {
    /// Absolute path of the key file, which is created if it is missing.
    pub key_file: Option<String>,
    /// Absolute path of a file whose first line is the passphrase.
    pub passphrase_file: Option<String>,
    /// Absolute path of a program, and its arguments.
    pub command: Option<Vec<String>>,
    /// Key of a PKCS #11 token.
    pub pkcs11: Option<NewTokenSlot>,
}

/// A key of a PKCS #11 token for a new slot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTokenSlot {
    /// Label of the token.
    pub token: String,
    /// Label of the key.
    pub key: String,
    /// Absolute path of the PKCS #11 module of the token.
    pub module: String,
    /// Absolute path of a file whose first line is the PIN of the token.
    pub pin_file: String,
}

/// What a share brought about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareOutcome {
    /// Name of the holder.
    pub holder: String,
    /// Number of shares of the set that were given.
    pub given: u8,
    /// Number of shares that are needed.
    pub threshold: u8,
    /// Whether the slot is open now: the store is opened, or a new slot is active.
    pub open: bool,
    /// State after the share.
    pub status: SealStatus,
}
