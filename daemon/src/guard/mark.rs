//! Where a store has come: its newest group, and the runs before.

use quorate_core::model::Millis;

/// Version of the stored forms of mark and runs.
const VERSION: u8 = 1;
/// How many runs the store remembers.
const REMEMBERED: usize = 256;

/// Names a run of the daemon.
pub(super) type RunId = [u8; 16];

/// A group of the store: the mark that the store holds of its newest one, and the guard file of the newest one that was
/// acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) run: RunId,
    pub(super) number: u64,
    /// The newest time that the daemon has seen, in milliseconds since 1970.
    pub(super) time: Millis,
}

impl Mark {
    pub(super) const LENGTH: usize = 1 + 16 + 8 + 8;

    pub(super) fn encode(self) -> Vec<u8> {
        let parts: [&[u8]; 4] = [&[VERSION], &self.run, &self.number.to_be_bytes(), &self.time.to_be_bytes()];
        parts.concat()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (run, rest) = rest.split_first_chunk::<16>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let time = rest.try_into().ok().map(u64::from_be_bytes)?;
        (*version == VERSION).then(|| Self { run: *run, number: u64::from_be_bytes(*number), time })
    }
}

/// The runs of a store, oldest first, each with the number of its first group.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Runs(Vec<(RunId, u64)>);

impl Runs {
    pub(super) fn encode(&self) -> Vec<u8> {
        let rows = self.0.iter().flat_map(|(run, first)| run.iter().copied().chain(first.to_be_bytes()));
        std::iter::once(VERSION).chain(rows).collect()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&[VERSION])?;
        let (rows, []) = rest.as_chunks::<24>() else { return None };
        let row = |row: &[u8; 24]| {
            let (run, first) = row.split_first_chunk::<16>()?;
            Some((*run, u64::from_be_bytes(first.try_into().ok()?)))
        };
        rows.iter().map(row).collect::<Option<_>>().map(Self)
    }

    /// Number of the last group of a run, in a store whose newest group has the number `newest`.
    pub(super) fn last_of(&self, run: &RunId, newest: u64) -> Option<u64> {
        let position = self.0.iter().position(|(known, _)| known == run)?;
        let next = self.0.get(position.checked_add(1)?);
        Some(next.map_or(newest, |(_, first)| first.saturating_sub(1)))
    }

    pub(super) fn begin(&mut self, run: RunId, first: u64) {
        let surplus = self.0.len().saturating_add(1).saturating_sub(REMEMBERED);
        self.0.drain(..surplus.min(self.0.len()));
        self.0.push((run, first));
    }
}
