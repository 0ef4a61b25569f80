//! A short walk around the committed cases: each of them, then damaged copies, the same ones on every machine. Follows no
//! coverage; `make fuzz` does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod corpus;
mod mutation;
mod trial;

use quorate_fuzz::{TARGETS, Target};

use crate::corpus::Corpus;
use crate::mutation::Mutator;

/// Damaged copies for each target.
const MUTATIONS: u64 = 20_000;

#[test]
fn committed_cases_come_back() {
    trial::run(TARGETS.iter().flat_map(|target| {
        let cases = Corpus::of(*target).cases;
        cases.into_iter().map(|case| trial::Trial { target: *target, origin: case.name, bytes: case.bytes })
    }));
}

#[test]
fn damaged_cases_come_back() {
    trial::run(TARGETS.iter().flat_map(|target| damaged(*target)));
}

fn damaged(target: Target) -> impl Iterator<Item = trial::Trial> {
    let corpus = Corpus::of(target);
    (0..MUTATIONS).map(move |seed| {
        let bytes = Mutator::new(seed).damaged(&corpus);
        trial::Trial { target, origin: format!("seed {seed}"), bytes }
    })
}
