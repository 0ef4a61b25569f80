//! Repeats deliveries that operators requested. Only the worker changes the queue, so a request cannot conflict with a
//! delivery that ends at the same time.

use quorate_core::model::write::Write;
use quorate_core::operator::Repeated;
use quorate_core::outbox;

use super::Outbox;
use crate::clock::now;
use crate::outbox::control::RepeatRequest;
use crate::outbox::pause::Stopped;

impl Outbox {
    /// Fulfils the request that was received, unless the operator does not wait for it anymore.
    pub(super) async fn repeat(&mut self) -> Result<(), Stopped> {
        let request = self.requested.take().filter(|request| !request.answer.is_closed());
        let Some(RepeatRequest { repeated, answer }) = request else { return Ok(()) };
        let destination = repeated.id.destination;
        if self.busy.contains(&repeated.id.lane()) {
            let _ = answer.send(Err("a delivery of this activity is under way"));
            return Ok(());
        }
        let (writes, waiting) = self.repeated(repeated)?;
        self.record(writes).await?;
        self.shares.rouse(destination, || self.client.tenant(destination.organization));
        let _ = answer.send(Ok(waiting));
        Ok(())
    }

    /// Returns the writes that repeat a delivery, and the number of waiting deliveries that they make due.
    fn repeated(&self, repeated: Repeated) -> Result<(Vec<Write>, u64), Stopped> {
        let Repeated { id, url, body } = repeated;
        let (writes, waiting) = outbox::expedite(self.client.records(), &id, now())?;
        if waiting > 0 {
            return Ok((writes, waiting));
        }
        Ok((outbox::queue_again(self.client.records(), &id, url, &body, now())?, 0))
    }
}
