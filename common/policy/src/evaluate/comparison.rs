//! Comparisons: equality, order, and membership of lists.

use std::cmp::Ordering;

use super::{Evaluated, Evaluation, at, internal, mismatch};
use crate::NESTING_LIMIT;
use crate::error::{EvaluationError, EvaluationReason};
use crate::operand::{Elements, Operand};
use crate::plan::{Contains, Node};
use crate::syntax::Comparison;

impl<'a> Evaluation<'a, '_> {
    pub(super) fn compare(
        &mut self,
        node: &'a Node,
        comparison: Comparison,
        left: &'a Node,
        right: &'a Node,
    ) -> Evaluated<'a> {
        let left = self.operand(left)?;
        let right = self.operand(right)?;
        let truth = match comparison {
            Comparison::Equal => self.equal(node, &left, &right, 0)?,
            Comparison::NotEqual => !self.equal(node, &left, &right, 0)?,
            Comparison::Less => order(node, &left, &right)?.is_lt(),
            Comparison::LessOrEqual => order(node, &left, &right)?.is_le(),
            Comparison::Greater => order(node, &left, &right)?.is_gt(),
            Comparison::GreaterOrEqual => order(node, &left, &right)?.is_ge(),
            Comparison::In => return Err(internal(node)),
        };
        Ok(Operand::Bool(truth))
    }

    fn equal(
        &mut self,
        node: &Node,
        left: &Operand<'a>,
        right: &Operand<'a>,
        depth: usize,
    ) -> Result<bool, EvaluationError> {
        match (left, right) {
            (Operand::Bool(left), Operand::Bool(right)) => Ok(left == right),
            (Operand::Integer(left), Operand::Integer(right)) => Ok(left == right),
            (Operand::Timestamp(left), Operand::Timestamp(right)) => Ok(left == right),
            (Operand::Text(left), Operand::Text(right)) => {
                self.spend_text(node, left.as_str().len().min(right.as_str().len()))?;
                Ok(left.equals(right))
            }
            (Operand::List(left), Operand::List(right)) => self.equal_lists(node, left, right, depth),
            (Operand::Members(_), _) => Err(mismatch(node, "comparable value", left)),
            (known, other) => Err(mismatch(node, known.type_name(), other)),
        }
    }

    fn equal_lists(
        &mut self,
        node: &Node,
        left: &Elements<'a>,
        right: &Elements<'a>,
        depth: usize,
    ) -> Result<bool, EvaluationError> {
        if depth >= NESTING_LIMIT {
            return Err(at(node)(EvaluationReason::Nesting));
        }
        if left.len() != right.len() {
            return Ok(false);
        }
        let mut equal = true;
        for index in 0..left.len() {
            self.spend(node, 1)?;
            let (left, right) = (left.at(index).map_err(at(node))?, right.at(index).map_err(at(node))?);
            equal &= self.equal(node, &left, &right, depth.saturating_add(1))?;
        }
        Ok(equal)
    }

    pub(super) fn contains(&mut self, node: &'a Node, contains: &'a Contains) -> Evaluated<'a> {
        let list = self.list(&contains.list)?;
        let item = self.operand(&contains.item)?;
        let indexed = match (&contains.index, &list) {
            (Some(index), Elements::Borrowed(literals)) => index.contains(literals, &item),
            _ => None,
        };
        if let Some(is_contained) = indexed {
            self.spend(node, steps_to_find(list.len()))?;
            return Ok(Operand::Bool(is_contained));
        }
        let mut is_contained = false;
        for index in 0..list.len() {
            self.spend(node, 1)?;
            let element = list.at(index).map_err(at(node))?;
            is_contained |= self.equal(node, &element, &item, 0)?;
        }
        Ok(Operand::Bool(is_contained))
    }
}

fn order(node: &Node, left: &Operand<'_>, right: &Operand<'_>) -> Result<Ordering, EvaluationError> {
    match (left, right) {
        (Operand::Integer(left), Operand::Integer(right)) => Ok(left.cmp(right)),
        (Operand::Timestamp(left), Operand::Timestamp(right)) => Ok(left.cmp(right)),
        (Operand::Integer(_), other) => Err(mismatch(node, "int", other)),
        (Operand::Timestamp(_), other) => Err(mismatch(node, "timestamp", other)),
        (other, _) => Err(mismatch(node, "int or timestamp", other)),
    }
}

/// Returns the number of comparisons of a binary search in `literals` elements.
fn steps_to_find(literals: usize) -> usize {
    usize::try_from(literals.checked_ilog2().unwrap_or_default()).unwrap_or_default()
}
