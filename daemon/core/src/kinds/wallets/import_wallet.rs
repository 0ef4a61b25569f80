//! Imports a wallet from its mnemonic.

use crate::bundles::{self, MAX_BUNDLE};
use crate::kinds::prelude::*;
use crate::make::wallet::{self, Imported};
use crate::model::layout::Key;
use crate::params::WalletAccountParams;
use crate::params::keys::NewWalletResult;

/// Imports a wallet and its first accounts. The mnemonic is encrypted to an import key of the caller.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    wallet_name: Label,
    encrypted_bundle: Text<MAX_BUNDLE>,
    #[serde(default)]
    accounts: AtMost<WalletAccountParams, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_IMPORT_WALLET";
    const NUMBER: u16 = 59;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Import, Resource::Wallet));
    type Plan = (Imported, Key);
    type Outcome = NewWalletResult;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        bundles::is_own(self.user_id, view)?;
        wallet::check_new(&self.wallet_name, &self.accounts, view)?;
        let opened = bundles::open(Purpose::Wallet, self.encrypted_bundle.as_str(), view)?;
        let imported = wallet::parse_imported(&opened.plaintext, view)?;
        Ok((imported, opened.record_key))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<NewWalletResult, RequestError> {
        let (imported, import_key) = plan;
        let wallet = wallet::import(self.wallet_name, &imported, self.accounts.into_vec(), context)?;
        let result = wallet::add(wallet, context);
        context.change(Change::RemoveImportTarget(import_key));
        Ok(result)
    }
}
