//! Secrets as queries show them: all but their values.

use serde::{Deserialize, Serialize};

use crate::bounded::Decimal;
use crate::ids::SecretId;

/// A secret that was brought in, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Secret {
    /// Id.
    pub secret_id: SecretId,
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What policies may ask about it.
    pub static_properties: Vec<StaticProperty>,
    /// Created at, in milliseconds since 1970-01-01T00:00:00Z.
    pub created_at_unix_ms: Decimal,
}

/// A property of a secret, which never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaticProperty {
    /// Its name, unique for a secret.
    pub key: String,
    /// Its value.
    pub value: String,
}
