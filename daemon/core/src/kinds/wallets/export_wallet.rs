//! Exports the mnemonic of a wallet, encrypted to one key.

use quorate_chain::mnemonic::MnemonicLanguage;
use quorate_common::bundle::TargetPublicKey;
use zeroize::Zeroizing;

use crate::bundles::{self, ServiceKeys};
use crate::kinds::prelude::*;
use crate::params::keys::ExportBundle;

/// Exports the mnemonic of a wallet, encrypted to the target key.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    wallet_id: WalletId,
    target_public_key: Text<130>,
    /// Language of the mnemonic. Other software derives a different seed from another language.
    language: Option<MnemonicLanguage>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_id: WalletId,
    export_bundle: ExportBundle,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_EXPORT_WALLET";
    const NUMBER: u16 = 54;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Export, Resource::Wallet));
    type Plan = (Wallet, TargetPublicKey);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let wallet = view.wallet(self.wallet_id)?;
        let target = ServiceKeys::of(view)?.export_target(self.target_public_key.as_str())?;
        Ok((wallet.clone(), target))
    }

    fn facts(&self, (wallet, _): &Self::Plan, _: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::of_each([wallet]))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (wallet, target) = plan;
        let (mnemonic, passphrase) = context.records().wallet_mnemonic(wallet.id)?;
        let phrase = mnemonic.phrase_in(self.language.unwrap_or_default());
        let mut text =
            Zeroizing::new(String::with_capacity(phrase.len().saturating_add(passphrase.len() + 1)));
        text.push_str(&phrase);
        if !passphrase.is_empty() {
            text.push('\n');
            text.push_str(&passphrase);
        }
        let export_bundle = ExportBundle::new(bundles::export(&target, text.as_bytes(), context)?);
        let now = context.now();
        context.change(Change::put(Wallet { exported: true, updated: now, ..wallet }));
        Ok(Outcome { wallet_id: self.wallet_id, export_bundle })
    }
}
