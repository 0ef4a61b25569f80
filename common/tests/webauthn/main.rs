//! Passkeys through the public face of the room, with what an authenticator of other makers answered as witness.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

mod answers;
mod assertions;
mod authenticator_data;
mod client_data;
mod forge;
mod keys;
mod objects;
mod properties;
mod statements;
mod witness;
