//! When the outbox stops, and when it looks again: while the store takes no writes or cannot be read.

use quorate_core::model::Millis;
use quorate_core::refusal::Corrupt;

/// First pause; it doubles while the cause lasts.
const FIRST: Millis = 100;
/// Longest pause.
const LONGEST: Millis = 5000;

/// Why nothing can be done.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The store takes no writes.
    Writes,
    /// The store cannot be read.
    Reads(Corrupt),
}

impl From<Corrupt> for Stopped {
    fn from(corrupt: Corrupt) -> Self {
        Self::Reads(corrupt)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Option<Millis>,
    length: Millis,
}

impl Pause {
    /// Takes note of how work went. Returns whether a pause ended with it.
    pub(super) fn note(&mut self, result: Result<(), Stopped>, what: &'static str, now: Millis) -> bool {
        let Err(stopped) = result else {
            let ended = !self.holds(now) && self.until.is_some();
            if ended {
                tracing::info!(what, "the outbox goes on");
                *self = Self::default();
            }
            return ended;
        };
        if self.until.is_none() {
            match stopped {
                Stopped::Writes => tracing::error!(what, "the outbox pauses: the store takes no writes"),
                Stopped::Reads(cause) => {
                    tracing::error!(what, %cause, "the outbox pauses: the store cannot be read");
                }
            }
        }
        self.length = self.length.saturating_mul(2).clamp(FIRST, LONGEST);
        self.until = Some(now.saturating_add(self.length));
        false
    }

    /// Whether nothing is to be done now.
    pub(super) fn holds(&self, now: Millis) -> bool {
        self.until.is_some_and(|until| until > now)
    }

    /// When to look again, while there is a pause.
    pub(super) const fn until(&self) -> Option<Millis> {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end_with_the_cause() {
        let mut pause = Pause::default();
        assert!(!pause.note(Ok(()), "webhooks", 0));
        for (now, until) in [(0, 100), (100, 300), (300, 700), (10_000, 10_800), (20_000, 21_600)] {
            assert!(!pause.note(Err(Stopped::Writes), "webhooks", now));
            assert_eq!((pause.until(), pause.holds(now), pause.holds(until)), (Some(until), true, false));
        }
        // While it holds nothing was done, so nothing is known.
        assert!(!pause.note(Ok(()), "webhooks", 21_000));
        assert!(pause.note(Ok(()), "webhooks", 21_600));
        assert_eq!(pause.until(), None);
    }
}
