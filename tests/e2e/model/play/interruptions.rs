//! Stops and kills of the daemon, with or without a request in flight.

use quorate_tests::caller::Caller;
use quorate_tests::http::{NoAnswer, Reply};
use rustix::process::Signal;
use serde_json::json;

use super::Play;
use crate::model::comparison;
use crate::model::moves;

/// Way to end the daemon.
#[derive(Clone, Copy, Debug)]
pub(super) enum Interruption {
    Stop,
    Kill,
}

impl Play {
    /// Ends the daemon, in each way in turn, and starts it again. All query results are unchanged, including
    /// times and order.
    pub(super) async fn restart(&mut self, count: usize) {
        match count % 4 {
            0 => self.restart_idle(Interruption::Kill).await,
            1 => self.restart_idle(Interruption::Stop).await,
            2 => self.restart_with_request(Interruption::Kill).await,
            _ => self.restart_with_request(Interruption::Stop).await,
        }
    }

    async fn restart_idle(&mut self, interruption: Interruption) {
        self.current = format!("{interruption:?} and start");
        let mut before = Vec::new();
        for position in 0..self.world.organizations.len() {
            before.push(self.answers(position).await);
        }
        self.end(interruption).await;
        self.daemon.restart().await;
        for (position, before) in before.iter().enumerate() {
            let after = self.answers(position).await;
            for (query, before) in before {
                comparison::assert_same(query, before, &after[query]);
            }
        }
    }

    async fn restart_with_request(&mut self, interruption: Interruption) {
        if !self.waiting.is_empty() && self.choices.one_in(2) {
            let which = self.choices.below(self.waiting.len());
            if self.vote(which, true, Some(interruption)).await {
                return;
            }
        }
        if self.choices.one_in(4) && self.accept(Some(interruption)).await {
            return;
        }
        let position = self.choose_organization();
        self.propose(position, moves::choose, Some(interruption)).await;
    }

    /// Sends a body and ends the daemon meanwhile. The number of answered queries varies the point in time.
    pub(super) async fn send_and_interrupt(
        &mut self,
        caller: &Caller,
        path: &str,
        body: &[u8],
        interruption: Interruption,
    ) -> Result<Reply, NoAnswer> {
        let (sender, path, body) = (caller.clone(), path.to_owned(), body.to_vec());
        let in_flight = tokio::spawn(async move { sender.try_send(&path, &body).await });
        for _ in 0..self.choices.below(4) {
            // This may fail, because the request in flight may delete the key.
            caller.query("whoami", json!({})).await;
        }
        self.end(interruption).await;
        let answer = in_flight.await.expect("sending does not panic");
        self.daemon.restart().await;
        answer
    }

    async fn end(&mut self, interruption: Interruption) {
        match interruption {
            Interruption::Kill => self.daemon.kill(),
            Interruption::Stop => {
                let status = self.daemon.stop(Signal::TERM).await;
                assert!(status.success(), "an orderly stop: {status}");
            }
        }
    }
}
