//! The file of a vote that was signed and not sent yet: the signed bytes, and the bundle that was reviewed. Contains no
//! secrets.

use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::json::{self, Document};
use quorate_common::stamp::{self, Scheme, Stamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ballot::{Ballot, Choice};
use crate::proof::{BUNDLE_LIMIT, Bundle, BundleError};
use crate::text::clean;

/// Maximum size of a file, in bytes: a bundle, indented, and the vote.
pub(crate) const VOTE_FILE_LIMIT: u64 = 2 * BUNDLE_LIMIT;

/// Value of `format`.
const FORMAT: &str = "quorate-vote";
/// Version of the format that this console writes and reads.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Content {
    format: String,
    version: u64,
    choice: String,
    user_id: UserId,
    message: String,
    public_key: String,
    scheme: String,
    signature: String,
    accepted_flags: Vec<String>,
    bundle: Value,
}

/// A vote that was signed and not sent yet.
pub(crate) struct VoteFile {
    pub(crate) user: UserId,
    /// The vote; its message is exactly what was signed.
    pub(crate) ballot: Ballot,
    pub(crate) stamp: Stamp,
    /// When it was signed, by the clock of the signing machine, in milliseconds since the Unix epoch.
    pub(crate) signed_at: u64,
    /// HIGH flags that were accepted by name.
    pub(crate) accepted_flags: Vec<String>,
    /// The bundle that was reviewed.
    pub(crate) bundle: Bundle,
}

/// Why the file of a vote cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VoteFileError {
    #[error("vote: larger than {} MiB", VOTE_FILE_LIMIT / (1024 * 1024))]
    Size,
    #[error("vote: not JSON, or it has duplicate members, nests too deep or ends late")]
    Unreadable,
    #[error("vote: not a file that `quorate vote sign` wrote")]
    Format,
    #[error("vote: has version {0}; this console reads version {VERSION}")]
    Version(String),
    #[error("vote: {0}")]
    Member(String),
    #[error("vote: the signature does not match the message and the key; nothing was sent")]
    Signature,
    #[error("vote: the signed message is not this vote on the activity of the bundle; nothing was sent")]
    Message,
    #[error(transparent)]
    Bundle(#[from] BundleError),
}

impl VoteFileError {
    /// Returns whether the file is well formed and contradicts itself.
    pub(crate) const fn is_mismatch(&self) -> bool {
        matches!(self, Self::Signature | Self::Message)
    }
}

impl VoteFile {
    pub(crate) fn new(
        user: UserId,
        ballot: &Ballot,
        stamp: &Stamp,
        accepted_flags: &[String],
        bundle: &Bundle,
    ) -> Self {
        Self {
            user,
            ballot: ballot.clone(),
            stamp: stamp.clone(),
            signed_at: signed_at(&ballot.message).unwrap_or_default(),
            accepted_flags: accepted_flags.to_vec(),
            bundle: bundle.clone(),
        }
    }

    /// Returns the content of the file.
    pub(crate) fn json(&self) -> Value {
        let content = Content {
            format: FORMAT.to_owned(),
            version: VERSION,
            choice: self.ballot.choice.word().to_owned(),
            user_id: self.user,
            message: self.ballot.message.clone(),
            public_key: self.stamp.public_key.clone(),
            scheme: self.stamp.scheme.name().to_owned(),
            signature: self.stamp.signature.clone(),
            accepted_flags: self.accepted_flags.clone(),
            bundle: self.bundle.json(),
        };
        serde_json::to_value(content).unwrap_or_default()
    }

    /// Returns the organization that the vote was signed for.
    pub(crate) fn organization(&self) -> OrganizationId {
        self.bundle.record().row.activity.organization_id
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a vote of this version, or if its signature does not match. The signed message must be
    /// exactly the vote that this console would build for the activity of the bundle.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, VoteFileError> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > VOTE_FILE_LIMIT {
            return Err(VoteFileError::Size);
        }
        // The strict reader rejects duplicate members, which readers understand differently.
        Document::read(bytes).map_err(|_| VoteFileError::Unreadable)?;
        let file: Value = serde_json::from_slice(bytes).map_err(|_| VoteFileError::Unreadable)?;
        if file.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(VoteFileError::Format);
        }
        match file.get("version") {
            None => return Err(VoteFileError::Format),
            Some(version) if version.as_u64() == Some(VERSION) => {}
            Some(version) => return Err(VoteFileError::Version(clean(&version.to_string()))),
        }
        let content: Content = json::typed(&file.to_string(), "")
            .map_err(|error| VoteFileError::Member(clean(&error.to_string())))?;
        Self::of_content(content)
    }

    fn of_content(content: Content) -> Result<Self, VoteFileError> {
        let bundle = Bundle::read(content.bundle.to_string().as_bytes())?;
        let scheme = Scheme::from_name(&content.scheme).ok_or(VoteFileError::Signature)?;
        let stamp = Stamp { public_key: content.public_key, scheme, signature: content.signature };
        if !stamp::verify(&stamp, content.message.as_bytes()) {
            return Err(VoteFileError::Signature);
        }
        let is_approval = content.choice == Choice::Approve.word();
        if !is_approval && content.choice != Choice::Reject.word() {
            return Err(VoteFileError::Message);
        }
        let signed_at = signed_at(&content.message).ok_or(VoteFileError::Message)?;
        let organization = bundle.record().row.activity.organization_id;
        let ballot = Ballot::vote(is_approval, organization, bundle.fingerprint(), signed_at);
        if ballot.message != content.message {
            return Err(VoteFileError::Message);
        }
        let Content { user_id: user, accepted_flags, .. } = content;
        Ok(Self { user, ballot, stamp, signed_at, accepted_flags, bundle })
    }
}

/// Returns the time in a signed message, in milliseconds since the Unix epoch.
fn signed_at(message: &str) -> Option<u64> {
    let body: Value = serde_json::from_str(message).ok()?;
    body.get("timestampMs")?.as_str()?.parse().ok()
}
