//! Parameters and results of sessions.

use quorate_common::bounded::{ExpirationSeconds, Text};
use quorate_common::ids::{ApiKeyId, SessionProfileId, UserId};
use quorate_common::stamp::ApiKeyCurve;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Intent, RequestError};

/// Longest hex text of a public key: an uncompressed point, with some reserve.
pub const PUBLIC_KEY: usize = 140;
/// Length of a compressed P-256 point in hex digits.
const P256_DIGITS: usize = 66;
/// Length of an Ed25519 key in hex digits.
const ED25519_DIGITS: usize = 64;

/// The members that every login has.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginParams {
    /// Public key that stamps the requests of the session: P-256 (compressed) or Ed25519, in hex.
    pub public_key: Text<PUBLIC_KEY>,
    /// Requested lifetime.
    pub expiration_seconds: Option<ExpirationSeconds>,
    /// Whether the user's other logins end.
    pub invalidate_existing: Option<bool>,
    /// Session profile that limits the session.
    pub session_profile_id: Option<SessionProfileId>,
}

impl LoginParams {
    /// Returns the requested lifetime in seconds.
    pub fn expiration_seconds(&self) -> Option<u64> {
        self.expiration_seconds.as_ref().map(|ExpirationSeconds(seconds)| *seconds)
    }

    /// Returns whether the user's other logins end.
    pub fn invalidates_existing(&self) -> bool {
        self.invalidate_existing == Some(true)
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct LoginResult {
    pub(crate) session: String,
}

/// Result of a flow that opens a session whose key this service makes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundledSessionResult {
    /// User of the session.
    pub user_id: UserId,
    /// Key of the session.
    pub api_key_id: ApiKeyId,
    /// The key, encrypted to the target key.
    pub credential_bundle: String,
}

/// Returns the curve of the key of a login, and its text in lower case. The parameters do not name the curve.
/// A text of 66 digits is a P-256 key: clients create such keys for sessions, and secp256k1 keys have the same
/// length.
///
/// # Errors
/// If the text has the length of neither curve.
pub fn login_key(text: &Text<PUBLIC_KEY>) -> Result<(ApiKeyCurve, String), RequestError> {
    let curve = match text.as_str().len() {
        P256_DIGITS => ApiKeyCurve::P256,
        ED25519_DIGITS => ApiKeyCurve::Ed25519,
        _ => return Err(Intent::PublicKey.into()),
    };
    Ok((curve, text.as_str().to_ascii_lowercase()))
}
