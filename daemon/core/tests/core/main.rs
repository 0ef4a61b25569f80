//! Tests of the whole core through its public entry points, over records in memory: golden files,
//! permissions, results and errors of each kind, and votes against a simple model. They use no daemon, no
//! clock and no disk.
//!
//! `BLESS=1` rewrites the golden files. Stored records in `assets/vectors` are only added, never changed.

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
mod console;
mod contracts;
mod creation;
mod errors;
mod fixture;
mod golden;
mod id_tokens;
mod inbox;
mod invitations;
mod last_uses;
mod limits;
mod memory;
mod message_events;
mod mfa;
mod oauth2;
mod oauth2_provider;
mod outbox;
mod outcomes;
mod page;
#[path = "../../../../tests/src/passkey.rs"]
mod passkey;
mod passkeys;
mod policies;
mod queries;
mod quorum;
mod samples;
mod secrets;
mod seed;
mod sessions;
mod settings;
mod sign_in;
mod sign_in_page;
mod store_errors;
mod stored;
mod votes;
