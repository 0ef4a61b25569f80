//! The goals, and whether the measurements meet them.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::beside::Beside;
use crate::chains::Chains;
use crate::compare::{self, Row};
use crate::decisions::Decisions;
use crate::sign_in::SignIn;

/// Number of connections at which costs are compared.
const BUSY: usize = 64;

/// Number of connections to each of several daemons. The processors of one machine suffice for three times as many.
const FEW: usize = 4;

/// Names of the scenarios that goals use.
pub mod names {
    /// Signatures by the daemon.
    pub const SIGN: &str = "quorate sign";
    /// Signatures by the limit server.
    pub const LIMIT_SIGN: &str = "limit sign";
    /// Signatures by the limit server with a plain store.
    pub const PLAIN_SIGN: &str = "plain sign";
    /// Signatures by a daemon on redb, and by the limit server on redb.
    pub const REDB: [&str; 2] = ["redb sign", "redb limit sign"];
    /// Signatures by a daemon on PostgreSQL, and by the limit server on PostgreSQL.
    pub const POSTGRES: [&str; 2] = ["postgres sign", "postgres limit sign"];
    /// Signatures by a daemon on PostgreSQL, with the processor time of the database.
    pub const DATABASE: &str = "database of signatures";
    /// Signatures by one daemon, and by three that share its store, over a link with a delay.
    pub const SHARED: [&str; 2] = ["one daemon", "three daemons"];
    /// The same in a single organization.
    pub const HOT: [&str; 2] = ["one daemon, one organization", "three daemons, one organization"];
    /// Signatures by `OpenBao`.
    pub const OPENBAO: &str = "openbao ed25519";
    /// Queries to the daemon.
    pub const WHOAMI: &str = "quorate whoami";
    /// Queries to the limit server.
    pub const LIMIT_WHOAMI: &str = "limit whoami";
    /// Signatures by a daemon with few activities.
    pub const EMPTY: &str = "few activities";
    /// Signatures by a daemon with many activities in one organization.
    pub const FULL: &str = "many activities";
    /// Signatures in an empty organization.
    pub const ALONE: &str = "empty organization";
    /// Signatures in an organization with many resources of all kinds.
    pub const CROWDED: &str = "crowded organization";
    /// Pages of sub-organizations, among few and among many.
    pub const CHILDREN: [&str; 2] = ["few children", "many children"];
    /// Pages of wallet accounts, among few and among many.
    pub const ACCOUNTS: [&str; 2] = ["few accounts", "many accounts"];
}

/// Names of result files.
pub mod files {
    /// Rows of the comparison.
    pub const COMPARE: &str = "compare.json";
    /// Rows of the comparison of engines.
    pub const ENGINES: &str = "engines.json";
    /// Rows of the comparison of one daemon and several.
    pub const SHARED: &str = "shared.json";
    /// [`super::Inserts`].
    pub const INSERTS: &str = "inserts.json";
    /// Rows of the comparison of few and many activities.
    pub const GROWTH: &str = "growth.json";
    /// Rows of the comparison of an empty and a crowded organization.
    pub const CROWD: &str = "crowd.json";
    /// Rows of the comparison of pages.
    pub const PAGES: &str = "pages.json";
    /// [`crate::decisions::Decisions`].
    pub const DECISIONS: &str = "decisions.json";
    /// [`crate::chains::Chains`].
    pub const CHAINS: &str = "chains.json";
    /// [`crate::beside::Beside`].
    pub const BESIDE: &str = "beside.json";
    /// [`crate::sign_in::SignIn`].
    pub const SIGN_IN: &str = "sign-in.json";
    /// [`super::Syncs`].
    pub const SYNCS: &str = "syncs.json";
    /// [`super::Idle`].
    pub const IDLE: &str = "idle.json";
    /// [`super::Frames`] with few activities.
    pub const FRAME_EMPTY: &str = "frame-few.json";
    /// [`super::Frames`] with many activities.
    pub const FRAME_FULL: &str = "frame-many.json";
}

/// Commits and syncs of the daemon under load.
#[derive(Debug, Serialize, Deserialize)]
pub struct Syncs {
    /// Number of answered requests.
    pub requests: u64,
    /// Number of commits for them.
    pub commits: u64,
    /// Number of syncs of the store.
    pub syncs: u64,
}

/// Single inserts into a database of PostgreSQL, each in a transaction of its own.
#[derive(Debug, Serialize, Deserialize)]
pub struct Inserts {
    /// Inserts per second.
    pub per_second: f64,
}

/// Memory of an idle daemon.
#[derive(Debug, Serialize, Deserialize)]
pub struct Idle {
    /// Resident memory in MiB.
    pub resident_mib: f64,
}

/// Start time of the console.
#[derive(Debug, Serialize, Deserialize)]
pub struct Frames {
    /// Median time to the first complete frame in milliseconds.
    pub median_ms: f64,
}

/// A goal and its measurement.
struct Line {
    what: &'static str,
    limit: f64,
    /// Whether the limit is a minimum instead of a maximum.
    is_minimum: bool,
    measured: Option<f64>,
    /// Reason for which the measurement may be missing, if it may.
    optional: Option<&'static str>,
}

impl Line {
    fn is_met(&self, measured: f64) -> bool {
        if self.is_minimum { measured >= self.limit } else { measured <= self.limit }
    }
}

/// Prints a line for each goal. Returns true if none was missed.
pub fn report(folder: &Path) -> bool {
    let lines = lines(folder);
    println!("{:<66} {:>10} {:>9}", "goal", "limit", "measured");
    let mut met = true;
    for line in lines {
        let (measured, verdict) = match (line.measured, line.optional) {
            (Some(measured), _) if line.is_met(measured) => (format!("{measured:.3}"), "met".to_owned()),
            (Some(measured), _) => {
                met = false;
                (format!("{measured:.3}"), "NOT MET".to_owned())
            }
            (None, Some(why)) => (String::new(), format!("skipped: {why}")),
            (None, None) => {
                met = false;
                (String::new(), "NOT MET: not measured".to_owned())
            }
        };
        let bound = if line.is_minimum { "≥" } else { "≤" };
        println!("{:<66} {bound} {:>8.2} {measured:>9}  {verdict}", line.what, line.limit);
    }
    met
}

/// Creates a goal with a maximum.
const fn line(what: &'static str, limit: f64, measured: Option<f64>) -> Line {
    Line { what, limit, is_minimum: false, measured, optional: None }
}

/// Returns the goals for the cost of a signature relative to the plain limit.
fn beyond_plain(rows: &[Row]) -> [Line; 3] {
    let ratio = |figure: fn(&Row) -> f64| {
        let figure = |scenario| compare::median(rows, scenario, BUSY, figure);
        Some(figure(names::SIGN)? / figure(names::PLAIN_SIGN)?)
    };
    [
        line("signature: CPU / limit server with one plain record", 1.2, ratio(|row| row.server_ms)),
        Line {
            is_minimum: true,
            ..line("signature: requests per second / plain limit server", 0.8, ratio(|row| row.per_second))
        },
        line("signature: 99th percentile of latency / plain limit server", 1.2, ratio(|row| row.p99_ms)),
    ]
}

/// Returns the goals for signing in.
fn signing_in(figures: Option<&SignIn>) -> [Line; 5] {
    let figure = |figure: fn(&SignIn) -> f64| figures.map(figure);
    [
        line("signature stamped by a passkey: CPU / by an API key", 1.5, figure(|one| one.passkey)),
        line("STAMP_LOGIN: CPU / CREATE_API_KEYS", 2.0, figure(|one| one.login)),
        line(
            "signature beside requests for codes: 99th percentile / beside those of another process",
            1.1,
            figure(|one| one.codes),
        ),
        Line {
            is_minimum: true,
            ..line(
                "requests for codes per second beside signatures",
                950.0,
                figure(|one| one.codes_per_second),
            )
        },
        line(
            "refused codes (unknown, wrong, locked, expired): longest median time / shortest",
            1.05,
            figure(SignIn::spread),
        ),
    ]
}

/// Returns the goals for the engines of the store besides sled.
fn engines(rows: &[Row], inserts: Option<&Inserts>) -> [Line; 3] {
    let ratio = |[daemon, limit]: [&str; 2]| {
        let cost = |scenario| compare::median(rows, scenario, BUSY, |row| row.server_ms);
        Some(cost(daemon)? / cost(limit)?)
    };
    let optional = Some("PostgreSQL is not installed");
    let per_second = compare::median(rows, names::POSTGRES[0], BUSY, |row| row.per_second);
    let by_inserts = per_second.zip(inserts).map(|(signatures, inserts)| signatures / inserts.per_second);
    [
        line("signature on redb: CPU / limit server on redb", 1.25, ratio(names::REDB)),
        Line {
            optional,
            ..line("signature on PostgreSQL: CPU / limit server on PostgreSQL", 1.25, ratio(names::POSTGRES))
        },
        Line {
            optional,
            is_minimum: true,
            ..line("signatures per second on PostgreSQL / single inserts by pgbench", 0.7, by_inserts)
        },
    ]
}

/// Returns the goals for several daemons that share a database.
fn shared(on_engines: &[Row], rows: &[Row]) -> [Line; 3] {
    let per_second =
        |(scenario, connections)| compare::median(rows, scenario, connections, |row| row.per_second);
    let ratio =
        |[one, three]: [&'static str; 2]| Some(per_second((three, 3 * FEW))? / per_second((one, FEW))?);
    let database_us =
        compare::median(on_engines, names::DATABASE, BUSY, |row| row.server_ms).map(|ms| ms * 1000.0);
    let optional = Some("PostgreSQL is not installed");
    let minimum = |what, limit, measured| Line { optional, is_minimum: true, ..line(what, limit, measured) };
    [
        Line { optional, ..line("signature on PostgreSQL: µs of CPU of the database", 40.0, database_us) },
        minimum(
            "signatures per second by three daemons / by one, 1 ms from the database",
            2.4,
            ratio(names::SHARED),
        ),
        minimum("the same in one organization", 2.0, ratio(names::HOT)),
    ]
}

#[allow(clippy::too_many_lines, reason = "a table of goals")]
fn lines(folder: &Path) -> Vec<Line> {
    let rows: Vec<Row> = read(folder, files::COMPARE).unwrap_or_default();
    let growth: Vec<Row> = read(folder, files::GROWTH).unwrap_or_default();
    let crowd: Vec<Row> = read(folder, files::CROWD).unwrap_or_default();
    let pages: Vec<Row> = read(folder, files::PAGES).unwrap_or_default();
    let beside: Option<Beside> = read(folder, files::BESIDE);
    let syncs: Option<Syncs> = read(folder, files::SYNCS);
    let decisions: Option<Decisions> = read(folder, files::DECISIONS);
    let chains: Option<Chains> = read(folder, files::CHAINS);
    let idle: Option<Idle> = read(folder, files::IDLE);
    let frames = |file| read::<Frames>(folder, file).map(|frames| frames.median_ms);
    let cost = |rows: &[Row], scenario| compare::median(rows, scenario, BUSY, |row| row.server_ms);
    let ratio = |rows: &[Row], this, that| Some(cost(rows, this)? / cost(rows, that)?);
    let memory = compare::median(&crowd, names::CROWDED, BUSY, |row| row.resident_mib);
    let mut lines = vec![line(
        "signature, 64 connections: CPU / limit server",
        1.6,
        ratio(&rows, names::SIGN, names::LIMIT_SIGN),
    )];
    lines.extend(beyond_plain(&rows));
    let on_engines: Vec<Row> = read(folder, files::ENGINES).unwrap_or_default();
    lines.extend(engines(&on_engines, read(folder, files::INSERTS).as_ref()));
    lines.extend(shared(&on_engines, &read::<Vec<Row>>(folder, files::SHARED).unwrap_or_default()));
    lines.extend(signing_in(read(folder, files::SIGN_IN).as_ref()));
    lines.extend([
        Line {
            optional: Some("OpenBao could not be installed"),
            ..line(
                "signature: CPU / OpenBao transit ed25519 with file audit",
                0.4,
                ratio(&rows, names::SIGN, names::OPENBAO),
            )
        },
        line(
            "whoami, 64 connections: CPU / limit server",
            1.6,
            ratio(&rows, names::WHOAMI, names::LIMIT_WHOAMI),
        ),
        line(
            "whoami during signatures of the same daemon: 99th percentile above those of another process, in syncs",
            1.0,
            beside.map(|beside| beside.syncs()),
        ),
        line(
            "syncs / request, 64 connections",
            0.1,
            syncs.map(|syncs| syncs.syncs as f64 / syncs.requests.max(1) as f64),
        ),
        line(
            "idle daemon with demo data: MiB resident",
            40.0 * 1e6 / 1_048_576.0,
            idle.map(|idle| idle.resident_mib),
        ),
        line(
            "signature with many activities in the organization: CPU / few",
            1.1,
            ratio(&growth, names::FULL, names::EMPTY),
        ),
        line(
            "console, first frame with many activities: time / few",
            1.1,
            frames(files::FRAME_FULL).zip(frames(files::FRAME_EMPTY)).map(|(full, empty)| full / empty),
        ),
        line(
            "signature in a crowded organization: CPU / empty",
            1.1,
            ratio(&crowd, names::CROWDED, names::ALONE),
        ),
        line(
            "page of sub-organizations, of many: CPU / few",
            1.25,
            ratio(&pages, names::CHILDREN[1], names::CHILDREN[0]),
        ),
        line(
            "page of wallet accounts, of many: CPU / few",
            1.25,
            ratio(&pages, names::ACCOUNTS[1], names::ACCOUNTS[0]),
        ),
        line(
            "decision by 10 policies of 5 terms: µs of CPU",
            10.0,
            decisions.as_ref().map(|cost| cost.ten_us),
        ),
        line(
            "decision by 100 policies of 5 terms: µs of CPU",
            60.0,
            decisions.as_ref().map(|cost| cost.hundred_us),
        ),
        line("slowest decision by hostile policies: ms", 2.0, decisions.as_ref().map(|cost| cost.worst_ms)),
        line(
            "reading an Ethereum type 2 transfer and its facts: µs",
            10.0,
            chains.as_ref().map(|cost| cost.ethereum_us),
        ),
        line(
            "reading 100 Solana instructions, version 0, and their facts: µs",
            60.0,
            chains.as_ref().map(|cost| cost.solana_us),
        ),
        line("import of a wallet: ms", 2.0, chains.as_ref().map(|cost| cost.import_ms)),
        line("export of a wallet: ms", 2.0, chains.as_ref().map(|cost| cost.export_ms)),
        line("daemon with a crowded organization: MiB resident", 150.0 * 1e6 / 1_048_576.0, memory),
    ]);
    lines
}

fn read<T: DeserializeOwned>(folder: &Path, file: &str) -> Option<T> {
    let text = std::fs::read(folder.join(file)).ok()?;
    Some(serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{file}: {error}")))
}

/// Writes a result file.
pub fn write<T: Serialize>(path: &Path, value: &T) {
    let text = serde_json::to_vec_pretty(value).expect("figures serialize");
    std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_measurements_miss_their_goals() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!report(folder.path()));
        let optional: Vec<_> = lines(folder.path()).iter().map(|line| line.optional.is_some()).collect();
        assert_eq!(
            optional.iter().filter(|optional| **optional).count(),
            6,
            "OpenBao and PostgreSQL may be missing"
        );
    }

    #[test]
    fn limits_are_minima_or_maxima() {
        let line = |is_minimum| Line { is_minimum, ..line("", 1.0, None) };
        for (is_minimum, measured, met) in
            [(true, 1.1, true), (true, 0.9, false), (false, 1.1, false), (false, 0.9, true)]
        {
            assert_eq!(line(is_minimum).is_met(measured), met, "{is_minimum} {measured}");
        }
    }

    #[test]
    fn syncs_are_counted_per_request() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join(files::SYNCS), &Syncs { requests: 100, commits: 100, syncs: 4 });
        let measured = lines(folder.path()).into_iter().find(|line| line.what.starts_with("syncs")).unwrap();
        assert_eq!(measured.measured, Some(0.04));
    }
}
