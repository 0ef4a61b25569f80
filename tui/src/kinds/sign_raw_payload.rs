//! Signs one payload that the asker chose.

use const_hex::decode;
use quorate_chain::payload::message;
use quorate_chain::{Curve, Message};
use serde_json::{Value, from_value};

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, grouped, quoted};

pub(super) struct SignRawPayload;

impl Kind for SignRawPayload {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD",
                intent: "signRawPayloadIntent",
                shape: "privateKeyId payload encoding hashFunction",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
                intent: "signRawPayloadIntentV2",
                shape: "signWith payload encoding hashFunction",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Sign raw payload"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let with = match parameters.maybe_text("signWith")? {
            Some(with) => with,
            None => parameters.text("privateKeyId")?,
        };
        let payload = parameters.text("payload")?;
        let coding = Coding::of(parameters)?;
        let signer = scene.signer_named(with);
        let sentence = format!("Sign {} with {signer}. {}", coding.told(payload), coding.hash_told());
        let mut story = Story::new(format!("{} with {signer}", coding.brief(payload)), sentence);
        coding.facts(payload, "", &mut story);
        coding.flags(&[payload], &mut story);
        Ok(story)
    }
}

/// How a payload is written and hashed.
pub(super) struct Coding<'a> {
    encoding: &'a str,
    hash: &'a str,
}

impl<'a> Coding<'a> {
    /// Of the parameters of any kind that signs payloads.
    pub(super) fn of(parameters: &Reader<'a>) -> Result<Self, Undecodable> {
        let encoding = parameters.text("encoding")?;
        let hash = parameters.text("hashFunction")?;
        Ok(Self {
            encoding: encoding.strip_prefix("PAYLOAD_ENCODING_").unwrap_or(encoding),
            hash: hash.strip_prefix("HASH_FUNCTION_").unwrap_or(hash),
        })
    }

    /// The payload in words.
    pub(super) fn told(&self, payload: &str) -> String {
        match self.bytes(payload) {
            Some(bytes) if self.encoding == "TEXT_UTF8" => {
                format!("the text {} ({} bytes)", quoted(payload), bytes.len())
            }
            Some(bytes) => format!("{} bytes of hex", bytes.len()),
            None => format!("a payload of the encoding {}", clean(self.encoding)),
        }
    }

    /// The payload in a few words.
    pub(super) fn brief(&self, payload: &str) -> String {
        match self.bytes(payload) {
            Some(_) if self.encoding == "TEXT_UTF8" => quoted(payload),
            Some(bytes) => format!("{} bytes", bytes.len()),
            None => clean(self.encoding),
        }
    }

    /// What is done to the payload before it is signed.
    pub(super) fn hash_told(&self) -> String {
        match self.hash {
            "NO_OP" => {
                "The payload is taken as a finished digest: what it stands for cannot be told.".to_owned()
            }
            "NOT_APPLICABLE" => "The scheme hashes by itself (Ed25519).".to_owned(),
            hash => format!("It is hashed with {} first.", clean(hash)),
        }
    }

    /// Adds what this console computes about the payload.
    pub(super) fn facts(&self, payload: &str, label: &str, story: &mut Story) {
        let Some(bytes) = self.bytes(payload) else { return };
        if let Some(text) = std::str::from_utf8(&bytes).ok().filter(|_| self.encoding == "HEXADECIMAL")
            && text.chars().any(char::is_alphanumeric)
        {
            story.fact(&format!("as text{label}"), clean(text));
        }
        if let Some(Message::Digest(digest)) = self.message(payload) {
            story.fact(&format!("digest{label}, computed here"), grouped(&const_hex::encode(digest)));
        }
    }

    /// Adds what needs care about signing these payloads.
    pub(super) fn flags(&self, payloads: &[&str], story: &mut Story) {
        if self.hash == "NO_OP" {
            story.flag(
                Level::High,
                "raw-no-hash",
                "signs a bare digest: it may be a transaction or anything else",
            );
            let last = payloads.last().map_or("", |payload| tail(payload));
            story.danger("the LAST FOUR of the payload", last);
        }
        if payloads.iter().any(|payload| self.message(payload).is_none()) {
            let (encoding, hash) = (clean(self.encoding), clean(self.hash));
            let text = format!("{encoding} with {hash} is not decoded here, or cannot be signed");
            story.flag(Level::High, "undecoded-payload", text);
            story.danger("the word UNDECODED", "UNDECODED");
        }
        story.flag(Level::Med, "signs", "a signature over chosen bytes can move funds or prove consent");
    }

    /// What the key will sign. The curve is not in the bytes; of the hash functions it only tells which fit.
    fn message(&self, payload: &str) -> Option<Message> {
        let named = |prefix: &str, name: &str| Value::String(format!("{prefix}{name}"));
        let encoding = from_value(named("PAYLOAD_ENCODING_", self.encoding)).ok()?;
        let hash = from_value(named("HASH_FUNCTION_", self.hash)).ok()?;
        let curve = if self.hash == "NOT_APPLICABLE" { Curve::Ed25519 } else { Curve::Secp256k1 };
        message(curve, encoding, hash, payload).ok()
    }

    fn bytes(&self, payload: &str) -> Option<Vec<u8>> {
        match self.encoding {
            "TEXT_UTF8" => Some(payload.as_bytes().to_vec()),
            "HEXADECIMAL" => decode(payload).ok(),
            _ => None,
        }
    }
}

fn tail(text: &str) -> &str {
    text.char_indices().rev().nth(3).and_then(|(start, _)| text.get(start..)).unwrap_or(text)
}
