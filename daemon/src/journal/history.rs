//! Which frames of the journals of a daemon were committed.

use quorate_core::model::Millis;

/// A frame that was read, without its changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Number of frames before it in its file.
    pub position: u64,
    /// Begin in the file, in bytes.
    pub offset: u64,
    /// See [`super::Frame::number`].
    pub number: u64,
    /// See [`super::Frame::previous`].
    pub previous: u64,
    /// Time of the group, in milliseconds since 1970.
    pub time: Millis,
    /// Number of changes.
    pub changes: usize,
}

/// The committed frames of a daemon.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Positions of the frames among those that were given, in their order.
    pub committed: Vec<usize>,
    /// Those of them that may not have been committed: no later frame shows it.
    pub uncertain: Vec<usize>,
    /// Times between which frames are missing.
    pub gaps: Vec<(Millis, Millis)>,
    /// Numbers of the committed frames, and of the frame before the oldest of them.
    pub numbers: Vec<u64>,
}

impl History {
    /// Finds the committed frames among all frames of a daemon, in the order in which they were written. Each names the newest
    /// committed one before it, so those in between were not committed.
    pub fn of(all: &[Seen]) -> Self {
        let mut history = Self::default();
        let mut next = all.len().checked_sub(1);
        let mut is_named = false;
        while let Some((at, frame)) = next.and_then(|at| Some((at, all.get(at)?))) {
            history.numbers.push(frame.number);
            if frame.changes > 0 {
                history.committed.push(at);
                history.uncertain.extend((!is_named).then_some(at));
            }
            let before = all.get(..at).unwrap_or_default();
            next = before.iter().rposition(|before| before.number == frame.previous);
            is_named = next.is_some();
            if is_named {
                continue;
            }
            let Some(last) = before.last() else {
                history.numbers.push(frame.previous);
                continue;
            };
            if frame.previous != 0 || before.iter().any(|before| before.changes > 0) {
                history.gaps.push((last.time, frame.time));
            }
            if frame.previous != 0 {
                next = at.checked_sub(1);
            } else {
                history.numbers.push(0);
            }
        }
        history.committed.reverse();
        history.gaps.reverse();
        history
    }
}
