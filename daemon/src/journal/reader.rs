//! Reads a journal from its begin.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use quorate_core::model::Millis;
use quorate_core::seal::SealKey;
use zeroize::Zeroizing;

use super::{Frame, Head, JournalError, LINE, LONGEST, decode_head, place, system};

/// Length of the word before a frame, in bytes.
const WORD: u64 = 4;

/// Reads the frames of a journal in their order.
pub struct Reader {
    path: PathBuf,
    from: BufReader<File>,
    /// What the journal states about itself.
    pub head: Head,
    pub(super) digest: [u8; 32],
    /// Length of the file when it was opened, in bytes.
    length: u64,
    /// Number of bytes up to the end of the newest frame that was read.
    pub(super) end: u64,
    /// Number of frames that were read.
    pub(super) position: u64,
}

/// What a journal contains.
pub struct Survey {
    /// Positions of the frames whose groups were committed, as far as the journal shows. The newest one may not have been.
    pub committed: BTreeSet<u64>,
    /// Number of changes in them.
    pub changes: u64,
    /// Times of the oldest and the newest of them, in milliseconds since 1970.
    pub times: Option<(Millis, Millis)>,
    /// Times between which changes are missing, in milliseconds since 1970.
    pub gaps: Vec<(Millis, Millis)>,
}

/// What is kept of a frame until it is known whether it was committed.
struct Seen {
    position: u64,
    number: u64,
    time: Millis,
    changes: usize,
}

impl Reader {
    /// Opens a journal.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is no journal.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Self::of(File::open(path).map_err(system(path))?, path)
    }

    /// Returns whether a file begins as a journal does.
    pub fn is_journal(path: &Path) -> bool {
        let mut begin = [0; 26];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
        read.is_ok() && begin == *b"{\"format\":\"quorate-journal"
    }

    /// Reads an open file from its begin.
    pub(super) fn of(file: File, path: &Path) -> Result<Self, JournalError> {
        let length = file.metadata().map_err(system(path))?.len();
        let mut from = BufReader::with_capacity(64 * 1024, file);
        let mut line = Vec::new();
        let read = from.by_ref().take(LINE as u64).read_until(b'\n', &mut line).map_err(system(path))?;
        if line.pop() != Some(b'\n') {
            return Err(JournalError::Damaged(path.to_owned(), "it is not a journal"));
        }
        let (head, digest) = decode_head(path, &line)?;
        Ok(Self { path: path.to_owned(), from, head, digest, length, end: read as u64, position: 0 })
    }

    /// Returns the position of the next frame.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Returns whether all bytes of the file were read. Otherwise, its last frame was not written completely.
    pub const fn is_whole(&self) -> bool {
        self.end == self.length
    }

    /// Returns the next frame, decrypted; `None` at the end, or before a last frame that was not written completely.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or the frame cannot be decrypted and is not the last one.
    pub fn frame(&mut self, key: &SealKey) -> Result<Option<Zeroizing<Vec<u8>>>, JournalError> {
        let Some((sealed, end)) = self.sealed()? else { return Ok(None) };
        let plain = match key.open(&place(&self.digest, self.position), &sealed) {
            Ok(plain) => plain,
            // It was not synced before a power cut.
            Err(_) if end == self.length => return Ok(None),
            Err(_) => {
                return Err(JournalError::Damaged(self.path.clone(), "a frame cannot be decrypted"));
            }
        };
        self.end = end;
        self.position = self.position.saturating_add(1);
        Ok(Some(Zeroizing::new(plain)))
    }

    /// Returns the next frame as it is in the file, and its end.
    fn sealed(&mut self) -> Result<Option<(Vec<u8>, u64)>, JournalError> {
        let left = self.length.saturating_sub(self.end);
        if left < WORD {
            return Ok(None);
        }
        let mut word = [0; 4];
        self.from.read_exact(&mut word).map_err(system(&self.path))?;
        let length = u32::from_be_bytes(word);
        let end = self.end.saturating_add(WORD).saturating_add(u64::from(length));
        if length > LONGEST || end > self.length {
            return Ok(None);
        }
        let mut sealed = vec![0; usize::try_from(length).unwrap_or_default()];
        self.from.read_exact(&mut sealed).map_err(system(&self.path))?;
        Ok(Some((sealed, end)))
    }

    /// Reads all frames, and returns what they contain.
    ///
    /// # Errors
    /// See [`Self::frame`].
    pub fn survey(&mut self, key: &SealKey) -> Result<Survey, JournalError> {
        let mut seen: Vec<Seen> = Vec::new();
        let mut gaps = Vec::new();
        let mut before: Option<(u64, Millis)> = None;
        loop {
            let position = self.position;
            let Some(plain) = self.frame(key)? else { break };
            let Frame { number, previous, time, changes } = Frame::decode(&plain)?;
            while seen.last().is_some_and(|last| last.number > previous) {
                seen.pop();
            }
            if let Some((_, from)) = before.filter(|(newest, _)| *newest < previous) {
                gaps.push((from, time));
            }
            before = Some((number, time));
            if !changes.is_empty() {
                seen.push(Seen { position, number, time, changes: changes.len() });
            }
        }
        let times = seen.first().zip(seen.last()).map(|(first, last)| (first.time, last.time));
        let changes = seen.iter().map(|seen| seen.changes as u64).sum();
        Ok(Survey { committed: seen.iter().map(|seen| seen.position).collect(), changes, times, gaps })
    }
}
