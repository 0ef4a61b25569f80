//! Faults of the machine under a running daemon: kills, power cuts, failing and slow disks, full disks, damaged files,
//! a clock that jumps. Each file is a family of scenarios; each scenario runs in a short form with all other tests, and
//! in a long form by `make faults`.
//!
//! Scenarios are named by their numbers: `f1` kills, `f2` kills at fail points, `f3` power cuts, `f4` failing calls,
//! `f5` failing and slow syncs, `f6` full disks, `f7` damaged files, `f8` records put back, `f10` clocks. `f13`,
//! histories against a model, is in `tests/tests/stories/model.rs`.
//!
//! Variables: `FAULTS=full` chooses the long form, `ROUNDS` another number of rounds, `SEED` other choices, `ENGINE` a
//! store engine, and `STRICT=1`, or names of promises, also asserts what [`promises`] lists as not kept yet.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod calls;
mod clock;
mod damage;
mod deeds;
mod engine;
mod kills;
mod layer;
mod points;
mod power;
mod promises;
mod recorder;
mod rollback;
mod scenario;
mod space;
mod syncs;
