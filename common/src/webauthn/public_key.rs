//! Public keys of passkeys: COSE keys (RFC 9052 §7, RFC 8230 §4) for two algorithms only, ES256 and RS256.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
};

use super::cbor::{self, Map};
use super::decoded;
use crate::stamp_header::InvalidPublicKey;

/// Maximum length of a COSE key: an RSA key of 4096 bits with its labels.
const KEY_LIMIT_BYTES: usize = 600;

/// Labels of the members (RFC 9052 §7.1, RFC 9053 §7.1, RFC 8230 §4).
const KEY_TYPE: i128 = 1;
const ALGORITHM: i128 = 3;
const CURVE: i128 = -1;
const X: i128 = -2;
const Y: i128 = -3;
const MODULUS: i128 = -1;
const EXPONENT: i128 = -2;

/// Key type, algorithm and curve of ES256.
const EC2: i128 = 2;
const ES256: i128 = -7;
const P256: i128 = 1;
/// Key type and algorithm of RS256.
const RSA: i128 = 3;
const RS256: i128 = -257;

/// Allowed lengths of an RSA modulus, in bits.
const MODULUS_BITS: std::ops::RangeInclusive<usize> = 2048..=4096;
/// Largest RSA exponent that AWS-LC supports: 33 bits.
const EXPONENT_LIMIT: u64 = (1 << 33) - 1;

/// Parsed public key of a passkey.
#[derive(Debug)]
pub struct PasskeyKey(ParsedPublicKey);

impl PasskeyKey {
    /// Parses a COSE key in base64url: P-256 with ES256, or RSA of 2048 to 4096 bits with RS256, without
    /// other members.
    ///
    /// # Errors
    /// [`InvalidPublicKey`] if the text is not such a key, or if the point is not on the curve.
    pub fn parse(public_key: &str) -> Result<Self, InvalidPublicKey> {
        let bytes = decoded(public_key, KEY_LIMIT_BYTES).ok_or(InvalidPublicKey)?;
        let map = cbor::map(&bytes).map_err(|_| InvalidPublicKey)?;
        CoseKey::parse(map)?.verifying_key()
    }

    /// Returns whether `signature` is a signature of this key over `message`. ECDSA signatures with s in the
    /// upper half are valid, since authenticators produce them.
    pub(super) fn verify_signature(&self, message: &[u8], signature: &[u8]) -> bool {
        self.0.verify_sig(message, signature).is_ok()
    }
}

/// Members of a COSE key, before they are checked to be a valid key.
pub(super) enum CoseKey<'a> {
    /// A point of P-256.
    Point {
        /// x, big-endian.
        x: &'a [u8],
        /// y, big-endian.
        y: &'a [u8],
    },
    /// An RSA public key.
    Rsa {
        /// n, big-endian.
        modulus: &'a [u8],
        /// e, big-endian.
        exponent: &'a [u8],
    },
}

impl<'a> CoseKey<'a> {
    /// Takes the members from `map`, which must have no others.
    pub(super) fn parse(mut map: Map<'a>) -> Result<Self, InvalidPublicKey> {
        let key = Self::take(&mut map).map_err(|_| InvalidPublicKey)?;
        if map.is_empty() { Ok(key) } else { Err(InvalidPublicKey) }
    }

    fn take(map: &mut Map<'a>) -> Result<Self, cbor::InvalidCbor> {
        match (map.integer(KEY_TYPE)?, map.integer(ALGORITHM)?) {
            (EC2, ES256) if map.integer(CURVE)? == P256 => {
                Ok(Self::Point { x: map.bytes(X)?, y: map.bytes(Y)? })
            }
            (RSA, RS256) => Ok(Self::Rsa { modulus: map.bytes(MODULUS)?, exponent: map.bytes(EXPONENT)? }),
            _ => Err(cbor::InvalidCbor),
        }
    }

    /// Checks the numbers and returns the key.
    pub(super) fn verifying_key(&self) -> Result<PasskeyKey, InvalidPublicKey> {
        let key = match self {
            Self::Point { x, y } => {
                if x.len() != 32 || y.len() != 32 {
                    return Err(InvalidPublicKey);
                }
                // SEC 1 §2.3.3, uncompressed. AWS-LC checks whether the point is on the curve.
                let point = [&[4], *x, *y].concat();
                ParsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &point)
            }
            Self::Rsa { modulus, exponent } => {
                if !is_modulus(modulus) || !is_exponent(exponent) {
                    return Err(InvalidPublicKey);
                }
                let components = RsaPublicKeyComponents { n: modulus, e: exponent };
                components.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256)
            }
        };
        key.map(PasskeyKey).map_err(|_| InvalidPublicKey)
    }
}

/// Returns whether these bytes are odd, of an allowed length, and without leading zeros.
fn is_modulus(bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let leading = usize::try_from(first.leading_zeros()).unwrap_or(usize::MAX);
    let bits = bytes.len().saturating_mul(8).saturating_sub(leading);
    *first != 0 && last % 2 == 1 && MODULUS_BITS.contains(&bits)
}

/// Returns whether these bytes are odd, at least three, and without leading zeros.
fn is_exponent(bytes: &[u8]) -> bool {
    if bytes.len() > 8 || bytes.first().is_none_or(|first| *first == 0) {
        return false;
    }
    let exponent = bytes.iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    (3..=EXPONENT_LIMIT).contains(&exponent) && exponent % 2 == 1
}
