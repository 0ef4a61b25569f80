//! The plan: a checked expression with resolved names, known types and parsed literals, ready for the
//! evaluator.
//!
//! An organization may have many policies, and each stays in memory as long as its snapshot. Nodes are
//! therefore small: rarely needed data is boxed, lists have no spare capacity, and equal literals are shared.

use std::sync::Arc;

use crate::cron::CronSpan;
use crate::literal_index::LiteralIndex;
use crate::syntax::{Comparison, Quantifier};
use crate::value::{Value, boxed};

/// A part of a checked expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// Byte at which a failure of this part is reported.
    pub(crate) offset: Offset,
    pub(crate) step: Step,
}

/// A position in the text of an expression, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offset(u32);

impl Offset {
    /// Creates an offset. It fits 32 bits because of [`crate::EXPRESSION_LIMIT_BYTES`].
    pub(crate) fn new(offset: usize) -> Self {
        Self(u32::try_from(offset).unwrap_or(u32::MAX))
    }

    pub(crate) fn get(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// A literal, or a list or struct of literals.
    Constant(Arc<Value>),
    /// A root, by its name in the facts.
    Root(&'static str),
    /// A member of a root, the most frequent part of conditions.
    Path(Box<Path>),
    /// A lambda variable, by the number of lambdas around its own.
    Variable(usize),
    Not(Box<Node>),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    /// Any comparison except `in`, which becomes [`Step::Contains`] with its sides swapped.
    Compare {
        comparison: Comparison,
        left: Box<Node>,
        right: Box<Node>,
    },
    Contains(Box<Contains>),
    Field(Box<Field>),
    /// `.count` on a dynamic value: the length of a list, otherwise the member `count`.
    CountOrField(Box<Node>),
    Count(Box<Node>),
    Each(Box<Each>),
    Index {
        of: Box<Node>,
        key: Box<Node>,
    },
    Slice(Box<Slice>),
    /// `CaseInsensitiveString`.
    Lower(Box<Node>),
    /// Whether the time of the request is within a window.
    CronSpan(Box<CronSpan>),
    List(Box<[Node]>),
    Struct(Box<[(String, Node)]>),
}

/// A member of a root.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    pub(crate) root: &'static str,
    /// Offset of the root.
    pub(crate) offset: Offset,
    /// Members from the root to the value; never empty.
    pub(crate) members: Box<[Member]>,
}

/// A test whether a list contains an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contains {
    pub(crate) list: Node,
    pub(crate) item: Node,
    /// Index for a fast search; present if all elements are literals of one indexable type.
    pub(crate) index: Option<LiteralIndex>,
}

/// A member of a part that is not a root.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) of: Node,
    pub(crate) name: String,
}

/// A predicate over the elements of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Each {
    pub(crate) of: Node,
    pub(crate) quantifier: Quantifier,
    /// Name of the lambda variable.
    pub(crate) variable: String,
    pub(crate) predicate: Node,
}

/// A slice of a list or a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slice {
    pub(crate) of: Node,
    pub(crate) from: Node,
    pub(crate) to: Node,
}

/// A member of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) offset: Offset,
}

impl Node {
    /// Returns the value if it is a literal or consists of literals.
    pub(crate) fn constant(&self) -> Option<&Value> {
        match &self.step {
            Step::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Converts the part into its value if it is a literal or consists of literals.
    pub(crate) fn into_constant(self) -> Option<Value> {
        match self.step {
            Step::Constant(value) => Some(Arc::unwrap_or_clone(value)),
            _ => None,
        }
    }

    /// Returns whether the part yields a boolean whenever its evaluation succeeds.
    pub(crate) fn is_truth(&self) -> bool {
        match &self.step {
            Step::Constant(value) => matches!(**value, Value::Bool(_)),
            Step::Not(_)
            | Step::And(_)
            | Step::Or(_)
            | Step::Compare { .. }
            | Step::Contains(_)
            | Step::CronSpan(_) => true,
            Step::Each(each) => each.quantifier != Quantifier::Filter,
            _ => false,
        }
    }

    /// Returns the direct children in source order.
    pub(crate) fn parts(&self) -> Vec<&Node> {
        match &self.step {
            Step::Constant(_) | Step::Root(_) | Step::Path(_) | Step::Variable(_) | Step::CronSpan(_) => {
                Vec::new()
            }
            Step::Not(one) | Step::CountOrField(one) | Step::Count(one) | Step::Lower(one) => {
                vec![one]
            }
            Step::Field(field) => vec![&field.of],
            Step::And(parts) | Step::Or(parts) | Step::List(parts) => parts.iter().collect(),
            Step::Compare { left, right, .. } => vec![left, right],
            Step::Contains(contains) => vec![&contains.list, &contains.item],
            Step::Each(each) => vec![&each.of, &each.predicate],
            Step::Index { of, key } => vec![of, key],
            Step::Slice(slice) => vec![&slice.of, &slice.from, &slice.to],
            Step::Struct(members) => members.iter().map(|(_, member)| member).collect(),
        }
    }

    /// Returns the approximate heap size of the part in bytes, without the node itself.
    ///
    /// The size of a shared literal is divided among the parts that share it.
    pub(crate) fn heap_bytes(&self) -> usize {
        let own = match &self.step {
            Step::Constant(value) => {
                let whole = boxed(size_of::<Value>().saturating_add(16)).saturating_add(value.heap_bytes());
                whole.div_ceil(Arc::strong_count(value).max(1))
            }
            Step::Root(_) | Step::Variable(_) => 0,
            Step::Path(path) => {
                let names = path.members.iter().map(|member| boxed(member.name.len()));
                let members = boxed(size_of_val(&*path.members)).saturating_add(names.sum());
                boxed(size_of::<Path>()).saturating_add(members)
            }
            Step::Not(_) | Step::CountOrField(_) | Step::Count(_) | Step::Lower(_) => {
                boxed(size_of::<Self>())
            }
            Step::And(parts) | Step::Or(parts) | Step::List(parts) => boxed(size_of_val(&**parts)),
            Step::Compare { .. } | Step::Index { .. } => boxed(size_of::<Self>()).saturating_mul(2),
            Step::Contains(contains) => {
                let index = contains.index.as_ref().map_or(0, LiteralIndex::heap_bytes);
                boxed(size_of::<Contains>()).saturating_add(index)
            }
            Step::Field(field) => boxed(size_of::<Field>()).saturating_add(boxed(field.name.len())),
            Step::Each(each) => boxed(size_of::<Each>()).saturating_add(boxed(each.variable.len())),
            Step::Slice(_) => boxed(size_of::<Slice>()),
            Step::CronSpan(span) => boxed(size_of::<CronSpan>()).saturating_add(boxed(span.source.len())),
            Step::Struct(members) => {
                let names = members.iter().map(|(name, _)| boxed(name.len()));
                boxed(size_of_val(&**members)).saturating_add(names.sum())
            }
        };
        self.parts().into_iter().map(Self::heap_bytes).fold(own, usize::saturating_add)
    }
}

/// Returns the operands of a conjunction, nested ones included, or the part itself.
pub(crate) fn conjuncts(node: &Node) -> Vec<&Node> {
    match &node.step {
        Step::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        _ => vec![node],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_fits_32_bytes() {
        assert!(size_of::<Node>() <= 32, "{} bytes", size_of::<Node>());
    }
}
