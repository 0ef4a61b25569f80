//! Secrets as clients describe them, and results that tell of them.

use quorate_common::bounded::{AtMost, Text};
use quorate_common::wire::StaticProperty;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{SECRET_BYTES, STATIC_PROPERTIES};
use crate::refusal::{Intent, Refusal};
use crate::view::distinct;

/// How something is encrypted on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TransportEncryptionSuite {
    /// HPKE in base mode: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM (RFC 9180).
    #[serde(rename = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1")]
    EnclaveEncryptV1,
}

/// A name and what it stands for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct KeyValue {
    /// Name.
    pub key: Text<64>,
    /// What it stands for.
    pub value: Text<255>,
}

/// Some of them.
pub type KeyValues = AtMost<KeyValue, STATIC_PROPERTIES>;

/// Each has a name, and no two have the same.
pub fn check(pairs: &KeyValues, name: &'static str) -> Result<(), Refusal> {
    if pairs.iter().any(|pair| pair.key.as_str().is_empty()) {
        return Err(Intent::Empty("key").into());
    }
    distinct(pairs.iter().map(|pair| pair.key.as_str()), name)
}

impl From<KeyValue> for StaticProperty {
    fn from(pair: KeyValue) -> Self {
        Self { key: pair.key.into_string(), value: pair.value.into_string() }
    }
}

/// Longest message with a secret that leaves, in bytes of text: spelled in hexadecimal digits twice.
const PAYLOAD: usize = 4 * SECRET_BYTES + 4 * 1024;

/// A secret that was taken out: a signed message in JSON, as a text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretPayload(#[schemars(length(max = PAYLOAD))] String);

impl SecretPayload {
    /// Of such a text.
    pub const fn new(text: String) -> Self {
        Self(text)
    }
}
