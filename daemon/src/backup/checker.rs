//! Checks a backup without a key, in one pass.

use std::io::Read;

use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha256};

use super::{BackupError, FORMAT, FRAME, Head, LAST, LINE, SIGNED, TAG, Trailer, next_link};

/// Number of bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// A backup whose signature is valid.
pub struct Checked {
    /// Its head.
    pub head: Head,
    /// Its trailer.
    pub trailer: Trailer,
}

/// Checks a backup, part by part.
#[derive(Default)]
pub struct Checker {
    expects: Expects,
    /// Bytes of the part that is expected.
    part: Vec<u8>,
    head: Option<Head>,
    chain: [u8; 32],
    frames: u64,
    bytes: u64,
    trailer: Option<(Trailer, Vec<u8>)>,
}

/// The next part.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Expects {
    #[default]
    Head,
    Word,
    Frame(u32),
    Trailer,
    Signature,
    End,
}

impl Checker {
    /// Checks all bytes of a reader.
    ///
    /// # Errors
    /// Returns an error if they cannot be read, or are not a whole backup.
    pub fn check(from: &mut dyn Read) -> Result<Checked, BackupError> {
        let (mut checker, mut chunk) = (Self::default(), vec![0; CHUNK]);
        loop {
            match from.read(&mut chunk)? {
                0 => return checker.finish(),
                count => checker.feed(chunk.get(..count).unwrap_or_default())?,
            }
        }
    }

    /// Checks the next bytes.
    ///
    /// # Errors
    /// Returns an error if they cannot follow in a backup.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), BackupError> {
        while !bytes.is_empty() {
            let wanted = match self.expects {
                Expects::Head | Expects::Trailer | Expects::Signature => line_length(bytes),
                Expects::Word => Some(4_usize.saturating_sub(self.part.len())),
                Expects::Frame(word) => Some(sealed_length(word).saturating_sub(self.part.len())),
                Expects::End => return Err(BackupError::Damaged("it continues after its end")),
            };
            let taken = wanted.unwrap_or(bytes.len()).min(bytes.len());
            let (part, rest) = bytes.split_at(taken);
            self.part.extend_from_slice(part);
            bytes = rest;
            if wanted == Some(taken) {
                self.end_part()?;
            } else if self.part.len() > LINE {
                return Err(BackupError::Damaged("it is not a backup"));
            }
        }
        Ok(())
    }

    /// Returns what the backup states, once all its bytes were checked.
    ///
    /// # Errors
    /// Returns an error if it is not whole.
    pub fn finish(self) -> Result<Checked, BackupError> {
        match (self.expects, self.head, self.trailer) {
            (Expects::End, Some(head), Some((trailer, _))) => Ok(Checked { head, trailer }),
            (Expects::Head, ..) => Err(BackupError::Damaged("it is not a backup")),
            _ => Err(BackupError::Damaged("its end is missing")),
        }
    }

    /// Checks a whole part.
    fn end_part(&mut self) -> Result<(), BackupError> {
        let part = std::mem::take(&mut self.part);
        self.expects = match self.expects {
            Expects::Head => {
                self.head = Some(head(&part)?);
                self.chain = Sha256::digest(&part).into();
                Expects::Word
            }
            Expects::Word => {
                let word = part.as_slice().try_into().map(u32::from_be_bytes);
                let word = word.map_err(|_| BackupError::Damaged("the length of a frame is missing"))?;
                let (length, is_last) = (sealed_length(word), word & LAST != 0);
                let is_possible =
                    if is_last { (TAG..=FRAME + TAG).contains(&length) } else { length == FRAME + TAG };
                if !is_possible {
                    return Err(BackupError::Damaged("a frame has an impossible length"));
                }
                Expects::Frame(word)
            }
            Expects::Frame(word) => {
                self.chain = next_link(&self.chain, word.to_be_bytes(), &part);
                self.frames = self.frames.saturating_add(1);
                self.bytes = self.bytes.saturating_add(part.len().saturating_sub(TAG) as u64);
                if word & LAST != 0 { Expects::Trailer } else { Expects::Word }
            }
            Expects::Trailer => {
                let line = part.strip_suffix(b"\n").unwrap_or(&part).to_vec();
                let trailer: Trailer = serde_json::from_slice(&line)
                    .map_err(|_| BackupError::Damaged("its trailer cannot be read"))?;
                if (trailer.frames, trailer.bytes) != (self.frames, self.bytes) {
                    return Err(BackupError::Damaged("its trailer states other frames"));
                }
                self.trailer = Some((trailer, line));
                Expects::Signature
            }
            Expects::Signature | Expects::End => {
                self.check_signature(&part)?;
                Expects::End
            }
        };
        Ok(())
    }

    fn check_signature(&self, line: &[u8]) -> Result<(), BackupError> {
        const INVALID: BackupError = BackupError::Damaged("its signature is invalid");
        let digits = line.strip_suffix(b"\n").ok_or(INVALID)?;
        let bytes: [u8; 64] = decoded(digits).ok_or(INVALID)?;
        let (Some(head), Some((_, trailer))) = (&self.head, &self.trailer) else { return Err(INVALID) };
        let key = decoded(head.public_key.as_bytes()).and_then(|key| VerifyingKey::from_bytes(&key).ok());
        let text = [SIGNED, &self.chain, trailer].concat();
        let verified = key.ok_or(INVALID)?.verify_strict(&text, &Signature::from_bytes(&bytes));
        verified.map_err(|_| INVALID)
    }
}

/// Returns the length of the rest of a line, with its end, if it ends here.
fn line_length(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n').map(|position| position.saturating_add(1))
}

/// Returns the length of the frame after a word, in bytes.
const fn sealed_length(word: u32) -> usize {
    (word & !LAST) as usize
}

fn head(line: &[u8]) -> Result<Head, BackupError> {
    const UNREADABLE: BackupError = BackupError::Damaged("its head cannot be read");
    /// The member that every version has.
    #[derive(serde::Deserialize)]
    struct Format {
        format: String,
    }
    let format: Result<Format, _> = serde_json::from_slice(line);
    match format {
        Ok(Format { format }) if format == FORMAT => {}
        Ok(Format { format }) if format.starts_with("quorate-backup/") => return Err(BackupError::Format),
        _ => return Err(BackupError::Damaged("it is not a backup")),
    }

    let head: Head = serde_json::from_slice(line).map_err(|_| UNREADABLE)?;
    // They are shown to people.
    let texts = [&head.store_id, &head.version, &head.public_key];
    let is_plain = |text: &&String| text.bytes().all(|byte| byte.is_ascii_graphic());
    if texts.iter().all(is_plain) { Ok(head) } else { Err(UNREADABLE) }
}

/// Decodes lowercase hexadecimal digits.
pub(super) fn decoded<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let bytes: [u8; N] = const_hex::decode_to_array(digits).ok()?;
    (const_hex::encode(bytes).as_bytes() == digits).then_some(bytes)
}
