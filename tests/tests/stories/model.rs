//! Long random histories against a small model of the contract: activities of many kinds, right and wrong ones,
//! orderly stops and crashes in between; whatever can be asked is always as the model says.
//!
//! `SEED` takes another seed, `MOVES` another length. `make faults ONLY=f13` plays ten thousand short histories; `ROUNDS` takes
//! another number of them.

mod activities;
mod chooser;
mod comparison;
mod decision;
mod learning;
mod lookups;
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
/// Moves of each of many histories.
const SHORT: usize = 50;

/// The number in a variable of the environment.
fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text}")))
}

/// Plays these seeds. Without a mailbox there is no mail server, and nobody can be invited.
async fn play(options: &Options, mailbox: Option<Mailbox>, seeds: &[u64]) {
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
async fn f13_many_histories() {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let count = number("ROUNDS").unwrap_or(if is_long { 10_000 } else { 2 });
    let first = number("SEED").unwrap_or(1_000);
    let moves = number("MOVES").unwrap_or(SHORT);
    let begun = std::time::Instant::now();
    for seed in first..first + count {
        // Every other one needs two votes.
        let options = if seed % 2 == 0 { Options::quorum(1, 1) } else { Options::quorum(2, 2) };
        Play::begin(options, None, seed).await.run(moves).await;
    }
    let seconds = begun.elapsed().as_secs();
    eprintln!("f13 histories: {count} of {moves} moves against the model, all as predicted; {seconds} s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_decides() {
    play(&Options::quorum(1, 1), Some(Mailbox::start(0)), &[1, 2, 3]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_must_agree() {
    play(&Options::quorum(2, 2), None, &[4, 5, 6]).await;
}
