//! What a chain means: keys on three curves, their derivation from a mnemonic, the addresses made
//! from them, and the bytes a signature covers.
//!
//! The same code serves the daemon, which holds keys, and the console, which only recomputes and
//! displays. Everything here is a pure function of its arguments: this package never reads a
//! clock, a file, the network or the environment, and it draws no randomness of its own (the
//! caller passes a function that fills a buffer).

pub mod address;
pub mod authorization;
pub mod contract;
pub mod curve;
pub mod derive;
mod hexadecimal;
mod json;
pub mod mnemonic;
pub mod payload;
pub mod transaction;
pub mod typed_data;
#[cfg(test)]
mod vectors;
mod wire_name;

pub use curve::{Curve, InvalidKey, Message, PublicKey, SecretKey, Signature, SigningFault};
pub use json::Flaw as JsonFlaw;
