//! Exports the mnemonic of a wallet, encrypted to one key.

use quorate_chain::mnemonic::MnemonicLanguage;
use quorate_common::bounded::Text;
use quorate_common::bundle::TargetPublicKey;
use quorate_common::ids::WalletId;
use zeroize::Zeroizing;

use crate::bundles::{self, OwnKeys};
use crate::kinds::prelude::*;
use crate::model::Wallet;
use crate::params::keys::ExportBundle;

pub(in crate::kinds) struct ExportWallet;

/// Exports the mnemonic of a wallet, encrypted to the target key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    wallet_id: WalletId,
    target_public_key: Text<130>,
    /// Language of the mnemonic. Other software derives a different seed from another language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    language: Option<MnemonicLanguage>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_id: WalletId,
    export_bundle: ExportBundle,
}

impl Version for Intent {
    type Kind = ExportWallet;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_EXPORT_WALLET";
    const NUMBER: u16 = 54;
    const RESULT: &'static str = "exportWalletResult";
}

impl Kind for ExportWallet {
    const ACTS: Option<(Action, Resource)> = Some((Action::Export, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = (Wallet, TargetPublicKey);
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Self::Plan), RequestError> {
        let wallet = view.wallet(intent.wallet_id)?;
        let target = OwnKeys::of(view)?.export_target(intent.target_public_key.as_str())?;
        Ok((Facts::of_each([wallet]), (wallet.clone(), target)))
    }

    fn execute(
        intent: Intent,
        (wallet, target): Self::Plan,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let (mnemonic, passphrase) = context.records().wallet_mnemonic(wallet.id)?;
        let phrase = mnemonic.phrase_in(intent.language.unwrap_or_default());
        let mut text =
            Zeroizing::new(String::with_capacity(phrase.len().saturating_add(passphrase.len() + 1)));
        text.push_str(&phrase);
        if !passphrase.is_empty() {
            text.push('\n');
            text.push_str(&passphrase);
        }
        let export_bundle = ExportBundle::new(bundles::export(&target, text.as_bytes(), context)?);
        let now = context.now();
        context.change(Change::PutWallet(Wallet { exported: true, updated: now, ..wallet }));
        Ok(Outcome { wallet_id: intent.wallet_id, export_bundle })
    }
}
