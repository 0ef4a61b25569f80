//! The plain limit: one record of each activity, as reported, in plain sled. It shares only the cryptography
//! with the daemon, so that it shows the cost of the daemon's records, sealing, store and committer.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use quorate_bench::requests::now_millis;
use quorate_bench::targets::Target;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::ActivityId;
use tokio::sync::oneshot;

use crate::request::{ActivityAnswer, Answer, Invalid, Organizations, decode};

/// Maximum size of a group.
const GROUP: usize = 1024;
/// Capacity of sled's cache in bytes.
const CACHE: u64 = 64 * 1024 * 1024;

struct Waiting {
    key: Vec<u8>,
    record: Vec<u8>,
    reply: oneshot::Sender<()>,
}

/// State of the plain limit.
pub(crate) struct Plain {
    organizations: Organizations,
    queue: Sender<Waiting>,
}

impl Plain {
    pub(crate) fn open(targets: &[Target], folder: &Path) -> Self {
        let config = sled::Config::new().path(folder).flush_every_ms(None).cache_capacity(CACHE);
        let db = config.open().expect("the store opens");
        let file = File::open(folder.join("db")).expect("the store has a file");
        let (queue, waiting) = channel();
        std::thread::spawn(move || commit(&db, &file, &waiting));
        Self { organizations: Organizations::of(targets), queue }
    }

    pub(crate) const fn organizations(&self) -> &Organizations {
        &self.organizations
    }

    /// Checks the stamp, signs, makes the activity durable, and answers.
    pub(crate) async fn sign(&self, stamp: &str, body: &[u8]) -> Result<Vec<u8>, Invalid> {
        let (key, answer) = self.decide(stamp, body)?;
        let (reply, durable) = oneshot::channel();
        let waiting = Waiting { key, record: answer.clone(), reply };
        self.queue.send(waiting).map_err(|_| "no commits")?;
        durable.await.map_err(|_| "not committed")?;
        Ok(answer)
    }

    fn decide(&self, stamp: &str, body: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Invalid> {
        let decoded = decode(stamp)?;
        let signed = self.organizations.sign(&decoded, body)?;
        let mut random = [0; 10];
        getrandom::fill(&mut random).map_err(|_| "no random bytes")?;
        let now = now_millis();
        let id = ActivityId::timed(now, random);
        let (intent, result, fingerprint) = (signed.intent()?, signed.result()?, Fingerprint::of(body));
        let organization = &signed.organization.id;
        let activity = ActivityAnswer::completed(&id, organization, (&intent, &result), &fingerprint, now);
        let answer = serde_json::to_vec(&Answer { activity }).map_err(|_| "no JSON")?;
        Ok(([organization.as_bytes().as_slice(), id.as_bytes()].concat(), answer))
    }
}

/// Makes all waiting records durable at once, repeatedly.
fn commit(db: &sled::Db, file: &File, waiting: &Receiver<Waiting>) {
    while let Ok(first) = waiting.recv() {
        let mut batch = sled::Batch::default();
        let mut replies = Vec::new();
        for one in std::iter::once(first).chain(waiting.try_iter()).take(GROUP) {
            batch.insert(one.key, one.record);
            replies.push(one.reply);
        }
        db.apply_batch(batch).expect("the store accepts writes");
        db.flush().expect("the store accepts writes");
        // On Linux, sled only starts to write.
        file.sync_data().expect("the store can be synced");
        for reply in replies {
            // Nobody waits for the answer if the client disconnected.
            let _ = reply.send(());
        }
    }
}
