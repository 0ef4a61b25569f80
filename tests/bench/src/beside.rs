//! Latency of queries while commits are in flight. It is compared with that of an idle daemon, with that of a daemon
//! without commits on an equally busy machine, and with a sync of the disk.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::client;
use crate::load::{Outcome, Run};
use crate::requests::{Mode, Source};
use crate::targets::Targets;

/// Requests per second that are prepared for each mode.
const RATE: f64 = 6_000.0;
/// Syncs that are timed before each run.
const SYNCS: u32 = 50;
/// Bytes that are written before each sync: about as many as a few signatures need.
const WRITTEN: usize = 16 * 1024;

/// Latencies of queries, and the duration of a sync.
#[derive(Debug, Serialize, Deserialize)]
pub struct Beside {
    /// 99th percentile of the latency without other requests, in milliseconds.
    pub idle_p99_ms: f64,
    /// The same while another process signs: the cost of the processor load alone.
    pub elsewhere_p99_ms: f64,
    /// 99th percentile of the latency while signatures are committed, in milliseconds.
    pub busy_p99_ms: f64,
    /// Average duration of a sync, in milliseconds.
    pub sync_ms: f64,
    /// Signatures per second during the queries.
    pub signatures: f64,
}

/// Parameters of the measurement.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Wanted {
    /// Runs of each mode
    #[arg(long)]
    pub runs: usize,
    /// Seconds of a run
    #[arg(long)]
    pub seconds: f64,
    /// Connections that sign
    #[arg(long)]
    pub signers: usize,
}

impl Beside {
    /// Returns how much slower the queries are than those of a daemon that commits nothing on an equally busy machine,
    /// in syncs.
    pub fn syncs(&self) -> f64 {
        (self.busy_p99_ms - self.elsewhere_p99_ms.max(self.idle_p99_ms)).max(0.0) / self.sync_ms
    }
}

/// Sends `whoami` on one connection: alone, beside signatures of another process (`others`), and beside signatures of the
/// same daemon, alternately. Times syncs in `folder`, which should be on the file system of the daemon.
pub fn measure(targets: &Targets, others: &Targets, folder: &Path, wanted: Wanted) -> Beside {
    let host = client::host(&targets.base_url);
    let signing_host = client::host(&others.base_url);
    let mut queries = Source::new(Mode::Whoami, &host, &targets.targets, "", "", "");
    let mut signatures = Source::new(Mode::Sign, &host, &targets.targets, "", "", "");
    let mut signatures_elsewhere = Source::new(Mode::Sign, &signing_host, &others.targets, "", "", "");
    let count = (RATE * wanted.seconds) as usize;
    let run = |mode, host, connections| Run {
        mode,
        hosts: std::slice::from_ref(host),
        processes: &[],
        connections,
        duration: Duration::from_secs_f64(wanted.seconds),
        pace: None,
    };
    let (querying, signing) = (run(Mode::Whoami, &host, 1), run(Mode::Sign, &host, wanted.signers));
    let signing_elsewhere = run(Mode::Sign, &signing_host, wanted.signers);
    let (mut idle, mut elsewhere, mut busy) = (Outcome::default(), Outcome::default(), Outcome::default());
    let (mut signed, mut synced) = (0.0, Vec::new());
    // The first run warms up.
    for round in 0..=wanted.runs {
        let sync_time = sync_ms(folder);
        let alone = client::block_on(querying.of(queries.batch(count)));
        let (batch, beside) = (queries.batch(count), signatures_elsewhere.batch(count));
        let (apart, other) =
            client::block_on(async { tokio::join!(querying.of(batch), signing_elsewhere.of(beside)) });
        let (batch, beside) = (queries.batch(count), signatures.batch(count));
        let (during, beside) =
            client::block_on(async { tokio::join!(querying.of(batch), signing.of(beside)) });
        for outcome in [&alone, &apart, &other, &during, &beside] {
            assert!(outcome.errors.is_empty(), "loading failed: {:?}", outcome.errors);
        }
        if round > 0 {
            synced.push(sync_time);
            signed += beside.done as f64 / beside.wall.as_secs_f64();
            idle.latencies.extend(alone.latencies);
            elsewhere.latencies.extend(apart.latencies);
            busy.latencies.extend(during.latencies);
        }
    }
    let p99 = |mut outcome: Outcome| {
        outcome.latencies.sort_unstable();
        outcome.latency_ms(0.99)
    };
    let runs = wanted.runs as f64;
    Beside {
        idle_p99_ms: p99(idle),
        elsewhere_p99_ms: p99(elsewhere),
        busy_p99_ms: p99(busy),
        sync_ms: synced.iter().sum::<f64>() / runs,
        signatures: signed / runs,
    }
}

/// Returns the average duration of a sync of a file in this folder, in milliseconds.
fn sync_ms(folder: &Path) -> f64 {
    let path = folder.join("synced");
    let mut file = File::create(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut sync_time = Duration::ZERO;
    for _ in 0..SYNCS {
        file.write_all(&[1; WRITTEN]).expect("the disk takes writes");
        let start = Instant::now();
        file.sync_all().expect("the disk can be synced");
        sync_time += start.elapsed();
    }
    std::fs::remove_file(&path).expect("the file is there");
    sync_time.as_secs_f64() * 1000.0 / f64::from(SYNCS)
}
