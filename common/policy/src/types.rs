//! Types of the language, and which of them go together. Knows no names of members beyond those it is given.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// The type of a part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Bool,
    /// `int` and `uint`: they compare mathematically, so the checker need not tell them apart.
    Integer,
    /// An integer that documented policies also compare with decimal text.
    Quantity,
    Text,
    Timestamp,
    /// Known only when the expression runs.
    Dynamic,
    List(Box<Type>),
    Map(Box<Type>),
    Struct(Shape),
}

/// Which members a struct has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// As the table of namespaces says.
    Declared(&'static [Field]),
    /// As written in a struct literal; shared, because each use of a variable copies its type.
    Literal(Rc<BTreeMap<String, Type>>),
}

/// A member in the table of namespaces.
#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    /// As written in an expression.
    pub(crate) name: &'static str,
    /// As found in the facts; differs for aliases only.
    pub(crate) canonical: &'static str,
    pub(crate) declared: Declared,
}

/// A type as the table of namespaces spells it.
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
            Declared::List(element) => Self::List(Box::new(Self::from(*element))),
            Declared::Map(entry) => Self::Map(Box::new(Self::from(*entry))),
            Declared::Struct(fields) => Self::Struct(Shape::Declared(fields)),
        }
    }
}

impl Type {
    /// The type that values of both types have, if there is one.
    pub(crate) fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (same, also) if same == also => Some(same.clone()),
            (Self::Integer, Self::Quantity) | (Self::Quantity, Self::Integer) => Some(Self::Integer),
            (Self::List(left), Self::List(right)) => {
                left.meet(right).map(|element| Self::List(Box::new(element)))
            }
            (Self::Dynamic, known) | (known, Self::Dynamic) => known.is_comparable().then_some(Self::Dynamic),
            _ => None,
        }
    }

    /// Whether `==` and `!=` are defined.
    pub(crate) fn is_comparable(&self) -> bool {
        match self {
            Self::Bool | Self::Integer | Self::Quantity | Self::Text | Self::Timestamp | Self::Dynamic => {
                true
            }
            Self::List(element) => element.is_comparable(),
            Self::Map(_) | Self::Struct(_) => false,
        }
    }

    /// Whether `<`, `<=`, `>` and `>=` are defined.
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

    /// What a list of this type holds; `None` if this is no list.
    pub(crate) fn element(&self) -> Option<Self> {
        match self {
            Self::List(element) => Some((**element).clone()),
            Self::Dynamic => Some(Self::Dynamic),
            _ => None,
        }
    }

    /// The member of that name: its name in the facts and its type.
    pub(crate) fn member(&self, name: &str) -> Option<(String, Self)> {
        match self {
            Self::Dynamic => Some((name.to_owned(), Self::Dynamic)),
            Self::Struct(Shape::Declared(fields)) => {
                let field = fields.iter().find(|field| field.name == name)?;
                Some((field.canonical.to_owned(), field.declared.into()))
            }
            Self::Struct(Shape::Literal(members)) => Some((name.to_owned(), members.get(name)?.clone())),
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
        Type::List(Box::new(element))
    }

    #[test]
    fn types_meet_or_do_not() {
        let structure = Type::Struct(Shape::Declared(&[]));
        for (left, right, met) in [
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
            assert_eq!(left.meet(&right), met, "{left} {right}");
            assert_eq!(right.meet(&left), met, "{right} {left}");
        }
    }
}
