//! The user's own journal of decisions. It is a file of JSON lines, each with the hash of the line before, so
//! that changed or removed lines are detected. Contains no keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quorate_common::ids::{ActivityId, OrganizationId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ballot::{Ballot, Choice, Outcome, Unconfirmed};
use crate::files::{self, FileError};
use crate::kinds::Sent;
use crate::proof::Review;

/// Maximum number of entries that are listed.
pub(crate) const LISTED: usize = 1000;
/// Maximum size of a journal, in bytes.
const SIZE_LIMIT: u64 = 256 * 1024 * 1024;

/// Maximum number of payments of a transaction that an entry contains, the largest first.
const TRANSFERS_LIMIT: usize = 20;
/// Maximum number of entries that are searched for earlier transfers, the newest ones.
const SEARCHED_ENTRIES: usize = 5_000;

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Entry {
    /// SHA-256 of the line before, in hex; empty on the first line.
    pub(crate) previous: String,
    /// Time of the decision, in milliseconds since the Unix epoch.
    pub(crate) at_millis: u64,
    pub(crate) organization_id: OrganizationId,
    pub(crate) activity_id: ActivityId,
    /// Fingerprint computed by this console.
    pub(crate) fingerprint: String,
    /// Description of the activity as it was shown.
    pub(crate) sentence: String,
    /// `approve`, `reject` or `propose`.
    pub(crate) choice: String,
    /// State of the activity afterwards; `no answer` from before it is sent until an answer is known.
    pub(crate) outcome: String,
    /// Version of the organization that was shown.
    pub(crate) organization_version: u64,
    pub(crate) note: Option<String>,
    /// What the activity moves, if it signs a transaction.
    pub(crate) transfers: Option<Vec<Sent>>,
}

impl Entry {
    /// Creates the entry of a decision on a reviewed activity, with the state of the activity afterwards.
    pub(crate) fn of(
        review: &Review,
        ballot: &Ballot,
        (activity_id, outcome): (ActivityId, &str),
        note: Option<&str>,
        now: u64,
    ) -> Self {
        Self {
            previous: String::new(),
            at_millis: now,
            organization_id: review.activity.organization_id,
            activity_id,
            fingerprint: ballot.fingerprint.to_string(),
            sentence: review.sentence.clone(),
            choice: ballot.choice.word().to_owned(),
            outcome: outcome.to_owned(),
            organization_version: review.organization.head.version,
            note: note.map(str::to_owned),
            transfers: review
                .transfer
                .as_ref()
                .map(|transfer| transfer.sent(now).take(TRANSFERS_LIMIT).collect::<Vec<_>>()),
        }
    }
}

/// Appends a decision, or what has become of it since its last entry.
pub(crate) fn append(path: &Path, mut entry: Entry) -> Result<(), FileError> {
    // Two processes that append at once would both name the same line before.
    let _held = files::hold_private(path)?;
    let bytes = files::read_private(path, SIZE_LIMIT)?.unwrap_or_default();
    let last = bytes.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
    entry.previous = last.map(|line| const_hex::encode(Sha256::digest(line))).unwrap_or_default();
    let line = serde_json::to_string(&entry).unwrap_or_default();
    files::append_private(path, &format!("{line}\n"))
}

/// Returns the transfers that the user approved or proposed and that did not fail, oldest first. Entries that cannot
/// be read are left out; [`verify`] reports them.
pub(crate) fn transfers(path: &Path) -> Result<Vec<Sent>, FileError> {
    let bytes = files::read_private(path, SIZE_LIMIT)?.unwrap_or_default();
    let lines = bytes.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut newest: Vec<Entry> =
        lines.take(SEARCHED_ENTRIES).filter_map(|line| serde_json::from_slice(line).ok()).collect();
    newest.reverse();
    let newest = decisions(newest).into_iter().rev();
    let counts = |entry: &Entry| {
        entry.choice != Choice::Reject.word()
            && ![Outcome::Failed.word(), Outcome::Rejected.word()].contains(&entry.outcome.as_str())
            && ![Unconfirmed::Refused.word(), Unconfirmed::Unsent.word()].contains(&entry.outcome.as_str())
    };
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    // A transfer that the user proposed or approved several times counts once.
    for entry in newest.filter(counts).filter(|entry| seen.insert(entry.activity_id)) {
        let sent = entry.transfers.unwrap_or_default().into_iter();
        found.extend(sent.map(|sent| Sent {
            at_millis: entry.at_millis,
            activity: Some(entry.activity_id),
            ..sent
        }));
    }
    found.reverse();
    Ok(found)
}

/// What a journal contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Journal {
    /// The newest decisions, newest first, at most [`LISTED`]. None of them is behind an invalid line.
    pub(crate) newest: Vec<Entry>,
    /// Number of decisions before the first invalid line.
    pub(crate) count: usize,
    /// Number of the first invalid line, counted from 1.
    pub(crate) broken_at: Option<usize>,
}

/// Reads a journal and verifies its hash chain.
pub(crate) fn read(path: &Path) -> Result<Journal, FileError> {
    let (entries, broken_at) = entries(path)?;
    let mut newest = decisions(entries);
    let count = newest.len();
    newest.reverse();
    newest.truncate(LISTED);
    Ok(Journal { newest, count, broken_at })
}

/// Verifies the hash chain. Returns the number of entries, or the number of the first invalid line.
pub(crate) fn verify(path: &Path) -> Result<Result<usize, usize>, FileError> {
    let (entries, broken) = entries(path)?;
    Ok(broken.map_or(Ok(entries.len()), Err))
}

/// Returns the entries up to the first invalid line, oldest first, and the number of that line if there is one.
pub(crate) fn entries(path: &Path) -> Result<(Vec<Entry>, Option<usize>), FileError> {
    let bytes = files::read_private(path, SIZE_LIMIT)?.unwrap_or_default();
    let mut previous = String::new();
    let mut entries = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Entry>(line) {
            Ok(entry) if entry.previous == previous => {
                previous = const_hex::encode(Sha256::digest(line));
                entries.push(entry);
            }
            _ => {
                let line = entries.len().saturating_add(1);
                return Ok((entries, Some(line)));
            }
        }
    }
    Ok((entries, None))
}

/// Returns each decision with its latest state, in the order in which they were made. An entry without an answer is replaced
/// by that of the answer.
pub(crate) fn decisions(entries: Vec<Entry>) -> Vec<Entry> {
    let key = |entry: &Entry| (entry.at_millis, entry.fingerprint.clone(), entry.choice.clone());
    let mut open = BTreeMap::new();
    let mut decisions: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        let key = key(&entry);
        if let Some(earlier) = open.remove(&key).and_then(|index: usize| decisions.get_mut(index)) {
            *earlier = entry;
            continue;
        }
        if entry.outcome == Unconfirmed::NoAnswer.word() {
            open.insert(key, decisions.len());
        }
        decisions.push(entry);
    }
    decisions
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn decisions_that_failed_or_were_rejected_are_no_transfers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        assert_eq!(transfers(&path).unwrap(), []);
        let sent = |amount: u8| Sent {
            at_millis: 0,
            activity: None,
            from: "a".to_owned(),
            to: "b".to_owned(),
            asset: "c".to_owned(),
            amount: [amount; 32],
        };
        let write = |activity: u8, choice: &str, outcome: &str, transfers: Option<Vec<Sent>>| {
            let entry = Entry {
                previous: String::new(),
                at_millis: activity.into(),
                organization_id: OrganizationId::from_bytes([1; 16]),
                activity_id: ActivityId::from_bytes([activity; 16]),
                fingerprint: "f".to_owned(),
                sentence: "s".to_owned(),
                choice: choice.to_owned(),
                outcome: outcome.to_owned(),
                organization_version: 3,
                note: None,
                transfers,
            };
            append(&path, entry).unwrap();
        };
        write(1, "propose", "waiting", Some(vec![sent(1)]));
        write(2, "reject", "rejected", Some(vec![sent(2)]));
        write(3, "approve", "failed", Some(vec![sent(3)]));
        write(4, "approve", "executed", None);
        write(5, "approve", "executed", Some(vec![sent(5), sent(6)]));
        // The entry from before it was sent is replaced by that of the answer.
        write(7, "approve", "no answer", Some(vec![sent(7)]));
        write(7, "approve", "refused", Some(vec![sent(7)]));
        write(8, "approve", "no answer", Some(vec![sent(8)]));
        // The same activity counts once.
        write(1, "approve", "executed", Some(vec![sent(1)]));
        files::append_private(&path, "not an entry\n").unwrap();
        let found = transfers(&path).unwrap();
        let mut amounts: Vec<u8> = found.iter().map(|sent| sent.amount[0]).collect();
        amounts.sort_unstable();
        assert_eq!(amounts, [1, 5, 6, 8]);
        let listed = read(&path).unwrap();
        let outcomes: Vec<&str> = listed.newest.iter().map(|entry| entry.outcome.as_str()).collect();
        let expected =
            ["executed", "no answer", "refused", "executed", "executed", "failed", "rejected", "waiting"];
        assert_eq!((outcomes.as_slice(), listed.count, listed.broken_at), (&expected[..], 8, Some(10)));
        assert!(found.iter().all(|sent| sent.activity.is_some() && sent.at_millis > 0));
    }

    #[test]
    fn detects_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let entry = |sentence: &str| Entry {
            previous: String::new(),
            at_millis: 1,
            organization_id: OrganizationId::from_bytes([1; 16]),
            activity_id: ActivityId::from_bytes([2; 16]),
            fingerprint: "f".to_owned(),
            sentence: sentence.to_owned(),
            choice: "approve".to_owned(),
            outcome: "waiting".to_owned(),
            organization_version: 3,
            note: None,
            transfers: None,
        };
        assert_eq!(verify(&path).unwrap(), Ok(0));
        for sentence in ["one", "two", "three"] {
            append(&path, entry(sentence)).unwrap();
        }
        assert_eq!(verify(&path).unwrap(), Ok(3));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("two", "twO")).unwrap();
        assert_eq!(verify(&path).unwrap(), Err(3));
        let without: Vec<&str> = text.lines().filter(|line| !line.contains("one")).collect();
        std::fs::write(&path, without.join("\n")).unwrap();
        assert_eq!(verify(&path).unwrap(), Err(1));
    }
}
