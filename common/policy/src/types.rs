//! Types of the language and their compatibility.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// The type of a part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Bool,
    /// `int` and `uint`. They compare mathematically, so the checker does not distinguish them.
    Integer,
    /// An integer that documented policies also compare with decimal text.
    Quantity,
    Text,
    Timestamp,
    /// Known only during the evaluation.
    Dynamic,
    List(Rc<Type>),
    Map(Rc<Type>),
    Struct(Schema),
}

/// The members of a struct type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Schema {
    /// Declared in the table of namespaces.
    Declared(&'static [Field]),
    /// Members of a struct literal; shared, because each use of a variable copies its type.
    Literal(Rc<BTreeMap<String, Type>>),
}

/// A member in the table of namespaces.
#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    /// Name in expressions.
    pub(crate) name: &'static str,
    /// Name in the facts; differs from `name` for aliases only.
    pub(crate) canonical: &'static str,
    pub(crate) declared: Declared,
}

/// A type in the table of namespaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Declared {
    Bool,
    Integer,
    Quantity,
    Text,
    Timestamp,
    Dynamic,
    List(&'static Declared),
    Map(&'static Declared),
    Struct(&'static [Field]),
}

impl From<Declared> for Type {
    fn from(declared: Declared) -> Self {
        match declared {
            Declared::Bool => Self::Bool,
            Declared::Integer => Self::Integer,
            Declared::Quantity => Self::Quantity,
            Declared::Text => Self::Text,
            Declared::Timestamp => Self::Timestamp,
            Declared::Dynamic => Self::Dynamic,
            Declared::List(element) => Self::List(Rc::new(Self::from(*element))),
            Declared::Map(entry) => Self::Map(Rc::new(Self::from(*entry))),
            Declared::Struct(fields) => Self::Struct(Schema::Declared(fields)),
        }
    }
}

impl Type {
    /// Returns the common type of two types, if there is one.
    ///
    /// Spends one step per compared part, and returns `None` once no steps remain.
    pub(crate) fn meet(&self, other: &Self, steps: &mut u32) -> Option<Self> {
        if self.is(other, steps) {
            return Some(self.clone());
        }
        match (self, other) {
            _ if *steps == 0 => None,
            (Self::List(left), Self::List(right)) => {
                left.meet(right, steps).map(|element| Self::List(Rc::new(element)))
            }
            (Self::Integer, Self::Quantity) | (Self::Quantity, Self::Integer) => Some(Self::Integer),
            (Self::Dynamic, known) | (known, Self::Dynamic) => known.is_comparable().then_some(Self::Dynamic),
            _ => None,
        }
    }

    /// Returns whether both types are the same.
    fn is(&self, other: &Self, steps: &mut u32) -> bool {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return false;
        }
        match (self, other) {
            (Self::List(left), Self::List(right)) | (Self::Map(left), Self::Map(right)) => {
                left.is(right, steps)
            }
            (Self::Struct(Schema::Literal(left)), Self::Struct(Schema::Literal(right))) => {
                let mut members = left.iter().zip(right.iter());
                left.len() == right.len()
                    && members
                        .all(|((name, one), (other_name, other))| name == other_name && one.is(other, steps))
            }
            (one, other) => one == other,
        }
    }

    /// Returns whether `==` and `!=` are defined.
    pub(crate) fn is_comparable(&self) -> bool {
        match self {
            Self::Bool | Self::Integer | Self::Quantity | Self::Text | Self::Timestamp | Self::Dynamic => {
                true
            }
            Self::List(element) => element.is_comparable(),
            Self::Map(_) | Self::Struct(_) => false,
        }
    }

    /// Returns whether `<`, `<=`, `>` and `>=` are defined.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Self::Integer | Self::Quantity | Self::Timestamp | Self::Dynamic)
    }

    pub(crate) fn is_bool(&self) -> bool {
        matches!(self, Self::Bool | Self::Dynamic)
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, Self::Integer | Self::Quantity | Self::Dynamic)
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text | Self::Dynamic)
    }

    /// Returns the element type of a list, or `None` if this is not a list.
    pub(crate) fn element(&self) -> Option<Self> {
        match self {
            Self::List(element) => Some((**element).clone()),
            Self::Dynamic => Some(Self::Dynamic),
            _ => None,
        }
    }

    /// Returns the name in the facts and the type of a member.
    pub(crate) fn member(&self, name: &str) -> Option<(String, Self)> {
        match self {
            Self::Dynamic => Some((name.to_owned(), Self::Dynamic)),
            Self::Struct(Schema::Declared(fields)) => {
                let field = fields.iter().find(|field| field.name == name)?;
                Some((field.canonical.to_owned(), field.declared.into()))
            }
            Self::Struct(Schema::Literal(members)) => Some((name.to_owned(), members.get(name)?.clone())),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => formatter.write_str("bool"),
            Self::Integer | Self::Quantity => formatter.write_str("int"),
            Self::Text => formatter.write_str("string"),
            Self::Timestamp => formatter.write_str("timestamp"),
            Self::Dynamic => formatter.write_str("dynamic"),
            Self::List(element) => write!(formatter, "list<{element}>"),
            Self::Map(entry) => write!(formatter, "map<string,{entry}>"),
            Self::Struct(_) => formatter.write_str("struct"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(element: Type) -> Type {
        Type::List(Rc::new(element))
    }

    #[test]
    fn common_type_is_symmetric() {
        let structure = Type::Struct(Schema::Declared(&[]));
        for (left, right, common) in [
            (Type::Bool, Type::Bool, Some(Type::Bool)),
            (Type::Bool, Type::Integer, None),
            (Type::Integer, Type::Quantity, Some(Type::Integer)),
            (Type::Text, Type::Quantity, None),
            (Type::Dynamic, Type::Text, Some(Type::Dynamic)),
            (Type::Dynamic, structure.clone(), None),
            (list(Type::Dynamic), list(Type::Text), Some(list(Type::Dynamic))),
            (list(Type::Bool), list(Type::Text), None),
            (list(Type::Bool), Type::Dynamic, Some(Type::Dynamic)),
            (structure.clone(), structure.clone(), Some(structure)),
        ] {
            assert_eq!(left.meet(&right, &mut 100), common, "{left} {right}");
            assert_eq!(right.meet(&left, &mut 100), common, "{right} {left}");
        }
    }
}
