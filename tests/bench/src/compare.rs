//! Comparison of several servers. The machine is shared and noisy, so only figures of one comparison are
//! compared with each other: the scenarios alternate, run by run, and medians are taken over the runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::client;
use crate::load::{Outcome, Run};
use crate::requests::{Mode, Source};
use crate::targets::Targets;

/// Number of requests prepared per second of a warm-up.
const WARM_UP_RATE: f64 = 20_000.0;
/// Number of prepared requests, relative to the need of a run according to the warm-up.
const RESERVE: f64 = 1.4;

/// A server and its requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    /// Name in the table.
    pub name: String,
    /// Type of the requests.
    pub mode: Mode,
    /// Base URL of the server, if the targets have none.
    #[serde(default)]
    pub base_url: String,
    /// File of targets, for modes that stamp.
    pub targets: Option<PathBuf>,
    /// Path, for plain GETs.
    #[serde(default)]
    pub path: String,
    /// File of the token, for `OpenBao`.
    pub token: Option<PathBuf>,
    /// Name of the key, for `OpenBao`.
    #[serde(default)]
    pub key: String,
    /// Files of targets of further daemons that share the store. The connections are divided among all of them.
    #[serde(default)]
    pub others: Vec<PathBuf>,
    /// File with the id of the measured process, or with those of all daemons.
    pub process: PathBuf,
    /// Numbers of connections, if they differ from the common ones.
    pub connections: Option<Vec<usize>>,
}

/// A comparison.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Number of runs of each scenario at each number of connections.
    pub runs: usize,
    /// Maximum duration of a run in seconds.
    pub seconds: f64,
    /// Duration of the warm-up in seconds.
    pub warm_up: f64,
    /// Maximum number of requests per run.
    pub requests: usize,
    /// Numbers of connections.
    pub connections: Vec<usize>,
    /// Compared servers.
    pub scenarios: Vec<Scenario>,
}

/// The figures of one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Name of the scenario.
    pub scenario: String,
    /// Number of connections.
    pub connections: usize,
    /// Number of the run, starting at one.
    pub run: usize,
    /// Number of successful requests.
    pub done: usize,
    /// Number of failed requests.
    pub errors: usize,
    /// Successful requests per second.
    pub per_second: f64,
    /// Median latency in milliseconds.
    pub p50_ms: f64,
    /// 99th percentile of the latency in milliseconds.
    pub p99_ms: f64,
    /// 99.9th percentile of the latency in milliseconds.
    pub p999_ms: f64,
    /// Processor time of the server per request, in milliseconds.
    pub server_ms: f64,
    /// Processor time of the generator per request, in milliseconds.
    pub client_ms: f64,
    /// Number of processors that other processes kept busy.
    pub others: f64,
    /// Bytes written to disk per request.
    pub written: f64,
    /// Mean size of an answer in bytes.
    pub answer_bytes: f64,
    /// Resident memory of the server in MiB.
    pub resident_mib: f64,
}

impl Row {
    fn new(scenario: &str, connections: usize, run: usize, outcome: &Outcome) -> Self {
        let total = outcome.total().max(1) as f64;
        let wall = outcome.wall.as_secs_f64();
        let per_request = |time: Duration| time.as_secs_f64() * 1000.0 / total;
        Self {
            scenario: scenario.to_owned(),
            connections,
            run,
            done: outcome.done,
            errors: outcome.total() - outcome.done,
            per_second: outcome.done as f64 / wall,
            p50_ms: outcome.latency_ms(0.5),
            p99_ms: outcome.latency_ms(0.99),
            p999_ms: outcome.latency_ms(0.999),
            server_ms: per_request(outcome.server),
            client_ms: per_request(outcome.client),
            others: outcome.others.as_secs_f64() / wall,
            written: outcome.written as f64 / total,
            answer_bytes: outcome.answered as f64 / total,
            resident_mib: outcome.resident_kib as f64 / 1024.0,
        }
    }
}

/// A prepared scenario.
struct Lane {
    scenario: Scenario,
    hosts: Vec<String>,
    processes: Vec<u32>,
    connections: Vec<usize>,
    source: Source,
}

impl Lane {
    fn new(scenario: &Scenario, config: &Config) -> Self {
        let targets = scenario.targets.as_deref().map(Targets::read);
        let base_url = match (&targets, scenario.base_url.as_str()) {
            (Some(targets), "") => targets.base_url.clone(),
            (_, base_url) => base_url.to_owned(),
        };
        let host = client::host(&base_url);
        let token = scenario.token.as_deref().map(text).unwrap_or_default();
        let mut hosts = vec![host.clone()];
        hosts.extend(scenario.others.iter().map(|file| client::host(&Targets::read(file).base_url)));
        let id = |id: &str| id.parse().expect("the file holds process ids");
        let processes = text(&scenario.process).split_whitespace().map(id).collect();
        let targets = targets.map(|targets| targets.targets).unwrap_or_default();
        let source = Source::new(scenario.mode, &host, &targets, &scenario.path, &scenario.key, &token);
        let connections = scenario.connections.clone().unwrap_or_else(|| config.connections.clone());
        Self { scenario: scenario.clone(), hosts, processes, connections, source }
    }

    fn run(&mut self, connections: usize, seconds: f64, requests: usize) -> Outcome {
        let requests = self.source.batch(requests);
        let run = Run {
            mode: self.scenario.mode,
            hosts: &self.hosts,
            processes: &self.processes,
            connections,
            duration: Duration::from_secs_f64(seconds),
            pace: None,
        };
        client::block_on(run.of(requests))
    }
}

fn text(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.trim().to_owned()
}

/// Runs a comparison and returns every run's figures.
pub fn run(config: &Config) -> Vec<Row> {
    let mut lanes: Vec<Lane> = config.scenarios.iter().map(|scenario| Lane::new(scenario, config)).collect();
    // The warm-up determines how many requests each run needs.
    let mut budgets = Vec::new();
    for lane in &mut lanes {
        for connections in lane.connections.clone() {
            let prepared = ((WARM_UP_RATE * config.warm_up) as usize).clamp(50, config.requests.max(50));
            let outcome = lane.run(connections, config.warm_up, prepared);
            assert!(outcome.done > 0, "{}: nothing succeeded: {:?}", lane.scenario.name, outcome.errors);
            let per_second = outcome.total() as f64 / outcome.wall.as_secs_f64();
            let budget = (per_second * config.seconds * RESERVE) as usize + connections;
            budgets.push(budget.min(config.requests));
        }
    }
    let mut rows = Vec::new();
    for run in 1..=config.runs {
        let mut budget = budgets.iter();
        for lane in &mut lanes {
            for connections in lane.connections.clone() {
                let requests = *budget.next().expect("each lane was warmed up");
                let outcome = lane.run(connections, config.seconds, requests);
                let row = Row::new(&lane.scenario.name, connections, run, &outcome);
                eprintln!(
                    "run {run} {:<22} c={connections:<3} {:>7.0}/s {:.4} CPU-ms, others {:.2}",
                    row.scenario, row.per_second, row.server_ms, row.others
                );
                rows.push(row);
            }
        }
    }
    rows
}

/// Returns the median of a figure over the runs of a scenario, or `None` if it did not run.
pub fn median(rows: &[Row], scenario: &str, connections: usize, figure: impl Fn(&Row) -> f64) -> Option<f64> {
    let rows = rows.iter().filter(|row| row.scenario == scenario && row.connections == connections);
    let mut figures: Vec<f64> = rows.map(figure).collect();
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match figures.len() {
        0 => None,
        odd if odd % 2 == 1 => figures.get(middle).copied(),
        _ => Some(figures[middle - 1].midpoint(figures[middle])),
    }
}

/// Prints the medians.
pub fn print(rows: &[Row]) {
    println!(
        "{:<22} {:>4} {:>9} {:>8} {:>8} {:>8} {:>10} {:>8} {:>7} {:>8} {:>8} {:>6} {:>7}",
        "scenario",
        "conn",
        "per s",
        "p50 ms",
        "p99 ms",
        "p99.9",
        "server CPU",
        "client",
        "others",
        "disk B",
        "answer B",
        "MiB",
        "errors"
    );
    let mut lanes: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        let lane = (row.scenario.as_str(), row.connections);
        if !lanes.contains(&lane) {
            lanes.push(lane);
        }
    }
    for (scenario, connections) in lanes {
        let median =
            |figure: fn(&Row) -> f64| median(rows, scenario, connections, figure).unwrap_or_default();
        let matching = rows.iter().filter(|row| row.scenario == scenario && row.connections == connections);
        let errors: usize = matching.map(|row| row.errors).sum();
        println!(
            "{scenario:<22} {connections:>4} {:>9.0} {:>8.2} {:>8.2} {:>8.2} {:>10.4} {:>8.4} {:>7.2} {:>8.0} {:>8.0} {:>6.0} {errors:>7}",
            median(|row| row.per_second),
            median(|row| row.p50_ms),
            median(|row| row.p99_ms),
            median(|row| row.p999_ms),
            median(|row| row.server_ms),
            median(|row| row.client_ms),
            median(|row| row.others),
            median(|row| row.written),
            median(|row| row.answer_bytes),
            median(|row| row.resident_mib),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_per_scenario_and_number_of_connections() {
        let row = |scenario: &str, connections, server: u64| {
            let outcome = Outcome { done: 1, server: Duration::from_millis(server), ..Outcome::default() };
            Row::new(scenario, connections, 1, &outcome)
        };
        let rows =
            [row("a", 1, 3), row("a", 1, 1), row("a", 1, 2), row("a", 8, 9), row("b", 1, 4), row("b", 1, 6)];
        let check = |scenario, connections, expected: Option<f64>| {
            assert_eq!(median(&rows, scenario, connections, |row| row.server_ms), expected);
        };
        check("a", 1, Some(2.0));
        check("a", 8, Some(9.0));
        check("b", 1, Some(5.0));
        check("c", 1, None);
    }
}
