//! Parsed and checked expressions, which the rest of the system stores and evaluates.

use std::sync::Arc;

use crate::budget::Budget;
use crate::check;
use crate::error::EvaluationError;
use crate::evaluate::{Evaluation, Roots};
use crate::expression_error::{ErrorReason, ExpressionError, Result};
use crate::expression_kind::ExpressionKind;
use crate::parse;
use crate::plan::{Node, conjuncts};
use crate::spell::spell;
use crate::value::Facts;
use crate::{EXPRESSION_LIMIT_BYTES, STEP_LIMIT};

/// A parsed and checked expression. It is immutable, and clones share it.
#[derive(Clone, Debug)]
pub struct Program {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: ExpressionKind,
    source: String,
    plan: Node,
}

impl Program {
    /// Parses an expression and checks everything that does not depend on facts.
    ///
    /// # Errors
    /// Returns the first error in the source. Empty source is an error; callers represent an absent
    /// expression as `None`.
    pub fn parse(kind: ExpressionKind, source: &str) -> Result<Self> {
        if source.len() > EXPRESSION_LIMIT_BYTES {
            return Err(ExpressionError::new(source, 0, ErrorReason::Length(EXPRESSION_LIMIT_BYTES)));
        }
        let expression = parse::parse(source)?;
        let plan = check::check(kind, source, &expression)?;
        let source = source.to_owned();
        Ok(Self { inner: Arc::new(Inner { kind, source, plan }) })
    }

    /// Evaluates a condition or a time expression.
    ///
    /// A consensus reads `approvers` and `credentials`, which [`decide`](crate::decide) provides from an
    /// electorate.
    ///
    /// # Errors
    /// Returns an error if the expression is neither true nor false, usually because a fact is missing. There
    /// is no short-circuit evaluation: if any part fails, the whole expression fails.
    pub fn evaluate(&self, facts: &dyn Facts) -> Result<bool, EvaluationError> {
        self.run(facts, &mut Budget::new(STEP_LIMIT))
    }

    /// Evaluates like [`Self::evaluate`], with the steps of a budget.
    pub(crate) fn run(&self, facts: &dyn Facts, budget: &mut Budget) -> Result<bool, EvaluationError> {
        Evaluation::new(Roots::Facts(facts), budget).truth(self.plan())
    }

    /// Returns the approximate size of the program in memory in bytes.
    pub fn bytes(&self) -> usize {
        let Inner { source, plan, .. } = &*self.inner;
        size_of::<Inner>().saturating_add(source.len()).saturating_add(plan.heap_bytes())
    }

    /// Returns the kind of the expression.
    pub fn kind(&self) -> ExpressionKind {
        self.inner.kind
    }

    /// Returns the operands of the top-level conjunction, each as source text.
    pub fn parts(&self) -> Vec<String> {
        conjuncts(self.plan()).into_iter().map(|part| spell(part, &[])).collect()
    }

    /// Returns the source text as it was parsed.
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    pub(crate) fn plan(&self) -> &Node {
        &self.inner.plan
    }
}

/// Programs are equal if their kinds and source texts are equal.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.inner.kind == other.inner.kind && self.inner.source == other.inner.source
    }
}

impl Eq for Program {}
