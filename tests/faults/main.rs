//! Faults of the machine under a running daemon: kills, power cuts, failing and slow disks, full disks,
//! damaged files, clock jumps. Each file is a family of scenarios. Each scenario runs in a short form with
//! all other tests, and in a long form by `make faults`.
//!
//! Scenarios are numbered: `f1` kills, `f2` kills at fail points, `f3` power cuts, `f4` failing calls, `f5`
//! failing and slow syncs, `f6` full disks, `f7` damaged files, `f8` restored records, `f10` clocks, `f22` ceremonies, `f24`
//! one-time codes, `f20` upgrades. Other targets have `f9`, several daemons and copies of stores (`tests/e2e/several_daemons.rs`,
//! `tests/e2e/store_copy.rs`), `f13`, histories against a model (`tests/e2e/model.rs`), `f17`, overload
//! (`tests/e2e/overload.rs`), `f19`, hostile webhook receivers (`tests/e2e/webhook.rs`), more of `f24`, tokens
//! (`tests/e2e/third_party_tokens.rs`), and `f25`, other clients, lost connections and full disks of PostgreSQL
//! (`tests/e2e/postgres.rs`, `tests/e2e/hostile_database_client.rs`).
//!
//! Environment variables: `FAULTS=full` selects the long form, `ROUNDS` the number of rounds, `SEED` the
//! random choices, `ENGINE` a store engine, `BODIES` sizes of bodies for `f3`, `PROGRAMS` the folder of
//! the tested daemon, and `PREVIOUS` that of the previous release for `f20`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "tests"
)]

mod calls;
mod ceremonies;
mod clock;
mod codes;
mod consent;
mod damage;
mod engine;
mod kills;
mod layer;
mod operations;
mod points;
mod power;
mod recorder;
mod rollback;
mod scenario;
mod space;
mod syncs;
mod upgrades;
