//! Hashes of values by their types (EIP-712, `encodeData` and `hashStruct`). What is read is what is hashed.

use std::fmt::Write;
use std::sync::Arc;

use alloy_primitives::{Keccak256, keccak256};

use super::scalar;
use super::types::{Base, MemberType, Types};
use super::value::{Member, TypedValue, Unsigned};
use crate::json::{Flaw, Json, Members};

/// Walks through values; as deep as they nest, which the reader of JSON bounds.
pub(super) struct Encoder<'t> {
    types: &'t Types,
    /// Where the walk stands.
    path: String,
    pub(super) unsigned: Unsigned,
}

/// What is hashed in the place of a value, and the value.
type Encoded = ([u8; 32], TypedValue);

impl<'t> Encoder<'t> {
    pub(super) fn new(types: &'t Types) -> Self {
        Self { types, path: String::new(), unsigned: Unsigned::default() }
    }

    /// The hash of a struct that stands under that name, and its members.
    pub(super) fn root(
        &mut self,
        name: &str,
        place: usize,
        members: Members<'_>,
    ) -> Result<([u8; 32], Vec<Member>), Flaw> {
        self.types.check(place)?;
        name.clone_into(&mut self.path);
        self.structure(place, members)
    }

    fn structure(&mut self, place: usize, mut members: Members<'_>) -> Result<([u8; 32], Vec<Member>), Flaw> {
        let mut hasher = Keccak256::new();
        hasher.update(self.types.hash(place));
        let declared = self.types.get(place).map_or(&[][..], |structure| &structure.members);
        let mut read = Vec::with_capacity(declared.len());
        for member in declared {
            let json = members.remove(&*member.name);
            let length = self.path.len();
            self.path.push('.');
            self.path.push_str(&member.name);
            let json = json.ok_or_else(|| self.flaw("is missing"))?;
            let (word, value) = self.value(member, &member.type_.dimensions, json)?;
            self.path.truncate(length);
            hasher.update(word);
            let (name, type_name) = (Arc::clone(&member.name), Arc::clone(&member.written));
            read.push(Member { name, type_name, value });
        }
        for (name, _) in members.iter().filter(|(_, json)| !matches!(json, Json::Null)) {
            self.unsigned.add(&self.path, name);
        }
        Ok((hasher.finalize().0, read))
    }

    fn value(
        &mut self,
        member: &MemberType,
        dimensions: &[Option<usize>],
        json: Json<'_>,
    ) -> Result<Encoded, Flaw> {
        match dimensions.split_first() {
            Some((length, inner)) => self.list(member, *length, inner, json),
            None => self.single(member, json),
        }
    }

    fn list(
        &mut self,
        member: &MemberType,
        expected: Option<usize>,
        inner: &[Option<usize>],
        json: Json<'_>,
    ) -> Result<Encoded, Flaw> {
        let Json::List(elements) = json else { return Err(self.flaw("is not a list")) };
        if let Some(expected) = expected.filter(|expected| *expected != elements.len()) {
            return Err(self.flaw(format!("does not have {expected} elements")));
        }
        let mut hasher = Keccak256::new();
        let mut read = Vec::with_capacity(elements.len());
        for (index, element) in elements.into_iter().enumerate() {
            let length = self.path.len();
            // A text can be written to.
            let _ = write!(self.path, "[{index}]");
            let (word, value) = self.value(member, inner, element)?;
            self.path.truncate(length);
            hasher.update(word);
            read.push(value);
        }
        Ok((hasher.finalize().0, TypedValue::List(read)))
    }

    fn single(&mut self, member: &MemberType, json: Json<'_>) -> Result<Encoded, Flaw> {
        match member.type_.base {
            Base::Address => {
                let account = scalar::address(&json).ok_or_else(|| self.flaw("is not an address"))?;
                Ok((right(&account), TypedValue::Address(account)))
            }
            Base::Bool => {
                let truth = scalar::truth(&json).ok_or_else(|| self.flaw("is not true or false"))?;
                Ok((right(&[u8::from(truth)]), TypedValue::Bool(truth)))
            }
            Base::Bytes => {
                let bytes = scalar::bytes(&json).ok_or_else(|| self.flaw("is not hexadecimal after 0x"))?;
                Ok((keccak256(&bytes).0, TypedValue::Bytes(bytes)))
            }
            Base::FixedBytes(length) => {
                let bytes = scalar::bytes(&json).filter(|bytes| bytes.len() == length);
                let told = || self.flaw(format!("is not {length} bytes of hexadecimal after 0x"));
                let bytes = bytes.ok_or_else(told)?;
                Ok((left(&bytes), TypedValue::Bytes(bytes)))
            }
            Base::Integer { is_signed, bits } => {
                let kind = if is_signed { "a signed" } else { "an unsigned" };
                let told = || self.flaw(format!("is not {kind} integer of {bits} bits"));
                let word = scalar::integer(&json, is_signed, bits).ok_or_else(told)?;
                Ok((word, TypedValue::Integer { word, is_signed, bits }))
            }
            Base::Text => match json {
                Json::Text(text) => Ok((keccak256(text.as_bytes()).0, TypedValue::Text(text))),
                _ => Err(self.flaw("is not a text")),
            },
            Base::Struct(place) => match json {
                // How version 4 of the signing calls of wallets ends what may hold itself.
                Json::Null => Ok(([0; 32], TypedValue::Nothing)),
                Json::Object(members) => {
                    let (word, members) = self.structure(place, members)?;
                    Ok((word, TypedValue::Struct(members)))
                }
                _ => Err(self.flaw("is not an object")),
            },
            Base::Unknown => Err(self.flaw("is not of a known type")),
        }
    }

    fn flaw(&self, reason: impl Into<String>) -> Flaw {
        Flaw::at(&self.path, reason)
    }
}

/// Bytes at the right end of a word.
fn right(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    for (place, byte) in word.iter_mut().rev().zip(bytes.iter().rev()) {
        *place = *byte;
    }
    word
}

/// Bytes at the left end of a word.
fn left(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    for (place, byte) in word.iter_mut().zip(bytes) {
        *place = *byte;
    }
    word
}
