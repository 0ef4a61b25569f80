//! Collects which credentials were used until they are recorded. A use that is precise enough already costs one lookup.

use std::sync::{Mutex, PoisonError};

use quorate_core::model::Millis;
use quorate_core::model::last_use::{Credential, CredentialUse, LAST_USE_PRECISION_MILLIS};
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
    noted: TwoGenerations<Credential, Millis>,
    waiting: Vec<CredentialUse>,
}

impl Default for LastUses {
    fn default() -> Self {
        let state = State { noted: TwoGenerations::new(CREDENTIALS), waiting: Vec::new() };
        Self { state: Mutex::new(state), arrived: Notify::new() }
    }
}

impl LastUses {
    /// Collects the uses that are not recorded with enough precision.
    pub(super) fn note<'a>(&self, uses: impl IntoIterator<Item = &'a CredentialUse>) {
        for used in uses {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let noted = state.noted.value(&used.credential);
            let is_precise = |noted: Millis| used.at < noted.saturating_add(LAST_USE_PRECISION_MILLIS);
            if noted.is_some_and(is_precise) || state.waiting.len() >= WAITING {
                continue;
            }
            state.noted.keep(used.credential, used.at);
            state.waiting.push(*used);
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
    use quorate_common::ids::{ApiKeyId, OrganizationId, UserId};

    use super::*;

    fn used(number: u64, at: Millis) -> CredentialUse {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        CredentialUse {
            organization: OrganizationId::from_bytes([1; 16]),
            user: UserId::from_bytes([2; 16]),
            credential: Credential::ApiKey(ApiKeyId::from_bytes(id)),
            at,
        }
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
