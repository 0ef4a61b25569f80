//! Authenticator data: what the authenticator itself says and signs (Web Authentication §6.1).

use super::public_key::Shape;
use super::{CREDENTIAL_ID_LIMIT_BYTES, cbor};

/// A person touched it.
const USER_PRESENT: u8 = 0b0000_0001;
/// It knew the person, by PIN or body.
const USER_VERIFIED: u8 = 0b0000_0100;
/// A credential follows.
const ATTESTED: u8 = 0b0100_0000;
/// Answers of extensions follow.
const EXTENSIONS: u8 = 0b1000_0000;

/// The bytes are no authenticator data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadAuthenticatorData;

/// Authenticator data, over the bytes they were read from.
#[derive(Debug)]
pub(super) struct AuthenticatorData<'a> {
    /// SHA-256 of the relying party's id.
    pub(super) relying_party: [u8; 32],
    /// Whether a person was there.
    pub(super) user_present: bool,
    /// Whether the authenticator knew who.
    pub(super) user_verified: bool,
    /// How often it signed, as it says; zero if it does not count.
    pub(super) signature_count: u32,
    /// The credential, at a registration.
    pub(super) credential: Option<AttestedCredential<'a>>,
}

/// A credential within authenticator data (§6.5.1).
#[derive(Debug)]
pub(super) struct AttestedCredential<'a> {
    /// Model of the authenticator.
    pub(super) aaguid: [u8; 16],
    /// Never empty.
    pub(super) id: &'a [u8],
    /// The COSE key, as it stands there.
    pub(super) public_key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    /// Reads all of `bytes`: 37 of them, and exactly what the flags say beside.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, BadAuthenticatorData> {
        let (relying_party, rest) = bytes.split_first_chunk::<32>().ok_or(BadAuthenticatorData)?;
        let (flags, rest) = rest.split_first().ok_or(BadAuthenticatorData)?;
        let (count, rest) = rest.split_first_chunk::<4>().ok_or(BadAuthenticatorData)?;
        let (credential, rest) = if flags & ATTESTED == 0 {
            (None, rest)
        } else {
            let (credential, rest) = AttestedCredential::leading(rest)?;
            (Some(credential), rest)
        };
        let rest = if flags & EXTENSIONS == 0 {
            rest
        } else {
            // Read, so that it is whole and alone. No answer of an extension matters here.
            cbor::leading_map(rest).map_err(|_| BadAuthenticatorData)?.1
        };
        if !rest.is_empty() {
            return Err(BadAuthenticatorData);
        }
        Ok(Self {
            relying_party: *relying_party,
            user_present: flags & USER_PRESENT != 0,
            user_verified: flags & USER_VERIFIED != 0,
            signature_count: u32::from_be_bytes(*count),
            credential,
        })
    }
}

impl<'a> AttestedCredential<'a> {
    /// Reads the credential that `bytes` begin with. Also gives what follows it.
    fn leading(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), BadAuthenticatorData> {
        let (aaguid, rest) = bytes.split_first_chunk::<16>().ok_or(BadAuthenticatorData)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(BadAuthenticatorData)?;
        let length = usize::from(u16::from_be_bytes(*length));
        if length == 0 || length > CREDENTIAL_ID_LIMIT_BYTES {
            return Err(BadAuthenticatorData);
        }
        let (id, rest) = rest.split_at_checked(length).ok_or(BadAuthenticatorData)?;
        let (map, after) = cbor::leading_map(rest).map_err(|_| BadAuthenticatorData)?;
        Shape::of(map).and_then(|shape| shape.key()).map_err(|_| BadAuthenticatorData)?;
        let public_key = rest
            .len()
            .checked_sub(after.len())
            .and_then(|end| rest.get(..end))
            .ok_or(BadAuthenticatorData)?;
        Ok((Self { aaguid: *aaguid, id, public_key }, after))
    }
}
