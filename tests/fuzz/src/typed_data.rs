//! Any text as typed data and as an authorization. What can be signed is read in one way only, however its JSON is laid out,
//! and whatever can not be is refused in few words.

use quorate_chain::payload::{Content, HashFunction, Payload, PayloadEncoding, PayloadFlaw};
use quorate_chain::{Curve, Message};
use serde_json::Value as Json;

/// Longest message about a payload. It goes into an answer, so it must not grow with the payload.
const MESSAGE_LIMIT_BYTES: usize = 500;

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for encoding in [PayloadEncoding::Eip712, PayloadEncoding::Eip7702Authorization] {
        let read = read(encoding, &text);
        match &read {
            Err(flaw) => {
                assert!(flaw.to_string().len() < MESSAGE_LIMIT_BYTES, "the message grows with the text");
            }
            Ok(payload) => {
                assert!(payload.facts().is_some_and(|(root, _)| root == "eth"), "policies may ask about it");
                check(payload);
            }
        }
        let json = serde_json::from_str::<Json>(&text).ok().filter(is_exact);
        // The library keeps the last of members that stand twice; such texts are refused.
        if let (Some(json), Ok(payload)) = (json, read) {
            for again in [json.to_string(), format!("{json:#}\n")] {
                assert_eq!(self::read(encoding, &again).as_ref(), Ok(&payload), "{again}");
            }
        }
    }
}

fn read(encoding: PayloadEncoding, text: &str) -> Result<Payload, PayloadFlaw> {
    Payload::read(Curve::Secp256k1, encoding, HashFunction::NoOp, text)
}

fn check(payload: &Payload) {
    let digest = match &payload.content {
        Content::TypedData(data) => {
            let unsigned = data.unsigned();
            assert!(unsigned.paths.len() <= unsigned.count, "what is named is counted");
            assert_eq!(data.message().is_none(), data.primary_type() == "EIP712Domain");
            data.digest()
        }
        Content::Authorization(authorization) => authorization.digest(),
        Content::Bytes => [0; 32],
    };
    assert_eq!(payload.message, Message::Digest(digest), "what is told is what is signed");
}

/// Whether the library keeps every digit of its numbers.
fn is_exact(json: &Json) -> bool {
    match json {
        Json::Number(number) => !number.is_f64(),
        Json::Array(values) => values.iter().all(is_exact),
        Json::Object(members) => members.values().all(is_exact),
        Json::Null | Json::Bool(_) | Json::String(_) => true,
    }
}
