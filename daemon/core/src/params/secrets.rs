//! Parameters and results of secrets.

use quorate_common::bounded::{AtMost, Text};
use quorate_common::wire::StaticProperty;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Intent, RequestError};
use crate::limits::{SECRET_BYTES, STATIC_PROPERTIES};
use crate::view::distinct;

/// Encryption of secrets in transit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TransportEncryptionSuite {
    /// HPKE in base mode: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM (RFC 9180).
    #[serde(rename = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1")]
    EnclaveEncryptV1,
}

/// A property: a name and a value.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct KeyValue {
    /// Name of the property, unique in the list.
    pub key: Text<64>,
    /// Value of the property.
    pub value: Text<255>,
}

/// A list of properties.
pub type KeyValues = AtMost<KeyValue, STATIC_PROPERTIES>;

/// Checks that every property has a name and that no two names are equal.
///
/// # Errors
/// If a name is empty or occurs twice.
pub fn check(pairs: &KeyValues, name: &'static str) -> Result<(), RequestError> {
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

/// Longest message with an exported secret, in bytes of text: hex-encoded twice.
const PAYLOAD: usize = 4 * SECRET_BYTES + 4 * 1024;

/// An exported secret: a signed message, as JSON text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretPayload(#[schemars(length(max = PAYLOAD))] String);

impl SecretPayload {
    /// Wraps the JSON text of a signed message.
    pub const fn new(text: String) -> Self {
        Self(text)
    }
}
