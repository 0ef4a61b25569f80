//! The syntax tree of an expression, before names and types are resolved.

use crate::named_enum;
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

named_enum! {
    /// Functions that are not called on a value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Function {
        Timestamp = "Timestamp",
        CronSpan = "CronSpan",
        CaseInsensitiveString = "CaseInsensitiveString",
    }
}

named_enum! {
    /// Functions of a list that take a variable and a predicate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Quantifier {
        All = "all",
        Any = "any",
        Filter = "filter",
    }
}

named_enum! {
    /// Comparison operators.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Comparison {
        Equal = "==",
        NotEqual = "!=",
        LessOrEqual = "<=",
        GreaterOrEqual = ">=",
        Less = "<",
        Greater = ">",
        In = "in",
    }
}
