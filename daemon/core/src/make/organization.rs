//! Checks before an organization is deleted.

use crate::error::{Intent, RequestError};
use crate::model::Organization;

/// Checks that all wallets and private keys have been exported.
///
/// # Errors
/// If one of them has not.
pub fn all_exported(organization: &Organization) -> Result<(), RequestError> {
    if organization.wallets().any(|wallet| !wallet.exported) {
        return Err(Intent::Text("wallet has not been exported").into());
    }
    if organization.private_keys().any(|key| !key.exported) {
        return Err(Intent::Text("private key has not been exported").into());
    }
    Ok(())
}
