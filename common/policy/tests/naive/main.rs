//! A second evaluator of the policy language, derived from its specification alone and as plain as possible, and the proof
//! that both agree on a million policies. It shares no code with the package, not even how integers or strings compare.
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
