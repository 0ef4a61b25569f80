//! Pauses of a channel while its server is unavailable, so that the waiting messages are left untouched. After a pause,
//! one message is sent to see whether the server is available again.

use quorate_core::model::Millis;

use crate::outbox::schedule;

/// The current outage, if there is one.
#[derive(Debug, Default)]
pub(super) struct Outage {
    /// Failures in a row, without those during a pause.
    failures: u32,
    /// Time of the first of these failures.
    since: Millis,
    until: Millis,
}

impl Outage {
    /// Records whether the server was available for a message.
    pub(super) fn record(&mut self, is_available: bool, what: &'static str, now: Millis) {
        if is_available {
            if self.is_open() {
                tracing::info!(what, "the server is available again");
            }
            *self = Self::default();
        } else if !self.is_pause(now) {
            if !self.is_open() {
                self.since = now;
            }
            // Messages that were sent at the same time count once.
            self.failures = self.failures.saturating_add(1);
            self.until = schedule::after_silence(self.failures, now);
            tracing::warn!(what, failures = self.failures, "the server is not available; messages wait");
        }
    }

    /// Returns whether the server was unavailable for the last message.
    pub(super) const fn is_open(&self) -> bool {
        self.failures > 0
    }

    /// Returns since when the server is unavailable.
    pub(super) fn since(&self) -> Option<Millis> {
        self.is_open().then_some(self.since)
    }

    /// Returns whether nothing is sent at this time.
    pub(super) const fn is_pause(&self, now: Millis) -> bool {
        self.failures > 0 && now < self.until
    }

    /// Ends the pause now.
    #[cfg(test)]
    pub(super) const fn end_pause(&mut self) {
        self.until = 0;
    }

    /// Returns the end of the pause, if there is an outage.
    pub(super) fn until(&self) -> Option<Millis> {
        self.is_open().then_some(self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_the_server_is_available() {
        let mut outage = Outage::default();
        assert!(!outage.is_open() && outage.until().is_none());
        let mut now = 1000;
        for bound in [1000, 2000, 4000, 8000] {
            outage.record(false, "mail", now);
            // Answers to messages that were sent before count once.
            outage.record(false, "mail", now);
            let until = outage.until().unwrap_or_default();
            assert!((bound / 2..=bound).contains(&(until - now)), "{bound}: {}", until - now);
            assert_eq!(outage.since(), Some(1000), "the outage began with the first failure");
            assert!(outage.is_pause(until - 1) && !outage.is_pause(until) && outage.is_open());
            now = until;
        }
        outage.record(true, "mail", now);
        assert!(!outage.is_open() && !outage.is_pause(now) && outage.since().is_none());
    }
}
