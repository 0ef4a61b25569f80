//! The syntax tree of an expression, before names and types are resolved.

use crate::number::Integer;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    /// Byte offset at which an error in this part is reported.
    pub(crate) offset: usize,
    /// Nesting depth of brackets, negations and accesses in this part; bounds the recursion over the tree.
    pub(crate) nesting: usize,
    pub(crate) syntax: Syntax,
}

/// A name with its byte offset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) offset: usize,
}

/// The syntax of an expression, with its parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Syntax {
    Bool(bool),
    Integer(Integer),
    Text(String),
    List(Vec<Expression>),
    Struct(Vec<(Name, Expression)>),
    /// A root or a variable.
    Name(String),
    Call {
        function: Function,
        arguments: Vec<Expression>,
    },
    Not(Box<Expression>),
    /// Conjunction of two or more parts.
    And(Vec<Expression>),
    /// Disjunction of two or more parts.
    Or(Vec<Expression>),
    Compare {
        comparison: Comparison,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    Field {
        of: Box<Expression>,
        name: Name,
    },
    Method {
        of: Box<Expression>,
        name: Name,
        arguments: Vec<Expression>,
    },
    /// `all`, `any` or `filter` with its variable and predicate.
    Each {
        of: Box<Expression>,
        quantifier: Quantifier,
        variable: Name,
        predicate: Box<Expression>,
    },
    Index {
        of: Box<Expression>,
        key: Box<Expression>,
    },
    Slice {
        of: Box<Expression>,
        from: Box<Expression>,
        to: Box<Expression>,
    },
}

/// Functions that are not called on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Timestamp,
    CronSpan,
    CaseInsensitiveString,
}

impl Function {
    const ALL: [Self; 3] = [Self::Timestamp, Self::CronSpan, Self::CaseInsensitiveString];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Timestamp => "Timestamp",
            Self::CronSpan => "CronSpan",
            Self::CaseInsensitiveString => "CaseInsensitiveString",
        }
    }
}

/// Functions of a list that take a variable and a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Any,
    Filter,
}

impl Quantifier {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "all" => Some(Self::All),
            "any" => Some(Self::Any),
            "filter" => Some(Self::Filter),
            _ => None,
        }
    }
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    LessOrEqual,
    GreaterOrEqual,
    Less,
    Greater,
    In,
}

impl Comparison {
    pub(crate) fn of_symbol(symbol: &str) -> Option<Self> {
        const ALL: [Comparison; 7] = [
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::LessOrEqual,
            Comparison::GreaterOrEqual,
            Comparison::Less,
            Comparison::Greater,
            Comparison::In,
        ];
        ALL.into_iter().find(|comparison| comparison.symbol() == symbol)
    }

    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::LessOrEqual => "<=",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::Greater => ">",
            Self::In => "in",
        }
    }
}
