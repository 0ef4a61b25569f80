//! The user's own record of decisions: JSON lines, each holding the hash of the one before, so that a line
//! cannot be changed or dropped unnoticed. Never holds keys.

use std::path::Path;

use quorate_common::ids::{ActivityId, OrganizationId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::place::{self, PlaceFlaw};

/// Largest journal that is read.
const SIZE_LIMIT: u64 = 256 * 1024 * 1024;

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Entry {
    /// SHA-256 of the line before, hex; empty on the first.
    pub(crate) previous: String,
    /// When, milliseconds since 1970.
    pub(crate) at_millis: u64,
    /// Organization.
    pub(crate) organization_id: OrganizationId,
    /// Activity decided on.
    pub(crate) activity_id: ActivityId,
    /// Its fingerprint, computed by this console.
    pub(crate) fingerprint: String,
    /// What it does, as shown.
    pub(crate) sentence: String,
    /// `approve` or `reject`.
    pub(crate) choice: String,
    /// What became of it.
    pub(crate) outcome: String,
    /// Version of the organization that was shown.
    pub(crate) organization_version: u64,
    /// The user's remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// Adds a decision behind the last one.
pub(crate) fn append(path: &Path, mut entry: Entry) -> Result<(), PlaceFlaw> {
    let bytes = place::read(path, SIZE_LIMIT)?.unwrap_or_default();
    let last = bytes.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
    entry.previous = last.map(|line| const_hex::encode(Sha256::digest(line))).unwrap_or_default();
    let line = serde_json::to_string(&entry).unwrap_or_default();
    place::append_private(path, &format!("{line}\n"))
}

/// Checks the chain. Returns the number of entries, or the number of the first line that does not fit.
pub(crate) fn verify(path: &Path) -> Result<Result<usize, usize>, PlaceFlaw> {
    let bytes = place::read(path, SIZE_LIMIT)?.unwrap_or_default();
    let mut previous = String::new();
    let mut count: usize = 0;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        count = count.saturating_add(1);
        match serde_json::from_slice::<Entry>(line) {
            Ok(entry) if entry.previous == previous => previous = const_hex::encode(Sha256::digest(line)),
            _ => return Ok(Err(count)),
        }
    }
    Ok(Ok(count))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn notices_changes() {
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
