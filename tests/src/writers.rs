//! Writers that create wallets at several daemons while a test disturbs them. Each body is sent again, to one daemon after
//! the other, until it is acknowledged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::caller::{Caller, submit_path};
use crate::daemon::POLL_INTERVAL;
use crate::fleet::Fleet;
use crate::requests::{self, CREATE_WALLET};

/// Number of writers.
const WRITERS: usize = 6;
/// Longest time until a request is answered, and until a body is acknowledged when nothing disturbs its writer.
const ANSWER: Duration = Duration::from_secs(10);
/// Settings of daemons whose writers create many wallets.
pub const LIMITS: &str = "[limits]\nwallets = 10000\n";

/// Running writers.
pub struct Writers {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

#[derive(Default)]
struct Shared {
    /// Ids of the activities by the names of the wallets.
    acknowledged: Mutex<BTreeMap<String, Value>>,
    refused: AtomicUsize,
    stops: AtomicBool,
}

impl Writers {
    /// Starts writers with the key of the first root user, for all daemons.
    pub fn start(fleet: &Fleet) -> Self {
        let (shared, mut tasks) = (Arc::<Shared>::default(), JoinSet::new());
        for writer in 0..WRITERS {
            let callers = (0..fleet.count()).map(|daemon| fleet.root(daemon, 0)).collect();
            tasks.spawn(write(writer, callers, Arc::clone(&shared)));
        }
        Self { shared, tasks }
    }

    /// Returns the number of acknowledged bodies.
    pub fn acknowledged(&self) -> usize {
        self.shared.acknowledged.lock().expect("a lock").len()
    }

    /// Returns the number of answers with status 503.
    pub fn refused(&self) -> usize {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// Waits until this number of further bodies is acknowledged.
    ///
    /// # Panics
    /// Panics if that takes too long.
    pub async fn progress(&mut self, further: usize) {
        let wanted = self.acknowledged() + further;
        self.until(|writers| writers.acknowledged() >= wanted).await;
    }

    /// Waits until a condition holds.
    ///
    /// # Panics
    /// Panics if that takes too long, or a writer failed.
    pub async fn until(&mut self, is_met: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + 2 * ANSWER;
        while !is_met(self) {
            if let Some(ended) = self.tasks.try_join_next() {
                ended.expect("a writer does not fail");
            }
            let counts = (self.acknowledged(), self.refused());
            assert!(Instant::now() < deadline, "(acknowledged, refused): {counts:?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Stops the writers. Checks that each acknowledged wallet exists once, and that nothing else was executed except the last
    /// body of each writer. Returns the number of acknowledged bodies.
    ///
    /// # Panics
    /// Panics if a wallet was lost or created twice.
    pub async fn examine(self, root: &Caller) -> usize {
        self.shared.stops.store(true, Ordering::Relaxed);
        self.tasks.join_all().await;
        let acknowledged = self.shared.acknowledged.lock().expect("a lock").clone();
        let listed = root.fetch("list_wallets", json!({})).await;
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        for wallet in listed["wallets"].as_array().expect("wallets") {
            *found.entry(wallet["walletName"].as_str().expect("a name")).or_default() += 1;
        }
        for name in acknowledged.keys() {
            let count = found.get(name.as_str()).copied().unwrap_or_default();
            assert_eq!(count, 1, "{name} exists {count} times");
        }
        let ours = found
            .iter()
            .filter(|(name, _)| name.starts_with("written "))
            .map(|(_, count)| count)
            .sum::<usize>();
        assert!(ours <= acknowledged.len() + WRITERS, "{ours} of {}", acknowledged.len());
        for (name, id) in acknowledged.iter().rev().take(WRITERS) {
            assert_eq!(root.activity(id).await["status"], "ACTIVITY_STATUS_COMPLETED", "{name}");
        }
        acknowledged.len()
    }
}

async fn write(writer: usize, callers: Vec<Caller>, shared: Arc<Shared>) {
    let mut daemon = writer;
    for number in 0.. {
        let name = format!("written {writer} {number}");
        let body = callers[0].proposal(CREATE_WALLET, &requests::wallet(&name));
        loop {
            if shared.stops.load(Ordering::Relaxed) {
                return;
            }
            daemon += 1;
            let begun = Instant::now();
            let answer = callers[daemon % callers.len()].try_send(&submit_path(CREATE_WALLET), &body).await;
            let status = answer.as_ref().ok().map(|reply| reply.status);
            assert!(begun.elapsed() < ANSWER, "answered after {:?} with {status:?}", begun.elapsed());
            match answer {
                Ok(reply) if reply.status == 200 => {
                    let activity = reply.activity();
                    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED", "{activity:#}");
                    shared.acknowledged.lock().expect("a lock").insert(name, activity["id"].clone());
                    break;
                }
                Ok(reply) => {
                    assert_eq!(reply.status, 503, "{reply:?}");
                    shared.refused.fetch_add(1, Ordering::Relaxed);
                }
                Err(_) => {}
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
