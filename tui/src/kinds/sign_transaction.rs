//! Signs a transaction, told from its bytes.

use quorate_chain::transaction::{TransactionType, Unsigned};
use serde_json::{Value, from_value};

use super::transaction::Key;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version, transaction};
use crate::text::clean;

pub(super) struct SignTransaction;

impl Kind for SignTransaction {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_SIGN_TRANSACTION",
                intent: "signTransactionIntent",
                shape: "privateKeyId unsignedTransaction type",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
                intent: "signTransactionIntentV2",
                shape: "signWith unsignedTransaction type",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Sign transaction"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let with = match parameters.maybe_text("signWith")? {
            Some(with) => with,
            None => parameters.text("privateKeyId")?,
        };
        let (kind, text) = (parameters.text("type")?, parameters.text("unsignedTransaction")?);
        let signer = scene.signer_named(with);
        let key = Key::of(with, scene);
        let chain: Option<TransactionType> = from_value(Value::String(kind.to_owned())).ok();
        match chain.map(|chain| Unsigned::read(chain, text)) {
            Some(Ok(read)) => Ok(transaction::told(&read, &signer, &key, scene)),
            other => {
                let why = other.and_then(Result::err).map_or_else(String::new, |flaw| format!(": {flaw}"));
                let kind = clean(kind);
                let sentence = format!(
                    "Sign a transaction of the type {kind} with {signer}. It is not decoded here{why}."
                );
                let mut story = Story::new(format!("{kind} with {signer}"), sentence);
                story.flag(
                    Level::High,
                    "undecoded-payload",
                    format!("{kind} is not decoded here, or cannot be signed"),
                );
                story.danger("the word UNDECODED", "UNDECODED");
                Ok(story)
            }
        }
    }
}
