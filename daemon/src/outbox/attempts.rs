//! The last attempts at deliveries, for operators. They are kept in memory only, in bounded number: the queue itself is
//! in the store.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use quorate_common::console::{AttemptResult, TEST_EVENT, WebhookAttempt};
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_core::model::Millis;
use quorate_core::model::layout::outbox::{DeliveryId, Destination};
use quorate_core::model::webhook_endpoint::ACTIVITY_UPDATES;

use super::attempt::{Attempt, Disposition, event_id};
use crate::outgoing::Outcome;

/// Maximum number of attempts that are kept of each receiver.
const ATTEMPTS: usize = 20;
/// Maximum number of receivers whose attempts are kept. Beyond it, those of the receiver that was called longest ago
/// are dropped.
const RECEIVERS: usize = 2048;

/// The last attempts at the deliveries to each receiver.
#[derive(Default)]
pub(super) struct Attempts {
    receivers: Mutex<HashMap<Destination, Receiver>>,
}

#[derive(Default)]
struct Receiver {
    /// Newest last.
    last: VecDeque<Made>,
    delivered: u64,
    failed: u64,
}

/// The attempts at the deliveries to a receiver since the start.
#[derive(Default)]
pub struct Seen {
    /// Number of attempts that the receiver accepted.
    pub delivered: u64,
    /// Number of other attempts.
    pub failed: u64,
    /// The last attempts, newest first.
    pub last: Vec<WebhookAttempt>,
}

/// An attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    at: Millis,
    took: Duration,
    /// Activity with its organization and its number of votes; nothing for a test.
    of: Option<(OrganizationId, ActivityId, u32)>,
    attempt: u32,
    result: AttemptResult,
    status: Option<u16>,
    error: Option<&'static str>,
    next: Option<Millis>,
    event: ActivityId,
}

/// The visible part of an outcome: status, reason, and whether the receiver accepted it.
struct Shown {
    status: Option<u16>,
    error: Option<&'static str>,
    result: AttemptResult,
}

impl Shown {
    fn of(outcome: Outcome) -> Self {
        let (status, error, result) = match outcome {
            Outcome::Delivered(status) => (Some(status), None, AttemptResult::Delivered),
            Outcome::Final(status) => (Some(status), None, AttemptResult::Refused),
            Outcome::NotAllowed(why) => (None, Some(why), AttemptResult::Refused),
            Outcome::Failed(status) => (Some(status), None, AttemptResult::Failed),
            Outcome::Silent(why) => (None, Some(why), AttemptResult::Failed),
        };
        Self { status, error, result }
    }
}

/// What an attempt showed, before its effect on the delivery is known.
pub(super) struct Observed {
    took: Duration,
    shown: Shown,
}

impl Observed {
    /// Describes an attempt.
    pub(super) fn of(attempt: &Attempt) -> Self {
        let unmade = |error| Shown { status: None, error: Some(error), result: AttemptResult::Failed };
        match attempt {
            Attempt::Made(outcome, took) => Self { took: *took, shown: Shown::of(*outcome) },
            Attempt::Unreadable => {
                let shown =
                    Shown { result: AttemptResult::Refused, ..unmade("the stored event cannot be read") };
                Self { took: Duration::ZERO, shown }
            }
            Attempt::NotPrepared(_) => {
                Self { took: Duration::ZERO, shown: unmade("the event cannot be prepared now") }
            }
        }
    }

    /// Returns the attempt at a delivery that had failed this many times before.
    pub(super) fn attempt(self, id: &DeliveryId, failed: u32, end: &Disposition, at: Millis) -> Made {
        let next = match end {
            Disposition::Postponed(delivery) => Some(delivery.due),
            Disposition::Removed | Disposition::Parked(_) => None,
        };
        let result = match self.shown.result {
            AttemptResult::Failed if next.is_none() => AttemptResult::GivenUp,
            result => result,
        };
        Made {
            at,
            took: self.took,
            of: Some((id.cause, id.activity, id.votes)),
            attempt: failed.saturating_add(1),
            result,
            status: self.shown.status,
            error: self.shown.error,
            next,
            event: event_id(id),
        }
    }
}

impl Attempts {
    /// Records a test, and returns it.
    pub(super) fn add_test(
        &self,
        destination: Destination,
        event: ActivityId,
        (outcome, took): (Outcome, Duration),
        at: Millis,
    ) -> WebhookAttempt {
        let Shown { status, error, result } = Shown::of(outcome);
        let result = if result == AttemptResult::Failed { AttemptResult::GivenUp } else { result };
        let made = Made { at, took, of: None, attempt: 1, result, status, error, next: None, event };
        self.push(destination, made);
        made.shown()
    }

    /// Records an attempt.
    pub(super) fn push(&self, destination: Destination, made: Made) {
        let mut receivers = self.receivers.lock().unwrap_or_else(PoisonError::into_inner);
        if receivers.len() >= RECEIVERS && !receivers.contains_key(&destination) {
            let time = |receiver: &Receiver| receiver.last.back().map_or(0, |made| made.at);
            let oldest = receivers.iter().min_by_key(|(_, receiver)| time(receiver)).map(|(key, _)| *key);
            oldest.map(|oldest| receivers.remove(&oldest));
        }
        let receiver = receivers.entry(destination).or_default();
        let count = match made.result {
            AttemptResult::Delivered => &mut receiver.delivered,
            _ => &mut receiver.failed,
        };
        *count = count.saturating_add(1);
        if receiver.last.len() >= ATTEMPTS {
            receiver.last.pop_front();
        }
        receiver.last.push_back(made);
    }

    /// Returns the attempts at the deliveries to a receiver, as many as requested.
    pub(super) fn of(&self, destination: &Destination, limit: usize) -> Seen {
        let receivers = self.receivers.lock().unwrap_or_else(PoisonError::into_inner);
        receivers.get(destination).map_or_else(Seen::default, |receiver| Seen {
            delivered: receiver.delivered,
            failed: receiver.failed,
            last: receiver.last.iter().rev().take(limit).map(Made::shown).collect(),
        })
    }
}

impl Made {
    fn shown(&self) -> WebhookAttempt {
        WebhookAttempt {
            at_millis: self.at,
            event_type: if self.of.is_some() { ACTIVITY_UPDATES } else { TEST_EVENT }.to_owned(),
            event_id: self.event.to_string(),
            organization_id: self.of.map(|(organization, ..)| organization),
            activity_id: self.of.map(|(_, activity, _)| activity),
            votes: self.of.map_or(0, |(_, _, votes)| votes),
            attempt: self.attempt,
            result: self.result,
            status: self.status,
            error: self.error.map(str::to_owned),
            took_millis: u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            next_millis: self.next,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use quorate_core::outbox::Delivery;

    use super::*;

    fn id(receiver: u32, activity: u64) -> DeliveryId {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&receiver.to_be_bytes());
        let organization = OrganizationId::from_bytes(bytes);
        let destination = Destination { organization, endpoint: None };
        let activity = ActivityId::timed(activity, [1; 10]);
        DeliveryId { destination, cause: organization, activity, votes: 1, size: 1 }
    }

    fn add(attempts: &Attempts, id: &DeliveryId, outcome: Outcome, end: &Disposition, at: Millis) {
        let seen = Observed::of(&Attempt::Made(outcome, Duration::from_millis(3)));
        attempts.push(id.destination, seen.attempt(id, 1, end, at));
    }

    #[test]
    fn the_last_attempts_of_a_receiver_are_kept() {
        let attempts = Attempts::default();
        let one = id(1, 7);
        for at in 0..100 {
            add(&attempts, &one, Outcome::Delivered(200), &Disposition::Removed, at);
        }
        let again = Delivery { url: String::new(), attempts: 2, due: 900 };
        add(&attempts, &one, Outcome::Failed(503), &Disposition::Postponed(again), 200);
        add(&attempts, &one, Outcome::Silent("no answer in time"), &Disposition::Removed, 300);
        let seen = attempts.of(&one.destination, usize::MAX);
        assert_eq!((seen.delivered, seen.failed, seen.last.len()), (100, 2, ATTEMPTS));
        let [last, before] = [&seen.last[0], &seen.last[1]];
        assert_eq!((last.result, last.status, last.next_millis), (AttemptResult::GivenUp, None, None));
        assert_eq!(last.error.as_deref(), Some("no answer in time"));
        assert_eq!((before.result, before.status), (AttemptResult::Failed, Some(503)));
        assert_eq!((before.attempt, before.next_millis, before.took_millis), (2, Some(900), 3));
        assert_eq!(before.activity_id, Some(one.activity));
    }

    #[test]
    fn the_number_of_receivers_is_bounded() {
        let attempts = Attempts::default();
        for number in 0..10_000 {
            add(&attempts, &id(number, 7), Outcome::Delivered(200), &Disposition::Removed, u64::from(number));
        }
        assert_eq!(attempts.receivers.lock().unwrap().len(), RECEIVERS);
        assert_eq!(attempts.of(&id(9999, 7).destination, 1).last.len(), 1, "the newest are kept");
        assert_eq!(attempts.of(&id(0, 7).destination, 1).last.len(), 0);
    }
}
