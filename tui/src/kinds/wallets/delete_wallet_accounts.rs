//! Deletes accounts of wallets.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_WALLET_ACCOUNTS", "Delete wallet accounts", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let ids = parameters.texts("walletAccountIds")?;
    let named = listed(ids.iter().map(|id| clean(id)));
    let mut description = Description::new(
        count(ids.len(), "wallet account"),
        format!(
            "Delete {}: {named}. Deleted accounts cannot sign until the same paths are derived again \
             from their wallets in {}.",
            count(ids.len(), "wallet account"),
            stated(&context.organization.head.organization_name)
        ),
    );
    description
        .flag_high("accounts-removed", "Stops everything that needs a signature by a deleted account.");
    if parameters.boolean("deleteWithoutExport")? {
        description
            .flag_medium("without-export", "Also deletes accounts of wallets that were never exported.");
    }
    Ok(description)
}
