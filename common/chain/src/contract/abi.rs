//! Contract ABI of Ethereum: which functions a contract has, and what the data of a call says to them.
//!
//! The JSON is that of the Contract ABI Specification ("JSON"); entries that are no functions are not looked into. The data
//! must be written as compilers write it, to the last byte: whatever else a contract would take is not told here.

use std::collections::{BTreeMap, BTreeSet};

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::keccak256;
use quorate_policy::{Integer, Value};

use super::argument::{self, Argument, Lines};
use super::{Flaw, is_name, json, layout};
use crate::address::of_account;
use crate::json::Json;

/// How deep types may nest: lists, tuples and what they hold.
const MAX_DEPTH: usize = 8;
/// How many types the functions of an interface may have.
const MAX_TYPES: usize = 8192;
/// How many values a function may take, those of lists with a fixed size included: no transaction has room for more.
const MAX_VALUES: usize = 4096;
/// Longest text of a type, in bytes.
const MAX_TYPE: usize = 128;

/// What a contract can be called with.
#[derive(Debug, PartialEq)]
pub struct Abi {
    functions: BTreeMap<[u8; 4], Function>,
}

#[derive(Debug, PartialEq)]
struct Function {
    name: String,
    parameters: Vec<Parameter>,
    kinds: Vec<DynSolType>,
}

/// What a parameter is called, and what its parts are, if it is a tuple or a list of tuples.
#[derive(Debug, PartialEq)]
struct Parameter {
    name: String,
    parts: Vec<Parameter>,
}

/// A call of a function that the interface has.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name of the function.
    pub name: String,
    /// The first bytes of keccak256 of its signature, which are those of the call.
    pub selector: [u8; 4],
    arguments: Option<Vec<(String, Argument)>>,
}

impl Abi {
    /// Reads the JSON of an ABI. The same function twice counts once.
    ///
    /// # Errors
    /// The [`Flaw`] that applies first.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        let entries = json::parse(text)?;
        let entries = entries.as_list().ok_or(Flaw::NotAList)?;
        let mut functions = BTreeMap::new();
        let mut room = MAX_TYPES;
        for (place, entry) in entries.iter().enumerate() {
            if json::text(entry, "type") != Some("function") {
                continue;
            }
            let number = place.saturating_add(1);
            let function = Function::parse(entry, &mut room);
            let function = function.map_err(|rule| Flaw::Entry { noun: "entry", number, rule })?;
            let selector = function.selector();
            match functions.get(&selector) {
                Some(known) if *known != function => return Err(Flaw::SameSelector(selector)),
                Some(_) => {}
                None => drop(functions.insert(selector, function)),
            }
        }
        Ok(Self { functions })
    }

    /// What the data of a transaction calls; none if no function has its first bytes.
    pub fn call(&self, data: &[u8]) -> Option<Call> {
        let (selector, arguments) = data.split_first_chunk::<4>()?;
        let function = self.functions.get(selector)?;
        Some(Call {
            name: function.name.clone(),
            selector: *selector,
            arguments: function.arguments(arguments),
        })
    }
}

impl Call {
    /// What policies may ask about the arguments: by the names of the parameters, or by their positions where they have
    /// none. None if the rest of the data is not what the function takes.
    pub fn arguments(&self) -> Option<Value> {
        self.arguments.as_deref().map(argument::values)
    }

    /// The arguments for people, with the parts of tuples by their names. None if the rest of the data is not what the
    /// function takes.
    pub fn lines(&self) -> Option<Lines> {
        self.arguments.as_deref().map(Lines::of)
    }
}

impl Function {
    fn parse(entry: &Json<'_>, room: &mut usize) -> Result<Self, &'static str> {
        let name = json::text(entry, "name").filter(|name| is_name(name));
        let name = name.ok_or("its name is none that a function can have")?.to_owned();
        let inputs = json::list(entry, "inputs").ok_or("its inputs are not a list")?;
        let (parameters, kinds) = Parameter::all(inputs, 1, room)?;
        let values = kinds.iter().map(layout::tokens).fold(0, usize::saturating_add);
        if values > MAX_VALUES {
            return Err("it takes more values than a transaction has room for");
        }
        Ok(Self { name, parameters, kinds })
    }

    /// The first bytes of keccak256 of the name and the types.
    fn selector(&self) -> [u8; 4] {
        let kinds: Vec<_> = self.kinds.iter().map(DynSolType::sol_type_name).collect();
        let [a, b, c, d, ..] = keccak256(format!("{}({})", self.name, kinds.join(","))).0;
        [a, b, c, d]
    }

    fn arguments(&self, data: &[u8]) -> Option<Vec<(String, Argument)>> {
        if !layout::is_of(&self.kinds, data) {
            return None;
        }
        let read = DynSolType::Tuple(self.kinds.clone()).abi_decode_sequence(data).ok()?;
        if read.abi_encode_params() != data {
            return None;
        }
        let DynSolValue::Tuple(values) = read else { return None };
        named(&self.parameters, &self.kinds, &values)
    }
}

impl Parameter {
    /// Parameters in a row, with their types.
    fn all(
        list: &[Json<'_>],
        depth: usize,
        room: &mut usize,
    ) -> Result<(Vec<Self>, Vec<DynSolType>), &'static str> {
        let (mut parameters, mut kinds, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        for entry in list {
            let (parameter, kind) = Self::parse(entry, depth, room)?;
            if !parameter.name.is_empty() && !names.insert(parameter.name.clone()) {
                return Err("two of its parameters have one name");
            }
            parameters.push(parameter);
            kinds.push(kind);
        }
        Ok((parameters, kinds))
    }

    fn parse(entry: &Json<'_>, depth: usize, room: &mut usize) -> Result<(Self, DynSolType), &'static str> {
        *room = room.checked_sub(1).ok_or("the functions have too many types together")?;
        let name = json::text(entry, "name").unwrap_or_default();
        if !name.is_empty() && !is_name(name) {
            return Err("a parameter has a name that none can have");
        }
        let text = json::text(entry, "type").ok_or("a parameter has no type")?;
        let (stem, sizes) = text.find('[').map_or((text, ""), |place| text.split_at(place));
        let depth = depth.saturating_add(sizes.bytes().filter(|byte| *byte == b'[').count());
        if depth > MAX_DEPTH || text.len() > MAX_TYPE {
            return Err("a parameter has a type that is nested too deep");
        }
        let (parts, kind) = if stem == "tuple" {
            let parts = json::list(entry, "components").filter(|parts| !parts.is_empty());
            let (parts, kinds) =
                Self::all(parts.ok_or("a tuple has no parts")?, depth.saturating_add(1), room)?;
            (parts, DynSolType::Tuple(kinds))
        } else {
            (Vec::new(), plain(stem).ok_or("a parameter has a type that no ABI has")?)
        };
        let kind = listed(kind, sizes).ok_or("a parameter has a type that no ABI has")?;
        Ok((Self { name: name.to_owned(), parts }, kind))
    }

    /// What people and policies call it in this place.
    fn name_at(&self, place: usize) -> String {
        if self.name.is_empty() { place.to_string() } else { self.name.clone() }
    }
}

/// A type without parts. `uint` and `int` are short for those of 256 bits.
fn plain(text: &str) -> Option<DynSolType> {
    // The library also reads tuples here, at any depth.
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let kind = DynSolType::parse(text).ok()?;
    let is_spelled_so = kind.sol_type_name() == text || matches!(text, "uint" | "int");
    is_spelled_so.then_some(kind)
}

/// Lists of a type: `[]` of any length, `[3]` of a fixed one, the innermost first.
fn listed(mut kind: DynSolType, mut sizes: &str) -> Option<DynSolType> {
    while !sizes.is_empty() {
        let (size, rest) = sizes.strip_prefix('[')?.split_once(']')?;
        kind = if size.is_empty() {
            DynSolType::Array(Box::new(kind))
        } else {
            let is_number = !size.starts_with('0') && size.bytes().all(|byte| byte.is_ascii_digit());
            let size: usize = is_number.then(|| size.parse().ok())??;
            DynSolType::FixedArray(Box::new(kind), size)
        };
        sizes = rest;
    }
    Some(kind)
}

fn named(
    parameters: &[Parameter],
    kinds: &[DynSolType],
    values: &[DynSolValue],
) -> Option<Vec<(String, Argument)>> {
    let rows = parameters.iter().zip(kinds).zip(values).enumerate();
    rows.map(|(place, ((parameter, kind), value))| {
        Some((parameter.name_at(place), argument(parameter, kind, value)?))
    })
    .collect()
}

/// An argument; none if it is no value of its type, however the bytes read.
fn argument(parameter: &Parameter, kind: &DynSolType, value: &DynSolValue) -> Option<Argument> {
    match (kind, value) {
        (DynSolType::Tuple(kinds), DynSolValue::Tuple(values)) => {
            named(&parameter.parts, kinds, values).map(Argument::Tuple)
        }
        (
            DynSolType::Array(inner) | DynSolType::FixedArray(inner, _),
            DynSolValue::Array(values) | DynSolValue::FixedArray(values),
        ) => {
            let elements = values.iter().map(|value| argument(parameter, inner, value));
            let elements = elements.collect::<Option<_>>()?;
            Some(Argument::List { kind: kind.sol_type_name().into_owned(), elements })
        }
        _ => {
            let (value, text) = leaf(value)?;
            Some(Argument::Leaf { kind: kind.sol_type_name().into_owned(), value, text })
        }
    }
}

/// A value without parts, for policies and for people.
fn leaf(value: &DynSolValue) -> Option<(Value, String)> {
    let exact = |text: String| (Value::text(text.clone()), text);
    Some(match value {
        DynSolValue::Bool(value) => (Value::Bool(*value), value.to_string()),
        DynSolValue::Uint(number, bits) if number.bit_len() <= *bits => {
            let number = Integer::from_be_bytes(&number.to_be_bytes::<32>())?;
            (Value::uint(number), number.to_string())
        }
        DynSolValue::Int(number, bits) if usize::try_from(number.bits()).is_ok_and(|used| used <= *bits) => {
            let number = Integer::from_twos_complement(&number.to_be_bytes::<32>());
            (Value::int(number), number.to_string())
        }
        DynSolValue::FixedBytes(word, length) => {
            let (bytes, rest) = word.as_slice().split_at_checked(*length)?;
            if rest.iter().any(|byte| *byte != 0) {
                return None;
            }
            exact(const_hex::encode_prefixed(bytes))
        }
        DynSolValue::Address(address) => {
            let text = of_account(&address.0.0);
            (Value::folded(text.clone()), text)
        }
        DynSolValue::Function(function) => exact(const_hex::encode_prefixed(function.as_slice())),
        DynSolValue::Bytes(bytes) => exact(const_hex::encode_prefixed(bytes)),
        DynSolValue::String(text) => exact(text.clone()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
