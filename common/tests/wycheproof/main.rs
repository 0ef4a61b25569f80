//! Stamps and bundles tested against the vectors of Project Wycheproof: exactly the valid ones are accepted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

mod bundles;
mod stamps;
