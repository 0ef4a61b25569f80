//! Typed data (EIP-712): a message of named and typed members, and the domain that it is meant for.
//!
//! The same reading serves the daemon, which judges and signs, and the console, which shows. Only what the declared types name
//! is hashed, shown and judged; whatever else stands in the payload is signed by nobody, and is told as such.

mod encode;
mod scalar;
#[cfg(test)]
mod tests;
mod types;
mod value;

use alloy_primitives::Keccak256;
use quorate_policy::Value;

use crate::json::{self, Flaw, Json, Members};
use encode::Encoder;
use types::{DOMAIN, Types};

pub(crate) use scalar::{address, integer};
pub use value::{Member, TypedValue, Unsigned};

/// Typed data as it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedData {
    primary_type: String,
    domain: Vec<Member>,
    domain_separator: [u8; 32],
    /// The message and its hash; none where only the domain is signed.
    message: Option<(Vec<Member>, [u8; 32])>,
    unsigned: Unsigned,
}

impl TypedData {
    /// Reads an object of `types`, `primaryType`, `domain` and `message`. Where `types` has no `EIP712Domain`, the domain is of
    /// those of its five members that are present; where that is the primary type, there is no message.
    ///
    /// # Errors
    /// The first [`Flaw`] that is found.
    pub fn read(text: &str) -> Result<Self, Flaw> {
        let mut members = json::object(text)?;
        let Json::Object(declared) = taken(&mut members, "types")? else { return Err(no_object("types")) };
        let Json::Text(primary_type) = taken(&mut members, "primaryType")? else {
            return Err(Flaw::at("primaryType", "is not a text"));
        };
        let Json::Object(domain) = taken(&mut members, "domain")? else { return Err(no_object("domain")) };
        let types = Types::read(declared, &domain)?;
        let find =
            |name: &str| types.find(name).ok_or_else(|| Flaw::at("primaryType", "is not a known type"));
        let primary = find(&primary_type)?;
        let mut encoder = Encoder::new(&types);
        let (domain_separator, domain) = encoder.root("domain", find(DOMAIN)?, domain)?;
        let message = match members.remove("message") {
            message if primary_type == DOMAIN => {
                message_of_none(message, &mut encoder.unsigned);
                None
            }
            None => return Err(Flaw::at("message", "is missing")),
            Some(Json::Object(message)) => {
                let (hash, message) = encoder.root("message", primary, message)?;
                Some((message, hash))
            }
            Some(_) => return Err(no_object("message")),
        };
        let mut unsigned = encoder.unsigned;
        for name in members.keys() {
            unsigned.add("", name);
        }
        Ok(Self { primary_type, domain, domain_separator, message, unsigned })
    }

    /// The name of the type of the message.
    pub fn primary_type(&self) -> &str {
        &self.primary_type
    }

    /// For whom it is meant: the members of the domain, in the order of their type.
    pub fn domain(&self) -> &[Member] {
        &self.domain
    }

    /// The members of the message, in the order of their type; none where only the domain is signed.
    pub fn message(&self) -> Option<&[Member]> {
        self.message.as_ref().map(|(members, _)| members.as_slice())
    }

    /// What stands in the payload and is not signed.
    pub fn unsigned(&self) -> &Unsigned {
        &self.unsigned
    }

    /// The hash of the domain (EIP-712, `domainSeparator`).
    pub fn domain_separator(&self) -> [u8; 32] {
        self.domain_separator
    }

    /// The hash of the message (EIP-712, `hashStruct`).
    pub fn message_hash(&self) -> Option<[u8; 32]> {
        self.message.as_ref().map(|(_, hash)| *hash)
    }

    /// What is signed: keccak256 of 0x19, 0x01, the hash of the domain and that of the message, if there is one.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = Keccak256::new();
        hasher.update([0x19, 0x01]);
        hasher.update(self.domain_separator);
        if let Some((_, hash)) = &self.message {
            hasher.update(hash);
        }
        hasher.finalize().0
    }

    /// What policies may ask about it.
    pub(crate) fn facts(&self) -> Value {
        Value::record([
            ("primary_type", Some(Value::text(self.primary_type.clone()))),
            ("domain", Some(value::domain_facts(&self.domain))),
            ("message", self.message().map(value::facts)),
        ])
    }
}

fn taken<'a>(members: &mut Members<'a>, name: &str) -> Result<Json<'a>, Flaw> {
    members.remove(name).ok_or_else(|| Flaw::at(name, "is missing"))
}

fn no_object(path: &str) -> Flaw {
    Flaw::at(path, "is not an object")
}

/// Notes what stands where no message is signed.
fn message_of_none(message: Option<Json<'_>>, unsigned: &mut Unsigned) {
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
