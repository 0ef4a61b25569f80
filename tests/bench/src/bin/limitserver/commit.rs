//! The group committer of the limit: one thread that gathers as the daemon's does, makes a group durable at
//! once, and answers all.

use std::sync::Arc;

use quorated::store::{Batch, Group, Store, Verdict};
use quorated::turn::gather::{self, Receiver, Sender, queue};
use tokio::sync::oneshot;

pub(crate) struct Waiting {
    batch: Batch,
    reply: oneshot::Sender<Verdict>,
}

/// Hands batches to the thread.
pub(crate) struct Committer(Sender<Waiting>);

impl Committer {
    pub(crate) fn start(store: Arc<dyn Store>) -> Self {
        let (queue, waiting) = queue();
        std::thread::spawn(move || run(store.as_ref(), waiting));
        Self(queue)
    }

    pub(crate) fn deciding(&self) -> gather::Deciding<Waiting> {
        self.0.deciding()
    }

    /// Queues at once; the future ends when the batch is durable.
    pub(crate) fn commit(
        &self,
        batch: Batch,
        deciding: gather::Deciding<Waiting>,
    ) -> impl Future<Output = Verdict> + use<> {
        let (reply, answer) = oneshot::channel();
        self.0.send(Waiting { batch, reply }, Some(deciding));
        async move { answer.await.expect("the committer answers") }
    }
}

fn run(store: &dyn Store, mut waiting: Receiver<Waiting>) {
    while let Some(group) = waiting.group(None) {
        let (batches, replies): (Vec<Batch>, Vec<_>) =
            group.into_iter().map(|one| (one.batch, one.reply)).unzip();
        let verdicts = store.commit(&Group { batches, trailer: None }).expect("the store takes writes");
        for (reply, verdict) in replies.into_iter().zip(verdicts) {
            // A caller who went away needs no answer.
            let _ = reply.send(verdict);
        }
    }
}
