//! The guard file: the mark of the newest acknowledged group, in two slots that are written alternately. On a shared store, it
//! also names the daemon.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use quorate_core::error::Corrupt;
use quorate_core::seal::{NONCE, TAG};

use super::GuardError;
use super::mark::{Mark, RunId};
use crate::barrier::Barrier;
use crate::{fail_points, private_file};

/// Associated data with which the mark is sealed.
const PURPOSE: &[u8] = b"quorate/guard";
/// First bytes of each slot of the guard file: the format with the mark only.
const MAGIC: &[u8; 4] = b"QGD1";
/// First bytes of each slot of the guard file on a shared store: the id of the daemon follows the mark.
const SHARED_MAGIC: &[u8; 4] = b"QGD2";
/// Number of slots. They are written alternately, so that an interrupted write leaves one intact. Each slot
/// has its own sector.
const SLOTS: u64 = 2;
/// Distance between slots, in bytes.
pub(super) const SECTOR: u64 = 4096;
/// Length of a slot: magic, nonce, sealed mark, tag.
pub(super) const SLOT: usize = MAGIC.len() + NONCE + Mark::LENGTH + TAG;
/// Length of the id of a daemon.
const ID: usize = size_of::<RunId>();

/// What a slot of the guard file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Mark of the newest acknowledged group.
    pub(super) mark: Mark,
    /// Id of the daemon, on a shared store. Files of earlier versions have none.
    pub(super) daemon: Option<RunId>,
}

/// An open guard file.
pub(super) struct GuardFile {
    file: Arc<File>,
    /// Id of the daemon, on a shared store.
    daemon: Option<RunId>,
    /// Index of the slot that is written next.
    slot: u64,
}

impl GuardFile {
    /// Opens the file. The slot with the older mark is written first.
    pub(super) fn open(path: &Path, barrier: &Barrier, daemon: Option<RunId>) -> Result<Self, GuardError> {
        let file = open(path).map_err(|source| GuardError::System { file: path.to_owned(), source })?;
        let oldest =
            (0..SLOTS).min_by_key(|slot| entry(&file, *slot, barrier).map(|entry| entry.mark.order()));
        Ok(Self { file: Arc::new(file), daemon, slot: oldest.unwrap_or_default() })
    }

    /// Returns the id of the daemon, on a shared store.
    pub(super) const fn daemon(&self) -> Option<RunId> {
        self.daemon
    }

    /// Returns the file, to be synced.
    pub(super) const fn handle(&self) -> &Arc<File> {
        &self.file
    }

    /// Writes a mark. It is durable once the file is synced.
    pub(super) fn write(&mut self, path: &Path, barrier: &Barrier, mark: Mark) -> Result<(), GuardError> {
        fail_points::reach("guard.write");
        let slot = slot(barrier, Entry { mark, daemon: self.daemon })?;
        let offset = self.slot.saturating_mul(SECTOR);
        let written = self.file.write_all_at(&slot, offset);
        written.map_err(|source| GuardError::System { file: path.to_owned(), source })?;
        fail_points::reach("guard.written");
        self.slot = self.slot.saturating_add(1) % SLOTS;
        Ok(())
    }
}

fn slot(barrier: &Barrier, entry: Entry) -> Result<Vec<u8>, Corrupt> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| Corrupt::Invariant("the random source failed"))?;
    let magic = if entry.daemon.is_some() { SHARED_MAGIC } else { MAGIC };
    let daemon = entry.daemon.as_ref().map_or(&[][..], RunId::as_slice);
    let sealed = barrier.vault().aside().seal(nonce, PURPOSE, &[&entry.mark.encode(), daemon].concat())?;
    Ok([magic.as_slice(), &sealed].concat())
}

/// Creates or replaces the guard file, with the same content in all slots.
pub(super) fn create(path: &Path, barrier: &Barrier, entry: Entry) -> Result<(), GuardError> {
    let mut file = vec![0; usize::try_from(SLOTS * SECTOR).unwrap_or_default()];
    for sector in file.chunks_mut(usize::try_from(SECTOR).unwrap_or(1)) {
        sector.iter_mut().zip(slot(barrier, entry)?).for_each(|(to, from)| *to = from);
    }
    private_file::replace(path, &file).map_err(|source| GuardError::System { file: path.to_owned(), source })
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_CLOEXEC).open(path)
}

/// Returns the newest entry of the guard file; `None` if there is no file.
pub(super) fn read(path: &Path, barrier: &Barrier) -> Result<Option<Entry>, GuardError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(GuardError::System { file: path.to_owned(), source }),
    };
    let entries = (0..SLOTS).filter_map(|slot| entry(&file, slot, barrier));
    let newest = entries.max_by_key(|entry| entry.mark.order());
    newest.map(Some).ok_or_else(|| GuardError::Damaged(path.to_owned()))
}

/// Returns the entry in a slot, if it is valid.
fn entry(file: &File, slot: u64, barrier: &Barrier) -> Option<Entry> {
    let mut bytes = [0; SLOT + ID];
    file.read_exact_at(&mut bytes, slot.saturating_mul(SECTOR)).ok()?;
    let vault = barrier.vault();
    // Files of version 0.1 are sealed with the key of the records.
    let keys = [vault.aside(), vault.seal()];
    let open = |sealed: &[u8]| keys.iter().find_map(|key| key.open(PURPOSE, sealed).ok());
    if let Some(sealed) = bytes.strip_prefix(SHARED_MAGIC) {
        let opened = open(sealed)?;
        let (mark, daemon) = opened.split_last_chunk()?;
        return Some(Entry { mark: Mark::decode(mark)?, daemon: Some(*daemon) });
    }
    let sealed = bytes.get(..SLOT)?.strip_prefix(MAGIC)?;
    Some(Entry { mark: Mark::decode(&open(sealed)?)?, daemon: None })
}
