//! Checkpoints: the size and the root of the log at a moment, as a signed note (C2SP tlog-checkpoint, signed-note).

use ed25519_dalek::{Signer, SigningKey};
use signed_note::{Note, Signature, VerifierList};
use tlog_tiles::{Checkpoint as Text, Hash};

use super::{LogError, LogHash, VerifierKey};

/// Maximum number of levels of the tree.
pub(super) const LEVELS: usize = 48;

/// The state of the log of a store at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the log, see [`origin`].
    pub origin: String,
    /// Number of entries.
    pub size: u64,
    /// Root of the tree.
    pub root: LogHash,
    /// Time at which the newest entry was added, in milliseconds since 1970.
    pub time: u64,
    /// When the store was last restored from a backup, in seconds since 1970; zero if it never was.
    pub epoch: u32,
}

/// Returns the name of the log of a store.
pub fn origin(store_id: &str) -> String {
    format!("quorate/{store_id}")
}

impl Checkpoint {
    /// Signs the checkpoint. Returns `None` if its origin is not valid.
    pub fn sign(&self, key: &SigningKey) -> Option<String> {
        let Self { origin, size, root, time, epoch } = self;
        let extension = format!("time {time}\nepoch {epoch}\n");
        let text = Text::new(origin, *size, Hash(*root), &extension).ok()?.to_bytes();
        let id = VerifierKey::new(origin.clone(), key.verifying_key()).id();
        let signature = Signature::new(origin.clone(), id, key.sign(&text).to_bytes().to_vec()).ok()?;
        String::from_utf8(Note::new(&text, &[signature]).ok()?.to_bytes()).ok()
    }

    /// Returns when the store was last restored from a backup, in milliseconds since 1970.
    pub fn restored(&self) -> Option<u64> {
        (self.epoch != 0).then(|| u64::from(self.epoch).saturating_mul(1000))
    }

    /// Returns the root in base64.
    pub fn root_text(&self) -> String {
        Hash(self.root).to_string()
    }

    /// Opens a checkpoint that this key must have signed.
    ///
    /// # Errors
    /// [`LogError::Malformed`] or [`LogError::Signature`].
    pub fn open(note: &str, key: &VerifierKey) -> Result<Self, LogError> {
        let note = Note::from_bytes(note.as_bytes()).map_err(|_| LogError::Malformed)?;
        let known = VerifierList::new(vec![Box::new(key.clone())]);
        note.verify(&known).map_err(|_| LogError::Signature)?;
        let text = Text::from_bytes(note.text()).map_err(|_| LogError::Malformed)?;
        let extension = text.extension().strip_suffix('\n').and_then(|lines| lines.split_once('\n'));
        let (time, epoch) = extension.ok_or(LogError::Malformed)?;
        let checkpoint = Self {
            origin: text.origin().to_owned(),
            size: text.size(),
            root: text.hash().0,
            time: number(time, "time ")?,
            epoch: number(epoch, "epoch ")?,
        };
        match checkpoint {
            Self { size, .. } if size >> LEVELS != 0 => Err(LogError::Malformed),
            Self { ref origin, .. } if origin != key.name() => Err(LogError::Signature),
            checkpoint => Ok(checkpoint),
        }
    }
}

/// Parses a line with a name and a decimal number.
fn number<N: std::str::FromStr + ToString>(line: &str, name: &str) -> Result<N, LogError> {
    let digits = line.strip_prefix(name).ok_or(LogError::Malformed)?;
    let number: N = digits.parse().map_err(|_| LogError::Malformed)?;
    if number.to_string() == digits { Ok(number) } else { Err(LogError::Malformed) }
}
