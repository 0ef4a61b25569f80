//! Decodes values by their types and hashes them in one pass (EIP-712, `encodeData` and `hashStruct`).

use std::fmt::Write;
use std::sync::Arc;

use alloy_primitives::{B256, Keccak256, keccak256};

use super::scalar;
use super::types::{Base, MemberType, Types};
use super::value::{Member, TypedValue, Unsigned};
use crate::json::{Json, JsonError, Members};

/// Recursive encoder. The JSON parser bounds the nesting depth of the values.
pub(super) struct Encoder<'t> {
    types: &'t Types,
    /// Path of the current value.
    path: String,
    pub(super) unsigned: Unsigned,
}

/// The encoded word of a value, and the value.
type Encoded = ([u8; 32], TypedValue);

impl<'t> Encoder<'t> {
    pub(super) fn new(types: &'t Types) -> Self {
        Self { types, path: String::new(), unsigned: Unsigned::default() }
    }

    /// Encodes the root struct under a name and returns its hash and members.
    pub(super) fn root(
        &mut self,
        name: &str,
        index: usize,
        members: Members<'_>,
    ) -> Result<([u8; 32], Vec<Member>), JsonError> {
        self.types.check(index)?;
        name.clone_into(&mut self.path);
        self.structure(index, members)
    }

    fn structure(
        &mut self,
        index: usize,
        mut members: Members<'_>,
    ) -> Result<([u8; 32], Vec<Member>), JsonError> {
        let mut hasher = Keccak256::new();
        hasher.update(self.types.hash(index));
        let declared = self.types.get(index).map_or(&[][..], |structure| &structure.members);
        let mut read = Vec::with_capacity(declared.len());
        for member in declared {
            let json = members.remove(&*member.name);
            let length = self.path.len();
            self.path.push('.');
            self.path.push_str(&member.name);
            let json = json.ok_or_else(|| self.error("is missing"))?;
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
    ) -> Result<Encoded, JsonError> {
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
    ) -> Result<Encoded, JsonError> {
        let Json::List(elements) = json else { return Err(self.error("is not a list")) };
        if let Some(expected) = expected.filter(|expected| *expected != elements.len()) {
            return Err(self.error(format!("does not have {expected} elements")));
        }
        let mut hasher = Keccak256::new();
        let mut read = Vec::with_capacity(elements.len());
        for (index, element) in elements.into_iter().enumerate() {
            let length = self.path.len();
            // Writing to a `String` never fails.
            let _ = write!(self.path, "[{index}]");
            let (word, value) = self.value(member, inner, element)?;
            self.path.truncate(length);
            hasher.update(word);
            read.push(value);
        }
        Ok((hasher.finalize().0, TypedValue::List(read)))
    }

    fn single(&mut self, member: &MemberType, json: Json<'_>) -> Result<Encoded, JsonError> {
        match member.type_.base {
            Base::Address => {
                let account = scalar::address(&json).ok_or_else(|| self.error("is not an address"))?;
                Ok((B256::left_padding_from(&account).0, TypedValue::Address(account)))
            }
            Base::Bool => {
                let value = scalar::boolean(&json).ok_or_else(|| self.error("is not true or false"))?;
                Ok((B256::left_padding_from(&[u8::from(value)]).0, TypedValue::Bool(value)))
            }
            Base::Bytes => {
                let bytes = scalar::bytes(&json)
                    .ok_or_else(|| self.error("is not hexadecimal with the prefix 0x"))?;
                Ok((keccak256(&bytes).0, TypedValue::Bytes(bytes)))
            }
            Base::FixedBytes(length) => {
                let bytes = scalar::bytes(&json).filter(|bytes| bytes.len() == length);
                let error = || self.error(format!("is not {length} bytes of hexadecimal with the prefix 0x"));
                let bytes = bytes.ok_or_else(error)?;
                Ok((B256::right_padding_from(&bytes).0, TypedValue::Bytes(bytes)))
            }
            Base::Integer { is_signed, bits } => {
                let kind = if is_signed { "a signed" } else { "an unsigned" };
                let error = || self.error(format!("is not {kind} integer of {bits} bits"));
                let word = scalar::integer(&json, is_signed, bits).ok_or_else(error)?;
                Ok((word, TypedValue::Integer { word, is_signed, bits }))
            }
            Base::Text => match json {
                Json::Text(text) => Ok((keccak256(text.as_bytes()).0, TypedValue::Text(text))),
                _ => Err(self.error("is not a string")),
            },
            Base::Struct(index) => match json {
                // Version 4 of the signing methods of wallets uses null to end recursive structs.
                Json::Null => Ok(([0; 32], TypedValue::Nothing)),
                Json::Object(members) => {
                    let (word, members) = self.structure(index, members)?;
                    Ok((word, TypedValue::Struct(members)))
                }
                _ => Err(self.error("is not an object")),
            },
            Base::Unknown => Err(self.error("has an unknown type")),
        }
    }

    fn error(&self, reason: impl Into<String>) -> JsonError {
        JsonError::at(&self.path, reason)
    }
}
