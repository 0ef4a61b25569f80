//! Client data: what the browser says was asked, and where (Web Authentication §5.8.1).

use serde::Deserialize;

use super::{CLIENT_DATA_LIMIT_BYTES, decoded};

/// What the user was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ceremony {
    /// To make a credential.
    Create,
    /// To use one.
    Get,
}

impl Ceremony {
    const fn name(self) -> &'static str {
        match self {
            Self::Create => "webauthn.create",
            Self::Get => "webauthn.get",
        }
    }
}

/// Client data that fits what was asked.
#[derive(Debug)]
pub(super) struct ClientData {
    /// Where the user was asked. Never empty.
    pub(super) origin: String,
}

/// The client data are not readable, or not what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadClientData;

/// Other members are for other readers. So is `crossOrigin`: it says that a frame within another site asked,
/// which is a use of its own.
#[derive(Deserialize)]
struct Members {
    #[serde(rename = "type")]
    ceremony: String,
    challenge: String,
    origin: String,
}

impl ClientData {
    /// Reads `json`, which must tell of this ceremony and of the bytes of this challenge.
    pub(super) fn read(json: &[u8], ceremony: Ceremony, challenge: &[u8]) -> Result<Self, BadClientData> {
        // The first reading refuses what has two meanings; the second one takes names to the letter.
        let plain = crate::json::parse(json).map_err(|_| BadClientData)?;
        if !plain.is_object() {
            return Err(BadClientData);
        }
        let members: Members = serde_json::from_slice(json).map_err(|_| BadClientData)?;
        let Members { ceremony: named, challenge: given, origin } = members;
        let given = decoded(&given, CLIENT_DATA_LIMIT_BYTES).ok_or(BadClientData)?;
        if named == ceremony.name() && given == challenge && !origin.is_empty() {
            Ok(Self { origin })
        } else {
            Err(BadClientData)
        }
    }
}
