//! The group committer of the limit: one thread that gathers as the daemon's does, makes a group durable at
//! once, and answers all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use quorated::store::{Batch, Store, Verdict};
use quorated::turn::gather;
use tokio::sync::oneshot;

struct Waiting {
    batch: Batch,
    reply: oneshot::Sender<Verdict>,
}

/// Hands batches to the thread.
pub(crate) struct Committer {
    queue: Sender<Waiting>,
    deciding: Arc<AtomicUsize>,
}

/// A request on its way to the committer.
pub(crate) struct Deciding(Arc<AtomicUsize>);

impl Drop for Deciding {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Committer {
    pub(crate) fn start(store: Arc<dyn Store>) -> Self {
        let (queue, waiting) = channel();
        let deciding = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&deciding);
        std::thread::spawn(move || run(store.as_ref(), &waiting, &own));
        Self { queue, deciding }
    }

    pub(crate) fn deciding(&self) -> Deciding {
        self.deciding.fetch_add(1, Ordering::Relaxed);
        Deciding(Arc::clone(&self.deciding))
    }

    /// Queues at once; the future ends when the batch is durable.
    pub(crate) fn commit(&self, batch: Batch) -> impl Future<Output = Verdict> + use<> {
        let (reply, answer) = oneshot::channel();
        self.queue.send(Waiting { batch, reply }).expect("the committer lives as long as the process");
        async move { answer.await.expect("the committer answers") }
    }
}

fn run(store: &dyn Store, waiting: &Receiver<Waiting>, deciding: &AtomicUsize) {
    let mut before = 0;
    while let Ok(first) = waiting.recv() {
        let group = gather(first, waiting, deciding, before);
        before = group.len();
        let (batches, replies): (Vec<Batch>, Vec<_>) =
            group.into_iter().map(|one| (one.batch, one.reply)).unzip();
        let verdicts = store.commit(&batches).expect("the store takes writes");
        for (reply, verdict) in replies.into_iter().zip(verdicts) {
            // A caller who went away needs no answer.
            let _ = reply.send(verdict);
        }
    }
}
