//! Long random histories against a small model of the API: valid and invalid activities of many kinds, with
//! clean stops and crashes in between. All query results always match the model.
//!
//! One family of histories runs on three daemons that share a store: each request goes to any of them.
//!
//! `SEED` selects a seed and `MOVES` a length. `make faults ONLY=f13` runs ten thousand short histories;
//! `ROUNDS` selects another number of them.

mod activities;
mod chooser;
mod comparison;
mod decision;
mod learning;
mod lookups;
mod mfa;
mod moves;
mod objections;
mod play;
mod times;
mod views;
mod world;

use std::sync::Arc;

use quorate_tests::daemon::Options;
use quorate_tests::mailbox::Mailbox;

use play::Play;

const MOVES: usize = 300;
/// Number of moves of a short history.
const SHORT: usize = 50;

/// Returns the number in an environment variable.
fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text}")))
}

/// Runs histories with these seeds. Without a mailbox there is no mail server, and nobody can be invited.
async fn run_histories(options: &Options, mailbox: Option<Mailbox>, seeds: &[u64]) {
    let mailbox = mailbox.map(Arc::new);
    let chosen = number("SEED").map(|seed| vec![seed]);
    for seed in chosen.as_deref().unwrap_or(seeds) {
        Play::begin(options.clone(), mailbox.clone(), *seed)
            .await
            .run(number("MOVES").unwrap_or(MOVES))
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f13_histories_of_several_daemons() {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let count = number("ROUNDS").unwrap_or(if is_long { 100 } else { 1 });
    let first = number("SEED").unwrap_or(2_000);
    let moves = number("MOVES").unwrap_or(MOVES);
    for seed in first..first + count {
        let options = if seed % 2 == 0 { Options::quorum(1, 1) } else { Options::quorum(2, 2) };
        Play::begin(options.on_engine("postgres"), None, seed).await.share(2).await.run(moves).await;
    }
    eprintln!("f13 several daemons: {count} histories of {moves} moves against the model, all as predicted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f13_many_histories() {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let count = number("ROUNDS").unwrap_or(if is_long { 10_000 } else { 2 });
    let first = number("SEED").unwrap_or(1_000);
    let moves = number("MOVES").unwrap_or(SHORT);
    let begun = std::time::Instant::now();
    for seed in first..first + count {
        // Every other history needs two votes.
        let options = if seed % 2 == 0 { Options::quorum(1, 1) } else { Options::quorum(2, 2) };
        Play::begin(options, None, seed).await.run(moves).await;
    }
    let seconds = begun.elapsed().as_secs();
    eprintln!("f13 histories: {count} of {moves} moves against the model, all as predicted; {seconds} s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn histories_match_the_model_with_one_decider() {
    run_histories(&Options::quorum(1, 1), Some(Mailbox::start(0)), &[1, 2, 3]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn histories_match_the_model_with_two_approvers() {
    run_histories(&Options::quorum(2, 2), None, &[4, 5, 6]).await;
}

/// A backup that is written while requests change everything contains one moment, on each engine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_during_a_history_is_that_of_a_moment() {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let count = number("ROUNDS").unwrap_or(if is_long { 100 } else { 1 });
    let first = number("SEED").unwrap_or(3_000);
    let slow = vec![("FAIL_POINTS".to_owned(), "backup.page=sleep(150)".to_owned())];
    for seed in first..first + count {
        for engine in ["sled", "redb", "postgres"] {
            let options = Options::quorum(1, 1).on_engine(engine).with_variables(slow.clone());
            Play::begin(options, None, seed).await.run_with_backup(number("MOVES").unwrap_or(40)).await;
        }
    }
}
