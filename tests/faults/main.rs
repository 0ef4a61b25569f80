//! Faults of the machine under a running daemon: kills, power cuts, failing and slow disks, full disks, damaged files,
//! a clock that jumps. Each file is a family of scenarios; each scenario runs in a short form with all other tests, and
//! in a long form by `make faults`.
//!
//! Scenarios are named by their numbers: `f1` kills, `f2` kills at fail points, `f3` power cuts, `f4` failing calls,
//! `f5` failing and slow syncs, `f6` full disks, `f7` damaged files, `f8` records put back, `f10` clocks. Elsewhere are
//! `f13`, histories against a model (`tests/tests/stories/model.rs`), `f17`, overload (`tests/tests/stories/overload.rs`),
//! and `f19`, hostile webhook receivers (`tests/tests/stories/webhook.rs`).
//!
//! Variables: `FAULTS=full` chooses the long form, `ROUNDS` another number of rounds, `SEED` other choices, `ENGINE` a
//! store engine, `BODIES` sizes of bodies for `f3`, and `PROGRAMS` the folder of the daemon that is tested.

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
mod consent;
mod damage;
mod deeds;
mod engine;
mod kills;
mod layer;
mod points;
mod power;
mod recorder;
mod rollback;
mod scenario;
mod space;
mod syncs;
