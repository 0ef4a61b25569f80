//! Types of an IDL. Types that the IDL itself defines are referenced by index.

use std::collections::{BTreeMap, BTreeSet};

use quorate_policy::named_enum;

use super::super::{InterfaceError, json};
use super::{is_name, name, numbered};
use crate::json::Json;

/// Maximum nesting depth of types: definitions within definitions, and lists and options within one
/// definition.
const MAX_DEPTH: usize = 10;

/// Type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A type without parts.
    Plain(Plain),
    /// A list whose length is in the data.
    List(Box<Kind>),
    /// A list whose length is in the interface.
    Array(Box<Kind>, usize),
    /// An optional value.
    Option(Box<Kind>),
    /// The definition with this index.
    Defined(usize),
    /// A type that cannot be decoded.
    Unsupported,
}

named_enum! {
    /// Types without parts (Borsh specification, with the names of Anchor).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Plain {
        Bool = "bool",
        U8 = "u8",
        U16 = "u16",
        U32 = "u32",
        U64 = "u64",
        U128 = "u128",
        I8 = "i8",
        I16 = "i16",
        I32 = "i32",
        I64 = "i64",
        I128 = "i128",
        F32 = "f32",
        F64 = "f64",
        String = "string",
        Bytes = "bytes",
        PublicKey = "pubkey",
    }
}

/// A named value with its type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Fields of a struct or of an enum variant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fields {
    /// No fields.
    None,
    /// Fields with names.
    Named(Vec<Field>),
    /// Fields with positions.
    Tuple(Vec<Kind>),
}

/// Definition of a named type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Definition {
    Struct(Fields),
    Enum(Vec<(String, Fields)>),
    Alias(Kind),
    Unsupported,
}

/// Types that an IDL defines.
#[derive(Debug, PartialEq)]
pub(super) struct Kinds {
    definitions: Vec<Definition>,
    indexes: BTreeMap<String, usize>,
}

impl Plain {
    /// Returns the type with a name. Interfaces of older versions write `publicKey`.
    fn of(name: &str) -> Option<Self> {
        Self::from_name(if name == "publicKey" { "pubkey" } else { name })
    }
}

impl Kinds {
    /// Parses definitions. Recursive definitions are an error.
    pub(super) fn parse(list: &[Json<'_>]) -> Result<Self, InterfaceError> {
        let mut kinds = Self { definitions: Vec::new(), indexes: BTreeMap::new() };
        let names = numbered("type", list, |entry| {
            // Type names may include their module paths.
            let whole = json::text(entry, "name").unwrap_or_default();
            let is_named = whole.split("::").all(is_name);
            if is_named { Ok(whole.to_owned()) } else { Err("a name is not a valid identifier") }
        })?;
        for (index, name) in names.into_iter().enumerate() {
            if kinds.indexes.insert(name, index).is_some() {
                return Err(InterfaceError::entry("type", index, "another type has the same name"));
            }
        }
        kinds.definitions = numbered("type", list, |entry| kinds.definition(entry))?;
        kinds.check_depths()?;
        Ok(kinds)
    }

    /// Returns the definition with an index.
    pub(super) fn at(&self, index: usize) -> Option<&Definition> {
        self.definitions.get(index)
    }

    /// Parses a list of named fields.
    pub(super) fn fields(&self, list: &[Json<'_>]) -> Result<Vec<Field>, &'static str> {
        let mut fields: Vec<Field> = Vec::new();
        let mut names = BTreeSet::new();
        for entry in list {
            let name = name(entry)?;
            if !names.insert(name.clone()) {
                return Err("two of its fields have the same name");
            }
            let kind = entry.get("type").ok_or("a field has no type")?;
            fields.push(Field { name, kind: self.kind(kind, MAX_DEPTH)? });
        }
        Ok(fields)
    }

    fn definition(&self, entry: &Json<'_>) -> Result<Definition, &'static str> {
        // Zero-copy accounts use their memory layout instead of Borsh.
        let is_borsh = entry.get("serialization").is_none_or(|how| how.as_str() == Some("borsh"));
        let is_generic = json::list(entry, "generics").is_some_and(|generics| !generics.is_empty());
        if !is_borsh || is_generic {
            return Ok(Definition::Unsupported);
        }
        let content = entry.get("type").ok_or("its type is missing")?;
        match json::text(content, "kind") {
            Some("struct") => Ok(Definition::Struct(match self.parts(content.get("fields"))? {
                Fields::None => Fields::Named(Vec::new()),
                fields => fields,
            })),
            Some("enum") => {
                let variants = json::list(content, "variants").ok_or("its variants are not a list")?;
                let variant = |entry| Ok((name(entry)?, self.parts(entry.get("fields"))?));
                Ok(Definition::Enum(variants.iter().map(variant).collect::<Result<_, &'static str>>()?))
            }
            Some("alias" | "type") => {
                let target = content.get("value").or_else(|| content.get("alias"));
                let target = target.ok_or("its type is missing")?;
                Ok(Definition::Alias(self.kind(target, MAX_DEPTH)?))
            }
            _ => Ok(Definition::Unsupported),
        }
    }

    fn parts(&self, fields: Option<&Json<'_>>) -> Result<Fields, &'static str> {
        let list = match fields {
            None | Some(Json::Null) => return Ok(Fields::None),
            Some(fields) => fields.as_list().ok_or("its fields are not a list")?,
        };
        if list.first().is_some_and(|first| first.get("name").is_some()) {
            return self.fields(list).map(Fields::Named);
        }
        let kinds = list.iter().map(|kind| self.kind(kind, MAX_DEPTH)).collect::<Result<Vec<_>, _>>()?;
        Ok(if kinds.is_empty() { Fields::None } else { Fields::Tuple(kinds) })
    }

    fn kind(&self, written: &Json<'_>, depth: usize) -> Result<Kind, &'static str> {
        if let Some(name) = written.as_str() {
            return Ok(Plain::of(name).map_or(Kind::Unsupported, Kind::Plain));
        }
        let inner = |written: &Json<'_>| {
            let depth = depth.checked_sub(1).ok_or("a type nests too deep")?;
            self.kind(written, depth).map(Box::new)
        };
        let members = written.as_object().ok_or("a type is neither a text nor an object")?;
        let Some((constructor, content)) = members.iter().next().filter(|_| members.len() == 1) else {
            return Ok(Kind::Unsupported);
        };
        Ok(match (constructor.as_str(), content) {
            ("vec", element) => Kind::List(inner(element)?),
            ("option", element) => Kind::Option(inner(element)?),
            ("array", Json::List(parts)) => match parts.as_slice() {
                [element, size] => match size.as_u64().and_then(|size| usize::try_from(size).ok()) {
                    Some(size) => Kind::Array(inner(element)?, size),
                    None => Kind::Unsupported,
                },
                _ => return Err("an array needs a type and a size"),
            },
            ("defined", target) => self.defined(target),
            _ => Kind::Unsupported,
        })
    }

    fn defined(&self, target: &Json<'_>) -> Kind {
        let is_generic = json::list(target, "generics").is_some_and(|generics| !generics.is_empty());
        let name = target.as_str().or_else(|| json::text(target, "name"));
        let index = name.filter(|_| !is_generic).and_then(|name| self.indexes.get(name));
        index.map_or(Kind::Unsupported, |index| Kind::Defined(*index))
    }

    /// Checks that no definition contains itself, and that none nests deeper than [`MAX_DEPTH`].
    fn check_depths(&self) -> Result<(), InterfaceError> {
        let targets: Vec<Vec<usize>> = self.definitions.iter().map(Definition::targets).collect();
        // Each round removes the definitions that contain no remaining one. After as many rounds as types may
        // nest, none must remain.
        let mut remaining: Vec<usize> = (0..targets.len()).collect();
        let mut is_remaining = vec![true; targets.len()];
        for _ in 0..=MAX_DEPTH {
            let contains_remaining = |index: &usize| {
                let mut targets = targets.get(*index).into_iter().flatten();
                targets.any(|target| is_remaining.get(*target) == Some(&true))
            };
            let (kept, removed): (Vec<_>, Vec<_>) = remaining.into_iter().partition(contains_remaining);
            for index in removed {
                if let Some(is_remaining) = is_remaining.get_mut(index) {
                    *is_remaining = false;
                }
            }
            remaining = kept;
        }
        match remaining.first() {
            Some(index) => {
                Err(InterfaceError::entry("type", *index, "it contains itself, or nests too deep"))
            }
            None => Ok(()),
        }
    }
}

impl Definition {
    /// Returns the indexes of the definitions that it contains.
    fn targets(&self) -> Vec<usize> {
        match self {
            Self::Struct(fields) => fields.kinds().filter_map(Kind::target).collect(),
            Self::Enum(variants) => {
                variants.iter().flat_map(|(_, fields)| fields.kinds()).filter_map(Kind::target).collect()
            }
            Self::Alias(kind) => kind.target().into_iter().collect(),
            Self::Unsupported => Vec::new(),
        }
    }
}

impl Fields {
    fn kinds(&self) -> Box<dyn Iterator<Item = &Kind> + '_> {
        match self {
            Self::None => Box::new(std::iter::empty()),
            Self::Named(fields) => Box::new(fields.iter().map(|field| &field.kind)),
            Self::Tuple(kinds) => Box::new(kinds.iter()),
        }
    }
}

impl Kind {
    /// Returns the index of the definition that the type is or contains.
    fn target(&self) -> Option<usize> {
        match self {
            Self::List(inner) | Self::Array(inner, _) | Self::Option(inner) => inner.target(),
            Self::Defined(index) => Some(*index),
            Self::Plain(_) | Self::Unsupported => None,
        }
    }
}
