//! Removes messages that are not sent anymore: their secrets have expired, or newer messages displaced them.

use quorate_core::model::message_event::ServerAnswer;
use quorate_core::model::queued_message::{MessageId, StoredMessage as _};
use quorate_core::world::World as _;

use super::{BATCH, Channel, Ended, Outcome, Queue, Reply, Scan};
use crate::clock::now;
use crate::message_queue::Turns;
use crate::outbox::pause::Stopped;

/// Why a message is not sent whose secret has expired.
const EXPIRED: &str = "expired before the server took it";
/// Why a message is not sent that was displaced.
const DISPLACED: &str = "its receiver delayed it, and newer messages displaced it: too many wait to be sent \
                         (`waiting_messages` or `waiting_message_bytes`)";

impl<C: Channel> Queue<C> {
    /// Removes the messages whose secrets have expired, also while the server is unavailable.
    pub(super) async fn drop_expired(&mut self) -> Result<(), Stopped> {
        self.drop_taken(Outcome::Expired, EXPIRED, |turns| turns.take_expired(now(), BATCH)).await
    }

    /// Removes delayed messages that newer ones displaced, also while the server is unavailable. Which ones is known once
    /// all messages are.
    pub(super) async fn drop_displaced(&mut self) -> Result<(), Stopped> {
        if matches!(self.scan, Scan::Running(_)) {
            return Ok(());
        }
        let share = self.executor.world().limits().message_share();
        self.drop_taken(Outcome::Displaced, DISPLACED, |turns| turns.take_displaced(share, BATCH)).await
    }

    /// Removes the messages that `take` takes, at most [`BATCH`] at once, until it takes fewer.
    async fn drop_taken(
        &mut self,
        outcome: Outcome,
        reason: &str,
        take: impl Fn(&mut Turns) -> Vec<MessageId>,
    ) -> Result<(), Stopped> {
        loop {
            let taken = take(&mut self.messages().turns());
            if taken.is_empty() {
                return Ok(());
            }
            let is_last = taken.len() < BATCH;
            for id in taken {
                let key = id.key(C::Message::CHANNEL);
                match self.read(&key) {
                    Ok(Some(message)) => {
                        let reply = Reply { outcome, answer: ServerAnswer::new(None, reason, &[]) };
                        self.ended.push(Ended { id, key, message, reply, at: now() });
                    }
                    Ok(None) => self.messages().turns().forget(id),
                    Err(error) => {
                        // All messages are read again after the pause.
                        self.messages().turns().forget(id);
                        return Err(error.into());
                    }
                }
            }
            self.record().await?;
            if is_last {
                return Ok(());
            }
        }
    }
}
