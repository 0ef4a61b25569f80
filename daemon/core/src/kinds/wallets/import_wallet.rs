//! Imports a wallet from its mnemonic.

use quorate_common::bounded::Text;
use quorate_common::ids::{UserId, WalletId};

use crate::bundles::{self, MAX_BUNDLE};
use crate::kinds::prelude::*;
use crate::make::wallet::{self, Imported};
use crate::model::Purpose;
use crate::model::layout::Key;
use crate::params::WalletAccountParams;

pub(in crate::kinds) struct ImportWallet;

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

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_id: WalletId,
    addresses: AtMost<String, BATCH>,
}

impl Version for Intent {
    type Kind = ImportWallet;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_IMPORT_WALLET";
    const NUMBER: u16 = 59;
    const RESULT: &'static str = "importWalletResult";
}

impl Kind for ImportWallet {
    const ACTS: Option<(Action, Resource)> = Some((Action::Import, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = (Imported, Key);
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Self::Plan), RequestError> {
        bundles::is_own(intent.user_id, view)?;
        wallet::check_new(&intent.wallet_name, &intent.accounts, view)?;
        let opened = bundles::open(Purpose::Wallet, intent.encrypted_bundle.as_str(), view)?;
        let imported = wallet::parse_imported(&opened.plaintext, view)?;
        Ok((Facts::default(), (imported, opened.record_key)))
    }

    fn execute(
        intent: Intent,
        (imported, import_key): Self::Plan,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let wallet = wallet::import(intent.wallet_name, &imported, intent.accounts.into_vec(), context)?;
        let outcome = Outcome { wallet_id: wallet.id(), addresses: AtMost::cut(wallet.addresses()) };
        context.add_wallet(wallet);
        context.change(Change::RemoveImportTarget(import_key));
        Ok(outcome)
    }
}
