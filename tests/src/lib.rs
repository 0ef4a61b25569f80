//! Test harness: starts the real daemon, uses it as its users do, and removes it again. It never accesses the
//! internals of the daemon: scenarios learn everything from a listener.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test harness fails by panicking"
)]

pub mod book;
pub mod browser;
pub mod caller;
pub mod choices;
pub mod cluster;
pub mod companion;
pub mod cutting_proxy;
pub mod daemon;
pub mod dialogue;
pub mod disk;
pub mod feed;
pub mod fleet;
pub mod holders;
pub mod http;
pub mod installation;
pub mod issuer;
pub mod keys;
pub mod load;
pub mod mailbox;
pub mod memory;
pub mod oauth2_provider;
pub mod operator;
pub mod overload;
pub mod passkey;
pub mod paths;
pub mod patroni;
pub mod pooler;
pub mod proof;
pub mod receiver;
pub mod requests;
pub mod sign_in;
pub mod slow_proxy;
pub mod sms_gateway;
pub mod soft_token;
pub mod soft_tpm;
pub mod ssh_agent;
pub mod tampering_proxy;
pub mod tls_terminator;
pub mod webhook_faults;
pub mod writers;
