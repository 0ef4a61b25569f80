//! Client data: the operation and the origin, as the browser states them (Web Authentication §5.8.1).

use serde::Deserialize;

use super::{CLIENT_DATA_LIMIT_BYTES, decoded};

/// Operation that the page requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ceremony {
    /// Create a credential.
    Create,
    /// Use a credential.
    Get,
}

impl Ceremony {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Create => "webauthn.create",
            Self::Get => "webauthn.get",
        }
    }
}

/// Client data that matches the expected ceremony and challenge.
#[derive(Debug)]
pub(super) struct ClientData {
    /// Origin of the page; never empty.
    pub(super) origin: String,
}

/// Error returned for client data that cannot be parsed or does not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvalidClientData;

/// The members that are checked. Others are ignored, `crossOrigin` too: a page embedded in another site may
/// use a passkey.
#[derive(Deserialize)]
struct Members {
    #[serde(rename = "type")]
    ceremony: String,
    challenge: String,
    origin: String,
}

impl ClientData {
    /// Parses `json`, which must have this ceremony and this challenge (decoded bytes).
    pub(super) fn read(json: &[u8], ceremony: Ceremony, challenge: &[u8]) -> Result<Self, InvalidClientData> {
        // The first parser rejects ambiguous JSON. The second one compares member names exactly.
        let plain = crate::json::parse(json).map_err(|_| InvalidClientData)?;
        if !plain.is_object() {
            return Err(InvalidClientData);
        }
        let members: Members = serde_json::from_slice(json).map_err(|_| InvalidClientData)?;
        let Members { ceremony: actual, challenge: actual_challenge, origin } = members;
        let actual_challenge =
            decoded(&actual_challenge, CLIENT_DATA_LIMIT_BYTES).ok_or(InvalidClientData)?;
        if actual == ceremony.name() && actual_challenge == challenge && !origin.is_empty() {
            Ok(Self { origin })
        } else {
            Err(InvalidClientData)
        }
    }
}
