//! The types that typed data declares, and their hashes (EIP-712, `encodeType` and `typeHash`).

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::Keccak256;

use crate::json::{Flaw, Json, Members};

/// The struct that says for whom the rest is meant.
pub(super) const DOMAIN: &str = "EIP712Domain";
/// Members of that struct where it is not declared, in the order of EIP-712.
const DOMAIN_MEMBERS: [(&str, &str); 5] = [
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
    ("salt", "bytes32"),
];
/// Most structs.
const STRUCT_LIMIT: usize = 128;
/// Most members of one struct.
const MEMBER_LIMIT: usize = 256;
/// Longest name of a struct or member, in bytes.
const NAME_LIMIT_BYTES: usize = 128;
/// Most bytes of all types as they are written.
const TEXT_LIMIT_BYTES: usize = 64 * 1024;
/// Most bytes that the hashes of structs are made of. Each is made of its struct and all structs within it, so that these are
/// many times the bytes that are written.
const HASHED_LIMIT_BYTES: usize = 256 * 1024;
/// Most dimensions of a list.
const DIMENSION_LIMIT: usize = 32;

/// What a value is apart from lists of it.
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
    /// The struct at that place.
    Struct(usize),
    /// Nothing that is known or declared.
    Unknown,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) base: Base,
    /// Of lists, outermost first: how many elements there are, where that is said.
    pub(super) dimensions: Vec<Option<usize>>,
}

#[derive(Debug)]
pub(super) struct MemberType {
    pub(super) name: Arc<str>,
    /// The type as it is written, which is how it is hashed.
    pub(super) written: Arc<str>,
    pub(super) type_: Type,
}

#[derive(Debug)]
pub(super) struct StructType {
    pub(super) name: String,
    pub(super) members: Vec<MemberType>,
    hash: OnceCell<[u8; 32]>,
    /// Whether the bytes of its hash are among those that are counted.
    is_counted: Cell<bool>,
}

/// The structs that typed data declares.
#[derive(Debug)]
pub(super) struct Types {
    structs: Vec<StructType>,
    /// How many bytes the hashes of the structs that were checked are made of.
    hashed_bytes: Cell<usize>,
}

/// Name, and names and types of members.
type Written = (String, Vec<(String, String)>);

impl Types {
    /// Reads what is declared. What nobody uses need not be known; `domain` has the members that a domain has which is not
    /// declared.
    pub(super) fn read(declared: Members<'_>, domain: &Members<'_>) -> Result<Self, Flaw> {
        if declared.len() > STRUCT_LIMIT {
            return Err(Flaw::at("types", format!("has more than {STRUCT_LIMIT} types")));
        }
        let written = declared.into_iter().map(structure).collect::<Result<Vec<_>, _>>()?;
        let texts = written.iter().flat_map(|(_, members)| members.iter().map(|(name, type_)| (name, type_)));
        let bytes = texts.fold(0_usize, |sum, (name, type_)| sum.saturating_add(name.len() + type_.len()));
        if bytes > TEXT_LIMIT_BYTES {
            return Err(Flaw::at(
                "types",
                format!("has more than {TEXT_LIMIT_BYTES} bytes of names and types"),
            ));
        }
        let names = written.iter().map(|(name, _)| name.clone()).zip(0..);
        let places: BTreeMap<String, usize> = names.collect();
        let mut structs: Vec<StructType> =
            written.into_iter().map(|structure| resolved(structure, &places)).collect();
        if !places.contains_key(DOMAIN) {
            let present = |name: &str| domain.get(name).is_some_and(|value| !matches!(value, Json::Null));
            let members = DOMAIN_MEMBERS.iter().filter(|(name, _)| present(name));
            let members = members.map(|(name, type_)| ((*name).to_owned(), (*type_).to_owned())).collect();
            structs.push(resolved((DOMAIN.to_owned(), members), &places));
        }
        Ok(Self { structs, hashed_bytes: Cell::new(0) })
    }

    /// The place of the struct of that name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.structs.iter().position(|known| known.name == name)
    }

    pub(super) fn get(&self, place: usize) -> Option<&StructType> {
        self.structs.get(place)
    }

    /// Sees to it that the struct and all within it are made of types that are known, and do not take long to hash.
    pub(super) fn check(&self, place: usize) -> Result<(), Flaw> {
        for place in self.within(place) {
            let Some(structure) = self.get(place) else { continue };
            let unknown = structure.members.iter().position(|member| member.type_.base == Base::Unknown);
            if let Some(index) = unknown {
                let path = format!("types.{}[{index}].type", structure.name);
                return Err(Flaw::at(&path, "is not a known type"));
            }
            if !structure.is_counted.replace(true) {
                self.count(place)?;
            }
        }
        Ok(())
    }

    /// Adds the bytes that the hash of a struct is made of.
    fn count(&self, place: usize) -> Result<(), Flaw> {
        let structs = self.within(place).into_iter().filter_map(|place| self.get(place));
        let bytes: usize = structs.flat_map(StructType::text).map(str::len).sum();
        self.hashed_bytes.set(self.hashed_bytes.get().saturating_add(bytes));
        if self.hashed_bytes.get() <= HASHED_LIMIT_BYTES {
            return Ok(());
        }
        let told = format!("has structs that take more than {HASHED_LIMIT_BYTES} bytes to hash");
        Err(Flaw::at("types", told))
    }

    /// keccak256 of the struct as EIP-712 writes it: itself, then all structs within it by their names.
    pub(super) fn hash(&self, place: usize) -> [u8; 32] {
        let made = || {
            let mut hasher = Keccak256::new();
            let structs = self.within(place).into_iter().filter_map(|place| self.get(place));
            for part in structs.flat_map(StructType::text) {
                hasher.update(part);
            }
            hasher.finalize().0
        };
        self.get(place).map_or_else(made, |structure| *structure.hash.get_or_init(made))
    }

    /// The struct, and the places of all structs within it in the order of their names.
    fn within(&self, place: usize) -> Vec<usize> {
        let (mut found, mut next) = (vec![place], 0);
        let mut is_found = vec![false; self.structs.len()];
        let mut find =
            |place: usize| is_found.get_mut(place).is_some_and(|known| !std::mem::replace(known, true));
        find(place);
        while let Some(structure) = found.get(next).and_then(|place| self.get(*place)) {
            let bases = structure.members.iter().map(|member| member.type_.base);
            let inner =
                bases.filter_map(|base| if let Base::Struct(place) = base { Some(place) } else { None });
            found.extend(inner.filter(|place| find(*place)));
            next = next.saturating_add(1);
        }
        if let [_, inner @ ..] = found.as_mut_slice() {
            inner.sort_by_key(|place| self.get(*place).map(|structure| &structure.name));
        }
        found
    }
}

impl StructType {
    /// The parts of the text that EIP-712 writes for it, without those within it.
    fn text(&self) -> impl Iterator<Item = &str> {
        let members = self.members.iter().enumerate().flat_map(|(index, member)| {
            [if index == 0 { "" } else { "," }, &*member.written, " ", &*member.name]
        });
        [self.name.as_str(), "("].into_iter().chain(members).chain([")"])
    }
}

/// A struct as it is declared.
fn structure((name, declared): (String, Json<'_>)) -> Result<Written, Flaw> {
    // Colons, dots and dashes stand in names that are in use; what EIP-712 writes around names may not.
    if !is_name(&name, "_$:.-") {
        return Err(Flaw::at("types", "has a type with a name that is none"));
    }
    let path = format!("types.{name}");
    if base(&name) != Base::Unknown {
        return Err(Flaw::at(&path, "has the name of another type"));
    }
    let Json::List(declared) = declared else { return Err(Flaw::at(&path, "is not a list of members")) };
    if declared.len() > MEMBER_LIMIT {
        return Err(Flaw::at(&path, format!("has more than {MEMBER_LIMIT} members")));
    }
    let mut members: Vec<(String, String)> = Vec::with_capacity(declared.len());
    for (index, declared) in declared.into_iter().enumerate() {
        let path = format!("{path}[{index}]");
        let Json::Object(mut member) = declared else { return Err(Flaw::at(&path, "is not an object")) };
        let mut text = |name: &str| match member.remove(name) {
            Some(Json::Text(text)) => Ok(text),
            Some(_) => Err(Flaw::at(&format!("{path}.{name}"), "is not a text")),
            None => Err(Flaw::at(&format!("{path}.{name}"), "is missing")),
        };
        let (name, type_) = (text("name")?, text("type")?);
        if !is_name(&name, "_$-") {
            return Err(Flaw::at(&format!("{path}.name"), "is not a name"));
        }
        if members.iter().any(|(known, _)| *known == name) {
            return Err(Flaw::at(&format!("{path}.name"), "is the name of an earlier member"));
        }
        members.push((name, type_));
    }
    Ok((name, members))
}

/// Whether these are a few letters, digits and `signs` of ASCII.
fn is_name(text: &str, signs: &str) -> bool {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || signs.contains(letter);
    !text.is_empty() && text.len() <= NAME_LIMIT_BYTES && text.chars().all(is_fit)
}

fn resolved((name, members): Written, places: &BTreeMap<String, usize>) -> StructType {
    let members = members.into_iter().map(|(name, written)| {
        let type_ = type_of(&written, places).unwrap_or(Type { base: Base::Unknown, dimensions: Vec::new() });
        MemberType { name: name.into(), written: written.into(), type_ }
    });
    StructType { name, members: members.collect(), hash: OnceCell::new(), is_counted: Cell::new(false) }
}

/// The type that is written so; nothing if its dimensions are not.
fn type_of(written: &str, places: &BTreeMap<String, usize>) -> Option<Type> {
    let (mut rest, mut dimensions) = (written, Vec::new());
    while let Some(inner) = rest.strip_suffix(']') {
        let (before, length) = inner.rsplit_once('[')?;
        dimensions.push(if length.is_empty() { None } else { Some(number(length)?) });
        if dimensions.len() > DIMENSION_LIMIT {
            return None;
        }
        rest = before;
    }
    let base = places.get(rest).map_or_else(|| base(rest), |place| Base::Struct(*place));
    Some(Type { base, dimensions })
}

/// The type of that name which needs no declaration.
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

/// A number above zero, written without zeros in front.
fn number(digits: &str) -> Option<usize> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_they_are_written() {
        let places = BTreeMap::from([("Mail".to_owned(), 3)]);
        for (written, base, dimensions) in [
            ("address", Base::Address, &[][..]),
            ("uint8", Base::Integer { is_signed: false, bits: 8 }, &[]),
            ("int256", Base::Integer { is_signed: true, bits: 256 }, &[]),
            ("bytes32", Base::FixedBytes(32), &[]),
            ("bytes", Base::Bytes, &[]),
            ("Mail", Base::Struct(3), &[]),
            ("Mail[]", Base::Struct(3), &[None]),
            // The last is the outermost: Solidity, types of arrays.
            ("string[2][]", Base::Text, &[None, Some(2)]),
            ("bool[][7]", Base::Bool, &[Some(7), None]),
        ] {
            let expected = Type { base, dimensions: dimensions.to_vec() };
            assert_eq!(type_of(written, &places), Some(expected), "{written}");
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
            assert!(type_of(written, &places).is_none_or(|type_| type_.base == Base::Unknown), "{written}");
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
            assert_eq!(type_of(written, &places), None, "{written}");
        }
    }
}
