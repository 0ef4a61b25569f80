//! The rules of the source tree, as tests. They read sources and manifests and never start a daemon.
//!
//! `BLESS=1` rewrites the generated part of a page.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod book;
mod boundaries;
mod circles;
mod documents;
mod kinds;
mod letters;
mod mentions;
mod packages;
mod pages;
mod reach;
mod reference;
mod sizes;
mod terms;
mod tree;
mod words;
