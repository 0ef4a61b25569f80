//! The load generator: provisions a daemon, loads servers on this machine, compares them, and evaluates the
//! goals.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool for developers")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use quorate_bench::beside;
use quorate_bench::client::{self, Connection};
use quorate_bench::compare::{self, Config};
use quorate_bench::goals::{self, Frames, Idle, Syncs};
use quorate_bench::load::Run;
use quorate_bench::provision::{self, Crowd, Wanted};
use quorate_bench::requests::{Mode, Source};
use quorate_bench::targets::Targets;
use quorate_bench::{chains, decisions, first_frame, link, process, sign_in, sink};

/// Number of requests prepared at once when filling.
const PORTION: usize = 20_000;
/// Maximum time until the daemon's figures reach its metrics.
const METRICS_DELAY: Duration = Duration::from_millis(1500);
/// Time limit of a filling portion.
const PORTION_DEADLINE: Duration = Duration::from_mins(5);

/// Loads servers on this machine and evaluates the results
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Create organizations, keys and wallets in a dev daemon, and write a file of targets
    Provision {
        /// Credentials file of the daemon
        #[arg(long)]
        credentials: PathBuf,
        /// Number of sub-organizations; with 0 the organization itself signs
        #[arg(long, default_value_t = 20)]
        organizations: usize,
        /// Number of API keys and accounts of each
        #[arg(long, default_value_t = 2)]
        keys: usize,
        /// Output file for the targets
        #[arg(long)]
        out: PathBuf,
    },
    /// Compare servers side by side
    Compare {
        /// Configuration of the comparison (JSON)
        #[arg(long)]
        config: PathBuf,
        /// Output file for the figures
        #[arg(long)]
        out: PathBuf,
    },
    /// Sign until there are this many activities, or create this many sub-organizations
    Fill {
        /// File of targets
        #[arg(long)]
        targets: PathBuf,
        /// How many
        #[arg(long)]
        count: usize,
        /// Request to send
        #[arg(long, value_enum, default_value_t = Mode::Sign)]
        mode: Mode,
    },
    /// Fill the organization of the first target with keys, users, policies and accounts
    Crowd {
        /// File of targets
        #[arg(long)]
        targets: PathBuf,
        /// Numbers of resources
        #[command(flatten)]
        wanted: Crowd,
    },
    /// Load the daemon with signatures and count its syncs
    Syncs {
        /// File of targets
        #[arg(long)]
        targets: PathBuf,
        /// Number of connections
        #[arg(long, default_value_t = 64)]
        connections: usize,
        /// Number of requests
        #[arg(long)]
        count: usize,
        /// Output file for the figures
        #[arg(long)]
        out: PathBuf,
    },
    /// Measure queries alone and with concurrent signatures
    Beside {
        /// File of targets
        #[arg(long)]
        targets: PathBuf,
        /// File of targets of another process
        #[arg(long)]
        others: PathBuf,
        /// Folder in which syncs are timed
        #[arg(long)]
        folder: PathBuf,
        /// How to measure
        #[command(flatten)]
        wanted: beside::Wanted,
        /// Output file for the figures
        #[arg(long)]
        out: PathBuf,
    },
    /// Measure stamps by passkeys, logins, and one-time codes
    SignIn {
        /// File of targets
        #[arg(long)]
        targets: PathBuf,
        /// File of targets of another process
        #[arg(long)]
        others: PathBuf,
        /// Process id of the daemon
        #[arg(long)]
        process: u32,
        /// How to measure
        #[command(flatten)]
        wanted: sign_in::Wanted,
        /// Output file for the figures
        #[arg(long)]
        out: PathBuf,
    },
    /// Accept mail until the process is killed
    Sink {
        /// Output file for the URL of the mail server
        #[arg(long)]
        ready: PathBuf,
    },
    /// Connect clients to the socket of a server, with a delay, until the process is killed
    Link {
        /// Path of the socket
        #[arg(long)]
        to: PathBuf,
        /// Delay of each answer in milliseconds
        #[arg(long, default_value_t = 1)]
        delay_ms: u64,
        /// Output file for the port
        #[arg(long)]
        ready: PathBuf,
    },
    /// Read the resident memory of a process
    Resident {
        /// Process id
        #[arg(long)]
        process: u32,
        /// Output file for the figure
        #[arg(long)]
        out: PathBuf,
    },
    /// Measure the cost of policy decisions, in this process
    Decide {
        /// Output file for the figures
        #[arg(long)]
        out: PathBuf,
    },
    /// Measure the cost of reading transactions, and of importing and exporting wallets, in this process
    Chains {
        /// Output file for the figures
        #[arg(long)]
        out: PathBuf,
    },
    /// Measure the time to the first complete frame of a terminal program
    FirstFrame {
        /// Number of starts
        #[arg(long)]
        runs: usize,
        /// Output file for the figure
        #[arg(long)]
        out: PathBuf,
        /// The program and its arguments
        #[arg(last = true, required = true)]
        program: Vec<String>,
    },
    /// Print the goals and whether they are met; exit with code 1 if one is not
    Report {
        /// Folder of the figures
        #[arg(long)]
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Provision { credentials, organizations, keys, out } => {
            let targets = provision::provision(&credentials, Wanted { organizations, keys });
            targets.write(&out);
            println!("{} targets in {}", targets.targets.len(), out.display());
        }
        Command::Compare { config, out } => return compare(&config, &out),
        Command::Fill { targets, count, mode } => fill(&Targets::read(&targets), count, mode),
        Command::Crowd { targets, wanted } => provision::crowd(&Targets::read(&targets), wanted),
        Command::Syncs { targets, connections, count, out } => {
            goals::write(&out, &syncs(&Targets::read(&targets), connections, count));
        }
        Command::Beside { targets, others, folder, wanted, out } => {
            let beside = beside::measure(&Targets::read(&targets), &Targets::read(&others), &folder, wanted);
            println!("{beside:?}");
            goals::write(&out, &beside);
        }
        Command::SignIn { targets, others, process, wanted, out } => {
            let figures =
                sign_in::measure(&Targets::read(&targets), &Targets::read(&others), process, wanted);
            println!("{figures:?}");
            goals::write(&out, &figures);
        }
        Command::Sink { ready } => sink::serve(&ready),
        Command::Link { to, delay_ms, ready } => {
            client::block_on(link::serve(to, Duration::from_millis(delay_ms), &ready));
        }
        Command::Resident { process, out } => {
            let resident_mib = process::of(&[process]).resident_mib();
            println!("process {process}: {resident_mib:.1} MiB resident");
            goals::write(&out, &Idle { resident_mib });
        }
        Command::Decide { out } => {
            let decisions = decisions::measure();
            println!("{decisions:?}");
            goals::write(&out, &decisions);
        }
        Command::Chains { out } => {
            let chains = chains::measure();
            println!("{chains:?}");
            goals::write(&out, &chains);
        }
        Command::FirstFrame { runs, out, program } => {
            let median_ms = first_frame::median_ms(&program, runs);
            println!("first complete frame: {median_ms:.1} ms, median of {runs}");
            goals::write(&out, &Frames { median_ms });
        }
        Command::Report { folder } => return code(goals::report(&folder)),
    }
    ExitCode::SUCCESS
}

const fn code(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compare(config: &std::path::Path, out: &std::path::Path) -> ExitCode {
    let text = std::fs::read(config).unwrap_or_else(|error| panic!("{}: {error}", config.display()));
    let config: Config =
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", config.display()));
    let rows = compare::run(&config);
    compare::print(&rows);
    goals::write(out, &rows);
    code(rows.iter().all(|row| row.errors == 0))
}

fn run(host: &String, connections: usize, mode: Mode) -> Run<'_> {
    Run {
        mode,
        hosts: std::slice::from_ref(host),
        processes: &[],
        connections,
        duration: PORTION_DEADLINE,
        pace: None,
    }
}

fn fill(targets: &Targets, count: usize, mode: Mode) {
    let host = client::host(&targets.base_url);
    let mut source = Source::new(mode, &host, &targets.targets, "", "", "");
    let mut remaining = count;
    while remaining > 0 {
        let requests = source.batch(remaining.min(PORTION));
        remaining -= requests.len();
        let outcome = client::block_on(run(&host, 64, mode).of(requests));
        assert!(outcome.errors.is_empty(), "filling failed: {:?}", outcome.errors);
        println!("{} of {count}", count - remaining);
    }
}

fn syncs(targets: &Targets, connections: usize, count: usize) -> Syncs {
    let host = client::host(&targets.base_url);
    let mut source = Source::new(Mode::Sign, &host, &targets.targets, "", "", "");
    let before = figures(&host);
    let outcome = client::block_on(run(&host, connections, Mode::Sign).of(source.batch(count)));
    assert!(outcome.errors.is_empty(), "loading failed: {:?}", outcome.errors);
    let after = figures(&host);
    let syncs =
        Syncs { requests: outcome.done as u64, commits: after.0 - before.0, syncs: after.1 - before.1 };
    println!("{} requests, {} commits, {} syncs", syncs.requests, syncs.commits, syncs.syncs);
    syncs
}

/// Returns the numbers of commits and syncs in the daemon's metrics, once they are up to date.
fn figures(host: &str) -> (u64, u64) {
    std::thread::sleep(METRICS_DELAY);
    let text = client::block_on(async {
        let mut connection = Connection::open(host).await.expect("the daemon accepts connections");
        let request = Source::new(Mode::Get, host, &[], "/metrics", "", "").batch(1).remove(0);
        let (_, body) = connection.call(request).await.expect("the daemon answers");
        String::from_utf8_lossy(&body).into_owned()
    });
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("the metric exists");
        line.trim().parse().expect("a metric is a number")
    };
    (figure("quorate_commits_total "), figure("quorate_syncs_total "))
}
