//! The checked form of an expression: names resolved, types known, literals ready. What the evaluator walks.

use crate::cron::CronSpan;
use crate::known::Known;
use crate::syntax::{Comparison, Quantifier};
use crate::value::Value;

/// A part of a checked expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// Byte at which a failure of this part is reported.
    pub(crate) offset: usize,
    pub(crate) step: Step,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// A literal, or a list or struct of literals.
    Constant(Value),
    /// A root, by its name in the facts.
    Root(&'static str),
    /// A member of a root, found step by step: most of what conditions ask.
    Path {
        root: &'static str,
        /// Where the root stands.
        offset: usize,
        /// At least one.
        members: Vec<Member>,
    },
    /// A lambda variable, by the number of lambdas around its own.
    Variable(usize),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    /// Every comparison but `in`, which is [`Step::Contains`] with its sides turned.
    Compare {
        comparison: Comparison,
        left: Box<Node>,
        right: Box<Node>,
    },
    Contains {
        list: Box<Node>,
        item: Box<Node>,
        /// The elements in an order in which they are found quickly, where all of them are literals.
        known: Option<Known>,
    },
    Field {
        of: Box<Node>,
        name: String,
    },
    /// `.count` on a dynamic value: the length of a list, or else a member of that name.
    CountOrField(Box<Node>),
    Count(Box<Node>),
    Each {
        of: Box<Node>,
        quantifier: Quantifier,
        /// As written.
        variable: String,
        predicate: Box<Node>,
    },
    Index {
        of: Box<Node>,
        key: Box<Node>,
    },
    Slice {
        of: Box<Node>,
        from: Box<Node>,
        to: Box<Node>,
    },
    /// `CaseInsensitiveString`.
    Lower(Box<Node>),
    /// Whether the time of the request lies within a window.
    CronSpan(CronSpan),
    List(Vec<Node>),
    Struct(Vec<(String, Node)>),
}

/// A member on the way to a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) offset: usize,
}

impl Node {
    /// The value, if it does not depend on facts or variables.
    pub(crate) fn constant(&self) -> Option<&Value> {
        match &self.step {
            Step::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The value itself, if it does not depend on facts or variables.
    pub(crate) fn into_constant(self) -> Option<Value> {
        match self.step {
            Step::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The parts directly inside, in the order in which they are written.
    pub(crate) fn parts(&self) -> Vec<&Node> {
        match &self.step {
            Step::Constant(_) | Step::Root(_) | Step::Path { .. } | Step::Variable(_) | Step::CronSpan(_) => {
                Vec::new()
            }
            Step::Not(one)
            | Step::Field { of: one, .. }
            | Step::CountOrField(one)
            | Step::Count(one)
            | Step::Lower(one) => {
                vec![one]
            }
            Step::And(parts) | Step::Or(parts) | Step::List(parts) => parts.iter().collect(),
            Step::Compare { left, right, .. } => vec![left, right],
            Step::Contains { list, item, .. } => vec![list, item],
            Step::Each { of, predicate, .. } => vec![of, predicate],
            Step::Index { of, key } => vec![of, key],
            Step::Slice { of, from, to } => vec![of, from, to],
            Step::Struct(members) => members.iter().map(|(_, member)| member).collect(),
        }
    }
}
