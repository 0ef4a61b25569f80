//! Reads a journal from its begin.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use quorate_core::seal::SealKey;
use zeroize::Zeroizing;

use super::history::Seen;
use super::{Frame, Head, JournalError, LINE, decode_head, open_word, place, system};

/// Length of the word before a frame, in bytes.
pub(super) const WORD: usize = 8;

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

/// Opens a file, if it is a regular one: reading a pipe could wait for ever.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> Result<File, JournalError> {
    let file = options.custom_flags(libc::O_NONBLOCK).open(path).map_err(system(path))?;
    if file.metadata().map_err(system(path))?.is_file() {
        return Ok(file);
    }
    Err(system(path)(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")))
}

impl Reader {
    /// Opens a journal.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is no journal.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Self::of(open(path, OpenOptions::new().read(true))?, path)
    }

    /// Returns whether a file begins as a journal does.
    pub fn is_journal(path: &Path) -> bool {
        let mut begin = [0; 26];
        let opened = open(path, OpenOptions::new().read(true));
        let read = opened.is_ok_and(|mut file| file.read_exact(&mut begin).is_ok());
        read && begin == *b"{\"format\":\"quorate-journal"
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

    /// Returns whether the other file begins as this one, since one is a copy of the other.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    /// Returns whether all bytes of the file were read. Otherwise, its last frame was not written completely.
    pub const fn is_whole(&self) -> bool {
        self.end == self.length
    }

    /// Returns the next frame, decrypted; `None` at the end, or before a last frame that was not written completely.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is damaged.
    pub fn frame(&mut self, key: &SealKey) -> Result<Option<Zeroizing<Vec<u8>>>, JournalError> {
        let Some((sealed, end)) = self.sealed()? else { return Ok(None) };
        let plain = match key.open(&place(&self.digest, self.position), &sealed) {
            Ok(plain) => plain,
            // It was not synced before a power cut.
            Err(_) if end == self.length => return Ok(None),
            Err(_) => return Err(self.damaged("a frame cannot be decrypted")),
        };
        self.end = end;
        self.position = self.position.saturating_add(1);
        Ok(Some(Zeroizing::new(plain)))
    }

    /// Returns the next frame as it is in the file, and its end.
    fn sealed(&mut self) -> Result<Option<(Vec<u8>, u64)>, JournalError> {
        let left = self.length.saturating_sub(self.end);
        let mut word = [0; WORD];
        if left < WORD as u64 {
            return Ok(None);
        }
        self.from.read_exact(&mut word).map_err(system(&self.path))?;
        let Some(length) = open_word(&self.digest, self.position, word) else {
            // A power cut leaves a file longer, with zeros in it. The word may be in two blocks.
            let mut rest = Vec::new();
            self.from.read_to_end(&mut rest).map_err(system(&self.path))?;
            let is_cut = rest.iter().chain(word.last()).all(|byte| *byte == 0);
            return if is_cut { Ok(None) } else { Err(self.damaged("the length of a frame is invalid")) };
        };
        let end = self.end.saturating_add(WORD as u64).saturating_add(u64::from(length));
        if end > self.length {
            return Ok(None);
        }
        let mut sealed = vec![0; usize::try_from(length).unwrap_or_default()];
        self.from.read_exact(&mut sealed).map_err(system(&self.path))?;
        Ok(Some((sealed, end)))
    }

    fn damaged(&self, what: &'static str) -> JournalError {
        JournalError::Damaged(self.path.clone(), what)
    }

    /// Reads all frames, without their changes.
    ///
    /// # Errors
    /// See [`Self::frame`].
    pub fn all(&mut self, key: &SealKey) -> Result<Vec<Seen>, JournalError> {
        let mut all = Vec::new();
        loop {
            let (position, offset) = (self.position, self.end);
            let Some(plain) = self.frame(key)? else { return Ok(all) };
            let Frame { number, previous, time, changes } = Frame::decode(&plain)?;
            all.push(Seen { position, offset, number, previous, time, changes: changes.len() });
        }
    }

    /// Returns a frame that was read before, decrypted.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or has changed.
    pub fn again(&self, seen: &Seen, key: &SealKey) -> Result<Zeroizing<Vec<u8>>, JournalError> {
        let changed = || self.damaged("it changed while it was read");
        let file = self.from.get_ref();
        let mut word = [0; WORD];
        file.read_exact_at(&mut word, seen.offset).map_err(system(&self.path))?;
        let length = open_word(&self.digest, seen.position, word).ok_or_else(changed)?;
        let mut sealed = vec![0; usize::try_from(length).unwrap_or_default()];
        let begin = seen.offset.saturating_add(WORD as u64);
        file.read_exact_at(&mut sealed, begin).map_err(system(&self.path))?;
        let plain = key.open(&place(&self.digest, seen.position), &sealed).map_err(|_| changed())?;
        Ok(Zeroizing::new(plain))
    }
}
