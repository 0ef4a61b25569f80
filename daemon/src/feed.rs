//! The change feed: an ordered list of recent events, with tokens at which a watcher can resume.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_common::console::{Change, Event};
use tokio::sync::watch;

use crate::fail_points;

/// Maximum number of events that are kept for watchers that reconnect.
const CAPACITY: usize = 4096;

/// Keeps the latest events and notifies watchers.
pub struct Feed {
    state: Mutex<State>,
    /// Number of the newest event.
    newest: watch::Sender<u64>,
}

struct State {
    /// Random id of this run, which distinguishes its tokens from those of earlier runs.
    run: String,
    first: u64,
    events: VecDeque<Change>,
}

impl Default for Feed {
    fn default() -> Self {
        let mut bytes = [0; 8];
        // Without randomness, the clock distinguishes the tokens of two runs.
        if getrandom::fill(&mut bytes).is_err() {
            bytes = crate::clock::now().to_be_bytes();
        }
        let state = State { run: const_hex::encode(bytes), first: 1, events: VecDeque::new() };
        Self { state: Mutex::new(state), newest: watch::Sender::new(0) }
    }
}

impl State {
    fn next(&self) -> u64 {
        self.first.saturating_add(self.events.len() as u64)
    }

    fn token(&self, number: u64) -> String {
        format!("{}-{number}", self.run)
    }

    /// Returns the number in a token, if the token is from this run.
    fn number(&self, token: &str) -> Option<u64> {
        let (run, number) = token.split_once('-')?;
        if run == self.run { number.parse().ok() } else { None }
    }
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends events and notifies watchers.
    pub fn publish(&self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        fail_points::reach("feed.publish");
        let newest = {
            let mut state = self.lock();
            state.events.extend(changes);
            while state.events.len() > CAPACITY {
                state.events.pop_front();
                state.first = state.first.saturating_add(1);
            }
            state.next().saturating_sub(1)
        };
        self.newest.send_replace(newest);
    }

    /// Returns a receiver that is notified of new events; its value is the number of the newest one.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Returns the events after a token, at most `limit`. Without a token, or with an unknown or expired one,
    /// returns a single event that requires a full reload. The token of that event is the end of the feed.
    pub fn after(&self, token: Option<&str>, limit: usize) -> Vec<Event> {
        let state = self.lock();
        let end = state.next().saturating_sub(1);
        let last_seen = token.and_then(|token| state.number(token)).filter(|number| *number <= end);
        let Some(last_seen) = last_seen.filter(|number| number.saturating_add(1) >= state.first) else {
            return vec![Event { token: state.token(end), change: Change::Reset }];
        };
        let skip =
            usize::try_from(last_seen.saturating_add(1).saturating_sub(state.first)).unwrap_or(usize::MAX);
        let numbers = last_seen.saturating_add(1)..;
        let events = state.events.iter().skip(skip).take(limit).zip(numbers);
        events.map(|(change, number)| Event { token: state.token(number), change: change.clone() }).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use quorate_common::ids::OrganizationId;

    fn change(version: u64) -> Change {
        Change::Organization { organization_id: OrganizationId::from_bytes([1; 16]), version }
    }

    #[test]
    fn no_event_is_lost_between_tokens() {
        let feed = Feed::default();
        let start = feed.after(None, 10);
        assert_eq!(start.len(), 1);
        assert_eq!(start[0].change, Change::Reset);
        feed.publish(vec![change(1), change(2), change(3)]);
        let two = feed.after(Some(&start[0].token), 2);
        assert_eq!(two.iter().map(|event| event.change.clone()).collect::<Vec<_>>(), [change(1), change(2)]);
        let rest = feed.after(Some(&two[1].token), 10);
        assert_eq!(rest.len(), 1);
        assert_eq!(rest[0].change, change(3));
        assert!(feed.after(Some(&rest[0].token), 10).is_empty());
    }

    #[test]
    fn unknown_and_expired_tokens_reset_the_watcher() {
        let feed = Feed::default();
        let start = feed.after(None, 1)[0].token.clone();
        feed.publish((0..=CAPACITY as u64).map(change).collect());
        for token in [start.as_str(), "other-3", "", "-", "99999"] {
            assert_eq!(feed.after(Some(token), 10)[0].change, Change::Reset, "{token}");
        }
        assert_eq!(Feed::default().after(Some(&start), 10)[0].change, Change::Reset);
    }
}
