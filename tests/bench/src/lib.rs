//! Benchmarks of the daemon: a load generator, minimal servers that mark the limits, and the goals.
//!
//! Everything runs against servers on the loopback interface, and every loop is bounded in time and in count.
//! Nothing here accesses the internals of the daemon under test: it is loaded over its HTTP listener and
//! observed through `/proc`. Only decisions, transactions, imports and exports are measured in this process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers fails by panicking and prints to the terminal"
)]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures of a measurement are far below the limits of their types"
)]

pub mod beside;
pub mod chains;
pub mod client;
pub mod compare;
pub mod decisions;
pub mod first_frame;
pub mod goals;
pub mod link;
pub mod load;
#[path = "../../src/passkey.rs"]
mod passkey;
pub mod process;
pub mod provision;
pub mod requests;
pub mod sign_in;
pub mod sink;
pub mod targets;
