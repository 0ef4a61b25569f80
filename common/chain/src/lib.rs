//! Blockchain primitives: keys on three curves, their derivation from a mnemonic, addresses, and the bytes
//! that a signature covers.
//!
//! The daemon, which holds keys, and the console, which only recomputes and displays, use the same code.
//! Every function is pure: this crate reads no clock, file, network or environment. It has no source of
//! randomness; the caller passes a function that fills a buffer.

pub mod address;
pub mod authorization;
pub mod contract;
pub mod curve;
pub mod derive;
mod hexadecimal;
mod inline_schema;
mod json;
pub mod mnemonic;
pub mod payload;
pub mod transaction;
pub mod typed_data;
#[cfg(test)]
mod vectors;
mod wire_name;

pub use curve::{Curve, InvalidKey, Message, PublicKey, SecretKey, Signature, SigningError};
pub use json::JsonError;
