//! Signs several payloads with one key: all of them or none.

use std::sync::Arc;

use quorate_chain::curve::Message;
use quorate_chain::payload::{HashFunction, PayloadEncoding};
use quorate_common::bounded::Text;

use crate::kinds::prelude::*;
use crate::signing::{self, Signer};

pub(in crate::kinds) struct SignRawPayloads;

/// Signs several payloads with one wallet account or private key: all of them or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    sign_with: Text<256>,
    #[serde(default)]
    payloads: AtMost<Payload, BATCH>,
    encoding: PayloadEncoding,
    hash_function: HashFunction,
}

/// Text to sign. Unlike other texts, it may contain any character.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Payload(#[schemars(length(max = quorate_chain::payload::MAX_PAYLOAD_BYTES))] String);

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {
    signatures: AtMost<RawSignature, BATCH>,
}

#[derive(Serialize, JsonSchema)]
struct RawSignature {
    #[schemars(length(max = 64))]
    r: String,
    #[schemars(length(max = 64))]
    s: String,
    #[schemars(length(max = 2))]
    v: String,
}

impl Version for Intent {
    type Kind = SignRawPayloads;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS";
    const NUMBER: u16 = 63;
    const RESULT: &'static str = "signRawPayloadsResult";
}

impl Kind for SignRawPayloads {
    const ACTS: Option<(Action, Resource)> = Some((Action::Sign, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = (Arc<Signer>, Vec<Message>);
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Self::Plan), RequestError> {
        not_empty(&intent.payloads, "payloads")?;
        let signer = signing::resolve(view, intent.sign_with.as_str())?;
        let (mut messages, mut contents) = (Vec::new(), Vec::new());
        for payload in &intent.payloads {
            let payload = signer.payload(intent.encoding, intent.hash_function, &payload.0)?;
            contents.extend(payload.facts());
            messages.push(payload.message);
        }
        let facts = signer.facts(view).about_each(contents);
        Ok((facts, (signer, messages)))
    }

    fn execute(
        _: Intent,
        (signer, messages): Self::Plan,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let view = context.view();
        let mut signatures = Vec::with_capacity(messages.len());
        for message in &messages {
            let signature = signer.sign(&view, message)?;
            signatures.push(RawSignature {
                r: signature.r_hex(),
                s: signature.s_hex(),
                v: signature.v_hex(),
            });
        }
        Ok(Outcome { signatures: AtMost::cut(signatures) })
    }
}
