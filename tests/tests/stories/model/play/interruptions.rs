//! The end of the daemon, in order or not, with or without a request on its way.

use quorate_tests::caller::Caller;
use quorate_tests::http::{Lost, Reply};
use rustix::process::Signal;
use serde_json::json;

use super::Play;
use crate::model::comparison;
use crate::model::moves;

/// How the daemon ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Interruption {
    Stop,
    Kill,
}

impl Play {
    /// Ends the daemon, by turns in each way, and starts it again. Everything is told as before, times and order
    /// included.
    pub(super) async fn restart(&mut self, count: usize) {
        match count % 4 {
            0 => self.restart_at_rest(Interruption::Kill).await,
            1 => self.restart_at_rest(Interruption::Stop).await,
            2 => self.restart_under_way(Interruption::Kill).await,
            _ => self.restart_under_way(Interruption::Stop).await,
        }
    }

    async fn restart_at_rest(&mut self, interruption: Interruption) {
        self.current = format!("{interruption:?} and start");
        let mut before = Vec::new();
        for place in 0..self.world.organizations.len() {
            before.push(self.answers(place).await);
        }
        self.end(interruption).await;
        self.daemon.restart().await;
        for (place, before) in before.iter().enumerate() {
            let after = self.answers(place).await;
            for (query, before) in before {
                comparison::same(query, before, &after[query]);
            }
        }
    }

    async fn restart_under_way(&mut self, interruption: Interruption) {
        if !self.waiting.is_empty() && self.choices.one_in(2) {
            let which = self.choices.below(self.waiting.len());
            if self.vote(which, true, Some(interruption)).await {
                return;
            }
        }
        if self.choices.one_in(4) && self.accept(Some(interruption)).await {
            return;
        }
        let place = self.place();
        self.ask(place, moves::choose, Some(interruption)).await;
    }

    /// Sends a body and ends the daemon meanwhile: at a different moment each time, told by how many questions it
    /// has answered since.
    pub(super) async fn interrupted(
        &mut self,
        caller: &Caller,
        path: &str,
        body: &[u8],
        interruption: Interruption,
    ) -> Result<Reply, Lost> {
        let (sender, path, body) = (caller.clone(), path.to_owned(), body.to_vec());
        let on_its_way = tokio::spawn(async move { sender.try_send(&path, &body).await });
        for _ in 0..self.choices.below(4) {
            // Perhaps refused: what is on its way may be the end of the key.
            caller.query("whoami", json!({})).await;
        }
        self.end(interruption).await;
        let answer = on_its_way.await.expect("sending does not panic");
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
