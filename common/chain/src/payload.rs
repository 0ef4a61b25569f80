//! Payloads of raw signing requests, and the messages that keys sign for them.
//!
//! The payload is signed unchanged: no prefix is added, and no transaction is recognized in it.

use quorate_policy::Value;
use sha2::{Digest, Sha256};
use sha3::Keccak256;

use crate::authorization::Authorization;
use crate::curve::{Curve, Message};
use crate::hexadecimal;
use crate::json::JsonError;
use crate::typed_data::TypedData;
use crate::wire_name::wire_name;

/// Maximum length of a payload text, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 2 * 1024 * 1024;

wire_name! {
    /// Encoding of the payload text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PayloadEncoding: "invalid payload encoding" {
        /// Hexadecimal digits of either case, with or without `0x`.
        Hexadecimal = "PAYLOAD_ENCODING_HEXADECIMAL",
        /// The UTF-8 bytes of the text.
        TextUtf8 = "PAYLOAD_ENCODING_TEXT_UTF8",
        /// Typed data as JSON (EIP-712).
        Eip712 = "PAYLOAD_ENCODING_EIP712",
        /// Authorization as JSON (EIP-7702).
        Eip7702Authorization = "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION",
    }
}

wire_name! {
    /// Hash function that computes the digest of the bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum HashFunction: "invalid hash function" {
        /// No hash: the bytes are the digest.
        NoOp = "HASH_FUNCTION_NO_OP",
        /// SHA-256 (FIPS 180-4).
        Sha256 = "HASH_FUNCTION_SHA256",
        /// Keccak-256 as in Ethereum, with the padding before FIPS 202.
        Keccak256 = "HASH_FUNCTION_KECCAK256",
        /// No digest: the curve signs the message itself (Ed25519).
        NotApplicable = "HASH_FUNCTION_NOT_APPLICABLE",
    }
}

/// A parsed payload with the message to sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Message that the key signs.
    pub message: Message,
    /// Decoded content of the payload.
    pub content: Content,
}

/// Decoded content of a payload, as far as the encoding defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes without a defined meaning.
    Bytes,
    /// Typed data (EIP-712).
    TypedData(Box<TypedData>),
    /// An authorization (EIP-7702).
    Authorization(Authorization),
}

impl Payload {
    /// Parses a payload for a key of `curve`.
    ///
    /// # Errors
    /// The [`PayloadError`] that applies first, in the order of its variants.
    pub fn read(
        curve: Curve,
        encoding: PayloadEncoding,
        hash: HashFunction,
        text: &str,
    ) -> Result<Self, PayloadError> {
        check_pairing(curve, encoding, hash)?;
        if text.len() > MAX_PAYLOAD_BYTES {
            return Err(PayloadError::TooLong);
        }
        let plain = |bytes| Ok(Self { message: hashed(hash, bytes)?, content: Content::Bytes });
        match encoding {
            PayloadEncoding::Hexadecimal => {
                plain(hexadecimal::decode(text).ok_or(PayloadError::NotHexadecimal)?)
            }
            PayloadEncoding::TextUtf8 => plain(text.as_bytes().to_vec()),
            PayloadEncoding::Eip712 => {
                let data = TypedData::read(text).map_err(PayloadError::TypedData)?;
                let message = Message::Digest(data.digest());
                Ok(Self { message, content: Content::TypedData(Box::new(data)) })
            }
            PayloadEncoding::Eip7702Authorization => {
                let authorization = Authorization::read(text).map_err(PayloadError::Authorization)?;
                let message = Message::Digest(authorization.digest());
                Ok(Self { message, content: Content::Authorization(authorization) })
            }
        }
    }

    /// Returns the root name and the facts that policies can query, or `None` for bytes.
    pub fn facts(&self) -> Option<(&'static str, Value)> {
        let (name, value) = match &self.content {
            Content::Bytes => return None,
            Content::TypedData(data) => ("eip_712", data.facts()),
            Content::Authorization(authorization) => ("eip_7702_authorization", authorization.facts()),
        };
        Some(("eth", Value::record([(name, value)])))
    }
}

/// Checks that the curve, the encoding and the hash function can be combined, without a payload.
///
/// # Errors
/// [`PayloadError::InvalidHash`] or [`PayloadError::UnsupportedCurve`].
pub fn check_pairing(
    curve: Curve,
    encoding: PayloadEncoding,
    hash: HashFunction,
) -> Result<(), PayloadError> {
    let is_ethereum_encoding = match encoding {
        PayloadEncoding::Hexadecimal | PayloadEncoding::TextUtf8 => false,
        PayloadEncoding::Eip712 | PayloadEncoding::Eip7702Authorization => true,
    };
    let fits = match (curve, is_ethereum_encoding) {
        // The encoding defines the hash function.
        (_, true) => hash == HashFunction::NoOp,
        (Curve::Ed25519, false) => hash == HashFunction::NotApplicable,
        (Curve::Secp256k1 | Curve::P256, false) => hash != HashFunction::NotApplicable,
    };
    if !fits {
        Err(PayloadError::InvalidHash)
    } else if is_ethereum_encoding && curve != Curve::Secp256k1 {
        Err(PayloadError::UnsupportedCurve(encoding))
    } else {
        Ok(())
    }
}

fn hashed(hash: HashFunction, bytes: Vec<u8>) -> Result<Message, PayloadError> {
    match hash {
        HashFunction::NotApplicable => Ok(Message::Bytes(bytes)),
        HashFunction::NoOp => match <[u8; 32]>::try_from(bytes) {
            Ok(digest) => Ok(Message::Digest(digest)),
            Err(_) => Err(PayloadError::NotADigest),
        },
        HashFunction::Sha256 => Ok(Message::Digest(Sha256::digest(bytes).into())),
        HashFunction::Keccak256 => Ok(Message::Digest(Keccak256::digest(bytes).into())),
    }
}

/// Error returned for a payload that cannot be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// The hash function cannot be combined with the curve or the encoding. Ed25519 requires
    /// [`HashFunction::NotApplicable`], which no other curve allows. Typed data and authorizations require
    /// [`HashFunction::NoOp`].
    #[error("invalid hash function")]
    InvalidHash,
    /// Only secp256k1 keys can sign payloads with this encoding.
    #[error("payload encoding {0} requires a key of CURVE_SECP256K1")]
    UnsupportedCurve(PayloadEncoding),
    /// The payload is longer than [`MAX_PAYLOAD_BYTES`].
    #[error("payload is longer than {MAX_PAYLOAD_BYTES} bytes")]
    TooLong,
    /// The payload is not an even number of hexadecimal digits.
    #[error("payload is not hexadecimal")]
    NotHexadecimal,
    /// The hash function is [`HashFunction::NoOp`], but the payload does not have 32 bytes.
    #[error("expected a 32-bytes-long digest")]
    NotADigest,
    /// The payload is not valid typed data.
    #[error("invalid typed data: {0}")]
    TypedData(#[source] JsonError),
    /// The payload is not a valid authorization.
    #[error("invalid authorization: {0}")]
    Authorization(#[source] JsonError),
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::{HashFunction, MAX_PAYLOAD_BYTES, Payload, PayloadEncoding, PayloadError};
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
    fn signatures_match_the_vectors() {
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
    ) -> Result<Message, PayloadError> {
        Payload::read(curve, encoding, hash, payload).map(|payload| payload.message)
    }

    fn check(
        curve: Curve,
        encoding: PayloadEncoding,
        hash: HashFunction,
        payload: &str,
        expected: &Result<Message, PayloadError>,
    ) {
        let result = message(curve, encoding, hash, payload);
        assert_eq!(&result, expected, "{curve} {encoding} {hash}");
    }

    fn digest(hex: &str) -> Message {
        Message::Digest(bytes(hex))
    }

    /// SHA-256 of the empty string and of "abc": FIPS 180-4 examples; Keccak-256 of the empty
    /// string: the Ethereum yellow paper.
    #[test]
    fn digests_match_the_standards() {
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
    fn ed25519_signs_the_bytes_themselves() {
        let expected = |bytes: &[u8]| Ok(Message::Bytes(bytes.to_vec()));
        let curve = Curve::Ed25519;
        check(curve, Hexadecimal, NotApplicable, "00fF", &expected(&[0, 255]));
        check(curve, Hexadecimal, NotApplicable, "", &expected(&[]));
        check(curve, TextUtf8, NotApplicable, "00ff", &expected(b"00ff"));
        check(curve, TextUtf8, NotApplicable, "\u{e9}\n\0", &expected(&[0xc3, 0xa9, 10, 0]));
    }

    #[test]
    fn digests_must_have_32_bytes() {
        let error = Err(PayloadError::NotADigest);
        for payload in ["", "0x", &"11".repeat(31), &"11".repeat(33), &"11".repeat(64)] {
            check(Curve::Secp256k1, Hexadecimal, NoOp, payload, &error);
        }
        // 32 characters are 32 bytes; 64 digits as text are not.
        let text = "0123456789abcdef0123456789abcdef";
        let expected = Ok(Message::Digest(text.as_bytes().try_into().unwrap()));
        check(Curve::P256, TextUtf8, NoOp, text, &expected);
        check(Curve::P256, TextUtf8, NoOp, &"11".repeat(32), &error);
        assert_eq!(PayloadError::NotADigest.to_string(), "expected a 32-bytes-long digest");
    }

    #[test]
    fn rejects_invalid_hexadecimal() {
        let error = || Err(PayloadError::NotHexadecimal);
        for payload in ["0", "0x0", "0X00", "0x0x00", "zz", " 00", "00 ", "\u{ff10}0", "00\n", "-1"] {
            check(Curve::Secp256k1, Hexadecimal, Sha256, payload, &error());
        }
    }

    #[test]
    fn rejects_hash_functions_of_other_curves() {
        let error = || Err(PayloadError::InvalidHash);
        // The hash function is checked first, even if the payload is invalid too.
        for payload in ["00", "0"] {
            check(Curve::Secp256k1, Hexadecimal, NotApplicable, payload, &error());
            check(Curve::P256, Hexadecimal, NotApplicable, payload, &error());
            for hash in [NoOp, Sha256, Keccak256] {
                check(Curve::Ed25519, Hexadecimal, hash, payload, &error());
            }
        }
        assert_eq!(PayloadError::InvalidHash.to_string(), "invalid hash function");
    }

    #[test]
    fn ethereum_encodings_require_secp256k1_and_no_hash() {
        for encoding in [Eip712, Eip7702Authorization] {
            for hash in [Sha256, Keccak256, NotApplicable] {
                for curve in Curve::ALL {
                    check(*curve, encoding, hash, "{}", &Err(PayloadError::InvalidHash));
                }
            }
            let error = PayloadError::UnsupportedCurve(encoding);
            assert_eq!(
                error.to_string(),
                format!("payload encoding {encoding} requires a key of CURVE_SECP256K1")
            );
            for curve in [Curve::P256, Curve::Ed25519] {
                check(curve, encoding, NoOp, "{}", &Err(error.clone()));
            }
        }
        for (encoding, expected) in [
            (Eip712, "invalid typed data: `types` is missing"),
            (Eip7702Authorization, "invalid authorization: `address` is missing"),
        ] {
            let error = message(Curve::Secp256k1, encoding, NoOp, "{}").unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let error = message(Curve::Secp256k1, Eip712, NoOp, "").unwrap_err();
        assert_eq!(error.to_string(), "invalid typed data: it is not JSON");
    }

    #[test]
    fn length_is_bounded() {
        let longest = "0".repeat(MAX_PAYLOAD_BYTES);
        let curve = Curve::Ed25519;
        assert!(message(curve, TextUtf8, NotApplicable, &longest).is_ok());
        assert!(message(curve, Hexadecimal, NotApplicable, &longest).is_ok());
        let longer = longest + "0";
        for encoding in [TextUtf8, Hexadecimal] {
            check(curve, encoding, NotApplicable, &longer, &Err(PayloadError::TooLong));
        }
        for encoding in [Eip712, Eip7702Authorization] {
            check(Curve::Secp256k1, encoding, NoOp, &longer, &Err(PayloadError::TooLong));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_input_never_panics(payload in any::<String>(), hex in "(0x)?[0-9a-fA-F]{0,70}") {
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
        fn hexadecimal_round_trips(bytes in any::<Vec<u8>>(), upper in any::<bool>(), prefix in any::<bool>()) {
            let mut text = const_hex::encode(&bytes);
            if upper {
                text.make_ascii_uppercase();
            }
            if prefix {
                text.insert_str(0, "0x");
            }
            let result = message(Curve::Ed25519, Hexadecimal, NotApplicable, &text);
            prop_assert_eq!(result, Ok(Message::Bytes(bytes)));
        }
    }
}
