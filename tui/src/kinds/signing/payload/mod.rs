//! Descriptions of the payloads that a proposer chose: plain bytes here, and one file for each encoding with
//! more meaning.

use const_hex::decode;
use quorate_chain::address::Chain;
use quorate_chain::payload::{Content, Payload};
use quorate_chain::transaction::{TransactionType, Unsigned};
use quorate_chain::{Curve, Message};
use serde_json::{Value, from_value};

use super::authorization;
use super::key::Key;
use super::recipient::Recipients;
use super::transaction;
use crate::kinds::prelude::*;
use crate::text::grouped;

mod typed_data;

/// Encoding and hash function of the payloads.
pub(super) struct Coding<'a> {
    encoding: &'a str,
    hash: &'a str,
}

/// A payload, decoded as it would be signed.
pub(super) struct ParsedPayload<'a> {
    coding: &'a Coding<'a>,
    text: &'a str,
    /// Prefix of its facts and flags, empty if there is only one payload.
    label: String,
    /// The decoded payload, or the reason why it cannot be decoded. The reason is empty if it is unknown.
    read: Result<Payload, String>,
}

impl<'a> Coding<'a> {
    /// Reads the coding from the parameters of a kind that signs payloads.
    pub(super) fn of(parameters: &Reader<'a>) -> Result<Self> {
        let encoding = parameters.text("encoding")?;
        let hash = parameters.text("hashFunction")?;
        Ok(Self {
            encoding: encoding.strip_prefix("PAYLOAD_ENCODING_").unwrap_or(encoding),
            hash: hash.strip_prefix("HASH_FUNCTION_").unwrap_or(hash),
        })
    }

    /// Decodes a payload. `number` is its position, counted from 1, if there are several.
    pub(super) fn parse(&'a self, text: &'a str, number: Option<usize>) -> ParsedPayload<'a> {
        let label = number.map_or_else(String::new, |number| format!("payload {number}: "));
        ParsedPayload { coding: self, text, label, read: self.read(text) }
    }

    /// Decodes what the key would sign. The curve is not in the bytes; it only decides which hash functions
    /// are valid.
    fn read(&self, text: &str) -> Result<Payload, String> {
        let named = |prefix: &str, name: &str| Value::String(format!("{prefix}{name}"));
        let encoding = from_value(named("PAYLOAD_ENCODING_", self.encoding)).map_err(|_| String::new())?;
        let hash = from_value(named("HASH_FUNCTION_", self.hash)).map_err(|_| String::new())?;
        let curve = if self.hash == "NOT_APPLICABLE" { Curve::Ed25519 } else { Curve::Secp256k1 };
        Payload::read(curve, encoding, hash, text).map_err(|error| format!(": {error}"))
    }

    /// Returns whether payloads are plain bytes, which can mean anything.
    fn is_plain_bytes(&self) -> bool {
        !matches!(self.encoding, "EIP712" | "EIP7702_AUTHORIZATION")
    }

    /// Returns the sentence on how the payloads are hashed before they are signed.
    pub(super) fn hash_sentence(&self) -> String {
        match (self.encoding, self.hash) {
            ("EIP712", "NO_OP") => "It is hashed as EIP-712 requires.".to_owned(),
            ("EIP7702_AUTHORIZATION", "NO_OP") => "It is hashed as EIP-7702 requires.".to_owned(),
            (_, "NO_OP") => {
                "The payload is signed as a finished digest: its meaning cannot be determined.".to_owned()
            }
            (_, "NOT_APPLICABLE") => "The signature scheme hashes it (Ed25519).".to_owned(),
            (_, hash) => format!("It is hashed with {} first.", clean(hash)),
        }
    }
}

impl ParsedPayload<'_> {
    /// Returns the payload as text.
    pub(super) fn describe(&self) -> String {
        match self.read.as_ref().map(|payload| &payload.content) {
            Ok(Content::TypedData(data)) => typed_data::describe(data),
            Ok(Content::Authorization(authorization)) => authorization::describe(authorization),
            _ => match self.bytes() {
                Some(bytes) if self.coding.encoding == "TEXT_UTF8" => {
                    format!("the text {} ({})", quoted(self.text), count(bytes.len(), "byte"))
                }
                Some(bytes) => format!("{} of hex", count(bytes.len(), "byte")),
                None => format!("a payload of the encoding {}", clean(self.coding.encoding)),
            },
        }
    }

    /// Returns the payload in a few words.
    pub(super) fn brief(&self) -> String {
        match self.read.as_ref().map(|payload| &payload.content) {
            Ok(Content::TypedData(data)) => typed_data::brief(data),
            Ok(Content::Authorization(authorization)) => authorization::brief(authorization),
            _ => match self.bytes() {
                Some(_) if self.coding.encoding == "TEXT_UTF8" => quoted(self.text),
                Some(bytes) => count(bytes.len(), "byte"),
                None => clean(self.coding.encoding),
            },
        }
    }

    /// Adds the facts that this console computes about the payload, and its flags.
    pub(super) fn add_details(
        &self,
        key: &Key<'_>,
        context: &ReviewContext<'_>,
        description: &mut Description,
    ) {
        let label = &self.label;
        let mut recipients = Recipients::new(Chain::Ethereum, key, context);
        match self.read.as_ref().map(|payload| &payload.content) {
            Ok(Content::TypedData(data)) => {
                typed_data::add_details(data, label, &mut recipients, description);
            }
            Ok(Content::Authorization(authorization)) => {
                authorization::add_details(authorization, label, &mut recipients, description);
            }
            Ok(Content::Bytes) | Err(_) => {
                if let Some(transaction) = self.transaction() {
                    let described = transaction::describe(&transaction, key, context);
                    let (sentence, brief) = (&description.sentence, &described.brief);
                    description.sentence = format!("{sentence} {label}The bytes ARE a transaction: {brief}.");
                    description.brief = format!("[!] {label}a transaction: {brief}");
                    description.fact(&format!("{label}is a transaction"), described.sentence.clone());
                    description.flag_high(
                        "raw-transaction",
                        format!("{label}The signature is for a transaction, not for plain data: {brief}."),
                    );
                    description.take(&format!("{label}transaction: "), described);
                    description.danger("the word TRANSACTION", "TRANSACTION");
                }
                let text = self.bytes().filter(|_| self.coding.encoding == "HEXADECIMAL");
                let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
                if let Some(text) = text.filter(|text| text.chars().any(char::is_alphanumeric)) {
                    description.fact(&format!("{label}as text"), quoted(&text));
                }
            }
        }
        if let Ok(Payload { message: Message::Digest(digest), .. }) = &self.read {
            description.fact(&format!("{label}digest, computed here"), grouped(&const_hex::encode(digest)));
        }
        recipients.finish(description);
    }

    /// Returns the transaction that the bytes encode, if its chain hashes transactions with this hash
    /// function.
    fn transaction(&self) -> Option<Unsigned> {
        let bytes = self.bytes()?;
        let read = |kind, bytes: &[u8]| Unsigned::read(kind, &const_hex::encode(bytes)).ok();
        match self.coding.hash {
            "KECCAK256" => read(TransactionType::Ethereum, &bytes),
            "SHA256" => read(TransactionType::Tron, &bytes),
            "NOT_APPLICABLE" => {
                // The message of a Solana transaction, behind as many empty signatures as it requires.
                let signers = *bytes.get(usize::from(bytes.first()? & 0x80 != 0))?;
                let empty = vec![0; usize::from(signers).saturating_mul(64)];
                let whole = [&[signers][..], &empty, &bytes].concat();
                (signers < 0x80).then(|| read(TransactionType::Solana, &whole))?
            }
            _ => None,
        }
    }

    /// Returns what else the bytes can be under this hash function, if they can be hashes of unseen content.
    fn possible_content(&self) -> Option<&'static str> {
        let bytes = self.bytes()?;
        match (self.coding.hash, bytes.as_slice()) {
            ("KECCAK256", [0x19, 0x01, hashes @ ..]) if hashes.len() == 64 => {
                Some("hashes of typed data (EIP-712), which may be a permit or an order")
            }
            ("KECCAK256", [0x05, list, ..]) if *list >= 0xc0 => {
                Some("an authorization (EIP-7702), which gives away the account")
            }
            ("SHA256", hash) if hash.len() == 32 => Some("the hash of a Bitcoin transaction"),
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

/// Adds the flags of signing these payloads.
pub(super) fn flags(coding: &Coding<'_>, payloads: &[ParsedPayload<'_>], description: &mut Description) {
    if coding.hash == "NO_OP" && coding.is_plain_bytes() {
        let text = "May move funds or prove consent: a bare digest can be the hash of a transaction or of \
            anything else.";
        description.flag_high("raw-no-hash", text);
        let last = payloads.last().map_or("", |payload| tail(payload.text));
        description.danger("the LAST FOUR characters of the payload", last);
    }
    for payload in payloads {
        if let Some(what) = payload.possible_content() {
            let text = format!("{}May move funds: the bytes may be {what}.", payload.label);
            description.flag_high("raw-hashes", text);
            description.danger("the LAST FOUR characters of the payload", tail(payload.text));
        }
    }
    if let Some(why) = payloads.iter().find_map(|payload| payload.read.as_ref().err()) {
        let (encoding, hash) = (clean(coding.encoding), clean(coding.hash));
        let text = format!(
            "It may do anything: {encoding} with {hash} cannot be decoded here, or cannot be signed{}.",
            clean(why)
        );
        description.flag_with_word("undecoded-payload", text, "UNDECODED");
    }
    let text = if coding.is_plain_bytes() {
        "A signature over chosen bytes can move funds or prove consent."
    } else {
        "The signature acts for the holder of the address, as far as a contract accepts it."
    };
    description.flag_medium("signs", text);
}

fn tail(text: &str) -> &str {
    text.char_indices().rev().nth(3).and_then(|(start, _)| text.get(start..)).unwrap_or(text)
}
