//! Signs bytes with a wallet account or a private key.

use std::sync::Arc;

use quorate_chain::payload::{self, HashFunction, PayloadEncoding};

use crate::kinds::prelude::*;
use crate::params::signing::{Payload, RawSignature, SignWith};
use crate::signing::Signer;

/// Signs a payload with a private key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    private_key_id: PrivateKeyId,
    payload: Payload,
    encoding: PayloadEncoding,
    hash_function: HashFunction,
}

/// Signs a payload with a wallet account or a private key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    sign_with: Text<256>,
    payload: Payload,
    encoding: PayloadEncoding,
    hash_function: HashFunction,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    sign_with: SignWith,
    payload: Payload,
    encoding: PayloadEncoding,
    hash_function: HashFunction,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD";
    const NUMBER: u16 = 4;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
    const NUMBER: u16 = 51;
    const RESULT: Option<&'static str> = Some("signRawPayloadResult");
}

impl From<V1> for Request {
    fn from(V1 { private_key_id, payload, encoding, hash_function }: V1) -> Self {
        Self { sign_with: SignWith::PrivateKey(private_key_id), payload, encoding, hash_function }
    }
}

impl From<V2> for Request {
    fn from(V2 { sign_with, payload, encoding, hash_function }: V2) -> Self {
        Self { sign_with: SignWith::Name(sign_with), payload, encoding, hash_function }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Sign, Resource::PrivateKey));
    type Plan = (Arc<Signer>, payload::Payload);
    type Outcome = RawSignature;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let signer = self.sign_with.signer(view)?;
        let payload = signer.payload(self.encoding, self.hash_function, &self.payload.0)?;
        Ok((signer, payload))
    }

    fn facts(&self, (signer, payload): &Self::Plan, view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(signer.facts(view).about_each(payload.facts()))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<RawSignature, RequestError> {
        let (signer, payload) = plan;
        Ok(signer.sign(&context.view(), &payload.message)?.into())
    }
}
