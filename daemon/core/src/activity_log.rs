//! The stored form of the activity log: all hashes of its tree, in chunks, and a head.
//!
//! Each commit stores the hashes of the entries that it adds in one record. These are appended to the tree in the background, in
//! the order of their keys, so that no commit waits for another one.

use std::cell::RefCell;
use std::collections::BTreeMap;

use quorate_common::activity_log::{ActivityState, LogHash};
use quorate_common::console::activity_log::LogCheckpoint;
use tlog_tiles::{
    Error, Hash, HashReader, node_hash, prove_record, prove_tree, split_stored_hash_index, stored_hash_count,
    stored_hash_index, stored_hashes_for_record_hash, tree_hash,
};

use crate::error::{Corrupt, RequestError};
use crate::model::layout::log;
use crate::model::write::Write;
use crate::model::{ActivityRecord, Millis};
use crate::world::{Records, World};

/// Number of hashes in a chunk: 4 KiB.
const CHUNK: usize = 128;
/// First byte of the encodings of the head and of chunks.
const FORMAT: u8 = 1;
/// Time before the first entry within which an activity may have changed that is in the log.
const BEGIN: Millis = 60_000;
/// Error of records of the log that contradict each other.
const DAMAGED: Corrupt = Corrupt::Record("activity log");
/// Time by which the clocks of daemons may differ.
const CLOCKS: Millis = 5_000;
/// Number of chunks that are searched for an entry: those of 65,536 entries.
const SEARCHED: u64 = 1024;

/// The head of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of entries.
    pub size: u64,
    /// Time at which the newest entry was added, in milliseconds since 1970.
    pub time: Millis,
    /// Time at which the log began: earlier states of activities are not in it.
    pub begun: Millis,
}

/// Some hashes of the tree, in the order in which they are stored.
#[derive(Debug, Default)]
struct Chunk {
    /// Time at which the first of them was added.
    time: Millis,
    hashes: Vec<LogHash>,
    is_changed: bool,
}

/// The log, as of one head.
pub struct Log<'r> {
    records: &'r dyn Records,
    head: Option<Head>,
    chunks: RefCell<BTreeMap<u64, Chunk>>,
    failure: RefCell<Option<Corrupt>>,
}

/// Returns the entry of a stored state of an activity.
pub fn entry(record: &ActivityRecord) -> ActivityState {
    ActivityState {
        organization: record.organization,
        activity: record.id,
        fingerprint: record.fingerprint,
        status: record.status,
        votes: record.votes.len(),
    }
}

/// Encodes hashes of entries that are not in the tree yet.
pub fn encode_waiting<'h>(hashes: impl Iterator<Item = &'h LogHash>) -> Vec<u8> {
    std::iter::once(FORMAT).chain(hashes.copied().flatten()).collect()
}

/// Decodes hashes of entries that are not in the tree yet.
///
/// # Errors
/// Returns an error if they are damaged.
pub fn decode_waiting(stored: &[u8]) -> Result<Vec<LogHash>, Corrupt> {
    hashes(stored.strip_prefix(&[FORMAT]).ok_or(DAMAGED)?)
}

fn hashes(bytes: &[u8]) -> Result<Vec<LogHash>, Corrupt> {
    let (hashes, []) = bytes.as_chunks() else { return Err(DAMAGED) };
    Ok(hashes.to_vec())
}

/// Returns the newest checkpoint, with the proof that the log begins with the first `from` entries, if there are that many.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn checkpoint(world: &dyn World, from: Option<u64>) -> Result<LogCheckpoint, RequestError> {
    let installation = world.installation();
    let sign = |size, root, time| installation.sign_checkpoint(size, root, time);
    Ok(Log::read(world.records())?.checkpoint(from, sign)?)
}

impl Head {
    fn decode(stored: &[u8]) -> Result<Self, Corrupt> {
        let bytes = stored.strip_prefix(&[FORMAT]).ok_or(DAMAGED)?;
        let (numbers, []) = bytes.as_chunks::<8>() else { return Err(DAMAGED) };
        let &[size, time, begun] = numbers else { return Err(DAMAGED) };
        let [size, time, begun] = [size, time, begun].map(u64::from_be_bytes);
        Ok(Self { size, time, begun })
    }

    fn encode(self) -> Vec<u8> {
        let numbers = [self.size, self.time, self.begun].map(u64::to_be_bytes);
        [[FORMAT].as_slice(), numbers.as_flattened()].concat()
    }
}

impl Chunk {
    fn decode(stored: &[u8]) -> Result<Self, Corrupt> {
        let bytes = stored.strip_prefix(&[FORMAT]).ok_or(DAMAGED)?;
        let (time, bytes) = bytes.split_first_chunk().ok_or(DAMAGED)?;
        Ok(Self { time: Millis::from_be_bytes(*time), hashes: hashes(bytes)?, is_changed: false })
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend_from_slice(&self.time.to_be_bytes());
        bytes.extend_from_slice(self.hashes.as_flattened());
        bytes
    }
}

/// Returns hashes in base64.
fn encoded(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(Hash::to_string).collect()
}

/// Returns the number of the chunk that has a hash, and its position there.
fn position(index: u64) -> (u64, usize) {
    let chunk = CHUNK as u64;
    (index / chunk, usize::try_from(index % chunk).unwrap_or_default())
}

impl<'r> Log<'r> {
    /// Reads the head of the log.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn read(records: &'r dyn Records) -> Result<Self, Corrupt> {
        let head = records.read(log::HEAD)?.map(|stored| Head::decode(&stored)).transpose()?;
        Ok(Self { records, head, chunks: RefCell::default(), failure: RefCell::default() })
    }

    /// Returns the number of entries in the tree.
    pub fn size(&self) -> u64 {
        self.head.map_or(0, |head| head.size)
    }

    /// Returns the head; `None` before the first entry.
    pub const fn head(&self) -> Option<Head> {
        self.head
    }

    /// Returns the root of the tree of the first `size` entries.
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read, or has fewer entries.
    pub fn root(&self, size: u64) -> Result<LogHash, Corrupt> {
        if size > self.size() {
            return Err(DAMAGED);
        }
        Ok(self.of_tree(tree_hash(size, self))?.0)
    }

    /// Computes the whole tree again from its entries.
    ///
    /// # Errors
    /// Returns an error if a hash is missing, or is not the one that follows from the entries.
    pub fn check(&self) -> Result<(), Corrupt> {
        let mut stored = (0..).map(|number| Ok::<_, Corrupt>(self.read_chunk(number)?.hashes));
        let mut rest = Vec::new().into_iter();
        let mut next = || -> Result<LogHash, Corrupt> {
            loop {
                match rest.next() {
                    Some(hash) => return Ok(hash),
                    None => rest = stored.next().ok_or(DAMAGED)??.into_iter(),
                }
            }
        };
        // The roots of the whole subtrees so far, the largest first.
        let mut roots: Vec<Hash> = Vec::new();
        for index in 0..self.size() {
            let mut hash = Hash(next()?);
            for _ in 0..index.trailing_ones() {
                hash = node_hash(roots.pop().ok_or(DAMAGED)?, hash);
                if hash.0 != next()? {
                    return Err(DAMAGED);
                }
            }
            roots.push(hash);
        }
        Ok(())
    }

    /// Appends entries at this time. Returns what must be stored; the log is not read afterwards.
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read.
    pub fn append(&mut self, entries: &[LogHash], now: Millis) -> Result<Vec<Write>, Corrupt> {
        let mut head = self.head.unwrap_or(Head { size: 0, time: now, begun: now });
        head.time = head.time.max(now);
        for entry in entries {
            let stored = self.of_tree(stored_hashes_for_record_hash(head.size, Hash(*entry), self))?;
            let first = stored_hash_index(0, head.size);
            for (index, hash) in (first..).zip(stored) {
                self.push(index, hash.0, head.time)?;
            }
            head.size = head.size.saturating_add(1);
        }
        self.head = Some(head);
        let chunks = self.chunks.borrow();
        let changed = chunks.iter().filter(|(_, chunk)| chunk.is_changed);
        let writes = changed.map(|(number, chunk)| Write::mark(log::hashes(*number), &chunk.encode()));
        Ok(writes.chain([Write::mark(log::HEAD.to_vec(), &head.encode())]).collect())
    }

    fn push(&self, index: u64, hash: LogHash, time: Millis) -> Result<(), Corrupt> {
        let (number, at) = position(index);
        if at == 0 {
            self.chunks.borrow_mut().insert(number, Chunk { time, ..Chunk::default() });
        }
        self.chunk(number, |chunk| {
            if chunk.hashes.len() != at {
                return Err(DAMAGED);
            }
            chunk.hashes.push(hash);
            chunk.is_changed = true;
            Ok(())
        })?
    }

    /// Calls a function with a chunk, which is read first if that was not done before.
    fn chunk<T>(&self, number: u64, with: impl FnOnce(&mut Chunk) -> T) -> Result<T, Corrupt> {
        let mut chunks = self.chunks.borrow_mut();
        if let Some(chunk) = chunks.get_mut(&number) {
            return Ok(with(chunk));
        }
        let chunk = self.read_chunk(number)?;
        Ok(with(chunks.entry(number).or_insert(chunk)))
    }

    fn read_chunk(&self, number: u64) -> Result<Chunk, Corrupt> {
        let chunk = Chunk::decode(&self.records.read(&log::hashes(number))?.ok_or(DAMAGED)?)?;
        if chunk.hashes.is_empty() { Err(DAMAGED) } else { Ok(chunk) }
    }

    /// Returns whether an activity that changed at this time did before the log began.
    pub fn began_after(&self, changed: Millis) -> bool {
        self.head.is_some_and(|head| changed.saturating_add(BEGIN) < head.begun)
    }

    /// Returns what must be stored after a clock that was ahead was corrected: no entry was added later than now.
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read.
    pub fn added_by(&self, now: Millis) -> Result<Vec<Write>, Corrupt> {
        let Some(head) = self.head.filter(|head| head.time > now) else { return Ok(Vec::new()) };
        let mut writes = Vec::new();
        let (last, part) = position(stored_hash_count(head.size));
        for number in (0..last.saturating_add(u64::from(part != 0))).rev() {
            let chunk = self.read_chunk(number)?;
            if chunk.time <= now {
                break;
            }
            writes.push(Write::mark(log::hashes(number), &Chunk { time: now, ..chunk }.encode()));
        }
        let head = Head { time: now, begun: head.begun.min(now), ..head };
        writes.push(Write::mark(log::HEAD.to_vec(), &head.encode()));
        Ok(writes)
    }

    /// Returns the index of an entry that was added at this time or later; `None` if it is not found.
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read.
    pub fn find(&self, entry: LogHash, since: Millis) -> Result<Option<u64>, Corrupt> {
        let stored = stored_hash_count(self.size());
        let (end, part) = position(stored);
        let end = if part == 0 { end } else { end.saturating_add(1) };
        let earliest = since.saturating_sub(CLOCKS);
        // The last chunk whose first hash is not later. Times never decrease.
        let (mut first, mut beyond) = (0, end);
        while beyond.saturating_sub(first) > 1 {
            let middle = u64::midpoint(first, beyond);
            if self.chunk(middle, |chunk| chunk.time)? <= earliest {
                first = middle;
            } else {
                beyond = middle;
            }
        }
        // An entry is appended soon after its commit, or when the daemon starts again.
        for number in first..end.min(first.saturating_add(SEARCHED)) {
            let found = self.chunk(number, |chunk| {
                let start = number.saturating_mul(CHUNK as u64);
                let indexes = (start..).zip(&chunk.hashes).filter(|(_, hash)| **hash == entry);
                let mut leaves = indexes.map(|(index, _)| split_stored_hash_index(index));
                leaves.find(|(level, _)| *level == 0).map(|(_, leaf)| leaf)
            })?;
            // A chunk may already have hashes of entries that were added after the head was read.
            if let Some(found) = found.filter(|found| *found < self.size()) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the hashes in base64 that prove an entry.
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read.
    pub fn prove_entry(&self, index: u64) -> Result<Vec<String>, Corrupt> {
        Ok(encoded(&self.of_tree(prove_record(self.size(), index, self))?))
    }

    /// Returns the proof that the log begins with the first `from` entries. It is empty if there are fewer.
    fn prove_prefix(&self, from: u64) -> Result<Vec<String>, Corrupt> {
        if from == 0 || from > self.size() {
            return Ok(Vec::new());
        }
        Ok(encoded(&self.of_tree(prove_tree(self.size(), from, self))?))
    }

    /// Returns the checkpoint, signed, with the proof that the log begins with the first `from` entries. `sign` gets its size, its
    /// root and its time, and returns it with the key that verifies it.
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read, or that of `sign`.
    pub fn checkpoint(
        &self,
        from: Option<u64>,
        sign: impl FnOnce(u64, LogHash, Millis) -> Result<(String, String), Corrupt>,
    ) -> Result<LogCheckpoint, Corrupt> {
        let consistency = from.map_or(Ok(Vec::new()), |from| self.prove_prefix(from))?;
        let root = self.root(self.size())?;
        let time = self.head.map_or(0, |head| head.time);
        let (checkpoint, verifier_key) = sign(self.size(), root, time)?;
        Ok(LogCheckpoint { checkpoint, verifier_key, consistency })
    }

    /// Returns a result of reading the tree, with the cause if it failed.
    fn of_tree<T>(&self, result: Result<T, Error>) -> Result<T, Corrupt> {
        result.map_err(|_| self.failure.take().unwrap_or(DAMAGED))
    }
}

impl HashReader for Log<'_> {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, Error> {
        let read = |index: &u64| {
            let (number, at) = position(*index);
            let hash = self.chunk(number, |chunk| chunk.hashes.get(at).copied().map(Hash));
            hash.and_then(|hash| hash.ok_or(DAMAGED)).map_err(|corrupt| {
                self.failure.replace(Some(corrupt));
                Error::IndexesNotInTree
            })
        };
        indexes.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests;
