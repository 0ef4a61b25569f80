//! From the payload of a raw signing request to what the key signs.
//!
//! The payload is signed as it stands: no prefix is added and no transaction is recognized in it.

use sha2::{Digest, Sha256};
use sha3::Keccak256;

use crate::curve::{Curve, Message};
use crate::hexadecimal;
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

/// What a key of `curve` signs for this payload.
///
/// # Errors
/// The [`PayloadFlaw`] that applies first, in the order of its variants.
pub fn message(
    curve: Curve,
    encoding: PayloadEncoding,
    hash: HashFunction,
    payload: &str,
) -> Result<Message, PayloadFlaw> {
    check_pairing(curve, encoding, hash)?;
    let bytes = bytes(encoding, payload)?;
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

/// Whether the encoding is supported and the hash function belongs to the curve; the payload
/// itself is not looked at.
///
/// # Errors
/// [`PayloadFlaw::Unsupported`] or [`PayloadFlaw::UnfitHash`].
pub fn check_pairing(curve: Curve, encoding: PayloadEncoding, hash: HashFunction) -> Result<(), PayloadFlaw> {
    match encoding {
        PayloadEncoding::Hexadecimal | PayloadEncoding::TextUtf8 => {}
        PayloadEncoding::Eip712 | PayloadEncoding::Eip7702Authorization => {
            return Err(PayloadFlaw::Unsupported(encoding));
        }
    }
    let takes_message = curve == Curve::Ed25519;
    if takes_message == (hash == HashFunction::NotApplicable) { Ok(()) } else { Err(PayloadFlaw::UnfitHash) }
}

fn bytes(encoding: PayloadEncoding, payload: &str) -> Result<Vec<u8>, PayloadFlaw> {
    if payload.len() > MAX_PAYLOAD_BYTES {
        return Err(PayloadFlaw::TooLong);
    }
    match encoding {
        PayloadEncoding::Hexadecimal => hexadecimal::decode(payload).ok_or(PayloadFlaw::NotHexadecimal),
        PayloadEncoding::TextUtf8 => Ok(payload.as_bytes().to_vec()),
        PayloadEncoding::Eip712 | PayloadEncoding::Eip7702Authorization => {
            Err(PayloadFlaw::Unsupported(encoding))
        }
    }
}

/// Why a payload can not be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadFlaw {
    /// The encoding exists, but this version does not read it.
    #[error("payload encoding {0} is not supported yet")]
    Unsupported(PayloadEncoding),
    /// The hash function does not belong to the curve: Ed25519 takes
    /// [`HashFunction::NotApplicable`] and nothing else does.
    #[error("invalid hash function")]
    UnfitHash,
    /// The payload is longer than [`MAX_PAYLOAD_BYTES`].
    #[error("payload is longer than {MAX_PAYLOAD_BYTES} bytes")]
    TooLong,
    /// The payload is not an even number of hexadecimal digits.
    #[error("payload is not hexadecimal")]
    NotHexadecimal,
    /// [`HashFunction::NoOp`] with other than 32 bytes.
    #[error("expected a 32-bytes-long digest")]
    NotADigest,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::{HashFunction, MAX_PAYLOAD_BYTES, PayloadEncoding, PayloadFlaw, message};
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
            let message = message(row.curve, row.encoding, row.hash, &row.payload).unwrap();
            let signature = secret(row.curve, &row.private).sign(&message).unwrap();
            let parts = (signature.r_hex(), signature.s_hex(), signature.v_hex());
            assert_eq!(parts, (row.r, row.s, row.v), "{} {}", row.encoding, row.hash);
        }
    }

    use HashFunction::{Keccak256, NoOp, NotApplicable, Sha256};
    use PayloadEncoding::{Eip712, Eip7702Authorization, Hexadecimal, TextUtf8};

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
    fn unsupported_encodings_are_named() {
        for encoding in [Eip712, Eip7702Authorization] {
            let flaw = PayloadFlaw::Unsupported(encoding);
            let text = format!("payload encoding {encoding} is not supported yet");
            assert_eq!(flaw.to_string(), text);
            for curve in Curve::ALL {
                check(*curve, encoding, NoOp, "{}", &Err(flaw));
            }
        }
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
