//! The core as a whole, driven through its own front door over records in memory: goldens that are promises,
//! who may do what, what each kind answers, and votes against a plain model. No daemon, no clock, no disk.
//!
//! `BLESS=1` writes the goldens anew. Fixtures of stored records are only ever added to.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::too_many_lines,
    reason = "tests"
)]

mod altered;
mod authority;
mod bad_input;
mod bodies;
mod budgets;
mod bundles;
mod catalog;
mod changes;
mod consent;
mod contracts;
mod faults;
mod founding;
mod golden;
mod house;
mod inbox;
mod invitations;
mod limits;
mod memory;
mod outbox;
mod outcomes;
mod page;
#[path = "../../../../tests/src/passkey.rs"]
mod passkey;
mod passkeys;
mod policies;
mod quorum;
mod refusals;
mod samples;
mod secrets;
mod seed;
mod settings;
mod stored;
mod votes;
