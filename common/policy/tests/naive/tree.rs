//! Expression trees.

/// A comparison other than `in`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// The function that a lambda belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Any,
    Filter,
}

/// An expression, without its spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    Truth(bool),
    /// Decimal digits with an optional sign.
    Number(String),
    Text(String),
    /// Seconds since 1970 and nanoseconds.
    Instant(i64, u32),
    List(Vec<Tree>),
    Record(Vec<(&'static str, Tree)>),
    /// A root or a variable.
    Name(&'static str),
    Member(Box<Tree>, &'static str),
    Index(Box<Tree>, Box<Tree>),
    Slice(Box<Tree>, Box<Tree>, Box<Tree>),
    /// List, variable, predicate.
    Lambda(Quantifier, Box<Tree>, &'static str, Box<Tree>),
    Contains(Box<Tree>, Box<Tree>),
    Count(Box<Tree>),
    /// `.count` without parentheses: the length of a list, otherwise the member `count`.
    BareCount(Box<Tree>),
    Lowered(Box<Tree>),
    Compare(Operator, Box<Tree>, Box<Tree>),
    In(Box<Tree>, Box<Tree>),
    /// Comparison of a quantity with decimal text: field, text, and whether the operator is `!=`.
    Quantity(Box<Tree>, String, bool),
    QuantityIn(Box<Tree>, Vec<String>),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    /// Cron, duration, time zone.
    CronSpan(String, String, &'static str),
}

impl Tree {
    pub(crate) fn member(self, name: &'static str) -> Self {
        Self::Member(Box::new(self), name)
    }

    pub(crate) fn at(self, position: Self) -> Self {
        Self::Index(Box::new(self), Box::new(position))
    }

    pub(crate) fn compared(self, operator: Operator, other: Self) -> Self {
        Self::Compare(operator, Box::new(self), Box::new(other))
    }

    pub(crate) fn lambda(self, quantifier: Quantifier, variable: &'static str, predicate: Self) -> Self {
        Self::Lambda(quantifier, Box::new(self), variable, Box::new(predicate))
    }

    /// Returns the direct children.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::List(parts) | Self::And(parts) | Self::Or(parts) => parts.iter().collect(),
            Self::Record(members) => members.iter().map(|(_, member)| member).collect(),
            Self::Slice(list, from, to) => vec![list, from, to],
            Self::Index(left, right)
            | Self::Lambda(_, left, _, right)
            | Self::Contains(left, right)
            | Self::Compare(_, left, right)
            | Self::In(left, right) => vec![left, right],
            Self::Member(inner, _)
            | Self::Count(inner)
            | Self::BareCount(inner)
            | Self::Lowered(inner)
            | Self::Quantity(inner, _, _)
            | Self::QuantityIn(inner, _)
            | Self::Not(inner) => vec![inner],
            Self::Truth(_)
            | Self::Number(_)
            | Self::Text(_)
            | Self::Instant(..)
            | Self::Name(_)
            | Self::CronSpan(..) => Vec::new(),
        }
    }
}
