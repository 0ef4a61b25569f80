//! Parameters and results of signatures.

use std::sync::Arc;

use quorate_chain::curve::Signature;
use quorate_chain::payload::MAX_PAYLOAD_BYTES;
use quorate_common::bounded::Text;
use quorate_common::ids::PrivateKeyId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::RequestError;
use crate::signing::{self, Signer};
use crate::view::View;

/// The key that signs, as a request identifies it.
pub(crate) enum SignWith {
    /// Address of a wallet account or private key, or id of a private key.
    Name(Text<256>),
    PrivateKey(PrivateKeyId),
}

impl SignWith {
    /// Looks up the key.
    ///
    /// # Errors
    /// If the key does not exist or cannot sign, or the store cannot be read.
    pub(crate) fn signer(&self, view: &View<'_>) -> Result<Arc<Signer>, RequestError> {
        match self {
            Self::Name(name) => signing::resolve(view, name.as_str()),
            Self::PrivateKey(id) => signing::private_key(view, *id),
        }
    }
}

/// Text to sign. Unlike other texts, it may contain any character.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Payload(#[schemars(length(max = MAX_PAYLOAD_BYTES))] pub(crate) String);

#[derive(Serialize, JsonSchema)]
pub(crate) struct RawSignature {
    #[schemars(length(max = 64))]
    r: String,
    #[schemars(length(max = 64))]
    s: String,
    #[schemars(length(max = 2))]
    v: String,
}

impl From<Signature> for RawSignature {
    fn from(signature: Signature) -> Self {
        Self { r: signature.r_hex(), s: signature.s_hex(), v: signature.v_hex() }
    }
}
