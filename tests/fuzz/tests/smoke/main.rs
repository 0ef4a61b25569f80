//! Runs each committed case and mutated copies of it, which are the same on every machine. It is not guided
//! by coverage, unlike `make fuzz`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod corpus;
mod mutation;
mod trial;

use quorate_fuzz::{TARGETS, Target};

use crate::corpus::Corpus;
use crate::mutation::Mutator;

/// Number of mutated copies per target.
const MUTATIONS: u64 = 20_000;

#[test]
fn committed_cases_do_not_panic_or_hang() {
    trial::run(TARGETS.iter().flat_map(|target| {
        let cases = Corpus::of(*target).cases;
        cases.into_iter().map(|case| trial::Trial { target: *target, origin: case.name, bytes: case.bytes })
    }));
}

#[test]
fn mutated_cases_do_not_panic_or_hang() {
    trial::run(TARGETS.iter().flat_map(|target| mutated(*target)));
}

fn mutated(target: Target) -> impl Iterator<Item = trial::Trial> {
    let corpus = Corpus::of(target);
    (0..MUTATIONS).map(move |seed| {
        let bytes = Mutator::new(seed).mutated(&corpus);
        trial::Trial { target, origin: format!("seed {seed}"), bytes }
    })
}
