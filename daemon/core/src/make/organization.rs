//! Organizations: what must hold before one goes.

use crate::model::Organization;
use crate::refusal::{Intent, Refusal};

/// Everything that holds a key was exported.
pub fn all_exported(organization: &Organization) -> Result<(), Refusal> {
    if organization.wallets().any(|wallet| !wallet.exported) {
        return Err(Intent::Text("wallet has not been exported").into());
    }
    if organization.private_keys().any(|key| !key.exported) {
        return Err(Intent::Text("private key has not been exported").into());
    }
    Ok(())
}
