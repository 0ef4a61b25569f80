//! Pauses of the outbox while the store does not accept writes or cannot be read.

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;

use crate::lease::LeaseError;

/// First pause, in milliseconds; it doubles while the cause lasts.
const FIRST: Millis = 100;
/// Longest pause, in milliseconds.
const LONGEST: Millis = 5000;

/// The reason why the outbox stopped working.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The store does not accept writes.
    Writes,
    /// The store cannot be read.
    Reads(Corrupt),
}

impl From<LeaseError> for Stopped {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Writes => Self::Writes,
            LeaseError::Reads(corrupt) => Self::Reads(corrupt),
        }
    }
}

impl From<Corrupt> for Stopped {
    fn from(corrupt: Corrupt) -> Self {
        Self::Reads(corrupt)
    }
}

/// A pause, and the length of the next one.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Option<Millis>,
    length: Millis,
}

impl Pause {
    /// Records the result of work. Returns whether it ended a pause.
    pub(super) fn record(&mut self, result: Result<(), Stopped>, what: &'static str, now: Millis) -> bool {
        let Err(stopped) = result else {
            let ended = !self.is_active(now) && self.until.is_some();
            if ended {
                tracing::info!(what, "the outbox resumes");
                *self = Self::default();
            }
            return ended;
        };
        if self.until.is_none() {
            match stopped {
                Stopped::Writes => {
                    tracing::error!(what, "the outbox pauses: the store does not accept writes");
                }
                Stopped::Reads(cause) => {
                    tracing::error!(what, %cause, "the outbox pauses: the store cannot be read");
                }
            }
        }
        self.length = self.length.saturating_mul(2).clamp(FIRST, LONGEST);
        self.until = Some(now.saturating_add(self.length));
        false
    }

    /// Returns whether there is a pause at this time.
    pub(super) fn is_active(&self, now: Millis) -> bool {
        self.until.is_some_and(|until| until > now)
    }

    /// Returns the end of the pause, if there is one.
    pub(super) const fn until(&self) -> Option<Millis> {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end_with_their_cause() {
        let mut pause = Pause::default();
        assert!(!pause.record(Ok(()), "webhooks", 0));
        for (now, until) in [(0, 100), (100, 300), (300, 700), (10_000, 10_800), (20_000, 21_600)] {
            assert!(!pause.record(Err(Stopped::Writes), "webhooks", now));
            assert_eq!(
                (pause.until(), pause.is_active(now), pause.is_active(until)),
                (Some(until), true, false)
            );
        }
        // During a pause no work is done, so its result does not end the pause.
        assert!(!pause.record(Ok(()), "webhooks", 21_000));
        assert!(pause.record(Ok(()), "webhooks", 21_600));
        assert_eq!(pause.until(), None);
    }
}
