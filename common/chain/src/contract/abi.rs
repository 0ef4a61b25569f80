//! Contract ABI of Ethereum: the functions of a contract, and the decoding of call data.
//!
//! The JSON follows the Contract ABI Specification ("JSON"). Entries that are not functions are ignored. Call
//! data must be encoded as compilers encode it, to the last byte. Other encodings, even if a contract would
//! accept them, are not decoded.

use std::collections::{BTreeMap, BTreeSet};

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::keccak256;
use quorate_policy::{Integer, Value};

use super::argument::{self, Argument, Lines};
use super::{InterfaceError, is_name, json, layout};
use crate::address::of_account;
use crate::json::Json;

/// Maximum nesting depth of types: lists and tuples.
const MAX_DEPTH: usize = 8;
/// Maximum number of types in all functions of an interface.
const MAX_TYPES: usize = 8192;
/// Maximum number of values that a function takes, including those of fixed-size lists. No transaction can
/// hold more.
const MAX_VALUES: usize = 4096;
/// Maximum length of the text of a type, in bytes.
const MAX_TYPE: usize = 128;

/// ABI of a contract.
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

/// Name of a parameter, and its parts if it is a tuple or a list of tuples.
#[derive(Debug, PartialEq)]
struct Parameter {
    name: String,
    parts: Vec<Parameter>,
}

/// A decoded call of a function of the interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Name of the function.
    pub name: String,
    /// Selector: the first four bytes of keccak256 of the function signature, with which the call data
    /// begins.
    pub selector: [u8; 4],
    arguments: Option<Vec<(String, Argument)>>,
}

impl Abi {
    /// Parses the JSON of an ABI. Identical entries for a function are allowed.
    ///
    /// # Errors
    /// The [`InterfaceError`] that applies first.
    pub fn parse(text: &str) -> Result<Self, InterfaceError> {
        let entries = json::parse(text)?;
        let entries = entries.as_list().ok_or(InterfaceError::NotAList)?;
        let mut functions = BTreeMap::new();
        let mut budget = MAX_TYPES;
        for (index, entry) in entries.iter().enumerate() {
            if json::text(entry, "type") != Some("function") {
                continue;
            }
            let function = Function::parse(entry, &mut budget);
            let function = function.map_err(|rule| InterfaceError::entry("entry", index, rule))?;
            let selector = function.selector();
            match functions.get(&selector) {
                Some(known) if *known != function => return Err(InterfaceError::SameSelector(selector)),
                Some(_) => {}
                None => drop(functions.insert(selector, function)),
            }
        }
        Ok(Self { functions })
    }

    /// Decodes the data of a transaction, or returns `None` if no function has its selector.
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
    /// Returns the arguments as facts for policies, by parameter name, or by position for parameters without
    /// a name.
    ///
    /// Returns `None` if the rest of the data is not a valid encoding of the arguments.
    pub fn arguments(&self) -> Option<Value> {
        self.arguments.as_deref().map(argument::values)
    }

    /// Returns the arguments as text for people, with the names of tuple parts.
    ///
    /// Returns `None` if the rest of the data is not a valid encoding of the arguments.
    pub fn lines(&self) -> Option<Lines> {
        self.arguments.as_deref().map(Lines::of)
    }
}

impl Function {
    fn parse(entry: &Json<'_>, budget: &mut usize) -> Result<Self, &'static str> {
        let name = json::text(entry, "name").filter(|name| is_name(name));
        let name = name.ok_or("its name is not a valid function name")?.to_owned();
        let inputs = json::list(entry, "inputs").ok_or("its inputs are not a list")?;
        let (parameters, kinds) = Parameter::all(inputs, 1, budget)?;
        let values = kinds.iter().map(layout::tokens).fold(0, usize::saturating_add);
        if values > MAX_VALUES {
            return Err("it takes more values than a transaction can hold");
        }
        Ok(Self { name, parameters, kinds })
    }

    /// Returns the first four bytes of keccak256 of the name and the types.
    fn selector(&self) -> [u8; 4] {
        let kinds: Vec<_> = self.kinds.iter().map(DynSolType::sol_type_name).collect();
        let [a, b, c, d, ..] = keccak256(format!("{}({})", self.name, kinds.join(","))).0;
        [a, b, c, d]
    }

    fn arguments(&self, data: &[u8]) -> Option<Vec<(String, Argument)>> {
        if !layout::is_canonical(&self.kinds, data) {
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
    /// Parses a list of parameters with their types.
    fn all(
        list: &[Json<'_>],
        depth: usize,
        budget: &mut usize,
    ) -> Result<(Vec<Self>, Vec<DynSolType>), &'static str> {
        let (mut parameters, mut kinds, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        for entry in list {
            let (parameter, kind) = Self::parse(entry, depth, budget)?;
            if !parameter.name.is_empty() && !names.insert(parameter.name.clone()) {
                return Err("two of its parameters have the same name");
            }
            parameters.push(parameter);
            kinds.push(kind);
        }
        Ok((parameters, kinds))
    }

    fn parse(entry: &Json<'_>, depth: usize, budget: &mut usize) -> Result<(Self, DynSolType), &'static str> {
        *budget = budget.checked_sub(1).ok_or("the functions have too many types in total")?;
        let name = json::text(entry, "name").unwrap_or_default();
        if !name.is_empty() && !is_name(name) {
            return Err("a parameter has an invalid name");
        }
        let text = json::text(entry, "type").ok_or("a parameter has no type")?;
        let (stem, sizes) = text.find('[').map_or((text, ""), |index| text.split_at(index));
        let depth = depth.saturating_add(sizes.bytes().filter(|byte| *byte == b'[').count());
        if depth > MAX_DEPTH || text.len() > MAX_TYPE {
            return Err("a parameter has a type that nests too deep");
        }
        let (parts, kind) = if stem == "tuple" {
            let parts = json::list(entry, "components").filter(|parts| !parts.is_empty());
            let (parts, kinds) =
                Self::all(parts.ok_or("a tuple has no parts")?, depth.saturating_add(1), budget)?;
            (parts, DynSolType::Tuple(kinds))
        } else {
            (Vec::new(), plain(stem).ok_or("a parameter has an unknown type")?)
        };
        let kind = listed(kind, sizes).ok_or("a parameter has an unknown type")?;
        Ok((Self { name: name.to_owned(), parts }, kind))
    }

    /// Returns the name, or the position for a parameter without a name.
    fn name_at(&self, index: usize) -> String {
        if self.name.is_empty() { index.to_string() } else { self.name.clone() }
    }
}

/// Parses a type without parts. `uint` and `int` are aliases of the 256-bit types.
fn plain(text: &str) -> Option<DynSolType> {
    // The library would also parse tuples here, at any depth.
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let kind = DynSolType::parse(text).ok()?;
    let is_canonical = kind.sol_type_name() == text || matches!(text, "uint" | "int");
    is_canonical.then_some(kind)
}

/// Wraps a type in lists: `[]` for any length, `[3]` for a fixed length, innermost first.
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
    rows.map(|(index, ((parameter, kind), value))| {
        Some((parameter.name_at(index), argument(parameter, kind, value)?))
    })
    .collect()
}

/// Converts a decoded value into an argument, or returns `None` if it exceeds the range of its type.
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

/// Returns a value without parts, for policies and as text for people.
fn leaf(value: &DynSolValue) -> Option<(Value, String)> {
    let exact = |text: String| (Value::text(text.clone()), text);
    Some(match value {
        DynSolValue::Bool(value) => (Value::Bool(*value), value.to_string()),
        DynSolValue::Uint(number, bits) if number.bit_len() <= *bits => {
            (Value::uint(*number), number.to_string())
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
