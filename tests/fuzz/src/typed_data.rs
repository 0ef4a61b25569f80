//! Parses any text as EIP-712 typed data and as an EIP-7702 authorization. The layout of the JSON does not
//! change the payload, and errors have short messages.

use quorate_chain::payload::{Content, HashFunction, Payload, PayloadEncoding, PayloadError};
use quorate_chain::{Curve, Message};
use serde_json::Value as Json;

/// Maximum length of an error message in bytes. Responses contain it, so it must not grow with the payload.
const MESSAGE_LIMIT_BYTES: usize = 500;

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for encoding in [PayloadEncoding::Eip712, PayloadEncoding::Eip7702Authorization] {
        let read = read(encoding, &text);
        match &read {
            Err(error) => {
                assert!(error.to_string().len() < MESSAGE_LIMIT_BYTES, "the message grows with the text");
            }
            Ok(payload) => {
                assert!(payload.facts().is_some_and(|(root, _)| root == "eth"), "policies can read it");
                check(payload);
            }
        }
        let json = serde_json::from_str::<Json>(&text).ok().filter(is_exact);
        // The JSON library keeps the last of duplicate members, but the parser rejects texts with duplicates.
        if let (Some(json), Ok(payload)) = (json, read) {
            for layout in [json.to_string(), format!("{json:#}\n")] {
                assert_eq!(self::read(encoding, &layout).as_ref(), Ok(&payload), "{layout}");
            }
        }
    }
}

fn read(encoding: PayloadEncoding, text: &str) -> Result<Payload, PayloadError> {
    Payload::read(Curve::Secp256k1, encoding, HashFunction::NoOp, text)
}

fn check(payload: &Payload) {
    let digest = match &payload.content {
        Content::TypedData(data) => {
            let unsigned = data.unsigned();
            assert!(unsigned.paths.len() <= unsigned.count, "every listed path is counted");
            assert_eq!(data.message().is_none(), data.primary_type() == "EIP712Domain");
            data.digest()
        }
        Content::Authorization(authorization) => authorization.digest(),
        Content::Bytes => [0; 32],
    };
    assert_eq!(payload.message, Message::Digest(digest), "the displayed payload is the signed payload");
}

/// Returns whether the JSON library keeps every digit of the numbers.
fn is_exact(json: &Json) -> bool {
    match json {
        Json::Number(number) => !number.is_f64(),
        Json::Array(values) => values.iter().all(is_exact),
        Json::Object(members) => members.values().all(is_exact),
        Json::Null | Json::Bool(_) | Json::String(_) => true,
    }
}
