//! The group committer of the limit server: one thread that collects a group like the daemon, makes it
//! durable at once, and answers all requests.

use std::sync::Arc;

use quorated::executor::group::{self, Receiver, Sender, queue};
use quorated::store::{Batch, BatchOutcome, Group, Store};
use tokio::sync::oneshot;

pub(crate) struct Waiting {
    batch: Batch,
    reply: oneshot::Sender<BatchOutcome>,
}

/// Sends batches to the committer thread.
pub(crate) struct Committer(Sender<Waiting>);

impl Committer {
    pub(crate) fn start(store: Arc<dyn Store>) -> Self {
        let (queue, waiting) = queue();
        std::thread::spawn(move || run(store.as_ref(), waiting));
        Self(queue)
    }

    pub(crate) fn deciding(&self) -> group::Deciding<Waiting> {
        self.0.deciding()
    }

    /// Queues a batch at once. The future completes when the batch is durable.
    pub(crate) fn commit(
        &self,
        batch: Batch,
        deciding: group::Deciding<Waiting>,
    ) -> impl Future<Output = BatchOutcome> + use<> {
        let (reply, answer) = oneshot::channel();
        self.0.send(Waiting { batch, reply }, Some(deciding));
        async move { answer.await.expect("the committer answers") }
    }
}

fn run(store: &dyn Store, mut waiting: Receiver<Waiting>) {
    while let Some(group) = waiting.group(None) {
        let (batches, replies): (Vec<Batch>, Vec<_>) =
            group.into_iter().map(|one| (one.batch, one.reply)).unzip();
        let verdicts =
            store.commit(&Group { batches, ..Group::default() }).expect("the store accepts writes");
        for (reply, verdict) in replies.into_iter().zip(verdicts) {
            // Nobody waits for the answer if the client disconnected.
            let _ = reply.send(verdict);
        }
    }
}
