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
    List(Rc<Type>),
    Map(Rc<Type>),
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
            Declared::List(element) => Self::List(Rc::new(Self::from(*element))),
            Declared::Map(entry) => Self::Map(Rc::new(Self::from(*entry))),
            Declared::Struct(fields) => Self::Struct(Shape::Declared(fields)),
        }
    }
}

impl Type {
    /// The type that values of both types have, if there is one. Takes a step for each part of them that is looked at;
    /// without a step that is left there is none.
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

    /// Whether both are the same type.
    fn is(&self, other: &Self, steps: &mut u32) -> bool {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return false;
        }
        match (self, other) {
            (Self::List(left), Self::List(right)) | (Self::Map(left), Self::Map(right)) => {
                left.is(right, steps)
            }
            (Self::Struct(Shape::Literal(left)), Self::Struct(Shape::Literal(right))) => {
                let mut members = left.iter().zip(right.iter());
                left.len() == right.len()
                    && members.all(|((name, one), (also, other))| name == also && one.is(other, steps))
            }
            (one, other) => one == other,
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
        Type::List(Rc::new(element))
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
            assert_eq!(left.meet(&right, &mut 100), met, "{left} {right}");
            assert_eq!(right.meet(&left, &mut 100), met, "{right} {left}");
        }
    }
}
