//! Explains the outcome of a policy for a request: which part of which expression decided it.

use serde::Serialize;

use crate::DECISION_STEP_LIMIT;
use crate::budget::Budget;
use crate::decide::{self, PolicyOutcome, PolicyProgram};
use crate::electorate::Electorate;
use crate::error::EvaluationError;
use crate::evaluate::{Evaluation, Roots};
use crate::expression_kind::ExpressionKind;
use crate::operand::{Elements, Operand};
use crate::plan::{Each, Node, Step};
use crate::program::Program;
use crate::spell::spell;
use crate::syntax::{Comparison, Quantifier};
use crate::value::Facts;
use crate::words::{is_time, relation};

/// Maximum number of characters of one value in a reason.
const SHOWN_CHARACTERS: usize = 120;
/// Maximum number of characters of a reason.
const REASON_CHARACTERS: usize = 1_000;
/// Maximum number of parts of an expression, and of list elements, in a reason.
const SHOWN_PARTS: usize = 4;

/// The result of one expression of a policy.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The expression.
    pub kind: ExpressionKind,
    /// Whether the expression is true; absent if its evaluation failed.
    pub holds: Option<bool>,
    /// The part that decided the result, in words; absent if the expression is true.
    pub reason: Option<String>,
}

/// The outcome of a policy for a request, with the result of each expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Outcome of the policy.
    pub outcome: PolicyOutcome,
    /// Results in the order condition, consensus, time.
    pub parts: Vec<Part>,
}

impl Explanation {
    /// Returns one line with the first expression that failed, or else the first that is false.
    ///
    /// If all expressions are true, the line states that.
    pub fn reason(&self) -> String {
        let decisive = self.parts.iter().find(|part| part.holds.is_none());
        match decisive.or_else(|| self.parts.iter().find(|part| part.holds == Some(false))) {
            None => "condition, consensus and time all hold".to_owned(),
            Some(part) => {
                let verb = if part.holds.is_none() { "cannot be evaluated" } else { "does not hold" };
                format!("{} {verb}: {}", part.kind.name(), part.reason.as_deref().unwrap_or("it is false"))
            }
        }
    }
}

/// Evaluates a policy with the current approvals and explains the outcome.
pub fn explain(policy: &PolicyProgram, facts: &dyn Facts, electorate: &Electorate<'_>) -> Explanation {
    let evaluation = decide::evaluation(policy, facts, electorate);
    let approvals = || Roots::Voters(electorate.voters(&[]));
    let part = |kind, program: &Option<Program>, result: &Result<bool, EvaluationError>, roots| Part {
        kind,
        holds: result.as_ref().ok().copied(),
        reason: match (program, result) {
            (None, _) | (_, Ok(true)) => None,
            (Some(program), result) => Some(reason(program, result, roots)),
        },
    };
    let parts = vec![
        part(ExpressionKind::Condition, &policy.condition, &evaluation.condition, Roots::Facts(facts)),
        part(ExpressionKind::Consensus, &policy.consensus, &evaluation.consensus, approvals()),
        part(ExpressionKind::Time, &policy.time, &evaluation.time, Roots::Facts(facts)),
    ];
    Explanation { outcome: evaluation.outcome, parts }
}

fn reason(program: &Program, result: &Result<bool, EvaluationError>, roots: Roots<'_>) -> String {
    if let Err(error) = result {
        return failure(program, error);
    }
    let mut budget = Budget::new(DECISION_STEP_LIMIT);
    let mut evaluation = Evaluation::new(roots, &mut budget);
    let why = Search { evaluation: &mut evaluation, variables: Vec::new() }.why(program.plan(), false);
    cut(&why, REASON_CHARACTERS)
}

/// Describes a failed evaluation: the reason, and the source from the failing part to the end of its line.
fn failure(program: &Program, error: &EvaluationError) -> String {
    let rest = program.source().get(error.offset..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    let shown: String = line.chars().take(SHOWN_CHARACTERS / 4).collect();
    format!("{} (at byte {}: {shown})", error.reason, error.offset)
}

struct Search<'s, 'a, 'b> {
    evaluation: &'s mut Evaluation<'a, 'b>,
    /// Names of the lambda variables in scope, outermost first.
    variables: Vec<&'a str>,
}

impl<'a> Search<'_, 'a, '_> {
    /// Explains why a part has the value `truth`.
    fn why(&mut self, node: &'a Node, truth: bool) -> String {
        match &node.step {
            Step::And(parts) if !truth => self.first(parts, false),
            Step::Or(parts) if truth => self.first(parts, true),
            Step::And(parts) | Step::Or(parts) => self.every(parts, truth),
            Step::Not(inner) => self.why(inner, !truth),
            Step::Compare { comparison, left, right } if !truth => match self.shown(left) {
                Some(actual) => {
                    let required = match comparison {
                        Comparison::NotEqual => "not be ".to_owned(),
                        _ => format!("be {}", relation(*comparison, is_time(left))),
                    };
                    let right = self.shown(right).unwrap_or_else(|| self.spelled(right));
                    format!("{} is {actual} but must {required}{right}", self.spelled(left))
                }
                None => self.plain(node, truth),
            },
            Step::Contains(contains) if !truth => {
                match (self.shown(&contains.item), self.shown(&contains.list)) {
                    (Some(item), _) if contains.list.constant().is_some() => {
                        format!(
                            "{} is {item} but must be one of {}",
                            self.spelled(&contains.item),
                            self.spelled(&contains.list)
                        )
                    }
                    (Some(item), Some(list_shown)) => {
                        format!("{} is {list_shown} but must include {item}", self.spelled(&contains.list))
                    }
                    _ => self.plain(node, truth),
                }
            }
            Step::Each(each) => self.element(node, each, truth),
            _ => self.plain(node, truth),
        }
    }

    /// Explains the first part with the value `truth`: it decides on its own.
    fn first(&mut self, parts: &'a [Node], truth: bool) -> String {
        let decisive = parts.iter().find(|part| self.evaluation.truth(part) == Ok(truth));
        decisive
            .map_or_else(|| "the explanation takes too many steps".to_owned(), |part| self.why(part, truth))
    }

    /// Explains all parts: each of them has the value `truth` and is needed for the result.
    fn every(&mut self, parts: &'a [Node], truth: bool) -> String {
        let reasons: Vec<String> = parts.iter().take(SHOWN_PARTS).map(|part| self.why(part, truth)).collect();
        let more = parts.len().saturating_sub(SHOWN_PARTS);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        format!("{}{more}", reasons.join("; and "))
    }

    /// Explains a predicate over a list by the first element that decided it, if one element is enough.
    fn element(&mut self, node: &'a Node, each: &'a Each, truth: bool) -> String {
        let Each { of, quantifier, variable, predicate } = each;
        let decisive = match (quantifier, truth) {
            (Quantifier::All, false) => false,
            (Quantifier::Any, true) => true,
            _ => return self.plain(node, truth),
        };
        let Ok(Operand::List(list)) = self.evaluation.operand(of) else { return self.plain(node, truth) };
        for index in 0..list.len() {
            let Ok(element) = list.at(index) else { break };
            self.variables.push(variable);
            let decides = self.evaluation.truth_with(element.clone(), predicate) == Ok(decisive);
            let why = decides.then(|| {
                let Self { evaluation, variables } = self;
                let variables = variables.clone();
                evaluation.with_variable(element, |evaluation| {
                    Search { evaluation, variables }.why(predicate, decisive)
                })
            });
            self.variables.pop();
            if let Some(why) = why {
                return format!("{}[{index}]: {why}", self.spelled(of));
            }
        }
        self.plain(node, truth)
    }

    fn plain(&mut self, node: &Node, truth: bool) -> String {
        format!("{} is {truth}", self.spelled(node))
    }

    fn spelled(&self, node: &Node) -> String {
        cut(&spell(node, &self.variables), SHOWN_CHARACTERS)
    }

    /// Evaluates a part and formats its value as a literal. Returns `None` if the evaluation fails.
    fn shown(&mut self, node: &'a Node) -> Option<String> {
        let operand = self.evaluation.operand(node).ok()?;
        Some(cut(&shown(&operand), SHOWN_CHARACTERS))
    }
}

fn shown(operand: &Operand<'_>) -> String {
    match operand {
        Operand::Bool(truth) => truth.to_string(),
        Operand::Integer(number) => number.to_string(),
        Operand::Text(text) => format!("'{}'", text.as_str()),
        Operand::Timestamp(instant) => instant.to_string(),
        Operand::List(list) => listed(list),
        Operand::Members(_) => "a struct".to_owned(),
    }
}

fn listed(list: &Elements<'_>) -> String {
    let elements = (0..list.len().min(SHOWN_PARTS)).filter_map(|index| list.at(index).ok());
    let mut elements: Vec<String> = elements.map(|element| shown(&element)).collect();
    if list.len() > SHOWN_PARTS {
        elements.push("...".to_owned());
    }
    format!("[{}]", elements.join(", "))
}

/// Truncates a text to `characters` characters, followed by three dots if anything was cut off.
fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
