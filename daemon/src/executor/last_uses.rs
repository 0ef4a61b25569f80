//! Collects which credentials were used until they are recorded, and compares the counters of passkeys. A use that is
//! precise enough already costs one lookup.

use std::sync::{Mutex, PoisonError};

use quorate_core::model::Millis;
use quorate_core::model::last_use::{
    Credential, CredentialUse, LAST_USE_PRECISION_MILLIS, UsedCounter, is_back,
};
use tokio::sync::Notify;

use crate::cache::TwoGenerations;

/// Maximum number of credentials whose last use is remembered. The uses of others are collected again, and found to be
/// recorded.
const CREDENTIALS: usize = 65_536;
/// Maximum number of uses that wait to be recorded. Further ones are dropped; later uses of their credentials are
/// recorded.
const WAITING: usize = 16_384;
/// Maximum number of uses that are recorded in one commit.
const GROUP: usize = 256;

/// Uses of credentials that are not recorded yet, and the credentials whose use need not be recorded again.
pub struct LastUses {
    state: Mutex<State>,
    /// Notified when a use waits.
    pub arrived: Notify,
}

struct State {
    noted: TwoGenerations<Credential, Noted>,
    waiting: Vec<CredentialUse>,
}

/// What is known of the uses of a credential.
#[derive(Clone, Copy)]
struct Noted {
    /// Time that is recorded, or will be.
    at: Millis,
    /// Counter of the newest use; zero if it is not known.
    counter: u32,
    /// Whether a counter was compared with the recorded one, which may be higher than those since the start.
    is_compared: bool,
}

impl Noted {
    /// Returns what is known after a first use.
    fn first(used: &CredentialUse) -> Self {
        Self { at: used.at, counter: 0, is_compared: false }.after(used)
    }

    fn is_precise(self, used: &CredentialUse) -> bool {
        used.at < self.at.saturating_add(LAST_USE_PRECISION_MILLIS)
    }

    /// Returns whether the counter of a use must be compared with the recorded one.
    fn is_suspect(self, counter: UsedCounter) -> bool {
        counter.is_new && (!self.is_compared || is_back(counter.value, self.counter))
    }

    /// Returns what is known after a further use.
    fn after(self, used: &CredentialUse) -> Self {
        let at = if self.is_precise(used) { self.at } else { used.at };
        let counter = used.counter.map_or(self.counter, |counter| counter.newest(self.counter));
        let is_compared = self.is_compared || used.counter.is_some_and(|counter| counter.is_new);
        Self { at, counter, is_compared }
    }
}

impl Default for LastUses {
    fn default() -> Self {
        let state = State { noted: TwoGenerations::new(CREDENTIALS), waiting: Vec::new() };
        Self { state: Mutex::new(state), arrived: Notify::new() }
    }
}

impl LastUses {
    /// Collects the uses that are not recorded with enough precision, and those whose counters may have gone back.
    pub(super) fn note<'a>(&self, uses: impl IntoIterator<Item = &'a CredentialUse>) {
        for used in uses {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let noted = state.noted.value(&used.credential);
            let is_suspect = |noted: Noted| used.counter.is_some_and(|counter| noted.is_suspect(counter));
            let is_recorded = noted.is_some_and(|noted| noted.is_precise(used) && !is_suspect(noted));
            if !is_recorded && state.waiting.len() >= WAITING {
                continue;
            }
            let next = noted.map_or_else(|| Noted::first(used), |noted| noted.after(used));
            if !is_recorded || used.counter.is_some() {
                state.noted.keep(used.credential, next);
            }
            if is_recorded {
                continue;
            }
            let after = noted.map_or(0, |noted| noted.counter);
            let counter = used.counter.map(|counter| UsedCounter { after, ..counter });
            state.waiting.push(CredentialUse { counter, ..*used });
            drop(state);
            self.arrived.notify_one();
        }
    }

    /// Takes uses that wait, as many as one commit records.
    pub fn take(&self) -> Vec<CredentialUse> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let group = state.waiting.len().min(GROUP);
        state.waiting.drain(..group).collect()
    }

    /// Forgets uses that could not be recorded, so that the next ones of their credentials are.
    pub fn forget(&self, uses: &[CredentialUse]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for one in uses {
            state.noted.forget(&one.credential);
        }
    }
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::{ApiKeyId, AuthenticatorId, OrganizationId, UserId};

    use super::*;

    fn used(number: u64, at: Millis) -> CredentialUse {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        CredentialUse {
            organization: OrganizationId::from_bytes([1; 16]),
            user: UserId::from_bytes([2; 16]),
            credential: Credential::ApiKey(ApiKeyId::from_bytes(id)),
            at,
            counter: None,
        }
    }

    /// Returns the use of a passkey by an activity, or by a query.
    fn counted(at: Millis, value: u32, is_new: bool, after: u32) -> CredentialUse {
        let credential = Credential::Passkey(AuthenticatorId::from_bytes([3; 16]));
        CredentialUse { credential, counter: Some(UsedCounter { value, is_new, after }), ..used(1, at) }
    }

    #[test]
    fn a_counter_that_went_back_is_collected_within_the_hour() {
        let last_uses = LastUses::default();
        let note = |at, value, is_new| last_uses.note(&[counted(at, value, is_new, 0)]);
        note(10, 8, false);
        note(11, 9, true);
        assert_eq!(
            last_uses.take(),
            [counted(10, 8, false, 0), counted(11, 9, true, 8)],
            "the recorded counter may be higher than that of a query"
        );
        note(12, 10, true);
        note(13, 12, false);
        // A query may have been sent again.
        note(14, 9, false);
        note(15, 13, true);
        assert_eq!(last_uses.take(), []);
        note(16, 7, true);
        note(17, 7, true);
        note(18, 8, true);
        assert_eq!(last_uses.take(), [counted(16, 7, true, 13), counted(17, 7, true, 7)]);
        // The next use after a failure is compared with the recorded counter only.
        note(19, 3, true);
        last_uses.forget(&last_uses.take());
        note(20, 4, true);
        assert_eq!(last_uses.take(), [counted(20, 4, true, 0)]);
    }

    #[test]
    fn a_credential_is_collected_once_an_hour() {
        let last_uses = LastUses::default();
        let times = [10, 11, 10 + LAST_USE_PRECISION_MILLIS - 1, 10 + LAST_USE_PRECISION_MILLIS, 5];
        for at in times {
            last_uses.note(&[used(1, at)]);
        }
        assert_eq!(last_uses.take(), [used(1, 10), used(1, 10 + LAST_USE_PRECISION_MILLIS)]);
        assert_eq!(last_uses.take(), []);
    }

    #[test]
    fn a_use_that_could_not_be_recorded_is_followed_by_the_next_one() {
        let last_uses = LastUses::default();
        last_uses.note(&[used(1, 10)]);
        last_uses.forget(&last_uses.take());
        last_uses.note(&[used(1, 12)]);
        assert_eq!(last_uses.take(), [used(1, 12)]);
    }

    #[test]
    fn memory_is_bounded() {
        let last_uses = LastUses::default();
        for number in 0..2 * WAITING as u64 {
            last_uses.note(&[used(number, 1)]);
        }
        let mut taken = 0;
        loop {
            let group = last_uses.take();
            assert!(group.len() <= GROUP);
            if group.is_empty() {
                break;
            }
            taken += group.len();
        }
        assert_eq!(taken, WAITING);
        last_uses.note(&[used(WAITING as u64 + 1, 2)]);
        assert_eq!(last_uses.take().len(), 1, "a dropped use is not remembered as recorded");
    }
}
