//! Passkeys through the public interface of the module, tested with recorded responses of a third-party
//! authenticator.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

mod assertions;
mod authenticator;
mod authenticator_data;
mod builder;
mod client_data;
mod keys;
mod objects;
mod properties;
mod statements;
mod valid_responses;
