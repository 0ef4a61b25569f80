//! Stories across real processes: a daemon, its doors, the clients of other makers, crashes, the console.
//! One file per story. Nothing here reaches into the daemon.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod addresses;
mod bad_input;
mod commands;
mod consensus;
mod console;
mod crashes;
mod delegation;
mod deletion;
mod denials;
mod foreign;
mod foreign_bundles;
mod foreign_chains;
mod foreign_npm;
mod foreign_pypi;
mod foreign_rust;
mod foreign_rust_catalogue;
mod inbox;
mod invitations;
mod limits;
mod mishaps;
mod model;
mod once;
mod overload;
mod payouts;
mod policies;
mod power_cuts;
mod proposals;
mod quorum_key;
mod races;
mod revocation;
mod rulings;
mod screen;
mod signing;
mod stamps;
mod starts;
mod strangers;
mod time_gates;
mod transactions;
mod verdicts;
mod versions;
mod webhook;
mod wire;
