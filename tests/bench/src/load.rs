//! A run: several connections, each with one request at a time, until the requests or the time are used up.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use http::StatusCode;
use serde::Deserialize;

use crate::client::Connection;
use crate::process;
use crate::requests::{Mode, PAGE, PreparedRequest};

/// Number of failed exchanges after which a connection gives up.
const FAILURES: u32 = 20;

/// Outcome of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Number of successful requests.
    pub done: usize,
    /// Numbers of failed requests by kind.
    pub errors: BTreeMap<String, usize>,
    /// Latencies of successes in microseconds, ascending.
    pub latencies: Vec<u32>,
    /// Duration of the run.
    pub wall: Duration,
    /// Processor time of the server.
    pub server: Duration,
    /// Processor time of the generator.
    pub client: Duration,
    /// Processor time of other processes on the machine.
    pub others: Duration,
    /// Resident memory of the server afterwards, in KiB.
    pub resident_kib: u64,
    /// Bytes that the server wrote to disk.
    pub written: u64,
    /// Total size of the answers in bytes.
    pub answered: u64,
}

impl Outcome {
    /// Returns the number of requests, successful or not.
    pub fn total(&self) -> usize {
        self.done + self.errors.values().sum::<usize>()
    }

    /// Returns the successful requests of several runs, without the costs of the runs.
    pub fn of_all(runs: Vec<Self>) -> Self {
        let done = runs.iter().map(|run| run.done).sum();
        let mut latencies: Vec<_> = runs.into_iter().flat_map(|run| run.latencies).collect();
        latencies.sort_unstable();
        Self { done, latencies, ..Self::default() }
    }

    /// Returns the latency that this share of the successful requests does not exceed, in milliseconds.
    pub fn latency_ms(&self, share: f64) -> f64 {
        let rank = (self.latencies.len() as f64 * share).ceil() as usize;
        let index = rank.clamp(1, self.latencies.len().max(1)) - 1;
        self.latencies.get(index).map_or(0.0, |latency| f64::from(*latency) / 1000.0)
    }

    fn fail(&mut self, kind: String, body: &[u8]) {
        if self.errors.is_empty() {
            eprintln!("first error: {kind}: {}", String::from_utf8_lossy(&body[..body.len().min(400)]));
        }
        *self.errors.entry(kind).or_default() += 1;
    }
}

/// Parameters of a run.
pub struct Run<'a> {
    /// Type of the requests, which determines the expected answer.
    pub mode: Mode,
    /// Host and port of each server, among which the connections are divided.
    pub hosts: &'a [String],
    /// Process ids of the servers.
    pub processes: &'a [u32],
    /// Number of connections.
    pub connections: usize,
    /// Maximum duration.
    pub duration: Duration,
    /// Requests per second, if they are not sent as fast as possible.
    pub pace: Option<f64>,
}

impl Run<'_> {
    /// Sends the requests and returns the outcome.
    pub async fn of(&self, requests: Vec<PreparedRequest>) -> Outcome {
        let outcome = Rc::new(RefCell::new(Outcome::default()));
        outcome.borrow_mut().latencies.reserve(requests.len());
        let mut connections = Vec::new();
        for host in self.hosts.iter().cycle().take(self.connections) {
            let connection = Connection::open(host).await.expect("the server accepts connections");
            connections.push((host.clone(), connection));
        }
        let schedule = Schedule { next: requests.into_iter(), sent: 0, pace: self.pace };
        let requests = Rc::new(RefCell::new(schedule));
        let (server, own, machine) = (process::of(self.processes), process::own(), process::machine_busy());
        let start = Instant::now();
        let tasks = connections.into_iter().map(|(host, connection)| {
            let next = Rc::clone(&requests);
            let work =
                work(connection, host, self.mode, next, Rc::clone(&outcome), start, start + self.duration);
            tokio::task::spawn_local(work)
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("no connection panics");
        }
        let wall = start.elapsed();
        let (server_after, own_after, machine_after) =
            (process::of(self.processes), process::own(), process::machine_busy());
        let mut outcome = outcome.take();
        outcome.wall = wall;
        outcome.server = server_after.processor.saturating_sub(server.processor);
        outcome.client = own_after.processor.saturating_sub(own.processor);
        outcome.others = machine_after
            .saturating_sub(machine)
            .saturating_sub(outcome.server)
            .saturating_sub(outcome.client);
        outcome.resident_kib = server_after.resident_kib;
        outcome.written = server_after.written.saturating_sub(server.written);
        outcome.latencies.sort_unstable();
        outcome
    }
}

/// The requests of a run, and when they are sent.
struct Schedule {
    next: std::vec::IntoIter<PreparedRequest>,
    sent: u32,
    pace: Option<f64>,
}

impl Schedule {
    /// Returns the next request, and the time from the start of the run until it is due.
    fn next(&mut self) -> Option<(PreparedRequest, Option<Duration>)> {
        let request = self.next.next()?;
        let due = self.pace.map(|pace| Duration::from_secs_f64(f64::from(self.sent) / pace));
        self.sent += 1;
        Some((request, due))
    }
}

async fn work(
    mut connection: Connection,
    host: String,
    mode: Mode,
    requests: Rc<RefCell<Schedule>>,
    outcome: Rc<RefCell<Outcome>>,
    start: Instant,
    end: Instant,
) {
    let mut failures = 0;
    loop {
        let Some((request, wait)) = requests.borrow_mut().next() else { return };
        if let Some(wait) = wait {
            tokio::time::sleep_until((start + wait).into()).await;
        }
        let begun = Instant::now();
        if begun >= end {
            return;
        }
        match connection.call(request).await {
            Ok((status, body)) => {
                let latency_us = u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX);
                let mut outcome = outcome.borrow_mut();
                outcome.answered += body.len() as u64;
                match check(mode, status, &body) {
                    Ok(()) => {
                        outcome.done += 1;
                        outcome.latencies.push(latency_us);
                    }
                    Err(kind) => outcome.fail(kind, &body),
                }
            }
            Err(kind) => {
                outcome.borrow_mut().fail(kind, &[]);
                failures += 1;
            }
        }
        if failures > FAILURES {
            return;
        }
        if !connection.is_open().await {
            match Connection::open(&host).await {
                Ok(fresh) => connection = fresh,
                Err(_) => return,
            }
        }
    }
}

/// Checks that an answer is a success, and returns the reason otherwise.
fn check(mode: Mode, status: StatusCode, body: &[u8]) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Submitted<'a> {
        #[serde(borrow)]
        activity: ActivityAnswer<'a>,
    }
    #[derive(Deserialize)]
    struct ActivityAnswer<'a> {
        status: &'a str,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Who<'a> {
        organization_id: &'a str,
    }
    if status != StatusCode::OK {
        return Err(format!("HTTP {}", status.as_u16()));
    }
    match mode {
        Mode::Sign | Mode::Child => match serde_json::from_slice::<Submitted<'_>>(body) {
            Ok(answer) if answer.activity.status == "ACTIVITY_STATUS_COMPLETED" => Ok(()),
            Ok(answer) => Err(answer.activity.status.to_owned()),
            Err(_) => Err("not an activity".to_owned()),
        },
        Mode::Whoami => match serde_json::from_slice::<Who<'_>>(body) {
            Ok(who) if !who.organization_id.is_empty() => Ok(()),
            _ => Err("not an answer to whoami".to_owned()),
        },
        Mode::Bao => {
            let mark = br#""signature":"vault:v"#;
            let has_signature = body.windows(mark.len()).any(|window| window == mark);
            if has_signature { Ok(()) } else { Err("no signature".to_owned()) }
        }
        Mode::Children | Mode::Accounts => {
            match serde_json::from_slice::<BTreeMap<String, Vec<serde::de::IgnoredAny>>>(body) {
                Ok(page) if page.values().all(|elements| elements.len() == PAGE) => Ok(()),
                _ => Err("not a whole page".to_owned()),
            }
        }
        Mode::Get => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_completed_activities_are_successes() {
        let check = |mode, status: u16, body: &str, good: bool| {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(check(mode, status, body.as_bytes()).is_ok(), good, "{body}");
        };
        check(Mode::Sign, 200, r#"{"activity":{"status":"ACTIVITY_STATUS_COMPLETED"}}"#, true);
        check(Mode::Sign, 200, r#"{"activity":{"status":"ACTIVITY_STATUS_CONSENSUS_NEEDED"}}"#, false);
        check(Mode::Sign, 403, r#"{"activity":{"status":"ACTIVITY_STATUS_COMPLETED"}}"#, false);
        check(Mode::Sign, 200, "{}", false);
        check(Mode::Whoami, 200, r#"{"organizationId":"a"}"#, true);
        check(Mode::Whoami, 200, r#"{"organizationId":""}"#, false);
        check(Mode::Bao, 200, r#"{"data":{"signature":"vault:v1:AA"}}"#, true);
        check(Mode::Bao, 200, r#"{"errors":[]}"#, false);
    }

    #[test]
    fn percentiles_are_ranked() {
        let outcome =
            Outcome { latencies: (1..=1000).map(|rank| rank * 1000).collect(), ..Outcome::default() };
        let figures = [0.5, 0.99, 0.999, 1.0].map(|share| outcome.latency_ms(share));
        assert_eq!(figures.map(|figure| figure as u32), [500, 990, 999, 1000]);
        assert!(Outcome::default().latency_ms(0.5) < f64::EPSILON);
    }

    #[test]
    fn percentiles_of_several_runs_are_those_of_all_their_requests() {
        let run = |latencies: &[u32]| Outcome {
            done: latencies.len(),
            latencies: latencies.to_vec(),
            ..Outcome::default()
        };
        let all = Outcome::of_all(vec![run(&[1, 5]), run(&[]), run(&[2, 3, 4])]);
        assert_eq!((all.done, all.latencies), (5, vec![1, 2, 3, 4, 5]));
    }
}
