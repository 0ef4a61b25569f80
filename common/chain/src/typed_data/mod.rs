//! Typed data (EIP-712): a message of named and typed members, with the domain that it is valid in.
//!
//! The daemon, which evaluates policies and signs, and the console, which displays, use the same decoder.
//! Only members of the declared types are hashed, displayed and evaluated. Other members of the payload are
//! not signed and are reported as such.

mod encode;
mod scalar;
#[cfg(test)]
mod tests;
mod types;
mod value;

use alloy_primitives::Keccak256;
use quorate_policy::Value;

use crate::json::{self, Json, JsonError, Members};
use encode::Encoder;
use types::{DOMAIN, Types};

pub(crate) use scalar::{address, integer};
pub use value::{Member, TypedValue, Unsigned};

/// Decoded typed data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedData {
    primary_type: String,
    domain: Vec<Member>,
    domain_separator: [u8; 32],
    /// Members of the message and its hash; `None` if only the domain is signed.
    message: Option<(Vec<Member>, [u8; 32])>,
    unsigned: Unsigned,
}

impl TypedData {
    /// Parses a JSON object with `types`, `primaryType`, `domain` and `message`.
    ///
    /// If `types` has no `EIP712Domain`, the type of the domain consists of those of its five standard
    /// members that are present. If `EIP712Domain` is the primary type, there is no message.
    ///
    /// # Errors
    /// The first [`JsonError`] found.
    pub fn read(text: &str) -> Result<Self, JsonError> {
        let mut members = json::object(text)?;
        let Json::Object(declared) = required(&mut members, "types")? else {
            return Err(not_an_object("types"));
        };
        let Json::Text(primary_type) = required(&mut members, "primaryType")? else {
            return Err(JsonError::at("primaryType", "is not a string"));
        };
        let Json::Object(domain) = required(&mut members, "domain")? else {
            return Err(not_an_object("domain"));
        };
        let types = Types::read(declared, &domain)?;
        let find =
            |name: &str| types.find(name).ok_or_else(|| JsonError::at("primaryType", "is not a known type"));
        let primary = find(&primary_type)?;
        let mut encoder = Encoder::new(&types);
        let (domain_separator, domain) = encoder.root("domain", find(DOMAIN)?, domain)?;
        let message = match members.remove("message") {
            message if primary_type == DOMAIN => {
                record_unsigned_message(message, &mut encoder.unsigned);
                None
            }
            None => return Err(JsonError::at("message", "is missing")),
            Some(Json::Object(message)) => {
                let (hash, message) = encoder.root("message", primary, message)?;
                Some((message, hash))
            }
            Some(_) => return Err(not_an_object("message")),
        };
        let mut unsigned = encoder.unsigned;
        for name in members.keys() {
            unsigned.add("", name);
        }
        Ok(Self { primary_type, domain, domain_separator, message, unsigned })
    }

    /// Returns the name of the type of the message.
    pub fn primary_type(&self) -> &str {
        &self.primary_type
    }

    /// Returns the members of the domain in the order of their type.
    pub fn domain(&self) -> &[Member] {
        &self.domain
    }

    /// Returns the members of the message in the order of their type, or `None` if only the domain is signed.
    pub fn message(&self) -> Option<&[Member]> {
        self.message.as_ref().map(|(members, _)| members.as_slice())
    }

    /// Returns the members of the payload that are not signed.
    pub fn unsigned(&self) -> &Unsigned {
        &self.unsigned
    }

    /// Returns the hash of the domain (EIP-712, `domainSeparator`).
    pub fn domain_separator(&self) -> [u8; 32] {
        self.domain_separator
    }

    /// Returns the hash of the message (EIP-712, `hashStruct`), or `None` if only the domain is signed.
    pub fn message_hash(&self) -> Option<[u8; 32]> {
        self.message.as_ref().map(|(_, hash)| *hash)
    }

    /// Returns the digest to sign: keccak256 of 0x19, 0x01, the hash of the domain, and that of the message,
    /// if there is one.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = Keccak256::new();
        hasher.update([0x19, 0x01]);
        hasher.update(self.domain_separator);
        if let Some((_, hash)) = &self.message {
            hasher.update(hash);
        }
        hasher.finalize().0
    }

    /// Returns the facts that policies can query.
    pub(crate) fn facts(&self) -> Value {
        Value::record([
            ("primary_type", Some(Value::text(self.primary_type.clone()))),
            ("domain", Some(value::domain_facts(&self.domain))),
            ("message", self.message().map(value::facts)),
        ])
    }
}

fn required<'a>(members: &mut Members<'a>, name: &str) -> Result<Json<'a>, JsonError> {
    members.remove(name).ok_or_else(|| JsonError::at(name, "is missing"))
}

fn not_an_object(path: &str) -> JsonError {
    JsonError::at(path, "is not an object")
}

/// Records the members of a message that is not signed, because only the domain is.
fn record_unsigned_message(message: Option<Json<'_>>, unsigned: &mut Unsigned) {
    match message {
        None | Some(Json::Null) => {}
        Some(Json::Object(members)) => {
            for name in members.keys() {
                unsigned.add("message", name);
            }
        }
        Some(_) => unsigned.add("", "message"),
    }
}
