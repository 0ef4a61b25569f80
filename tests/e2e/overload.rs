//! More concurrent requests than the daemon accepts: some complete, the rest is rejected with a message, and
//! health checks are answered.

use std::sync::Arc;
use std::time::Duration;

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::TIMEOUT;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::overload::{self, Probe};
use quorate_tests::requests;
use rustix::process::Signal;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn excess_requests_are_rejected_with_their_limit() {
    let installation = Installation::new("file = \"root.key\"");
    installation.configure(
        "[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\n[key]\nfile = \"root.key\"\n\
         [limits]\nrequests_in_flight_per_client = 2\nrequests_waiting_per_client = 4\n",
    );
    let key = Key::named("overload");
    let organization = installation.create_organization("overload", &key).await;
    let served = installation.serve().await;
    let root = served.caller(&organization, key);
    let address = requests::create_wallet(&root, "overload").await;
    let prepared = Arc::new(overload::signatures(&root, &address, 400));
    let callers: Vec<Caller> = (0..40).map(|_| root.clone()).collect();
    let health = Probe::begin(root.listener().clone(), "/healthz");
    let console = Probe::begin(root.listener().clone(), "/console/v1/status");
    let figures = overload::load(&callers, &prepared, None, Duration::from_mins(1)).await;
    assert!(!health.end().is_empty() && !console.end().is_empty());
    assert_eq!((figures.unanswered, figures.done + figures.rejections()), (0, 400), "{figures:#?}");
    assert!(figures.done > 0, "{figures:#?}");
    let words = "429 too many concurrent requests from this client (limits.requests_waiting_per_client)";
    assert_eq!(figures.rejected.keys().collect::<Vec<_>>(), [words]);
    root.fetch("whoami", json!({})).await;
}

/// A connection that does not fit into the queue of the system is retried only after a second.
#[tokio::test]
async fn many_connections_wait_to_be_accepted() {
    const MANY: usize = 1500;
    let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    if allowed.trim().parse().unwrap_or(0) < MANY {
        eprintln!("SKIPPED: the system lets fewer than {MANY} connections wait (net.core.somaxconn)");
        return;
    }
    overload::raise_file_limit();
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    daemon.freeze().await;
    let mut waiting = Vec::new();
    for number in 0..MANY {
        let connected = timeout(TIMEOUT, TcpStream::connect(daemon.address())).await;
        let connected =
            connected.unwrap_or_else(|_| panic!("connection {number} does not fit into the queue"));
        waiting.push(connected.expect("the daemon listens"));
    }
    daemon.signal(Signal::CONT);
    drop(waiting);
    daemon.root(0).fetch("whoami", json!({})).await;
}

/// Offers four times the capacity, for a minute in the long form, or for `OVERLOAD` seconds. Its figures need
/// a release build, selected by `PROGRAMS`, and an otherwise idle machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f17_four_times_the_capacity() {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let chosen = std::env::var("OVERLOAD").ok();
    let seconds: u32 =
        chosen.map_or(if is_long { 60 } else { 1 }, |text| text.parse().expect("OVERLOAD in seconds"));
    overload::raise_file_limit();
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let address = requests::create_wallet(&root, "overload").await;
    let callers: Vec<Caller> = (0..1500).map(|_| root.clone()).collect();
    let measured = seconds.clamp(1, 10);
    let length = Duration::from_secs(measured.into());
    let closed = Arc::new(overload::signatures(&root, &address, 4000 * measured as usize));
    let peak = overload::load(&callers[..64], &closed, None, length).await;
    drop(closed);
    let rate = peak.per_second * 4.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
    let count = (rate * f64::from(seconds)) as usize;
    let prepared = Arc::new(overload::signatures(&root, &address, count));
    let health = Probe::begin(daemon.http(), "/healthz");
    let console = Probe::begin(daemon.socket(), "/console/v1/status");
    let figures = overload::load(&callers, &prepared, Some(rate), Duration::from_secs(seconds.into())).await;
    let (health, console) = (health.end(), console.end());
    let slowest = |times: &[Duration]| times.last().copied().unwrap_or_default();
    let goodput = figures.per_second / peak.per_second;
    let percentile = |times: &[Duration]| times.get(times.len() * 99 / 100).copied().unwrap_or_default();
    eprintln!(
        "f17 overload: {seconds} s at {rate:.0}/s, peak {:.0}/s, goodput {:.0} %; {} done, {} rejected, {} not sent; \
         longest answer {:?}; health {:?} (p99 {:?}), console {:?} (p99 {:?})",
        peak.per_second,
        goodput * 100.0,
        figures.done,
        figures.rejections(),
        figures.unsent,
        figures.slowest,
        slowest(&health),
        percentile(&health),
        slowest(&console),
        percentile(&console),
    );
    assert_eq!(figures.unanswered, 0, "{figures:#?}");
    assert!(figures.rejected.keys().all(|words| words.contains("(limits.")), "{figures:#?}");
    if seconds > 1 {
        assert!(goodput >= 0.8, "{goodput}");
        assert!(slowest(&health) <= Duration::from_millis(200), "{:?}", slowest(&health));
        assert!(slowest(&console) <= Duration::from_millis(200), "{:?}", slowest(&console));
    }
    root.fetch("whoami", json!({})).await;
}
