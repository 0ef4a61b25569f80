//! The daemon: everything between the network, the disk and the core that decides.

pub mod barrier;
mod cache;
pub mod clock;
pub mod commands;
pub mod config;
pub mod console;
pub mod door;
pub mod feed;
pub mod guard;
pub mod http;
pub mod identity;
mod locked;
pub mod outbox;
pub mod private_file;
pub mod process;
pub mod prompt;
pub mod routes;
pub mod service;
pub mod socket;
pub mod source;
pub mod store;
pub mod sweeper;
pub mod telemetry;
pub mod turn;
pub mod upgrade;
pub mod vault;
pub mod verify;
