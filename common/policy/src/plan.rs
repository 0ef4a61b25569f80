//! The checked form of an expression: names resolved, types known, literals ready. What the evaluator walks.
//!
//! An organization may have many policies, and each stays in memory as long as its snapshot. So a node is small: what
//! only few steps need is boxed, lists have no spare capacity, and equal literals are shared.

use std::sync::Arc;

use crate::cron::CronSpan;
use crate::known::Known;
use crate::syntax::{Comparison, Quantifier};
use crate::value::Value;

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
    /// A text is far shorter than what fits, see [`crate::EXPRESSION_LIMIT_BYTES`].
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
    /// A member of a root, found step by step: most of what conditions ask.
    Path(Box<Path>),
    /// A lambda variable, by the number of lambdas around its own.
    Variable(usize),
    Not(Box<Node>),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    /// Every comparison but `in`, which is [`Step::Contains`] with its sides turned.
    Compare {
        comparison: Comparison,
        left: Box<Node>,
        right: Box<Node>,
    },
    Contains(Box<Contains>),
    Field(Box<Field>),
    /// `.count` on a dynamic value: the length of a list, or else a member of that name.
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
    /// Whether the time of the request lies within a window.
    CronSpan(Box<CronSpan>),
    List(Box<[Node]>),
    Struct(Box<[(String, Node)]>),
}

/// A member of a root.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    pub(crate) root: &'static str,
    /// Position of the root.
    pub(crate) offset: Offset,
    /// At least one.
    pub(crate) members: Box<[Member]>,
}

/// Whether a list has an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contains {
    pub(crate) list: Node,
    pub(crate) item: Node,
    /// An order in which the elements are found quickly, where all of them are literals.
    pub(crate) known: Option<Known>,
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
    /// As written.
    pub(crate) variable: String,
    pub(crate) predicate: Node,
}

/// A part of a list or a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slice {
    pub(crate) of: Node,
    pub(crate) from: Node,
    pub(crate) to: Node,
}

/// A member on the way to a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) offset: Offset,
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
            Step::Constant(value) => Some(Arc::unwrap_or_clone(value)),
            _ => None,
        }
    }

    /// Whether the part comes to true or false whenever it comes to anything.
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

    /// The parts directly inside, in the order in which they are written.
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
    /// Roughly how many bytes the part takes in memory beside the node itself. A literal that is shared counts
    /// for its part in each of its places.
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
                let known = contains.known.as_ref().map_or(0, Known::heap_bytes);
                boxed(size_of::<Contains>()).saturating_add(known)
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

/// What an allocation of so many bytes takes, with what the allocator adds.
pub(crate) fn boxed(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        bytes => bytes.saturating_add(8).next_multiple_of(16).max(32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_small() {
        assert!(size_of::<Node>() <= 32, "{} bytes", size_of::<Node>());
    }
}
