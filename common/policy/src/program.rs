//! An expression that has been read and checked: the value the rest of the system keeps and runs.

use std::sync::Arc;

use serde::Serialize;

use crate::budget::Budget;
use crate::check;
use crate::error::EvaluationError;
use crate::evaluate::{Evaluation, Roots};
use crate::flaw::{Flaw, FlawReason};
use crate::lint::conjuncts;
use crate::parse;
use crate::plan::Node;
use crate::spell::spell;
use crate::value::Facts;
use crate::{EXPRESSION_LIMIT_BYTES, STEP_LIMIT};

/// What an expression is for. It decides which roots exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpressionKind {
    /// Which requests a policy is about: `activity`, `wallet`, `eth` and so on.
    Condition,
    /// Who must agree: `approvers` and `credentials`.
    Consensus,
    /// When a policy is active: `time`.
    Time,
}

impl ExpressionKind {
    /// The member of a policy that holds such an expression.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Condition => "condition",
            Self::Consensus => "consensus",
            Self::Time => "time",
        }
    }
}

/// A parsed and checked expression. Cloning shares it; evaluating it does not change it.
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
    /// Reads an expression and checks everything that does not depend on facts.
    ///
    /// # Errors
    /// The first [`Flaw`] found. An empty text is one, since an absent expression is not an empty one.
    pub fn parse(kind: ExpressionKind, source: &str) -> Result<Self, Flaw> {
        if source.len() > EXPRESSION_LIMIT_BYTES {
            return Err(Flaw::new(source, 0, FlawReason::Length(EXPRESSION_LIMIT_BYTES)));
        }
        let expression = parse::parse(source)?;
        let plan = check::check(kind, source, &expression)?;
        let source = source.to_owned();
        Ok(Self { inner: Arc::new(Inner { kind, source, plan }) })
    }

    /// Runs a condition or a time expression.
    ///
    /// A consensus reads `approvers` and `credentials`; [`decide`](crate::decide) gives it those of an electorate.
    ///
    /// # Errors
    /// Anything that keeps the expression from being true or false, a missing fact first of all. There is no short circuit:
    /// a part that fails makes the whole fail, wherever it stands.
    pub fn evaluate(&self, facts: &dyn Facts) -> Result<bool, EvaluationError> {
        self.run(facts, &mut Budget::new(STEP_LIMIT))
    }

    /// As [`Self::evaluate`], at the cost of a budget.
    pub(crate) fn run(&self, facts: &dyn Facts, budget: &mut Budget) -> Result<bool, EvaluationError> {
        Evaluation::new(Roots::Facts(facts), budget).truth(self.plan())
    }

    /// Roughly how many bytes the program takes in memory.
    pub fn bytes(&self) -> usize {
        let Inner { source, plan, .. } = &*self.inner;
        size_of::<Inner>().saturating_add(source.len()).saturating_add(plan.heap_bytes())
    }

    /// What the expression is for.
    pub fn kind(&self) -> ExpressionKind {
        self.inner.kind
    }

    /// The parts that must all hold, each as text.
    pub fn parts(&self) -> Vec<String> {
        conjuncts(self.plan()).into_iter().map(|part| spell(part, &[])).collect()
    }

    /// The text as it was given.
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    pub(crate) fn plan(&self) -> &Node {
        &self.inner.plan
    }
}

/// Programs are the same when their texts and kinds are.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.inner.kind == other.inner.kind && self.inner.source == other.inner.source
    }
}

impl Eq for Program {}
