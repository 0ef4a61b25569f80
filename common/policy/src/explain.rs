//! Why a policy said what it said about a request: which part of it decided, in words.

use serde::Serialize;

use crate::DECISION_STEP_LIMIT;
use crate::budget::Budget;
use crate::decide::{self, PolicyOutcome, PolicyProgram};
use crate::electorate::Electorate;
use crate::error::EvaluationError;
use crate::evaluate::{Evaluation, Roots};
use crate::operand::{Elements, Operand};
use crate::plan::{Each, Node, Step};
use crate::program::{ExpressionKind, Program};
use crate::spell::spell;
use crate::syntax::Quantifier;
use crate::value::Facts;

/// Longest value that a reason shows, in characters.
const SHOWN_CHARACTERS: usize = 120;
/// Longest reason, in characters.
const REASON_CHARACTERS: usize = 1_000;
/// Parts of an alternative that a reason goes through.
const SHOWN_PARTS: usize = 4;

/// What one expression of a policy came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Which expression.
    pub kind: ExpressionKind,
    /// What it came to; absent where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// The part of it that decided, in words; absent where it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why a policy said what it said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What it said.
    pub outcome: PolicyOutcome,
    /// Its expressions, in the order in which they are asked.
    pub parts: Vec<Part>,
}

impl Explanation {
    /// The first part that did not hold, in a line; what the policy does, if all of them hold.
    pub fn reason(&self) -> String {
        let decisive = self.parts.iter().find(|part| part.holds.is_none());
        match decisive.or_else(|| self.parts.iter().find(|part| part.holds == Some(false))) {
            None => "condition, consensus and time hold".to_owned(),
            Some(part) => {
                let verb = if part.holds.is_none() { "fails" } else { "does not hold" };
                format!("{} {verb}: {}", part.kind.name(), part.reason.as_deref().unwrap_or("it is false"))
            }
        }
    }
}

/// Explains what a policy says about a request, given the approvals as they stand.
pub fn explain(policy: &PolicyProgram, facts: &dyn Facts, electorate: &Electorate<'_>) -> Explanation {
    let said = decide::evaluation(policy, facts, electorate);
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
        part(ExpressionKind::Condition, &policy.condition, &said.condition, Roots::Facts(facts)),
        part(ExpressionKind::Consensus, &policy.consensus, &said.consensus, approvals()),
        part(ExpressionKind::Time, &policy.time, &said.time, Roots::Facts(facts)),
    ];
    Explanation { outcome: said.outcome, parts }
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

/// Where an expression failed: the failing part as it is written, up to the end of its line.
fn failure(program: &Program, error: &EvaluationError) -> String {
    let rest = program.source().get(error.offset..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    let shown: String = line.chars().take(SHOWN_CHARACTERS / 4).collect();
    format!("{} (at {}: {shown})", error.reason, error.offset)
}

struct Search<'s, 'a, 'b> {
    evaluation: &'s mut Evaluation<'a, 'b>,
    /// Names of the variables in scope, outermost first.
    variables: Vec<&'a str>,
}

impl<'a> Search<'_, 'a, '_> {
    /// Why a part is what it is; `truth` is what it is.
    fn why(&mut self, node: &'a Node, truth: bool) -> String {
        match &node.step {
            Step::And(parts) if !truth => self.first(parts, false),
            Step::Or(parts) if truth => self.first(parts, true),
            Step::And(parts) | Step::Or(parts) => self.every(parts, truth),
            Step::Not(inner) => self.why(inner, !truth),
            Step::Compare { comparison, left, .. } if !truth => match self.shown(left) {
                Some(found) => {
                    let (left, right) = (self.spelled(left), self.right(node));
                    format!("{left} is {found}, must be {} {right}", comparison.symbol())
                }
                None => self.plain(node, truth),
            },
            Step::Contains(contains) if !truth => {
                match (self.shown(&contains.item), self.shown(&contains.list)) {
                    (Some(item), _) if contains.list.constant().is_some() => {
                        format!(
                            "{} is {item}, must be one of {}",
                            self.right_of_contains(node),
                            self.spelled(&contains.list)
                        )
                    }
                    (Some(item), Some(list_shown)) => {
                        format!("{} is {list_shown}, must include {item}", self.spelled(&contains.list))
                    }
                    _ => self.plain(node, truth),
                }
            }
            Step::Each(each) => self.element(node, each, truth),
            _ => self.plain(node, truth),
        }
    }

    /// The first part that came out so decided alone.
    fn first(&mut self, parts: &'a [Node], truth: bool) -> String {
        let found = parts.iter().find(|part| self.evaluation.truth(part) == Ok(truth));
        found.map_or_else(|| "it takes too many steps to tell".to_owned(), |part| self.why(part, truth))
    }

    /// All of them came out so, and each had a part in it.
    fn every(&mut self, parts: &'a [Node], truth: bool) -> String {
        let told: Vec<String> = parts.iter().take(SHOWN_PARTS).map(|part| self.why(part, truth)).collect();
        let more = parts.len().saturating_sub(SHOWN_PARTS);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        format!("{}{more}", told.join("; and "))
    }

    /// Of a list, the element that decided, if a single one did.
    fn element(&mut self, node: &'a Node, each: &'a Each, truth: bool) -> String {
        let Each { of, quantifier, variable, predicate } = each;
        let decisive = match (quantifier, truth) {
            (Quantifier::All, false) => false,
            (Quantifier::Any, true) => true,
            _ => return self.plain(node, truth),
        };
        let Ok(Operand::List(list)) = self.evaluation.operand(of) else { return self.plain(node, truth) };
        for place in 0..list.len() {
            let Ok(element) = list.at(place) else { break };
            self.variables.push(variable);
            let found = self.evaluation.truth_with(element.clone(), predicate) == Ok(decisive);
            let why = found.then(|| {
                let Self { evaluation, variables } = self;
                let variables = variables.clone();
                evaluation.with_variable(element, |evaluation| {
                    Search { evaluation, variables }.why(predicate, decisive)
                })
            });
            self.variables.pop();
            if let Some(why) = why {
                return format!("element {place} of {}: {why}", self.spelled(of));
            }
        }
        self.plain(node, truth)
    }

    fn plain(&mut self, node: &Node, truth: bool) -> String {
        format!("{} is {truth}", self.spelled(node))
    }

    fn right(&mut self, node: &'a Node) -> String {
        let Step::Compare { right, .. } = &node.step else { return String::new() };
        match self.shown(right) {
            Some(shown) => shown,
            None => self.spelled(right),
        }
    }

    fn right_of_contains(&self, node: &Node) -> String {
        let Step::Contains(contains) = &node.step else { return String::new() };
        self.spelled(&contains.item)
    }

    fn spelled(&self, node: &Node) -> String {
        cut(&spell(node, &self.variables), SHOWN_CHARACTERS)
    }

    /// What a part came to, as a literal.
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
    let told = (0..list.len().min(SHOWN_PARTS)).filter_map(|place| list.at(place).ok());
    let mut told: Vec<String> = told.map(|element| shown(&element)).collect();
    if list.len() > SHOWN_PARTS {
        told.push("...".to_owned());
    }
    format!("[{}]", told.join(", "))
}

/// Foreign text, no longer than so many characters and three dots.
fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
