//! Types that typed data declares, and their hashes (EIP-712, `encodeType` and `typeHash`).

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::Keccak256;

use crate::json::{Json, JsonError, Members};

/// Name of the struct that describes the domain.
pub(super) const DOMAIN: &str = "EIP712Domain";
/// Members of that struct if it is not declared, in the order of EIP-712.
const DOMAIN_MEMBERS: [(&str, &str); 5] = [
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
    ("salt", "bytes32"),
];
/// Maximum number of structs.
const STRUCT_LIMIT: usize = 128;
/// Maximum number of members of a struct.
const MEMBER_LIMIT: usize = 256;
/// Maximum length of the name of a struct or member, in bytes.
const NAME_LIMIT_BYTES: usize = 128;
/// Maximum total length of all names and types, in bytes.
const TEXT_LIMIT_BYTES: usize = 64 * 1024;
/// Maximum number of bytes hashed for all structs. Each hash covers a struct and all structs within it, so
/// that the total can be many times the length of the declarations.
const HASHED_LIMIT_BYTES: usize = 256 * 1024;
/// Maximum number of dimensions of a list.
const DIMENSION_LIMIT: usize = 32;

/// Element type of a value, without list dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Address,
    Bool,
    Bytes,
    FixedBytes(usize),
    Integer {
        is_signed: bool,
        bits: usize,
    },
    Text,
    /// The struct with this index.
    Struct(usize),
    /// A type that is neither built-in nor declared.
    Unknown,
}

/// Type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) base: Base,
    /// Dimensions of a list, outermost first: the number of elements, if it is fixed.
    pub(super) dimensions: Vec<Option<usize>>,
}

#[derive(Debug)]
pub(super) struct MemberType {
    pub(super) name: Arc<str>,
    /// Type text as declared, which is hashed unchanged.
    pub(super) written: Arc<str>,
    pub(super) type_: Type,
}

#[derive(Debug)]
pub(super) struct StructType {
    pub(super) name: String,
    pub(super) members: Vec<MemberType>,
    hash: OnceCell<[u8; 32]>,
    /// Whether the bytes of its hash are already counted.
    is_counted: Cell<bool>,
}

/// Structs that typed data declares.
#[derive(Debug)]
pub(super) struct Types {
    structs: Vec<StructType>,
    /// Number of bytes hashed for the structs that were checked.
    hashed_bytes: Cell<usize>,
}

/// Name of a struct, and names and types of its members.
type Declaration = (String, Vec<(String, String)>);

impl Types {
    /// Parses the declared types. Unused types may be unknown. `domain` provides the members of the domain
    /// type if that is not declared.
    pub(super) fn read(declared: Members<'_>, domain: &Members<'_>) -> Result<Self, JsonError> {
        if declared.len() > STRUCT_LIMIT {
            return Err(JsonError::at("types", format!("has more than {STRUCT_LIMIT} types")));
        }
        let written = declared.into_iter().map(structure).collect::<Result<Vec<_>, _>>()?;
        let texts = written.iter().flat_map(|(_, members)| members.iter().map(|(name, type_)| (name, type_)));
        let bytes = texts.fold(0_usize, |sum, (name, type_)| sum.saturating_add(name.len() + type_.len()));
        if bytes > TEXT_LIMIT_BYTES {
            return Err(JsonError::at(
                "types",
                format!("has more than {TEXT_LIMIT_BYTES} bytes of names and types"),
            ));
        }
        let names = written.iter().map(|(name, _)| name.clone()).zip(0..);
        let indexes: BTreeMap<String, usize> = names.collect();
        let mut structs: Vec<StructType> =
            written.into_iter().map(|structure| resolved(structure, &indexes)).collect();
        if !indexes.contains_key(DOMAIN) {
            let present = |name: &str| domain.get(name).is_some_and(|value| !matches!(value, Json::Null));
            let members = DOMAIN_MEMBERS.iter().filter(|(name, _)| present(name));
            let members = members.map(|(name, type_)| ((*name).to_owned(), (*type_).to_owned())).collect();
            structs.push(resolved((DOMAIN.to_owned(), members), &indexes));
        }
        Ok(Self { structs, hashed_bytes: Cell::new(0) })
    }

    /// Returns the index of the struct with this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.structs.iter().position(|known| known.name == name)
    }

    pub(super) fn get(&self, index: usize) -> Option<&StructType> {
        self.structs.get(index)
    }

    /// Checks that the struct and all structs within it have known types, and that hashing them is within the
    /// limit.
    pub(super) fn check(&self, index: usize) -> Result<(), JsonError> {
        for index in self.within(index) {
            let Some(structure) = self.get(index) else { continue };
            let unknown = structure.members.iter().position(|member| member.type_.base == Base::Unknown);
            if let Some(member) = unknown {
                let path = format!("types.{}[{member}].type", structure.name);
                return Err(JsonError::at(&path, "is not a known type"));
            }
            if !structure.is_counted.replace(true) {
                self.count(index)?;
            }
        }
        Ok(())
    }

    /// Adds the number of bytes that the hash of a struct covers.
    fn count(&self, index: usize) -> Result<(), JsonError> {
        let structs = self.within(index).into_iter().filter_map(|index| self.get(index));
        let bytes: usize = structs.flat_map(StructType::text).map(str::len).sum();
        self.hashed_bytes.set(self.hashed_bytes.get().saturating_add(bytes));
        if self.hashed_bytes.get() <= HASHED_LIMIT_BYTES {
            return Ok(());
        }
        let reason = format!("has structs that take more than {HASHED_LIMIT_BYTES} bytes to hash");
        Err(JsonError::at("types", reason))
    }

    /// Returns keccak256 of the struct in EIP-712 notation: the struct itself, then all structs within it,
    /// sorted by name.
    pub(super) fn hash(&self, index: usize) -> [u8; 32] {
        let compute = || {
            let mut hasher = Keccak256::new();
            let structs = self.within(index).into_iter().filter_map(|index| self.get(index));
            for part in structs.flat_map(StructType::text) {
                hasher.update(part);
            }
            hasher.finalize().0
        };
        self.get(index).map_or_else(compute, |structure| *structure.hash.get_or_init(compute))
    }

    /// Returns the index of the struct, then the indexes of all structs within it, sorted by name.
    fn within(&self, index: usize) -> Vec<usize> {
        let (mut reached, mut next) = (vec![index], 0);
        let mut is_reached = vec![false; self.structs.len()];
        let mut reach =
            |index: usize| is_reached.get_mut(index).is_some_and(|known| !std::mem::replace(known, true));
        reach(index);
        while let Some(structure) = reached.get(next).and_then(|index| self.get(*index)) {
            let bases = structure.members.iter().map(|member| member.type_.base);
            let inner =
                bases.filter_map(|base| if let Base::Struct(index) = base { Some(index) } else { None });
            reached.extend(inner.filter(|index| reach(*index)));
            next = next.saturating_add(1);
        }
        if let [_, inner @ ..] = reached.as_mut_slice() {
            inner.sort_by_key(|index| self.get(*index).map(|structure| &structure.name));
        }
        reached
    }
}

impl StructType {
    /// Returns the parts of the EIP-712 notation of the struct, without the structs within it.
    fn text(&self) -> impl Iterator<Item = &str> {
        let members = self.members.iter().enumerate().flat_map(|(index, member)| {
            [if index == 0 { "" } else { "," }, &*member.written, " ", &*member.name]
        });
        [self.name.as_str(), "("].into_iter().chain(members).chain([")"])
    }
}

/// Parses a declared struct.
fn structure((name, declared): (String, Json<'_>)) -> Result<Declaration, JsonError> {
    // Names in use contain colons, dots and dashes. The delimiters of the EIP-712 notation are not allowed.
    if !is_name(&name, "_$:.-") {
        return Err(JsonError::at("types", "has an invalid type name"));
    }
    let path = format!("types.{name}");
    if base(&name) != Base::Unknown {
        return Err(JsonError::at(&path, "has the name of a built-in type"));
    }
    let Json::List(declared) = declared else { return Err(JsonError::at(&path, "is not a list of members")) };
    if declared.len() > MEMBER_LIMIT {
        return Err(JsonError::at(&path, format!("has more than {MEMBER_LIMIT} members")));
    }
    let mut members: Vec<(String, String)> = Vec::with_capacity(declared.len());
    for (index, declared) in declared.into_iter().enumerate() {
        let path = format!("{path}[{index}]");
        let Json::Object(mut member) = declared else { return Err(JsonError::at(&path, "is not an object")) };
        let mut text = |name: &str| match member.remove(name) {
            Some(Json::Text(text)) => Ok(text),
            Some(_) => Err(JsonError::at(&format!("{path}.{name}"), "is not a string")),
            None => Err(JsonError::at(&format!("{path}.{name}"), "is missing")),
        };
        let (name, type_) = (text("name")?, text("type")?);
        if !is_name(&name, "_$-") {
            return Err(JsonError::at(&format!("{path}.name"), "is not a valid name"));
        }
        if members.iter().any(|(known, _)| *known == name) {
            return Err(JsonError::at(&format!("{path}.name"), "is a duplicate member name"));
        }
        members.push((name, type_));
    }
    Ok((name, members))
}

/// Returns whether a text is a name: at most [`NAME_LIMIT_BYTES`] ASCII letters, digits and `symbols`.
fn is_name(text: &str, symbols: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || symbols.contains(letter);
    !text.is_empty() && text.len() <= NAME_LIMIT_BYTES && text.chars().all(is_allowed)
}

fn resolved((name, members): Declaration, indexes: &BTreeMap<String, usize>) -> StructType {
    let members = members.into_iter().map(|(name, written)| {
        let type_ =
            type_of(&written, indexes).unwrap_or(Type { base: Base::Unknown, dimensions: Vec::new() });
        MemberType { name: name.into(), written: written.into(), type_ }
    });
    StructType { name, members: members.collect(), hash: OnceCell::new(), is_counted: Cell::new(false) }
}

/// Parses a type. Returns `None` if its dimensions are invalid.
fn type_of(written: &str, indexes: &BTreeMap<String, usize>) -> Option<Type> {
    let (mut rest, mut dimensions) = (written, Vec::new());
    while let Some(inner) = rest.strip_suffix(']') {
        let (before, length) = inner.rsplit_once('[')?;
        dimensions.push(if length.is_empty() { None } else { Some(number(length)?) });
        if dimensions.len() > DIMENSION_LIMIT {
            return None;
        }
        rest = before;
    }
    let base = indexes.get(rest).map_or_else(|| base(rest), |index| Base::Struct(*index));
    Some(Type { base, dimensions })
}

/// Returns the built-in type with this name, or [`Base::Unknown`].
fn base(name: &str) -> Base {
    // EIP-712 has no `uint` and `int` without a width.
    let integer = |digits: &str, is_signed| match number(digits) {
        Some(bits @ 8..=256) if bits.is_multiple_of(8) => Base::Integer { is_signed, bits },
        _ => Base::Unknown,
    };
    match name {
        "address" => Base::Address,
        "bool" => Base::Bool,
        "bytes" => Base::Bytes,
        "string" => Base::Text,
        _ => {
            if let Some(digits) = name.strip_prefix("uint") {
                integer(digits, false)
            } else if let Some(digits) = name.strip_prefix("int") {
                integer(digits, true)
            } else {
                let length = name.strip_prefix("bytes").and_then(number);
                length.filter(|length| *length <= 32).map_or(Base::Unknown, Base::FixedBytes)
            }
        }
    }
}

/// Parses a positive number without leading zeros.
fn number(digits: &str) -> Option<usize> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_type_notations() {
        let indexes = BTreeMap::from([("Mail".to_owned(), 3)]);
        for (written, base, dimensions) in [
            ("address", Base::Address, &[][..]),
            ("uint8", Base::Integer { is_signed: false, bits: 8 }, &[]),
            ("int256", Base::Integer { is_signed: true, bits: 256 }, &[]),
            ("bytes32", Base::FixedBytes(32), &[]),
            ("bytes", Base::Bytes, &[]),
            ("Mail", Base::Struct(3), &[]),
            ("Mail[]", Base::Struct(3), &[None]),
            // The last dimension is the outermost, as in Solidity array types.
            ("string[2][]", Base::Text, &[None, Some(2)]),
            ("bool[][7]", Base::Bool, &[Some(7), None]),
        ] {
            let expected = Type { base, dimensions: dimensions.to_vec() };
            assert_eq!(type_of(written, &indexes), Some(expected), "{written}");
        }
        for written in [
            "",
            "mail",
            "uint",
            "int",
            "uint7",
            "uint0",
            "uint08",
            "uint264",
            "int+8",
            "bytes0",
            "bytes33",
            "bytes032",
            "[]",
            "Bool",
            "uint256 ",
            "fixed128x18",
            "Mail []",
            "function",
        ] {
            assert!(type_of(written, &indexes).is_none_or(|type_| type_.base == Base::Unknown), "{written}");
        }
        for written in [
            "Mail]",
            "Mail[0]",
            "Mail[01]",
            "Mail[-1]",
            "Mail[[]]",
            "Mail[1e3]",
            "bool[99999999999999999999]",
        ] {
            assert_eq!(type_of(written, &indexes), None, "{written}");
        }
    }
}
