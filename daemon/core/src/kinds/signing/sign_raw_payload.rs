//! Signs bytes with a wallet account or a private key.

use std::sync::Arc;

use quorate_chain::curve::Message;
use quorate_chain::payload::{HashFunction, PayloadEncoding};
use quorate_common::bounded::Text;
use quorate_common::ids::PrivateKeyId;

use crate::kinds::prelude::*;
use crate::signing::{self, Signer};

pub(in crate::kinds) struct SignRawPayload;

/// Longest payload, in bytes of text.
const PAYLOAD: usize = quorate_chain::payload::MAX_PAYLOAD_BYTES;

/// Signs a payload with a wallet account or a private key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    sign_with: Text<256>,
    payload: Payload,
    encoding: PayloadEncoding,
    hash_function: HashFunction,
}

/// Text to sign. Unlike other texts, it may contain any character.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct Payload(#[schemars(length(max = PAYLOAD))] String);

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    key: KeyReference,
    payload: String,
    encoding: PayloadEncoding,
    hash_function: HashFunction,
}

/// How a request identifies the key.
enum KeyReference {
    Name(String),
    PrivateKey(PrivateKeyId),
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {
    #[schemars(length(max = 64))]
    r: String,
    #[schemars(length(max = 64))]
    s: String,
    #[schemars(length(max = 2))]
    v: String,
}

impl Version for Intent {
    type Kind = SignRawPayload;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
    const NUMBER: u16 = 51;
    const RESULT: &'static str = "signRawPayloadResult";
}

impl From<Intent> for Request {
    fn from(intent: Intent) -> Self {
        Self {
            key: KeyReference::Name(intent.sign_with.as_str().to_owned()),
            payload: intent.payload.0,
            encoding: intent.encoding,
            hash_function: intent.hash_function,
        }
    }
}

impl Kind for SignRawPayload {
    const ACTS: Option<(Action, Resource)> = Some((Action::Sign, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Request;
    type Plan = (Arc<Signer>, Message);
    type Outcome = Outcome;

    fn rules(request: &Request, view: &View<'_>) -> Result<(Facts, Self::Plan), RequestError> {
        let signer = match &request.key {
            KeyReference::Name(name) => signing::resolve(view, name)?,
            KeyReference::PrivateKey(id) => signing::private_key(view, *id)?,
        };
        let payload = signer.payload(request.encoding, request.hash_function, &request.payload)?;
        let facts = signer.facts(view).about_each(payload.facts());
        Ok((facts, (signer, payload.message)))
    }

    fn execute(
        _: Request,
        (signer, message): Self::Plan,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let signature = signer.sign(&context.view(), &message)?;
        Ok(Outcome { r: signature.r_hex(), s: signature.s_hex(), v: signature.v_hex() })
    }
}

/// Version 1: identifies a private key by its id.
pub(in crate::kinds) mod v1 {
    use super::{
        Deserialize, HashFunction, JsonSchema, KeyReference, Outcome, Payload, PayloadEncoding, PrivateKeyId,
        Request, Serialize, SignRawPayload, Version,
    };

    /// Signs a payload with a private key.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        private_key_id: PrivateKeyId,
        payload: Payload,
        encoding: PayloadEncoding,
        hash_function: HashFunction,
    }

    impl Version for Intent {
        type Kind = SignRawPayload;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD";
        const NUMBER: u16 = 4;
        const RESULT: &'static str = "signRawPayloadResult";
    }

    impl From<Intent> for Request {
        fn from(intent: Intent) -> Self {
            Self {
                key: KeyReference::PrivateKey(intent.private_key_id),
                payload: intent.payload.0,
                encoding: intent.encoding,
                hash_function: intent.hash_function,
            }
        }
    }
}
