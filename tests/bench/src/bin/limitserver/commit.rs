//! The group committer of the limit: one thread that gathers as the daemon's does, makes a group durable at
//! once, and answers all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use quorated::store::{Batch, Store, Verdict};
use tokio::sync::oneshot;

/// Largest group, as in the daemon.
const GROUP: usize = 256;
/// How long a group waits for requests on their way, as in the daemon.
const PATIENCE: Duration = Duration::from_millis(1);

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
    while let Ok(first) = waiting.recv() {
        let group = gather(first, waiting, deciding);
        let (batches, replies): (Vec<Batch>, Vec<_>) =
            group.into_iter().map(|one| (one.batch, one.reply)).unzip();
        let verdicts = store.commit(&batches).expect("the store takes writes");
        for (reply, verdict) in replies.into_iter().zip(verdicts) {
            // A caller who went away needs no answer.
            let _ = reply.send(verdict);
        }
    }
}

fn gather(first: Waiting, waiting: &Receiver<Waiting>, deciding: &AtomicUsize) -> Vec<Waiting> {
    let mut group = vec![first];
    let until = Instant::now() + PATIENCE;
    while group.len() < GROUP {
        let next = match waiting.try_recv() {
            Ok(next) => Some(next),
            Err(_) if deciding.load(Ordering::Relaxed) == 0 => None,
            Err(_) => waiting.recv_timeout(until.saturating_duration_since(Instant::now())).ok(),
        };
        match next {
            Some(next) => group.push(next),
            None => break,
        }
    }
    group
}
