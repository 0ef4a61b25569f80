//! Reads the vector files under `assets/vectors` for the tests of this package.
//!
//! Each file is an object with the source of its rows and the rows; expected values come from the
//! named standard or from an unrelated implementation.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::curve::{Curve, SecretKey};

#[derive(Deserialize)]
struct File<T> {
    rows: Vec<T>,
}

/// The rows of a vector file; a file without rows is a mistake.
pub(crate) fn rows<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let file: File<T> = serde_json::from_str(text).unwrap();
    assert!(!file.rows.is_empty(), "a vector file without rows");
    file.rows
}

/// Bytes from hexadecimal digits.
pub(crate) fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    const_hex::decode_to_array(hex).unwrap()
}

/// The key with these hexadecimal digits.
pub(crate) fn secret(curve: Curve, hex: &str) -> SecretKey {
    SecretKey::from_bytes(curve, &bytes(hex)).unwrap_or_else(|_| panic!("no key of {curve}"))
}
