//! Signs a transaction, described from its bytes.

use quorate_chain::transaction::{TransactionType, Unsigned};
use serde_json::{Value, from_value};

use super::key::Key;
use super::transaction;
use crate::kinds::prelude::*;
use crate::kinds::transfer::Transfer;

pub(super) const KIND: Kind = Kind::new("SIGN_TRANSACTION", "Sign transaction", describe);

/// Returns what the transaction moves, if it can be decoded.
pub(super) fn transfer(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Option<Transfer> {
    let key = Key::read(parameters, context).ok()?;
    let (kind, text) = (parameters.text("type").ok()?, parameters.text("unsignedTransaction").ok()?);
    let chain: TransactionType = from_value(Value::String(kind.to_owned())).ok()?;
    transaction::transfer(&Unsigned::read(chain, text).ok()?, &key, context)
}

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let key = Key::read(parameters, context)?;
    let (kind, text) = (parameters.text("type")?, parameters.text("unsignedTransaction")?);
    let chain: Option<TransactionType> = from_value(Value::String(kind.to_owned())).ok();
    match chain.map(|chain| Unsigned::read(chain, text)) {
        Some(Ok(read)) => {
            let transfer = transaction::transfer(&read, &key, context).map(Box::new);
            Ok(Description { transfer, ..transaction::describe(&read, &key, context) })
        }
        other => {
            let signer = &key.signer;
            let why = other.and_then(Result::err).map_or_else(String::new, |error| format!(": {error}"));
            let kind = clean(kind);
            let sentence = format!(
                "Sign a transaction of the type {kind} with {signer}. It cannot be decoded here{why}."
            );
            let mut description = Description::new(format!("{kind} with {signer}"), sentence);
            description.flag_with_word(
                "undecoded-payload",
                format!(
                    "The transaction may do anything: {kind} cannot be decoded here, or cannot be signed."
                ),
                "UNDECODED",
            );
            Ok(description)
        }
    }
}
