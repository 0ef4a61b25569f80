//! The rules of the tree, as tests. They read sources and manifests; nothing here starts a daemon.
//!
//! `BLESS=1` writes `exceptions.txt` anew, with smaller numbers and fewer lines only.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod documents;
mod kinds;
mod licences;
mod packages;
mod reach;
mod rooms;
mod sizes;
mod tree;
mod words;
