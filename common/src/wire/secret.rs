//! Secrets as queries return them, without their values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounded::Decimal;
use crate::ids::SecretId;

/// An imported secret, without its value.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Secret {
    /// Unique id of the secret.
    pub secret_id: SecretId,
    /// Display name, if one was given.
    pub name: Option<String>,
    /// Properties that policies can match on.
    pub static_properties: Vec<StaticProperty>,
    /// Time of import, in milliseconds since 1970-01-01T00:00:00Z.
    pub created_at_unix_ms: Decimal,
}

/// A property of a secret. It never changes after the import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaticProperty {
    /// Name of the property, unique within the secret.
    pub key: String,
    /// Text value of the property.
    pub value: String,
}
