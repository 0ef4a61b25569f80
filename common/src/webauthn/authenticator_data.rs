//! Authenticator data: the data that the authenticator itself states and signs (Web Authentication §6.1).

use super::public_key::CoseKey;
use super::{CREDENTIAL_ID_LIMIT_BYTES, cbor};

/// Flag: a user touched the authenticator.
const USER_PRESENT: u8 = 0b0000_0001;
/// Flag: the authenticator verified the user, by PIN or biometrics.
const USER_VERIFIED: u8 = 0b0000_0100;
/// Flag: a credential follows.
const ATTESTED: u8 = 0b0100_0000;
/// Flag: outputs of extensions follow.
const EXTENSIONS: u8 = 0b1000_0000;

/// Error returned for bytes that are not authenticator data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvalidAuthenticatorData;

/// Authenticator data, borrowed from the bytes that it was parsed from.
#[derive(Debug)]
pub(super) struct AuthenticatorData<'a> {
    /// SHA-256 digest of the id of the relying party.
    pub(super) relying_party: [u8; 32],
    pub(super) user_present: bool,
    pub(super) user_verified: bool,
    /// Signature counter; zero if the authenticator does not count.
    pub(super) signature_count: u32,
    /// The new credential, in a registration.
    pub(super) credential: Option<AttestedCredential<'a>>,
}

/// A credential within authenticator data (§6.5.1).
#[derive(Debug)]
pub(super) struct AttestedCredential<'a> {
    /// Model of the authenticator.
    pub(super) aaguid: [u8; 16],
    /// Credential id; never empty.
    pub(super) id: &'a [u8],
    /// COSE key, byte for byte.
    pub(super) public_key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    /// Parses all of `bytes`: 37 bytes, and exactly the parts that the flags announce.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, InvalidAuthenticatorData> {
        let (relying_party, rest) = bytes.split_first_chunk::<32>().ok_or(InvalidAuthenticatorData)?;
        let (flags, rest) = rest.split_first().ok_or(InvalidAuthenticatorData)?;
        let (count, rest) = rest.split_first_chunk::<4>().ok_or(InvalidAuthenticatorData)?;
        let (credential, rest) = if flags & ATTESTED == 0 {
            (None, rest)
        } else {
            let (credential, rest) = AttestedCredential::leading(rest)?;
            (Some(credential), rest)
        };
        let rest = if flags & EXTENSIONS == 0 {
            rest
        } else {
            // Parsed only to check that it is complete and that nothing follows. The outputs are not used.
            cbor::leading_map(rest).map_err(|_| InvalidAuthenticatorData)?.1
        };
        if !rest.is_empty() {
            return Err(InvalidAuthenticatorData);
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
    /// Parses the credential at the start of `bytes` and returns it with the remaining bytes.
    fn leading(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), InvalidAuthenticatorData> {
        let (aaguid, rest) = bytes.split_first_chunk::<16>().ok_or(InvalidAuthenticatorData)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(InvalidAuthenticatorData)?;
        let length = usize::from(u16::from_be_bytes(*length));
        if length == 0 || length > CREDENTIAL_ID_LIMIT_BYTES {
            return Err(InvalidAuthenticatorData);
        }
        let (id, rest) = rest.split_at_checked(length).ok_or(InvalidAuthenticatorData)?;
        let (map, after) = cbor::leading_map(rest).map_err(|_| InvalidAuthenticatorData)?;
        CoseKey::parse(map).and_then(|key| key.verifying_key()).map_err(|_| InvalidAuthenticatorData)?;
        let public_key = rest
            .len()
            .checked_sub(after.len())
            .and_then(|end| rest.get(..end))
            .ok_or(InvalidAuthenticatorData)?;
        Ok((Self { aaguid: *aaguid, id, public_key }, after))
    }
}
