//! The harness of the stories: starts the real daemon, speaks to it as its users would, and takes it
//! away again. It never reaches into the daemon: whatever a story knows, it learned over a door.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a harness of tests fails by panicking"
)]

pub mod caller;
pub mod choices;
pub mod daemon;
pub mod dialogue;
pub mod disk;
pub mod feed;
pub mod forger;
pub mod http;
pub mod installation;
pub mod keys;
pub mod load;
pub mod mailbox;
pub mod operator;
pub mod overload;
pub mod passkey;
pub mod places;
pub mod proof;
pub mod receiver;
pub mod requests;
pub mod webhook_faults;
