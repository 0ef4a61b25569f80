//! What the kinds about secrets read alike.

use super::scene::listed;
use super::{Reader, Undecodable};
use crate::text::quoted;

/// The one way in which secrets are encrypted on their way.
const SUITE: &str = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1";

/// Reads how something is encrypted, and refuses what is not known here.
pub(super) fn encryption(reader: &Reader<'_>) -> Result<(), Undecodable> {
    if reader.text("encryptionSuite")? == SUITE { Ok(()) } else { Err(reader.unknown("encryptionSuite")) }
}

/// Names and what they stand for, in words; nothing if there are none.
pub(super) fn pairs(reader: &Reader<'_>, member: &str) -> Result<Option<String>, Undecodable> {
    let pairs = reader.list(member)?;
    let told = pairs
        .iter()
        .map(|pair| Ok(format!("{} = {}", quoted(pair.text("key")?), quoted(pair.text("value")?))));
    let told = told.collect::<Result<Vec<_>, Undecodable>>()?;
    Ok((!told.is_empty()).then(|| listed(told)))
}
