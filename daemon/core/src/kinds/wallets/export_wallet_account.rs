//! Exports the secret key of a wallet account, encrypted to one key.

use quorate_common::bundle::TargetPublicKey;

use crate::bundles::{self, ServiceKeys};
use crate::kinds::prelude::*;
use crate::params::keys::ExportBundle;
use crate::signing;

/// Exports the secret key of a wallet account (32 bytes), encrypted to the target key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    address: Text<256>,
    target_public_key: Text<130>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    #[schemars(length(max = 256))]
    address: String,
    export_bundle: ExportBundle,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT";
    const NUMBER: u16 = 57;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Export, Resource::Wallet));
    type Plan = (WalletAccount, TargetPublicKey);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let account = signing::account(view, self.address.as_str())?;
        let target = ServiceKeys::of(view)?.export_target(self.target_public_key.as_str())?;
        Ok((account, target))
    }

    fn facts(&self, (account, _): &Self::Plan, view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::of_exported_account(account, view.organization.wallet(account.wallet)))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (account, target) = plan;
        let key = context.records().account_secret(&account)?;
        let bundle = bundles::export(&target, key.to_bytes().as_slice(), context)?;
        let outcome = Outcome { address: account.address.clone(), export_bundle: ExportBundle::new(bundle) };
        context.change(Change::ExportAccount(account));
        Ok(outcome)
    }
}
