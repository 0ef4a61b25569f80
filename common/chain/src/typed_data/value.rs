//! What is signed, by its types, for those who show it and for policies.

use std::sync::Arc;

use quorate_policy::{Integer, Value};

use super::scalar;

/// Most members that are named though they are not signed.
const NAMED_LIMIT: usize = 32;
/// Most bytes of such a name.
const NAME_LIMIT_BYTES: usize = 128;

/// A member of a struct that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: Arc<str>,
    /// Its type, as it is written.
    pub type_name: Arc<str>,
    /// Its value.
    pub value: TypedValue,
}

/// A value that is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedValue {
    /// An address.
    Address([u8; 20]),
    /// A truth.
    Bool(bool),
    /// Bytes, of any number or of a fixed one.
    Bytes(Vec<u8>),
    /// An integer.
    Integer {
        /// Big-endian, two's complement.
        word: [u8; 32],
        /// Whether its type has negative numbers.
        is_signed: bool,
        /// How many bits its type has.
        bits: usize,
    },
    /// A text.
    Text(String),
    /// Values of one type.
    List(Vec<TypedValue>),
    /// Members in the order of their type.
    Struct(Vec<Member>),
    /// No struct where there could be one.
    Nothing,
}

impl TypedValue {
    /// The number, if this is one.
    pub fn integer(&self) -> Option<Integer> {
        match self {
            Self::Integer { word, is_signed, .. } => Some(scalar::number(word, *is_signed)),
            _ => None,
        }
    }

    /// What policies may ask about it.
    fn fact(&self) -> Value {
        match self {
            Self::Address(account) => Value::folded(const_hex::encode_prefixed(account)),
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Bytes(bytes) => Value::folded(const_hex::encode_prefixed(bytes)),
            Self::Integer { word, is_signed: true, .. } => Value::int(scalar::number(word, true)),
            Self::Integer { word, is_signed: false, .. } => Value::uint(scalar::number(word, false)),
            Self::Text(text) => Value::text(text.clone()),
            Self::List(values) => values.iter().map(Self::fact).collect(),
            Self::Struct(members) => facts(members),
            Self::Nothing => Value::Unreadable,
        }
    }
}

/// The members of a struct by their names.
pub(super) fn facts(members: &[Member]) -> Value {
    Value::map(members.iter().map(|member| (&*member.name, member.value.fact())))
}

/// What policies may ask about the domain: the members that EIP-712 names, as far as they are signed.
pub(super) fn domain_facts(members: &[Member]) -> Value {
    let member = |name: &str| members.iter().find(|member| &*member.name == name).map(|member| &member.value);
    let text = |name: &str| {
        member(name)
            .map(|value| if let TypedValue::Text(_) = value { value.fact() } else { Value::Unreadable })
    };
    let chain = |value: &TypedValue| value.integer().map_or(Value::Unreadable, Value::uint);
    let contract = |value: &TypedValue| match value {
        TypedValue::Address(_) | TypedValue::Bytes(_) => value.fact(),
        TypedValue::Text(text) => Value::folded(text.clone()),
        _ => Value::Unreadable,
    };
    Value::record([
        ("name", text("name")),
        ("version", text("version")),
        ("chain_id", member("chainId").map(chain)),
        ("verifying_contract", member("verifyingContract").map(contract)),
    ])
}

/// What stands in a payload and is not signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsigned {
    /// How many members.
    pub count: usize,
    /// The paths of the first ones. The last name of each is whatever was sent, cut where it is long.
    pub paths: Vec<String>,
}

impl Unsigned {
    /// Adds the member of that name below a path.
    pub(super) fn add(&mut self, path: &str, name: &str) {
        self.count = self.count.saturating_add(1);
        if self.paths.len() < NAMED_LIMIT {
            let name = name.get(..name.floor_char_boundary(NAME_LIMIT_BYTES)).unwrap_or_default();
            self.paths.push(if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") });
        }
    }
}
