//! A naive second evaluator of the policy language, written from the specification alone, and tests that both
//! agree on a million expressions. It shares no code with the crate, not even for comparing integers or
//! strings.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

mod agreement;
mod cron;
mod dice;
mod evaluator;
mod fact;
mod facts;
mod generate;
mod number;
mod people;
mod policy;
mod schema;
mod spelling;
mod time_gates;
mod tree;
mod voters;
