//! Decodes the arguments of an instruction: Borsh, with the types of an interface.

use quorate_policy::{Integer, Value};

use super::super::argument::Argument;
use super::MAX_INSTRUCTION_BYTES;
use super::kind::{Definition, Field, Fields, Kind, Kinds, Plain};

/// Memory budget for decoding one instruction: 24 times its maximum length, in bytes.
const MAX_ALLOCATION: usize = ELEMENT * MAX_INSTRUCTION_BYTES;
/// Cost of one list element, in bytes.
const ELEMENT: usize = 24;
/// Maximum number of values, including those that take no bytes.
const MAX_VALUES: usize = 8192;

const ENDS: &str = "the data ends too early";
const LARGE: &str = "the data describes too many values to decode";

/// Decodes values from the start of data.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    kinds: &'a Kinds,
    allocation: usize,
    values: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(data: &'a [u8], kinds: &'a Kinds) -> Self {
        Self { rest: data, kinds, allocation: MAX_ALLOCATION, values: MAX_VALUES }
    }

    /// Decodes these fields, which must take up all of the data.
    pub(super) fn all(mut self, fields: &[Field]) -> Result<Vec<(String, Argument)>, &'static str> {
        let arguments = self.named(fields)?;
        if self.rest.is_empty() { Ok(arguments) } else { Err("bytes follow the arguments") }
    }

    fn named(&mut self, fields: &[Field]) -> Result<Vec<(String, Argument)>, &'static str> {
        fields.iter().map(|field| Ok((field.name.clone(), self.argument(&field.kind)?))).collect()
    }

    fn argument(&mut self, kind: &Kind) -> Result<Argument, &'static str> {
        self.values = self.values.checked_sub(1).ok_or(LARGE)?;
        match kind {
            Kind::Plain(plain) => self.plain(*plain),
            Kind::List(inner) => {
                let size = self.length()?;
                self.elements(kind, inner, size)
            }
            Kind::Array(inner, size) => self.elements(kind, inner, *size),
            Kind::Option(inner) => {
                if self.flag()? {
                    self.argument(inner)
                } else {
                    Ok(nothing(&type_text(kind)))
                }
            }
            Kind::Defined(index) => self.defined(*index),
            Kind::Unsupported => Err("a type of the interface is not supported"),
        }
    }

    fn elements(&mut self, kind: &Kind, inner: &Kind, size: usize) -> Result<Argument, &'static str> {
        let cost = size.checked_mul(ELEMENT);
        self.charge(cost)?;
        let elements = (0..size).map(|_| self.argument(inner)).collect::<Result<_, _>>()?;
        Ok(Argument::List { kind: type_text(kind), elements })
    }

    fn defined(&mut self, index: usize) -> Result<Argument, &'static str> {
        let kinds = self.kinds;
        match kinds.at(index) {
            Some(Definition::Struct(fields)) => self.parts(fields),
            Some(Definition::Alias(kind)) => self.argument(kind),
            Some(Definition::Enum(variants)) => {
                let [index] = self.take::<1>()?;
                let variant = variants.get(usize::from(index));
                let (name, fields) = variant.ok_or("an enum has no such variant")?;
                Ok(Argument::Struct(vec![(name.clone(), self.parts(fields)?)]))
            }
            Some(Definition::Unsupported) | None => Err("a type of the interface is not supported"),
        }
    }

    fn parts(&mut self, fields: &Fields) -> Result<Argument, &'static str> {
        Ok(match fields {
            Fields::None => nothing("variant"),
            Fields::Named(fields) => Argument::Struct(self.named(fields)?),
            Fields::Tuple(kinds) => {
                let parts = kinds.iter().enumerate();
                let parts = parts.map(|(index, kind)| Ok((index.to_string(), self.argument(kind)?)));
                Argument::Tuple(parts.collect::<Result<_, &'static str>>()?)
            }
        })
    }

    fn plain(&mut self, plain: Plain) -> Result<Argument, &'static str> {
        let (value, text) = match plain {
            Plain::Bool => {
                let value = self.flag()?;
                (Value::Bool(value), value.to_string())
            }
            Plain::U8 => unsigned(u8::from_le_bytes(self.take()?)),
            Plain::U16 => unsigned(u16::from_le_bytes(self.take()?)),
            Plain::U32 => unsigned(u32::from_le_bytes(self.take()?)),
            Plain::U64 => unsigned(u64::from_le_bytes(self.take()?)),
            Plain::U128 => unsigned(u128::from_le_bytes(self.take()?)),
            Plain::I8 => signed(i8::from_le_bytes(self.take()?)),
            Plain::I16 => signed(i16::from_le_bytes(self.take()?)),
            Plain::I32 => signed(i32::from_le_bytes(self.take()?)),
            Plain::I64 => signed(i64::from_le_bytes(self.take()?)),
            Plain::I128 => signed(i128::from_le_bytes(self.take()?)),
            // Policies have no fractions, so that they see the text. Borsh forbids NaN (checked in
            // `fraction`).
            Plain::F32 => {
                let number = f32::from_le_bytes(self.take()?);
                fraction(number.is_nan(), number.to_string())?
            }
            Plain::F64 => {
                let number = f64::from_le_bytes(self.take()?);
                fraction(number.is_nan(), number.to_string())?
            }
            Plain::String => {
                let length = self.length()?;
                let text = str::from_utf8(self.bytes(length)?).map_err(|_| "a text is not UTF-8")?;
                exact(text.to_owned())
            }
            Plain::Bytes => {
                let length = self.length()?;
                exact(const_hex::encode(self.bytes(length)?))
            }
            Plain::PublicKey => exact(bs58::encode(self.take::<32>()?).into_string()),
        };
        Ok(Argument::Leaf { kind: plain.name().to_owned(), value, text })
    }

    /// Decodes a byte that must be 0 or 1.
    fn flag(&mut self) -> Result<bool, &'static str> {
        match self.take()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err("a byte is neither 0 nor 1"),
        }
    }

    /// Decodes a length prefix.
    fn length(&mut self) -> Result<usize, &'static str> {
        usize::try_from(u32::from_le_bytes(self.take()?)).map_err(|_| LARGE)
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(ENDS)?;
        self.charge(Some(length))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>().ok_or(ENDS)?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn charge(&mut self, cost: Option<usize>) -> Result<(), &'static str> {
        self.allocation = cost.and_then(|cost| self.allocation.checked_sub(cost)).ok_or(LARGE)?;
        Ok(())
    }
}

/// Returns the argument for an absent option. Policies that access it fail, since the language has no null.
fn nothing(kind: &str) -> Argument {
    Argument::Leaf { kind: kind.to_owned(), value: Value::Unreadable, text: "(none)".to_owned() }
}

fn unsigned(number: impl Into<Integer>) -> (Value, String) {
    let number = number.into();
    (Value::uint(number), number.to_string())
}

fn signed(number: impl Into<Integer>) -> (Value, String) {
    let number = number.into();
    (Value::int(number), number.to_string())
}

fn fraction(is_nan: bool, text: String) -> Result<(Value, String), &'static str> {
    if is_nan { Err("a floating-point number is NaN") } else { Ok(exact(text)) }
}

fn exact(text: String) -> (Value, String) {
    (Value::text(text.clone()), text)
}

/// Returns a type as text for people.
fn type_text(kind: &Kind) -> String {
    match kind {
        Kind::Plain(plain) => plain.name().to_owned(),
        Kind::List(inner) => format!("vec<{}>", type_text(inner)),
        Kind::Array(inner, size) => format!("[{}; {size}]", type_text(inner)),
        Kind::Option(inner) => format!("option<{}>", type_text(inner)),
        Kind::Defined(_) => "struct".to_owned(),
        Kind::Unsupported => "unsupported".to_owned(),
    }
}
