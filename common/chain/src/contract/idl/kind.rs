//! Types of an IDL, with the ones that it defines itself by their places.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Flaw, json};
use super::{is_name, name, numbered};
use crate::json::Json;

/// How deep types may nest: those in definitions of others, and lists and options in one definition.
const MAX_DEPTH: usize = 10;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// One without parts, which the name tells.
    Plain(Plain),
    /// As many as the data says.
    List(Box<Kind>),
    /// As many as the interface says.
    Array(Box<Kind>, usize),
    /// One or none.
    Option(Box<Kind>),
    /// The definition at this place.
    Defined(usize),
    /// One that is not read here.
    Unread,
}

/// Types without parts (Borsh specification; the names are those of Anchor).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Bool,
    U8,
    U16,
    U32,
    U64,
    U128,
    I8,
    I16,
    I32,
    I64,
    I128,
    F32,
    F64,
    String,
    Bytes,
    PublicKey,
}

/// A type with a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Fields of a struct or of a variant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fields {
    /// None at all, which a variant may have.
    None,
    /// By their names.
    Named(Vec<Field>),
    /// By their positions.
    Tuple(Vec<Kind>),
}

/// What a definition stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Definition {
    Struct(Fields),
    Enum(Vec<(String, Fields)>),
    Alias(Kind),
    Unread,
}

/// The types that an IDL defines.
#[derive(Debug, PartialEq)]
pub(super) struct Kinds {
    definitions: Vec<Definition>,
    places: BTreeMap<String, usize>,
}

impl Plain {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U128 => "u128",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::I128 => "i128",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::PublicKey => "pubkey",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "u128" => Self::U128,
            "i8" => Self::I8,
            "i16" => Self::I16,
            "i32" => Self::I32,
            "i64" => Self::I64,
            "i128" => Self::I128,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "string" => Self::String,
            "bytes" => Self::Bytes,
            "publicKey" | "pubkey" => Self::PublicKey,
            _ => return None,
        })
    }
}

impl Kinds {
    /// Reads definitions. Those that lead to themselves are refused.
    pub(super) fn parse(list: &[Json<'_>]) -> Result<Self, Flaw> {
        let mut kinds = Self { definitions: Vec::new(), places: BTreeMap::new() };
        let names = numbered("type", list, |entry| {
            // Names of types may have the modules that they are in.
            let whole = json::text(entry, "name").unwrap_or_default();
            let is_named = whole.split("::").all(is_name);
            if is_named { Ok(whole.to_owned()) } else { Err("a name is none that code can have") }
        })?;
        for (place, name) in names.into_iter().enumerate() {
            if kinds.places.insert(name, place).is_some() {
                let number = place.saturating_add(1);
                return Err(Flaw::Entry { noun: "type", number, rule: "another type has its name" });
            }
        }
        kinds.definitions = numbered("type", list, |entry| kinds.definition(entry))?;
        kinds.check_depths()?;
        Ok(kinds)
    }

    /// The definition at a place.
    pub(super) fn at(&self, place: usize) -> Option<&Definition> {
        self.definitions.get(place)
    }

    /// Named types in a row.
    pub(super) fn fields(&self, list: &[Json<'_>]) -> Result<Vec<Field>, &'static str> {
        let mut fields: Vec<Field> = Vec::new();
        let mut names = BTreeSet::new();
        for entry in list {
            let name = name(entry)?;
            if !names.insert(name.clone()) {
                return Err("two of its fields have one name");
            }
            let kind = entry.get("type").ok_or("a field has no type")?;
            fields.push(Field { name, kind: self.kind(kind, MAX_DEPTH)? });
        }
        Ok(fields)
    }

    fn definition(&self, entry: &Json<'_>) -> Result<Definition, &'static str> {
        // Zero-copy accounts are laid out as their memory is.
        let is_borsh = entry.get("serialization").is_none_or(|how| how.as_str() == Some("borsh"));
        let is_generic = json::list(entry, "generics").is_some_and(|generics| !generics.is_empty());
        if !is_borsh || is_generic {
            return Ok(Definition::Unread);
        }
        let content = entry.get("type").ok_or("it says not what it stands for")?;
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
                let target = target.ok_or("it says not what it stands for")?;
                Ok(Definition::Alias(self.kind(target, MAX_DEPTH)?))
            }
            _ => Ok(Definition::Unread),
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
            return Ok(Plain::of(name).map_or(Kind::Unread, Kind::Plain));
        }
        let inner = |written: &Json<'_>| {
            let depth = depth.checked_sub(1).ok_or("a type nests too deep")?;
            self.kind(written, depth).map(Box::new)
        };
        let members = written.as_object().ok_or("a type is no type")?;
        let Some((form, content)) = members.iter().next().filter(|_| members.len() == 1) else {
            return Ok(Kind::Unread);
        };
        Ok(match (form.as_str(), content) {
            ("vec", element) => Kind::List(inner(element)?),
            ("option", element) => Kind::Option(inner(element)?),
            ("array", Json::List(parts)) => match parts.as_slice() {
                [element, size] => match size.as_u64().and_then(|size| usize::try_from(size).ok()) {
                    Some(size) => Kind::Array(inner(element)?, size),
                    None => Kind::Unread,
                },
                _ => return Err("an array is a type and a size"),
            },
            ("defined", target) => self.defined(target),
            _ => Kind::Unread,
        })
    }

    fn defined(&self, target: &Json<'_>) -> Kind {
        let is_generic = json::list(target, "generics").is_some_and(|generics| !generics.is_empty());
        let name = target.as_str().or_else(|| json::text(target, "name"));
        let place = name.filter(|_| !is_generic).and_then(|name| self.places.get(name));
        place.map_or(Kind::Unread, |place| Kind::Defined(*place))
    }

    /// No definition leads to itself, and none through more than [`MAX_DEPTH`] others.
    fn check_depths(&self) -> Result<(), Flaw> {
        let flaw = |place: usize, rule| Flaw::Entry { noun: "type", number: place.saturating_add(1), rule };
        let targets: Vec<Vec<usize>> = self.definitions.iter().map(Definition::targets).collect();
        // One round takes away the definitions that lead to none of those left: after as many rounds as types may nest,
        // none is left.
        let mut left: Vec<usize> = (0..targets.len()).collect();
        let mut is_left = vec![true; targets.len()];
        for _ in 0..=MAX_DEPTH {
            let leads = |place: &usize| {
                let mut targets = targets.get(*place).into_iter().flatten();
                targets.any(|target| is_left.get(*target) == Some(&true))
            };
            let (still, gone): (Vec<_>, Vec<_>) = left.into_iter().partition(leads);
            for place in gone {
                if let Some(is_left) = is_left.get_mut(place) {
                    *is_left = false;
                }
            }
            left = still;
        }
        match left.first() {
            Some(place) => Err(flaw(*place, "it leads to itself, or nests too deep")),
            None => Ok(()),
        }
    }
}

impl Definition {
    /// The places of the definitions that it has in itself.
    fn targets(&self) -> Vec<usize> {
        match self {
            Self::Struct(fields) => fields.kinds().filter_map(Kind::target).collect(),
            Self::Enum(variants) => {
                variants.iter().flat_map(|(_, fields)| fields.kinds()).filter_map(Kind::target).collect()
            }
            Self::Alias(kind) => kind.target().into_iter().collect(),
            Self::Unread => Vec::new(),
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
    /// The place of the definition that it is, or has in itself.
    fn target(&self) -> Option<usize> {
        match self {
            Self::List(inner) | Self::Array(inner, _) | Self::Option(inner) => inner.target(),
            Self::Defined(place) => Some(*place),
            Self::Plain(_) | Self::Unread => None,
        }
    }
}
