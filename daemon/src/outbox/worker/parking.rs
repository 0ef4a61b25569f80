//! Parks the oldest deliveries of organizations that exceed their limits.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::{self, Peekable};
use std::vec::IntoIter;

use quorate_common::ids::OrganizationId;
use quorate_core::error::Corrupt;
use quorate_core::model::layout::outbox::DeliveryId;
use quorate_core::outbox::{self, ParkedFor, Usage};

use super::{Ended, Outbox};
use crate::outbox::pause::Stopped;

/// Maximum number of deliveries of an organization that are parked in one commit.
const PARKED: usize = 256;
/// Maximum number of causing organizations whose deliveries are parked in one commit.
const CAUSES: usize = 16;

impl Outbox {
    /// Parks deliveries of organizations that exceed their limits, some of each at a time.
    pub(super) async fn park(&mut self) -> Result<(), Stopped> {
        self.is_parking = false;
        for organization in std::mem::take(&mut self.over) {
            self.park_oldest(organization)?;
            // Otherwise the limits are met, or all deliveries are running.
            if !self.ended.is_empty() {
                self.over.insert(organization);
                self.is_parking = true;
                self.log_parked(organization);
                self.record(Vec::new()).await?;
            }
        }
        Ok(())
    }

    /// Parks the oldest deliveries of the organization that caused most of those that wait, one activity after
    /// the other, until the limits are met. Deliveries of an organization that caused fewer are kept.
    fn park_oldest(&mut self, organization: OrganizationId) -> Result<(), Corrupt> {
        let mut spent = BTreeSet::new();
        let waiting = self.waiting.get(&organization);
        let over = waiting.filter(|waiting| waiting.heaviest(organization, &self.limits, &spent).is_some());
        let Some(mut left) = over.cloned() else { return Ok(()) };
        let mut oldest = BTreeMap::new();
        while self.ended.len() < PARKED
            && oldest.len() <= CAUSES
            && let Some(cause) = left.heaviest(organization, &self.limits, &spent)
        {
            let mut ids = match oldest.remove(&cause) {
                Some(ids) => ids,
                None => self.oldest(organization, cause)?,
            };
            let Some(first) = ids.next() else {
                // All other deliveries that it caused are running.
                spent.insert(cause);
                continue;
            };
            let mut states = BTreeSet::new();
            let others = iter::from_fn(|| ids.next_if(|id| id.activity == first.activity));
            for id in iter::once(first).chain(others) {
                // A body is stored once for all endpoints.
                let bytes = if states.insert(id.votes) { id.size.into() } else { 0 };
                left.subtract(cause, Usage { deliveries: 1, bytes });
                let due = outbox::due(self.client.records(), &id)?;
                self.ended.push(Ended::parked(id, due, ParkedFor::Limit));
            }
            oldest.insert(cause, ids);
        }
        Ok(())
    }

    /// Returns the oldest deliveries caused by an organization that can be parked.
    fn oldest(
        &self,
        organization: OrganizationId,
        cause: OrganizationId,
    ) -> Result<Peekable<IntoIter<DeliveryId>>, Corrupt> {
        let mut ids = outbox::oldest(self.client.records(), organization, cause, PARKED)?;
        ids.retain(|id| !self.busy.contains(&id.lane()));
        Ok(ids.into_iter().peekable())
    }

    /// Logs that deliveries of an organization are parked. Logs it again only after fewer were waiting.
    fn log_parked(&mut self, organization: OrganizationId) {
        let Some(waiting) = self.waiting.get_mut(&organization).filter(|waiting| !waiting.is_logged) else {
            return;
        };
        waiting.is_logged = true;
        tracing::warn!(
            %organization,
            waiting_webhooks = self.limits.waiting,
            waiting_webhook_bytes = self.limits.waiting_bytes,
            "too many webhook deliveries are waiting: the oldest are parked and will not be delivered"
        );
    }
}
