//! Scenarios across real processes: a daemon, its listeners, third-party clients, crashes, the console. One
//! file per scenario. Nothing here accesses the internals of the daemon.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod activities;
mod activity_log;
mod addresses;
mod anonymous_clients;
mod approval_lists;
mod auth_proxy;
mod auth_proxy_attacks;
mod auth_proxy_bodies;
mod backups;
mod bad_input;
mod book;
mod canaries;
mod commands;
mod consensus;
mod console;
mod contexts;
mod crashes;
mod credentials;
mod custody;
mod database_changes;
mod delegation;
mod deletion;
mod denials;
mod failed_starts;
mod failovers;
mod forms;
mod health;
mod hostile_database_client;
mod idempotency;
mod inbox;
mod invitations;
mod journal;
mod json_output;
mod key_sources;
mod limits;
mod linear;
mod lying_daemon;
mod message_delivery;
mod mfa;
mod model;
mod newcomer;
mod oauth2;
mod organizations;
mod overload;
mod pages;
mod palette;
mod payouts;
mod policies;
mod policy_outcomes;
mod postgres;
mod power_cuts;
mod proof_bundles;
mod proposals;
mod proposing;
mod quorum_key;
mod races;
mod remote;
mod remote_faults;
mod revocation;
mod rotation;
mod screen;
mod several_daemons;
mod sign_in;
mod signing;
mod slow_connection;
mod sms_gateway;
mod stamps;
mod starts;
mod store_copy;
mod terminal;
mod third_party;
mod third_party_bundles;
mod third_party_chains;
mod third_party_core;
mod third_party_npm;
mod third_party_pypi;
mod third_party_rust;
mod third_party_rust_catalogue;
mod third_party_tokens;
mod time_gates;
mod transactions;
mod unanswered_votes;
mod unusable_databases;
mod verdicts;
mod versions;
mod webhook;
mod webhook_operators;
mod wire;
