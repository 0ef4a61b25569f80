//! Members that all kinds on secrets share.

use crate::kinds::prelude::*;

/// The only encryption suite of secrets in transit.
const SUITE: &str = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1";

/// Checks that the encryption suite is the known one.
///
/// # Errors
///
/// Fails if it is absent or unknown.
pub(super) fn check_encryption(reader: &Reader<'_>) -> Result<()> {
    if reader.text("encryptionSuite")? == SUITE { Ok(()) } else { Err(reader.unknown("encryptionSuite")) }
}

/// Returns a list of key-value pairs as text, or `None` if it is empty.
pub(super) fn pairs(reader: &Reader<'_>, member: &str) -> Result<Option<String>> {
    let pairs = reader.list(member)?;
    let texts = pairs
        .iter()
        .map(|pair| Ok(format!("{} = {}", quoted(pair.text("key")?), quoted(pair.text("value")?))));
    let texts = texts.collect::<Result<Vec<_>>>()?;
    Ok((!texts.is_empty()).then(|| listed(texts)))
}
