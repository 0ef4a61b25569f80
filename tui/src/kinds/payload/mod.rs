//! What payloads say that an asker chose, told from their texts: bytes as they are, and one file for each encoding that says
//! more.

use const_hex::decode;
use quorate_chain::address::Chain;
use quorate_chain::payload::{Content, Payload};
use quorate_chain::transaction::{TransactionType, Unsigned};
use quorate_chain::{Curve, Message};
use serde_json::{Value, from_value};

use super::transaction::recipient::Recipients;
use super::transaction::{self, Key};
use super::{Level, Reader, Scene, Story, Undecodable};
use crate::text::{clean, grouped, quoted};

pub(super) mod authorization;
mod typed_data;

/// How payloads are written and hashed.
pub(super) struct Coding<'a> {
    encoding: &'a str,
    hash: &'a str,
}

/// A payload, read as it would be signed.
pub(super) struct Given<'a> {
    coding: &'a Coding<'a>,
    text: &'a str,
    /// Before the names of what is told of it, where there are several.
    label: String,
    /// Fails with the reason, where one is known.
    read: Result<Payload, String>,
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

    /// A payload and its number, if there are several.
    pub(super) fn given(&'a self, text: &'a str, number: Option<usize>) -> Given<'a> {
        let label = number.map_or_else(String::new, |number| format!("{number}: "));
        Given { coding: self, text, label, read: self.read(text) }
    }

    /// What the key would sign. The curve is not in the bytes; of the hash functions it only tells which fit.
    fn read(&self, text: &str) -> Result<Payload, String> {
        let named = |prefix: &str, name: &str| Value::String(format!("{prefix}{name}"));
        let encoding = from_value(named("PAYLOAD_ENCODING_", self.encoding)).map_err(|_| String::new())?;
        let hash = from_value(named("HASH_FUNCTION_", self.hash)).map_err(|_| String::new())?;
        let curve = if self.hash == "NOT_APPLICABLE" { Curve::Ed25519 } else { Curve::Secp256k1 };
        Payload::read(curve, encoding, hash, text).map_err(|flaw| format!(": {flaw}"))
    }

    /// Whether payloads are bytes that may mean anything.
    fn is_of_bytes(&self) -> bool {
        !matches!(self.encoding, "EIP712" | "EIP7702_AUTHORIZATION")
    }

    /// What is done to the payloads before they are signed.
    pub(super) fn hash_told(&self) -> String {
        match (self.encoding, self.hash) {
            ("EIP712", "NO_OP") => "It is hashed as EIP-712 has it.".to_owned(),
            ("EIP7702_AUTHORIZATION", "NO_OP") => "It is hashed as EIP-7702 has it.".to_owned(),
            (_, "NO_OP") => {
                "The payload is taken as a finished digest: what it stands for cannot be told.".to_owned()
            }
            (_, "NOT_APPLICABLE") => "The scheme hashes by itself (Ed25519).".to_owned(),
            (_, hash) => format!("It is hashed with {} first.", clean(hash)),
        }
    }
}

impl Given<'_> {
    /// The payload in words.
    pub(super) fn told(&self) -> String {
        match self.read.as_ref().map(|payload| &payload.content) {
            Ok(Content::TypedData(data)) => typed_data::told(data),
            Ok(Content::Authorization(authorization)) => authorization::told(authorization),
            _ => match self.bytes() {
                Some(bytes) if self.coding.encoding == "TEXT_UTF8" => {
                    format!("the text {} ({} bytes)", quoted(self.text), bytes.len())
                }
                Some(bytes) => format!("{} bytes of hex", bytes.len()),
                None => format!("a payload of the encoding {}", clean(self.coding.encoding)),
            },
        }
    }

    /// The payload in a few words.
    pub(super) fn brief(&self) -> String {
        match self.read.as_ref().map(|payload| &payload.content) {
            Ok(Content::TypedData(data)) => typed_data::brief(data),
            Ok(Content::Authorization(authorization)) => authorization::brief(authorization),
            _ => match self.bytes() {
                Some(_) if self.coding.encoding == "TEXT_UTF8" => quoted(self.text),
                Some(bytes) => format!("{} bytes", bytes.len()),
                None => clean(self.coding.encoding),
            },
        }
    }

    /// Adds what this console computes about the payload, and what needs care about it.
    pub(super) fn tell(&self, signer: &str, key: &Key<'_>, scene: &Scene<'_>, story: &mut Story) {
        let label = &self.label;
        let mut recipients = Recipients::new(Chain::Ethereum, key, scene);
        match self.read.as_ref().map(|payload| &payload.content) {
            Ok(Content::TypedData(data)) => typed_data::tell(data, label, &mut recipients, story),
            Ok(Content::Authorization(authorization)) => {
                authorization::tell(authorization, label, &mut recipients, story);
            }
            Ok(Content::Bytes) | Err(_) => {
                if let Some(transaction) = self.transaction() {
                    let told = transaction::told(&transaction, signer, key, scene);
                    story.sentence =
                        format!("{} {label}The bytes ARE a transaction: {}.", story.sentence, told.brief);
                    story.brief = format!("[!] {label}a transaction: {}", told.brief);
                    story.fact(&format!("{label}is a transaction"), told.sentence.clone());
                    story.flag(
                        Level::High,
                        "raw-transaction",
                        format!("{label}the bytes are a transaction: {}", told.brief),
                    );
                    story.take(&format!("{label}in it, "), told);
                    story.danger("the word TRANSACTION", "TRANSACTION");
                }
                let text = self.bytes().filter(|_| self.coding.encoding == "HEXADECIMAL");
                let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
                if let Some(text) = text.filter(|text| text.chars().any(char::is_alphanumeric)) {
                    story.fact(&format!("{label}as text"), quoted(&text));
                }
            }
        }
        if let Ok(Payload { message: Message::Digest(digest), .. }) = &self.read {
            story.fact(&format!("{label}digest, computed here"), grouped(&const_hex::encode(digest)));
        }
        recipients.finish(story);
    }

    /// The transaction that bytes are once they are hashed as those of its chain.
    fn transaction(&self) -> Option<Unsigned> {
        let bytes = self.bytes()?;
        let read = |kind, bytes: &[u8]| Unsigned::read(kind, &const_hex::encode(bytes)).ok();
        match self.coding.hash {
            "KECCAK256" => read(TransactionType::Ethereum, &bytes),
            "SHA256" => read(TransactionType::Tron, &bytes),
            "NOT_APPLICABLE" => {
                // The message of a transaction of Solana, behind as many empty signatures as it asks for.
                let signers = *bytes.get(usize::from(bytes.first()? & 0x80 != 0))?;
                let empty = vec![0; usize::from(signers).saturating_mul(64)];
                let whole = [&[signers][..], &empty, &bytes].concat();
                (signers < 0x80).then(|| read(TransactionType::Solana, &whole))?
            }
            _ => None,
        }
    }

    /// What else the bytes can be that a service signs under this hash: hashes of what is not here.
    fn stands_for(&self) -> Option<&'static str> {
        let bytes = self.bytes()?;
        match (self.coding.hash, bytes.as_slice()) {
            ("KECCAK256", [0x19, 0x01, hashes @ ..]) if hashes.len() == 64 => {
                Some("hashes of typed data (EIP-712), which may be a permit or an order")
            }
            ("KECCAK256", [0x05, list, ..]) if *list >= 0xc0 => {
                Some("an authorization (EIP-7702), which hands over the account")
            }
            ("SHA256", hash) if hash.len() == 32 => Some("the hash of a transaction of Bitcoin"),
            _ => None,
        }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match self.coding.encoding {
            "TEXT_UTF8" => Some(self.text.as_bytes().to_vec()),
            "HEXADECIMAL" => decode(self.text).ok(),
            _ => None,
        }
    }
}

/// Adds what needs care about signing any of these payloads.
pub(super) fn flags(coding: &Coding<'_>, payloads: &[Given<'_>], story: &mut Story) {
    if coding.hash == "NO_OP" && coding.is_of_bytes() {
        let text = "signs a bare digest: it may be a transaction or anything else";
        story.flag(Level::High, "raw-no-hash", text);
        let last = payloads.last().map_or("", |payload| tail(payload.text));
        story.danger("the LAST FOUR of the payload", last);
    }
    for payload in payloads {
        if let Some(what) = payload.stands_for() {
            let text = format!("{}the bytes may be {what}", payload.label);
            story.flag(Level::High, "raw-hashes", text);
            story.danger("the LAST FOUR of the payload", tail(payload.text));
        }
    }
    if let Some(why) = payloads.iter().find_map(|payload| payload.read.as_ref().err()) {
        let (encoding, hash) = (clean(coding.encoding), clean(coding.hash));
        let text = format!("{encoding} with {hash} is not decoded here, or cannot be signed{}", clean(why));
        story.flag(Level::High, "undecoded-payload", text);
        story.danger("the word UNDECODED", "UNDECODED");
    }
    let text = if coding.is_of_bytes() {
        "a signature over chosen bytes can move funds or prove consent"
    } else {
        "what is signed acts for whoever holds the address, as far as its contract lets it"
    };
    story.flag(Level::Med, "signs", text);
}

fn tail(text: &str) -> &str {
    text.char_indices().rev().nth(3).and_then(|(start, _)| text.get(start..)).unwrap_or(text)
}
