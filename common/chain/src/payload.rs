//! From the payload of a raw signing request to what the key signs.
//!
//! The payload is signed as it stands: no prefix is added and no transaction is recognized in it.

use quorate_policy::Value;
use sha2::{Digest, Sha256};
use sha3::Keccak256;

use crate::authorization::Authorization;
use crate::curve::{Curve, Message};
use crate::hexadecimal;
use crate::json::Flaw as JsonFlaw;
use crate::typed_data::TypedData;
use crate::wire_name::{WireName, wire_name};

/// Longest payload text, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 2 * 1024 * 1024;

/// How the payload text becomes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PayloadEncoding {
    /// Hexadecimal digits of either case, with or without `0x`.
    Hexadecimal,
    /// The UTF-8 bytes of the text.
    TextUtf8,
    /// Typed data in JSON (EIP-712).
    Eip712,
    /// An authorization in JSON (EIP-7702).
    Eip7702Authorization,
}

wire_name!(PayloadEncoding);

impl WireName for PayloadEncoding {
    const EVERY: &'static [Self] =
        &[Self::Hexadecimal, Self::TextUtf8, Self::Eip712, Self::Eip7702Authorization];
    const REFUSAL: &'static str = "invalid payload encoding";

    fn wire_name(self) -> &'static str {
        match self {
            Self::Hexadecimal => "PAYLOAD_ENCODING_HEXADECIMAL",
            Self::TextUtf8 => "PAYLOAD_ENCODING_TEXT_UTF8",
            Self::Eip712 => "PAYLOAD_ENCODING_EIP712",
            Self::Eip7702Authorization => "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION",
        }
    }
}

/// How the bytes become a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HashFunction {
    /// The bytes are the digest.
    NoOp,
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// Keccak-256 with the padding from before FIPS 202, as Ethereum uses it.
    Keccak256,
    /// The curve takes the message itself: Ed25519.
    NotApplicable,
}

wire_name!(HashFunction);

impl WireName for HashFunction {
    const EVERY: &'static [Self] = &[Self::NoOp, Self::Sha256, Self::Keccak256, Self::NotApplicable];
    const REFUSAL: &'static str = "invalid hash function";

    fn wire_name(self) -> &'static str {
        match self {
            Self::NoOp => "HASH_FUNCTION_NO_OP",
            Self::Sha256 => "HASH_FUNCTION_SHA256",
            Self::Keccak256 => "HASH_FUNCTION_KECCAK256",
            Self::NotApplicable => "HASH_FUNCTION_NOT_APPLICABLE",
        }
    }
}

/// A payload as a key signs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// What is signed.
    pub message: Message,
    /// What the message is made of.
    pub content: Content,
}

/// What a payload says, as far as its encoding tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes that may mean anything.
    Bytes,
    /// Typed data (EIP-712).
    TypedData(Box<TypedData>),
    /// An authorization (EIP-7702).
    Authorization(Authorization),
}

impl Payload {
    /// Reads a payload that a key of `curve` is to sign.
    ///
    /// # Errors
    /// The [`PayloadFlaw`] that applies first, in the order of its variants.
    pub fn read(
        curve: Curve,
        encoding: PayloadEncoding,
        hash: HashFunction,
        text: &str,
    ) -> Result<Self, PayloadFlaw> {
        check_pairing(curve, encoding, hash)?;
        if text.len() > MAX_PAYLOAD_BYTES {
            return Err(PayloadFlaw::TooLong);
        }
        let plain = |bytes| Ok(Self { message: hashed(hash, bytes)?, content: Content::Bytes });
        match encoding {
            PayloadEncoding::Hexadecimal => {
                plain(hexadecimal::decode(text).ok_or(PayloadFlaw::NotHexadecimal)?)
            }
            PayloadEncoding::TextUtf8 => plain(text.as_bytes().to_vec()),
            PayloadEncoding::Eip712 => {
                let data = TypedData::read(text).map_err(PayloadFlaw::TypedData)?;
                let message = Message::Digest(data.digest());
                Ok(Self { message, content: Content::TypedData(Box::new(data)) })
            }
            PayloadEncoding::Eip7702Authorization => {
                let authorization = Authorization::read(text).map_err(PayloadFlaw::Authorization)?;
                let message = Message::Digest(authorization.digest());
                Ok(Self { message, content: Content::Authorization(authorization) })
            }
        }
    }

    /// The root under which policies ask about it, and what they may ask; nothing about bytes.
    pub fn facts(&self) -> Option<(&'static str, Value)> {
        let (name, value) = match &self.content {
            Content::Bytes => return None,
            Content::TypedData(data) => ("eip_712", data.facts()),
            Content::Authorization(authorization) => ("eip_7702_authorization", authorization.facts()),
        };
        Some(("eth", Value::record([(name, value)])))
    }
}

/// Whether the hash function belongs to the curve and the encoding, and the curve to the encoding; no payload is looked at.
///
/// # Errors
/// [`PayloadFlaw::UnfitHash`] or [`PayloadFlaw::UnfitCurve`].
pub fn check_pairing(curve: Curve, encoding: PayloadEncoding, hash: HashFunction) -> Result<(), PayloadFlaw> {
    let is_of_ethereum = match encoding {
        PayloadEncoding::Hexadecimal | PayloadEncoding::TextUtf8 => false,
        PayloadEncoding::Eip712 | PayloadEncoding::Eip7702Authorization => true,
    };
    let fits = match (curve, is_of_ethereum) {
        // The encoding says how it is hashed.
        (_, true) => hash == HashFunction::NoOp,
        (Curve::Ed25519, false) => hash == HashFunction::NotApplicable,
        (Curve::Secp256k1 | Curve::P256, false) => hash != HashFunction::NotApplicable,
    };
    if !fits {
        Err(PayloadFlaw::UnfitHash)
    } else if is_of_ethereum && curve != Curve::Secp256k1 {
        Err(PayloadFlaw::UnfitCurve(encoding))
    } else {
        Ok(())
    }
}

fn hashed(hash: HashFunction, bytes: Vec<u8>) -> Result<Message, PayloadFlaw> {
    match hash {
        HashFunction::NotApplicable => Ok(Message::Bytes(bytes)),
        HashFunction::NoOp => match <[u8; 32]>::try_from(bytes) {
            Ok(digest) => Ok(Message::Digest(digest)),
            Err(_) => Err(PayloadFlaw::NotADigest),
        },
        HashFunction::Sha256 => Ok(Message::Digest(Sha256::digest(bytes).into())),
        HashFunction::Keccak256 => Ok(Message::Digest(Keccak256::digest(bytes).into())),
    }
}

/// Why a payload can not be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadFlaw {
    /// The hash function does not belong to the curve or the encoding: Ed25519 takes [`HashFunction::NotApplicable`] and
    /// nothing else does; typed data and authorizations take [`HashFunction::NoOp`] only.
    #[error("invalid hash function")]
    UnfitHash,
    /// Payloads of this encoding are signed with keys of secp256k1 only.
    #[error("payload encoding {0} requires a key of CURVE_SECP256K1")]
    UnfitCurve(PayloadEncoding),
    /// The payload is longer than [`MAX_PAYLOAD_BYTES`].
    #[error("payload is longer than {MAX_PAYLOAD_BYTES} bytes")]
    TooLong,
    /// The payload is not an even number of hexadecimal digits.
    #[error("payload is not hexadecimal")]
    NotHexadecimal,
    /// [`HashFunction::NoOp`] with other than 32 bytes.
    #[error("expected a 32-bytes-long digest")]
    NotADigest,
    /// The payload is no typed data.
    #[error("invalid typed data: {0}")]
    TypedData(#[source] JsonFlaw),
    /// The payload is no authorization.
    #[error("invalid authorization: {0}")]
    Authorization(#[source] JsonFlaw),
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::{HashFunction, MAX_PAYLOAD_BYTES, Payload, PayloadEncoding, PayloadFlaw};
    use crate::curve::{Curve, Message};
    use crate::vectors::{bytes, rows, secret};

    #[derive(Deserialize)]
    struct Row {
        curve: Curve,
        private: String,
        encoding: PayloadEncoding,
        hash: HashFunction,
        payload: String,
        r: String,
        s: String,
        v: String,
    }

    #[test]
    fn signed_payloads() {
        let file = include_str!("../../../assets/vectors/chain/raw_payload.json");
        for row in rows::<Row>(file) {
            let payload = Payload::read(row.curve, row.encoding, row.hash, &row.payload).unwrap();
            let signature = secret(row.curve, &row.private).sign(&payload.message).unwrap();
            let parts = (signature.r_hex(), signature.s_hex(), signature.v_hex());
            assert_eq!(parts, (row.r, row.s, row.v), "{} {}", row.encoding, row.hash);
        }
    }

    use HashFunction::{Keccak256, NoOp, NotApplicable, Sha256};
    use PayloadEncoding::{Eip712, Eip7702Authorization, Hexadecimal, TextUtf8};

    fn message(
        curve: Curve,
        encoding: PayloadEncoding,
        hash: HashFunction,
        payload: &str,
    ) -> Result<Message, PayloadFlaw> {
        Payload::read(curve, encoding, hash, payload).map(|payload| payload.message)
    }

    fn check(
        curve: Curve,
        encoding: PayloadEncoding,
        hash: HashFunction,
        payload: &str,
        expected: &Result<Message, PayloadFlaw>,
    ) {
        let answer = message(curve, encoding, hash, payload);
        assert_eq!(&answer, expected, "{curve} {encoding} {hash}");
    }

    fn digest(hex: &str) -> Message {
        Message::Digest(bytes(hex))
    }

    /// SHA-256 of the empty string and of "abc": FIPS 180-4 examples; Keccak-256 of the empty
    /// string: the Ethereum yellow paper.
    #[test]
    fn hashes() {
        const EMPTY_SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        const ABC_SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        const EMPTY_KECCAK256: &str = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        for curve in [Curve::Secp256k1, Curve::P256] {
            for empty in ["", "0x"] {
                check(curve, Hexadecimal, Sha256, empty, &Ok(digest(EMPTY_SHA256)));
                check(curve, Hexadecimal, Keccak256, empty, &Ok(digest(EMPTY_KECCAK256)));
            }
            check(curve, TextUtf8, Sha256, "", &Ok(digest(EMPTY_SHA256)));
            check(curve, TextUtf8, Sha256, "abc", &Ok(digest(ABC_SHA256)));
            check(curve, Hexadecimal, Sha256, "616263", &Ok(digest(ABC_SHA256)));
            check(curve, Hexadecimal, Sha256, "0x616263", &Ok(digest(ABC_SHA256)));
            check(curve, Hexadecimal, NoOp, &EMPTY_SHA256.to_uppercase(), &Ok(digest(EMPTY_SHA256)));
        }
    }

    #[test]
    fn ed25519_takes_the_bytes_themselves() {
        let expected = |bytes: &[u8]| Ok(Message::Bytes(bytes.to_vec()));
        let curve = Curve::Ed25519;
        check(curve, Hexadecimal, NotApplicable, "00fF", &expected(&[0, 255]));
        check(curve, Hexadecimal, NotApplicable, "", &expected(&[]));
        check(curve, TextUtf8, NotApplicable, "00ff", &expected(b"00ff"));
        check(curve, TextUtf8, NotApplicable, "\u{e9}\n\0", &expected(&[0xc3, 0xa9, 10, 0]));
    }

    #[test]
    fn digests_have_32_bytes() {
        let flaw = Err(PayloadFlaw::NotADigest);
        for payload in ["", "0x", &"11".repeat(31), &"11".repeat(33), &"11".repeat(64)] {
            check(Curve::Secp256k1, Hexadecimal, NoOp, payload, &flaw);
        }
        // 32 characters are 32 bytes; 64 digits as text are not.
        let text = "0123456789abcdef0123456789abcdef";
        let expected = Ok(Message::Digest(text.as_bytes().try_into().unwrap()));
        check(Curve::P256, TextUtf8, NoOp, text, &expected);
        check(Curve::P256, TextUtf8, NoOp, &"11".repeat(32), &flaw);
        assert_eq!(PayloadFlaw::NotADigest.to_string(), "expected a 32-bytes-long digest");
    }

    #[test]
    fn text_is_not_guessed_to_be_hexadecimal() {
        let flaw = || Err(PayloadFlaw::NotHexadecimal);
        for payload in ["0", "0x0", "0X00", "0x0x00", "zz", " 00", "00 ", "\u{ff10}0", "00\n", "-1"] {
            check(Curve::Secp256k1, Hexadecimal, Sha256, payload, &flaw());
        }
    }

    #[test]
    fn hash_functions_belong_to_curves() {
        let flaw = || Err(PayloadFlaw::UnfitHash);
        // Even where the payload is wrong as well.
        for payload in ["00", "0"] {
            check(Curve::Secp256k1, Hexadecimal, NotApplicable, payload, &flaw());
            check(Curve::P256, Hexadecimal, NotApplicable, payload, &flaw());
            for hash in [NoOp, Sha256, Keccak256] {
                check(Curve::Ed25519, Hexadecimal, hash, payload, &flaw());
            }
        }
        assert_eq!(PayloadFlaw::UnfitHash.to_string(), "invalid hash function");
    }

    #[test]
    fn encodings_of_ethereum_take_its_curve_and_no_hash() {
        for encoding in [Eip712, Eip7702Authorization] {
            for hash in [Sha256, Keccak256, NotApplicable] {
                for curve in Curve::ALL {
                    check(*curve, encoding, hash, "{}", &Err(PayloadFlaw::UnfitHash));
                }
            }
            let flaw = PayloadFlaw::UnfitCurve(encoding);
            assert_eq!(
                flaw.to_string(),
                format!("payload encoding {encoding} requires a key of CURVE_SECP256K1")
            );
            for curve in [Curve::P256, Curve::Ed25519] {
                check(curve, encoding, NoOp, "{}", &Err(flaw.clone()));
            }
        }
        for (encoding, told) in [
            (Eip712, "invalid typed data: `types` is missing"),
            (Eip7702Authorization, "invalid authorization: `address` is missing"),
        ] {
            let flaw = message(Curve::Secp256k1, encoding, NoOp, "{}").unwrap_err();
            assert_eq!(flaw.to_string(), told);
        }
        let flaw = message(Curve::Secp256k1, Eip712, NoOp, "").unwrap_err();
        assert_eq!(flaw.to_string(), "invalid typed data: it is not JSON");
    }

    #[test]
    fn length_is_bounded() {
        let longest = "0".repeat(MAX_PAYLOAD_BYTES);
        let curve = Curve::Ed25519;
        assert!(message(curve, TextUtf8, NotApplicable, &longest).is_ok());
        assert!(message(curve, Hexadecimal, NotApplicable, &longest).is_ok());
        let longer = longest + "0";
        for encoding in [TextUtf8, Hexadecimal] {
            check(curve, encoding, NotApplicable, &longer, &Err(PayloadFlaw::TooLong));
        }
        for encoding in [Eip712, Eip7702Authorization] {
            check(Curve::Secp256k1, encoding, NoOp, &longer, &Err(PayloadFlaw::TooLong));
        }
    }

    proptest! {
        #[test]
        fn anything_is_answered(payload in any::<String>(), hex in "(0x)?[0-9a-fA-F]{0,70}") {
            for curve in Curve::ALL {
                for hash in HashFunction::ALL {
                    for encoding in PayloadEncoding::ALL {
                        let _ = message(*curve, *encoding, *hash, &payload);
                        let _ = message(*curve, *encoding, *hash, &hex);
                    }
                }
            }
        }

        #[test]
        fn hexadecimal_is_exact(bytes in any::<Vec<u8>>(), upper in any::<bool>(), prefix in any::<bool>()) {
            let mut text = const_hex::encode(&bytes);
            if upper {
                text.make_ascii_uppercase();
            }
            if prefix {
                text.insert_str(0, "0x");
            }
            let answer = message(Curve::Ed25519, Hexadecimal, NotApplicable, &text);
            prop_assert_eq!(answer, Ok(Message::Bytes(bytes)));
        }
    }
}
