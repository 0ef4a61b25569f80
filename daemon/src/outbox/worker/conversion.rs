//! Converts the deliveries that an earlier version stored, before the first delivery.

use quorate_core::model::layout::Key;
use quorate_core::outbox;
use quorate_core::pipeline::Commit;

use super::{NAME, Outbox};
use crate::clock::now;
use crate::outbox::pause::{Pause, Stopped};

impl Outbox {
    /// Converts deliveries that an earlier version stored.
    pub(super) async fn convert(&mut self) {
        let (mut after, mut unreadable, mut converted): (Option<Key>, u64, u64) = (None, 0, 0);
        loop {
            let step = self.convert_some(after.as_deref()).await;
            match step {
                Ok(step) => {
                    unreadable = unreadable.saturating_add(step.unreadable);
                    converted = converted.saturating_add(step.converted);
                    after = step.next;
                    if after.is_none() {
                        break;
                    }
                    self.pause = Pause::default();
                }
                Err(stopped) => {
                    self.pause.record(Err(stopped), NAME, now());
                    tokio::time::sleep(self.wait_time(now())).await;
                }
            }
        }
        if converted > 0 {
            tracing::info!(converted, "webhook deliveries of an earlier version were converted");
        }
        if unreadable > 0 {
            (0..unreadable).for_each(|_| self.client.metrics.delivery("unreadable"));
            tracing::error!(
                unreadable,
                "webhook deliveries of an earlier version cannot be read; they are skipped"
            );
        }
    }

    async fn convert_some(&self, after: Option<&[u8]>) -> Result<outbox::Conversion, Stopped> {
        let mut step = outbox::convert(self.client.records(), after)?;
        if !step.writes.is_empty() {
            let commit = Commit { writes: std::mem::take(&mut step.writes), ..Commit::default() };
            let recorded = self.client.executor.commit_if(commit, self.lease.condition()).await;
            recorded.map_err(|_| Stopped::Writes)?;
        }
        Ok(step)
    }
}
