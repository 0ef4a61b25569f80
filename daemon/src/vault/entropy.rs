//! Random bytes of the operating system.

use std::path::Path;

use super::error::{VaultError, system};

/// Returns random bytes.
pub(super) fn random<const N: usize>() -> Result<[u8; N], VaultError> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Fills a buffer with random bytes.
pub(super) fn fill(bytes: &mut [u8]) -> Result<(), VaultError> {
    getrandom::fill(bytes).map_err(|error| {
        system("reading", Path::new("the random source"))(std::io::Error::other(error.to_string()))
    })
}
