//! Stamps and bundles under the vectors of Project Wycheproof: what is valid there is taken, and nothing else.
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
