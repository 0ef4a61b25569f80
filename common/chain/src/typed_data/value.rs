//! Decoded values by type, for display and for policies.

use std::sync::Arc;

use quorate_policy::{Integer, Value};

use super::scalar;

/// Maximum number of unsigned members whose paths are recorded.
const NAMED_LIMIT: usize = 32;
/// Maximum length of the name of an unsigned member, in bytes.
const NAME_LIMIT_BYTES: usize = 128;

/// A signed member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name of the member, as declared.
    pub name: Arc<str>,
    /// Type of the member, as declared.
    pub type_name: Arc<str>,
    /// Decoded value.
    pub value: TypedValue,
}

/// A signed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedValue {
    /// Account address.
    Address([u8; 20]),
    /// Boolean value.
    Bool(bool),
    /// Bytes of variable or fixed length.
    Bytes(Vec<u8>),
    /// Signed or unsigned integer.
    Integer {
        /// Value: big-endian, two's complement.
        word: [u8; 32],
        /// Whether the type is signed.
        is_signed: bool,
        /// Width of the type in bits.
        bits: usize,
    },
    /// String.
    Text(String),
    /// List of values of one type.
    List(Vec<TypedValue>),
    /// Struct with its members in the order of their type.
    Struct(Vec<Member>),
    /// Absent struct (JSON null).
    Nothing,
}

impl TypedValue {
    /// Returns the number, if the value is an integer.
    pub fn integer(&self) -> Option<Integer> {
        match self {
            Self::Integer { word, is_signed, .. } => Some(scalar::number(word, *is_signed)),
            _ => None,
        }
    }

    /// Returns the value for policies.
    fn fact(&self) -> Value {
        match self {
            Self::Address(account) => Value::folded(const_hex::encode_prefixed(account)),
            Self::Bool(value) => Value::Bool(*value),
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

/// Returns the members of a struct by name, for policies.
pub(super) fn facts(members: &[Member]) -> Value {
    Value::map(members.iter().map(|member| (&*member.name, member.value.fact())))
}

/// Returns the facts about the domain for policies: the standard members of EIP-712 that are signed.
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

/// Members of a payload that are not signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsigned {
    /// Number of unsigned members.
    pub count: usize,
    /// Paths of the first unsigned members. The last name of each path is unsanitized input, truncated if it
    /// is long.
    pub paths: Vec<String>,
}

impl Unsigned {
    /// Adds the member with this name below a path.
    pub(super) fn add(&mut self, path: &str, name: &str) {
        self.count = self.count.saturating_add(1);
        if self.paths.len() < NAMED_LIMIT {
            let name = name.get(..name.floor_char_boundary(NAME_LIMIT_BYTES)).unwrap_or_default();
            self.paths.push(if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") });
        }
    }
}
