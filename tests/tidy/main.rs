//! The rules of the source tree, as tests. They read sources and manifests and never start a daemon.
//!
//! `BLESS=1` rewrites `exceptions.txt`, with smaller numbers and fewer lines only.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod book;
mod boundaries;
mod documents;
mod kinds;
mod licences;
mod packages;
mod reach;
mod sizes;
mod terms;
mod tree;
mod words;
