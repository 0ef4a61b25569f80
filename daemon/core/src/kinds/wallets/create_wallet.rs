//! Creates a wallet: one seed, and the first accounts derived from it.

use quorate_common::ids::WalletId;

use crate::kinds::prelude::*;
use crate::make::wallet;
use crate::params::WalletParams;

pub(in crate::kinds) struct CreateWallet;

/// Creates a wallet with a new seed and its first accounts.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct Intent(WalletParams);

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_id: WalletId,
    addresses: AtMost<String, BATCH>,
}

impl Version for Intent {
    type Kind = CreateWallet;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_WALLET";
    const NUMBER: u16 = 45;
    const RESULT: &'static str = "createWalletResult";
}

impl Kind for CreateWallet {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(Intent(params): &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        wallet::check_new(&params.wallet_name, &params.accounts, view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        Intent(params): Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let wallet = wallet::wallet(params, context)?;
        let outcome = Outcome { wallet_id: wallet.id(), addresses: AtMost::cut(wallet.addresses()) };
        context.add_wallet(wallet);
        Ok(outcome)
    }
}
