//! The change feed: what happened, in order, for whoever watches, with tokens to go on from.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_common::console::{Change, Event};
use tokio::sync::watch;

use crate::fail_points;

/// How many events are kept for watchers that were away.
const KEPT: usize = 4096;

/// Keeps the latest events and wakes watchers.
pub struct Feed {
    state: Mutex<State>,
    /// The number of the newest event.
    newest: watch::Sender<u64>,
}

struct State {
    /// Tells tokens of this run from those of an earlier one.
    run: String,
    first: u64,
    events: VecDeque<Change>,
}

impl Default for Feed {
    fn default() -> Self {
        let mut bytes = [0; 8];
        // Without randomness the tokens of two runs might be mistaken; the clock then tells them apart.
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

    /// The number of a token of this run, if it is one.
    fn number(&self, token: &str) -> Option<u64> {
        let (run, number) = token.split_once('-')?;
        if run == self.run { number.parse().ok() } else { None }
    }
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds events.
    pub fn publish(&self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        fail_points::reach("feed.publish");
        let newest = {
            let mut state = self.lock();
            state.events.extend(changes);
            while state.events.len() > KEPT {
                state.events.pop_front();
                state.first = state.first.saturating_add(1);
            }
            state.next().saturating_sub(1)
        };
        self.newest.send_replace(newest);
    }

    /// Watches for news.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// The events behind a token, at most `limit`. A token that is not known any more, and none at all, give
    /// one event that says to read everything again; its token is the present end.
    pub fn after(&self, token: Option<&str>, limit: usize) -> Vec<Event> {
        let state = self.lock();
        let end = state.next().saturating_sub(1);
        let behind = token.and_then(|token| state.number(token)).filter(|number| *number <= end);
        let Some(behind) = behind.filter(|number| number.saturating_add(1) >= state.first) else {
            return vec![Event { token: state.token(end), change: Change::Reset }];
        };
        let skip =
            usize::try_from(behind.saturating_add(1).saturating_sub(state.first)).unwrap_or(usize::MAX);
        let numbers = behind.saturating_add(1)..;
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
    fn nothing_is_lost_between_tokens() {
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
    fn what_is_forgotten_is_told() {
        let feed = Feed::default();
        let start = feed.after(None, 1)[0].token.clone();
        feed.publish((0..=KEPT as u64).map(change).collect());
        for token in [start.as_str(), "other-3", "", "-", "99999"] {
            assert_eq!(feed.after(Some(token), 10)[0].change, Change::Reset, "{token}");
        }
        assert_eq!(Feed::default().after(Some(&start), 10)[0].change, Change::Reset);
    }
}
