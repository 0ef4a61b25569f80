//! Records events in the delivery of messages, in the commit that records the outcome of an attempt.

use std::collections::HashMap;

use quorate_common::ids::OrganizationId;
use quorate_core::error::Corrupt;
use quorate_core::message_events::{self, records_delay};
use quorate_core::model::message_event::DeliveryStep;
use quorate_core::model::queued_message::StoredMessage as _;
use quorate_core::model::write::Write;
use quorate_core::world::World as _;

use super::{Channel, Ended, Outcome};
use crate::executor::Executor;

/// After this many attempts, the events of an organization are counted again.
const INTERVAL: u32 = 256;
/// Maximum number of organizations whose attempts are counted.
const ORGANIZATIONS: usize = 1024;

/// Attempts for each organization since its events were counted.
#[derive(Default)]
pub(super) struct Counts(HashMap<OrganizationId, u32>);

impl Counts {
    /// Returns the writes that record the event of an attempt, and that remove events that are too many.
    /// `continues` states whether another attempt will be made.
    pub(super) fn record<C: Channel>(
        &mut self,
        executor: &Executor,
        channel: &C,
        ended: &Ended<C::Message>,
        continues: bool,
    ) -> Result<Vec<Write>, Corrupt> {
        let Some(message) = channel.described(&ended.key, &ended.message) else { return Ok(Vec::new()) };
        let attempts = ended.message.schedule().0.saturating_add(1);
        let answer = ended.reply.answer.clone();
        let step = match ended.reply.outcome {
            Outcome::Accepted => {
                DeliveryStep::Delivered(answer, ended.at.saturating_sub(message.origin.queued))
            }
            Outcome::Rejected => DeliveryStep::Rejected(answer),
            Outcome::Expired => DeliveryStep::Expired(answer),
            Outcome::Displaced => DeliveryStep::Displaced(answer),
            Outcome::Failed | Outcome::Unavailable if !continues => DeliveryStep::GivenUp(answer),
            Outcome::Failed | Outcome::Unavailable if records_delay(attempts) => {
                DeliveryStep::Delayed(answer)
            }
            Outcome::Failed | Outcome::Unavailable => return Ok(Vec::new()),
        };
        let world = executor.world();
        let mut writes = message.excess(world.records(), world.index())?;
        if self.is_due(message.origin.keeper) {
            writes.extend(message_events::excess(world.records(), message.origin.keeper)?);
        }
        writes.extend(message.record(step, attempts, ended.at, world.index())?);
        Ok(writes)
    }

    /// Counts an attempt, and returns whether the events of the organization are to be counted.
    fn is_due(&mut self, keeper: OrganizationId) -> bool {
        if self.0.len() >= ORGANIZATIONS && !self.0.contains_key(&keeper) {
            self.0.clear();
        }
        let count = self.0.entry(keeper).or_default();
        let is_due = count.is_multiple_of(INTERVAL);
        *count = count.wrapping_add(1);
        is_due
    }
}
