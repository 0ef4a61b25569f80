//! Signs a transaction with a wallet account or a private key.

use std::sync::Arc;

use quorate_chain::transaction::{MAX_TRANSACTION_BYTES, Signable, TransactionType};
use quorate_common::bounded::Text;
use quorate_common::ids::PrivateKeyId;

use crate::interfaces::KnownInterfaces;
use crate::kinds::prelude::*;
use crate::signing::{self, Signer};

pub(in crate::kinds) struct SignTransaction;

/// Longest transaction, in hexadecimal digits with their prefix.
const TRANSACTION: usize = 2 * MAX_TRANSACTION_BYTES + 2;

/// Signs a transaction with a wallet account or a private key.
///
/// The result is the complete signed transaction.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    sign_with: Text<256>,
    unsigned_transaction: Text<TRANSACTION>,
    #[serde(rename = "type")]
    kind: TransactionType,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    key: KeyReference,
    transaction: String,
    kind: TransactionType,
}

/// How a request identifies the key.
enum KeyReference {
    Name(String),
    PrivateKey(PrivateKeyId),
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    #[schemars(length(max = TRANSACTION))]
    signed_transaction: String,
}

impl Version for Intent {
    type Kind = SignTransaction;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
    const NUMBER: u16 = 52;
    const RESULT: &'static str = "signTransactionResult";
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        Self {
            key: KeyReference::Name(intent.sign_with.as_str().to_owned()),
            transaction: intent.unsigned_transaction.as_str().to_owned(),
            kind: intent.kind,
        }
    }
}

impl Kind for SignTransaction {
    const ACTS: Option<(Action, Resource)> = Some((Action::Sign, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Request;
    type Plan = (Arc<Signer>, Signable);
    type Outcome = Outcome;

    fn rules(request: &Request, view: &View<'_>) -> Result<(Facts, Self::Plan), RequestError> {
        let signer = match &request.key {
            KeyReference::Name(name) => signing::resolve(view, name)?,
            KeyReference::PrivateKey(id) => signing::private_key(view, *id)?,
        };
        let transaction = signer.transaction(request.kind, &request.transaction)?;
        let interfaces = KnownInterfaces::of(view);
        let facts = signer.facts(view).about(transaction.facts(&interfaces));
        interfaces.check()?;
        Ok((facts, (signer, transaction)))
    }

    fn execute(
        _: Request,
        (signer, transaction): Self::Plan,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let view = context.view();
        let signed_transaction = transaction.sign(|message| signer.sign(&view, message))?;
        Ok(Outcome { signed_transaction })
    }
}

/// Version 1: identifies a private key by its id.
pub(in crate::kinds) mod v1 {
    use super::{
        Deserialize, JsonSchema, KeyReference, Outcome, PrivateKeyId, Request, Serialize, SignTransaction,
        TRANSACTION, Text, TransactionType, Version,
    };

    /// Signs a transaction with a private key.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        private_key_id: PrivateKeyId,
        unsigned_transaction: Text<TRANSACTION>,
        #[serde(rename = "type")]
        kind: TransactionType,
    }

    impl Version for Intent {
        type Kind = SignTransaction;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_TRANSACTION";
        const NUMBER: u16 = 17;
        const RESULT: &'static str = "signTransactionResult";
    }

    impl From<Intent> for Request {
        fn from(intent: Intent) -> Self {
            Self {
                key: KeyReference::PrivateKey(intent.private_key_id),
                transaction: intent.unsigned_transaction.as_str().to_owned(),
                kind: intent.kind,
            }
        }
    }
}
