//! Evaluates a plan over facts or voters. Names were resolved by the checker; types are checked again where
//! needed.
//!
//! Every part is evaluated, even if another part already decides. Without short-circuit evaluation, an
//! expression fails in the same way regardless of the position of the missing fact. Work is counted in steps,
//! never in time.

mod comparison;
mod position;

use crate::budget::Budget;
use crate::cron::CronSpan;
use crate::electorate::Voters;
use crate::error::{EvaluationError, EvaluationReason};
use crate::operand::{Elements, Members, Operand, Text};
use crate::plan::{Each, Node, Offset, Path, Step};
use crate::syntax::Quantifier;
use crate::value::{Facts, Value};

/// Bytes of text per step.
const BYTES_PER_STEP: usize = 64;
/// Members of a struct per step of a lookup.
const MEMBERS_PER_STEP: usize = 32;
/// Steps for a value that is allocated.
const STEPS_TO_ALLOCATE: usize = 8;
/// Steps for the evaluation of a `CronSpan`, which computes local times.
const STEPS_OF_CRON_SPAN: usize = 200;
/// Root and member of the time of a request.
const TIME: &str = "time";
const NOW: &str = "now";

type Evaluated<'a> = Result<Operand<'a>, EvaluationError>;

/// The source of the roots of an expression.
#[derive(Clone)]
pub(crate) enum Roots<'a> {
    Facts(&'a dyn Facts),
    Voters(Voters<'a>),
}

/// One evaluation of an expression.
pub(crate) struct Evaluation<'a, 'b> {
    roots: Roots<'a>,
    /// Values of the lambda variables in scope, outermost first.
    scope: Vec<Operand<'a>>,
    budget: &'b mut Budget,
}

impl<'a, 'b> Evaluation<'a, 'b> {
    pub(crate) fn new(roots: Roots<'a>, budget: &'b mut Budget) -> Self {
        Self { roots, scope: Vec::new(), budget }
    }

    /// Calls `run` with one more variable in scope.
    pub(crate) fn with_variable<T>(&mut self, value: Operand<'a>, run: impl FnOnce(&mut Self) -> T) -> T {
        self.scope.push(value);
        let result = run(self);
        self.scope.pop();
        result
    }

    /// Evaluates a boolean part with one more variable in scope.
    pub(crate) fn truth_with(&mut self, value: Operand<'a>, node: &'a Node) -> Result<bool, EvaluationError> {
        self.with_variable(value, |inner| inner.truth(node))
    }

    pub(crate) fn truth(&mut self, node: &'a Node) -> Result<bool, EvaluationError> {
        match self.operand(node)? {
            Operand::Bool(truth) => Ok(truth),
            other => Err(mismatch(node, "bool", &other)),
        }
    }

    pub(crate) fn operand(&mut self, node: &'a Node) -> Evaluated<'a> {
        self.spend(node, 1)?;
        match &node.step {
            Step::Constant(value) => Operand::of(value).map_err(at(node)),
            Step::Root(name) => self.root(name).map_err(at(node)),
            Step::Path(path) => self.path(node, path),
            Step::Variable(index) => self.scope.get(*index).cloned().ok_or_else(|| internal(node)),
            Step::Not(inner) => Ok(Operand::Bool(!self.truth(inner)?)),
            Step::And(parts) => self.joined(parts, true),
            Step::Or(parts) => self.joined(parts, false),
            Step::Compare { comparison, left, right } => self.compare(node, *comparison, left, right),
            Step::Contains(contains) => self.contains(node, contains),
            Step::Field(field) => self.field(node, &field.of, &field.name),
            Step::CountOrField(of) => self.count_or_field(node, of),
            Step::Count(of) => Ok(count(&self.list(of)?)),
            Step::Each(each) => self.each(node, each),
            Step::Index { of, key } => self.index(node, of, key),
            Step::Slice(slice) => self.slice(node, slice),
            Step::Lower(inner) => {
                let text = self.text(inner)?;
                self.spend_text(node, text.as_str().len())?;
                self.spend(node, STEPS_TO_ALLOCATE)?;
                Ok(Operand::Text(text.lowered()))
            }
            Step::CronSpan(span) => self.cron_span(node, span),
            Step::List(elements) => {
                self.spend(node, STEPS_TO_ALLOCATE)?;
                let elements: Result<Vec<_>, _> =
                    elements.iter().map(|element| self.operand(element)).collect();
                Ok(Operand::List(Elements::Computed(elements?.into())))
            }
            Step::Struct(members) => {
                self.spend(node, STEPS_TO_ALLOCATE)?;
                let members: Result<Vec<_>, _> =
                    members.iter().map(|(name, member)| Ok((name.as_str(), self.operand(member)?))).collect();
                Ok(Operand::Members(Members::Computed(members?.into())))
            }
        }
    }

    fn root(&self, name: &str) -> Result<Operand<'a>, EvaluationReason> {
        match &self.roots {
            Roots::Facts(facts) => facts.root(name).map(Operand::of),
            Roots::Voters(voters) => voters.root(name).map(Ok),
        }
        .unwrap_or_else(|| Err(EvaluationReason::MissingField(name.to_owned())))
    }

    /// Follows a path without allocating intermediate values.
    fn path(&mut self, node: &'a Node, path: &'a Path) -> Evaluated<'a> {
        let Path { root, offset, members } = path;
        let Roots::Facts(facts) = &self.roots else { return Err(internal(node)) };
        let missing = |offset: &Offset, name: &str| EvaluationError {
            offset: offset.get(),
            reason: EvaluationReason::MissingField(name.to_owned()),
        };
        let mut value = facts.root(root).ok_or_else(|| missing(offset, root))?;
        let mut steps = members.len();
        for member in members {
            if let Value::Struct(fields) = value {
                steps = steps.saturating_add(fields.len().checked_div(MEMBERS_PER_STEP).unwrap_or_default());
            }
            value = value.member(&member.name).ok_or_else(|| missing(&member.offset, &member.name))?;
        }
        self.spend(node, steps)?;
        Operand::of(value).map_err(at(node))
    }

    fn cron_span(&mut self, node: &'a Node, span: &CronSpan) -> Evaluated<'a> {
        self.spend(node, STEPS_OF_CRON_SPAN)?;
        let missing = |name: &str| at(node)(EvaluationReason::MissingField(name.to_owned()));
        let Roots::Facts(facts) = &self.roots else { return Err(internal(node)) };
        let time = facts.root(TIME).ok_or_else(|| missing(TIME))?;
        let now = time.member(NOW).ok_or_else(|| missing(NOW))?;
        let Value::Timestamp(now) = now else { return Err(at(node)(EvaluationReason::Unreadable)) };
        let holds = span.holds(*now).map_err(|_| at(node)(EvaluationReason::Unreadable))?;
        Ok(Operand::Bool(holds))
    }

    /// Evaluates every part and joins the results with `&&` if `is_and` is set, otherwise with `||`.
    fn joined(&mut self, parts: &'a [Node], is_and: bool) -> Evaluated<'a> {
        let mut joined = is_and;
        for part in parts {
            let truth = self.truth(part)?;
            joined = if is_and { joined && truth } else { joined || truth };
        }
        Ok(Operand::Bool(joined))
    }

    fn each(&mut self, node: &'a Node, each: &'a Each) -> Evaluated<'a> {
        let Each { of, quantifier, predicate, .. } = each;
        let list = self.list(of)?;
        let mut chosen = Vec::new();
        let mut all = true;
        let mut any = false;
        for index in 0..list.len() {
            self.spend(node, 1)?;
            let element = list.at(index).map_err(at(node))?;
            let truth = self.with_variable(element.clone(), |inner| inner.truth(predicate))?;
            all &= truth;
            any |= truth;
            if truth && *quantifier == Quantifier::Filter {
                self.spend(node, 1)?;
                chosen.push(element);
            }
        }
        Ok(match quantifier {
            Quantifier::All => Operand::Bool(all),
            Quantifier::Any => Operand::Bool(any),
            Quantifier::Filter => Operand::List(Elements::Computed(chosen.into())),
        })
    }

    fn field(&mut self, node: &'a Node, of: &'a Node, name: &str) -> Evaluated<'a> {
        let members = self.members(of)?;
        self.member(node, &members, name)
    }

    fn member(&mut self, node: &Node, members: &Members<'a>, name: &str) -> Evaluated<'a> {
        self.spend(node, members.len().checked_div(MEMBERS_PER_STEP).unwrap_or_default())?;
        members.named(name).map_err(at(node))
    }

    fn count_or_field(&mut self, node: &'a Node, of: &'a Node) -> Evaluated<'a> {
        match self.operand(of)? {
            Operand::List(list) => Ok(count(&list)),
            Operand::Members(members) => self.member(node, &members, "count"),
            other => Err(mismatch(node, "list", &other)),
        }
    }

    fn list(&mut self, node: &'a Node) -> Result<Elements<'a>, EvaluationError> {
        match self.operand(node)? {
            Operand::List(list) => Ok(list),
            other => Err(mismatch(node, "list", &other)),
        }
    }

    fn members(&mut self, node: &'a Node) -> Result<Members<'a>, EvaluationError> {
        match self.operand(node)? {
            Operand::Members(members) => Ok(members),
            other => Err(mismatch(node, "struct or map", &other)),
        }
    }

    fn text(&mut self, node: &'a Node) -> Result<Text<'a>, EvaluationError> {
        match self.operand(node)? {
            Operand::Text(text) => Ok(text),
            other => Err(mismatch(node, "string", &other)),
        }
    }

    fn spend_text(&mut self, node: &Node, bytes: usize) -> Result<(), EvaluationError> {
        self.spend(node, bytes.checked_div(BYTES_PER_STEP).unwrap_or_default())
    }

    pub(crate) fn spend(&mut self, node: &Node, steps: usize) -> Result<(), EvaluationError> {
        if self.budget.spend(steps) { Ok(()) } else { Err(at(node)(EvaluationReason::Steps)) }
    }
}

fn count<'a>(list: &Elements<'_>) -> Operand<'a> {
    // A list in memory has fewer than 2^64 elements.
    Operand::Integer(u64::try_from(list.len()).unwrap_or(u64::MAX).into())
}

fn at(node: &Node) -> impl Fn(EvaluationReason) -> EvaluationError {
    let offset = node.offset.get();
    move |reason| EvaluationError { offset, reason }
}

fn internal(node: &Node) -> EvaluationError {
    at(node)(EvaluationReason::Internal)
}

fn out_of_range(node: &Node) -> EvaluationError {
    at(node)(EvaluationReason::OutOfRange)
}

fn mismatch(node: &Node, expected: &'static str, found: &Operand<'_>) -> EvaluationError {
    at(node)(EvaluationReason::Type { expected, found: found.type_name() })
}
