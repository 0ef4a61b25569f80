//! Reads a bundle from untrusted bytes. Whatever this version does not define is an error, so that nothing in a bundle
//! is ignored.

use std::collections::BTreeSet;

use quorate_common::json::{self, Document};
use serde_json::{Map, Value};

use super::content::{Content, SignedVote};
use super::{BUNDLE_LIMIT, Bundle, FORMAT, VERSION, digest_of};
use crate::text::clean;

/// Maximum number of votes. Each costs the verification of a signature.
const VOTES_LIMIT: usize = 10_000;

/// Why a bundle cannot be used. Messages never contain control characters of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BundleError {
    #[error("proof bundle: larger than {} MiB", BUNDLE_LIMIT / (1024 * 1024))]
    Size,
    #[error("proof bundle: not JSON, or it has duplicate members, nests too deep or ends late")]
    Unreadable,
    #[error("proof bundle: not a file that `quorate proof export` wrote")]
    Format,
    #[error("proof bundle: has version {0}; this console reads version {VERSION}")]
    Version(String),
    #[error(
        "proof bundle: was changed after the export: the SHA-256 of its content is {actual}, not {stated}"
    )]
    Changed { actual: String, stated: String },
    /// Holds the path.
    #[error("proof bundle: unknown member {0}; it may be of a newer console")]
    Unknown(String),
    #[error("proof bundle: {0}")]
    Member(String),
    #[error("proof bundle: {path}: not in canonical form")]
    NotCanonical { path: String },
    #[error("proof bundle: more than {VOTES_LIMIT} votes")]
    Votes,
    #[error("proof bundle: votes[{index}] repeats an earlier vote")]
    Repeated { index: usize },
    #[error("proof bundle: votes[{index}]: needs either a message, or the reason why it is withheld")]
    Message { index: usize },
}

impl BundleError {
    /// Returns whether the bundle is well formed and contradicts itself, so that somebody changed it.
    pub(crate) const fn is_mismatch(&self) -> bool {
        matches!(self, Self::Changed { .. } | Self::Repeated { .. })
    }
}

impl Bundle {
    /// Reads a bundle.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a bundle of this version, or if the content was changed after the export.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, BundleError> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > BUNDLE_LIMIT {
            return Err(BundleError::Size);
        }
        // The strict reader rejects duplicate members, which readers understand differently.
        Document::read(bytes).map_err(|_| BundleError::Unreadable)?;
        let file = serde_json::from_slice(bytes).map_err(|_| BundleError::Unreadable)?;
        let Value::Object(file) = file else { return Err(BundleError::Format) };
        Self::of_file(file)
    }

    fn of_file(mut file: Map<String, Value>) -> Result<Self, BundleError> {
        if file.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(BundleError::Format);
        }
        let version = file.get("version").ok_or(BundleError::Format)?;
        if version.as_u64() != Some(VERSION) {
            return Err(BundleError::Version(clean(&version.to_string())));
        }
        let stated = file.get("contentSha256").and_then(Value::as_str).unwrap_or_default().to_owned();
        let content = file.remove("content").ok_or(BundleError::Format)?;
        let known = ["format", "version", "contentSha256"];
        if let Some(name) = file.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(BundleError::Unknown(clean(name)));
        }
        let actual = digest_of(&content);
        if actual != stated {
            return Err(BundleError::Changed { actual, stated: clean(&stated) });
        }
        let typed: Content = json::typed(&content.to_string(), "content")
            .map_err(|error| BundleError::Member(clean(&error.to_string())))?;
        let written = serde_json::to_value(&typed).unwrap_or_default();
        check_members("content", &content, &written)?;
        check_votes(&typed.signed.votes)?;
        Ok(Self { content: typed, digest: actual })
    }
}

/// Checks that this version would write each member as it was read. Members of a later version that older bundles do
/// not have may be missing.
fn check_members(path: &str, read: &Value, written: &Value) -> Result<(), BundleError> {
    match (read, written) {
        (Value::Object(read), Value::Object(written)) => {
            for (name, value) in read {
                let path = format!("{path}.{}", clean(name));
                let known = written.get(name).ok_or_else(|| BundleError::Unknown(path.clone()))?;
                check_members(&path, value, known)?;
            }
            Ok(())
        }
        (Value::Array(read), Value::Array(written)) if read.len() == written.len() => {
            let mut pairs = read.iter().zip(written).enumerate();
            pairs.try_for_each(|(index, (one, other))| check_members(&format!("{path}[{index}]"), one, other))
        }
        _ if read == written => Ok(()),
        _ => Err(BundleError::NotCanonical { path: path.to_owned() }),
    }
}

fn check_votes(votes: &[SignedVote]) -> Result<(), BundleError> {
    if votes.len() > VOTES_LIMIT {
        return Err(BundleError::Votes);
    }
    let (mut ids, mut signatures) = (BTreeSet::new(), BTreeSet::new());
    for (index, vote) in votes.iter().enumerate() {
        let is_withheld = vote.withheld.as_ref().is_some_and(|paths| !paths.is_empty());
        let has_digest = vote.message_sha256.is_some();
        if vote.message.is_some() == is_withheld || is_withheld != has_digest {
            return Err(BundleError::Message { index });
        }
        let is_new = ids.insert(vote.stated.id.to_string());
        if !is_new || !signatures.insert((&vote.message, &vote.message_sha256, &vote.signature)) {
            return Err(BundleError::Repeated { index });
        }
    }
    Ok(())
}
