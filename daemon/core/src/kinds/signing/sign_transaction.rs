//! Signs a transaction with a wallet account or a private key.

use std::sync::Arc;

use quorate_chain::transaction::{MAX_TRANSACTION_BYTES, Signable, TransactionType};

use crate::kinds::prelude::*;
use crate::params::signing::SignWith;
use crate::signing::Signer;
use crate::view::KnownInterfaces;

/// Longest transaction, in hexadecimal digits with their prefix.
const TRANSACTION: usize = 2 * MAX_TRANSACTION_BYTES + 2;

/// Signs a transaction with a private key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    private_key_id: PrivateKeyId,
    unsigned_transaction: Text<TRANSACTION>,
    #[serde(rename = "type")]
    kind: TransactionType,
}

/// Signs a transaction with a wallet account or a private key.
///
/// The result is the complete signed transaction.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    sign_with: Text<256>,
    unsigned_transaction: Text<TRANSACTION>,
    #[serde(rename = "type")]
    kind: TransactionType,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    sign_with: SignWith,
    transaction: Text<TRANSACTION>,
    kind: TransactionType,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    #[schemars(length(max = TRANSACTION))]
    signed_transaction: String,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_TRANSACTION";
    const NUMBER: u16 = 17;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
    const NUMBER: u16 = 52;
    const RESULT: Option<&'static str> = Some("signTransactionResult");
}

impl From<V1> for Request {
    fn from(V1 { private_key_id, unsigned_transaction: transaction, kind }: V1) -> Self {
        Self { sign_with: SignWith::PrivateKey(private_key_id), transaction, kind }
    }
}

impl From<V2> for Request {
    fn from(V2 { sign_with, unsigned_transaction: transaction, kind }: V2) -> Self {
        Self { sign_with: SignWith::Name(sign_with), transaction, kind }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Sign, Resource::PrivateKey));
    type Plan = (Arc<Signer>, Signable);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let signer = self.sign_with.signer(view)?;
        let transaction = signer.transaction(self.kind, self.transaction.as_str())?;
        Ok((signer, transaction))
    }

    fn facts(&self, (signer, transaction): &Self::Plan, view: &View<'_>) -> Result<Facts, RequestError> {
        let interfaces = KnownInterfaces::of(view);
        let facts = signer.facts(view).about(transaction.facts(&interfaces));
        interfaces.check()?;
        Ok(facts)
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (signer, transaction) = plan;
        let view = context.view();
        let signed_transaction = transaction.sign(|message| signer.sign(&view, message))?;
        Ok(Outcome { signed_transaction })
    }
}
