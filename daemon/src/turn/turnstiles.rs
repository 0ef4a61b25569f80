//! Turnstiles: who changes an organization that many change at once.
//!
//! Of the changes of an organization that are decided at the same time, one is committed and the others are decided again.
//! Those go through the turnstile of the organization one after the other, and whoever comes later waits behind them, so
//! that none loses again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quorate_common::ids::OrganizationId;
use tokio::sync::OwnedMutexGuard;

type Turnstile = Arc<tokio::sync::Mutex<()>>;

/// The turnstiles in use, at most one for each request under way.
#[derive(Default)]
pub(super) struct Turnstiles(Mutex<HashMap<OrganizationId, Turnstile>>);

/// A place in a turnstile. The next one enters when it is dropped.
pub(super) struct Passage<'a> {
    turnstiles: &'a Turnstiles,
    organization: OrganizationId,
    /// Present until it is dropped.
    place: Option<OwnedMutexGuard<()>>,
}

impl Turnstiles {
    fn all(&self) -> MutexGuard<'_, HashMap<OrganizationId, Turnstile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody is in the turnstile of an organization, or waits before it.
    pub(super) fn is_used(&self, organization: OrganizationId) -> bool {
        self.all().contains_key(&organization)
    }

    /// Enters the turnstile of an organization when all who came before have left it.
    pub(super) async fn enter(&self, organization: OrganizationId) -> Passage<'_> {
        let turnstile = Arc::clone(self.all().entry(organization).or_default());
        // Whoever goes away while waiting leaves nothing behind.
        let mut passage = Passage { turnstiles: self, organization, place: None };
        passage.place = Some(turnstile.lock_owned().await);
        passage
    }
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        let mut all = self.turnstiles.all();
        drop(self.place.take());
        // All who wait hold it, too.
        if all.get(&self.organization).is_some_and(|turnstile| Arc::strong_count(turnstile) == 1) {
            all.remove(&self.organization);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use super::*;

    fn waits(passage: Pin<&mut impl Future>) -> bool {
        passage.poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    #[tokio::test]
    async fn one_after_the_other_and_nothing_is_left() {
        let turnstiles = Turnstiles::default();
        let (one, other) = (OrganizationId::from_bytes([1; 16]), OrganizationId::from_bytes([2; 16]));
        let first = turnstiles.enter(one).await;
        assert!(turnstiles.is_used(one) && !turnstiles.is_used(other));
        drop(turnstiles.enter(other).await);
        let mut second = Box::pin(turnstiles.enter(one));
        let mut third = Box::pin(turnstiles.enter(one));
        assert!(waits(second.as_mut()) && waits(third.as_mut()));
        drop(first);
        assert!(waits(third.as_mut()), "in the order in which they came");
        let second = second.await;
        // One that gives up does not hold up others.
        drop(third);
        assert!(turnstiles.is_used(one));
        drop(second);
        assert!(turnstiles.all().is_empty());
    }
}
