//! What an expression can come to, over all requests of one sort.

use std::collections::BTreeMap;

use super::scenario::{Fact, Scenario};
use crate::known::Known;
use crate::number::Integer;
use crate::operand::Operand;
use crate::plan::{Contains, Node, Step};
use crate::spell::spell;
use crate::syntax::Comparison;
use crate::value::Value;

/// What is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Possible {
    /// It may be true.
    pub(super) truth: bool,
    /// It may be false.
    pub(super) falsity: bool,
    /// It may fail.
    pub(super) failure: bool,
}

impl Possible {
    const EITHER: Self = Self { truth: true, falsity: true, failure: false };
    const FAILS: Self = Self { truth: false, falsity: false, failure: true };

    fn only(truth: bool) -> Self {
        Self { truth, falsity: !truth, failure: false }
    }

    /// Nothing but a failure is possible.
    pub(super) fn is_failure(self) -> bool {
        !self.truth && !self.falsity
    }

    /// Nothing but truth is possible.
    pub(super) fn is_truth(self) -> bool {
        self.truth && !self.falsity && !self.failure
    }
}

/// What parts that must all hold can come to. That they ask different things of one value is asked for once, see
/// [`contradict`].
pub(super) fn all(parts: &[&Node], scenario: &Scenario) -> Possible {
    let each: Vec<Possible> = parts.iter().map(|part| possible(part, scenario)).collect();
    if each.iter().any(|one| one.is_failure()) {
        return Possible::FAILS;
    }
    Possible {
        truth: each.iter().all(|one| one.truth),
        falsity: each.iter().any(|one| one.falsity),
        failure: each.iter().any(|one| one.failure),
    }
}

/// What a part can come to.
pub(super) fn possible(node: &Node, scenario: &Scenario) -> Possible {
    match &node.step {
        Step::And(parts) => all(&parts.iter().collect::<Vec<_>>(), scenario),
        Step::Or(parts) => {
            let each: Vec<Possible> = parts.iter().map(|part| possible(part, scenario)).collect();
            if each.iter().any(|one| one.is_failure()) {
                return Possible::FAILS;
            }
            Possible {
                truth: each.iter().any(|one| one.truth),
                falsity: each.iter().all(|one| one.falsity),
                failure: each.iter().any(|one| one.failure),
            }
        }
        Step::Not(inner) => {
            let Possible { truth, falsity, failure } = possible(inner, scenario);
            Possible { truth: falsity, falsity: truth, failure }
        }
        Step::Compare { comparison, left, right } => {
            compared(*comparison, fact(left, scenario), fact(right, scenario))
        }
        Step::Contains(contains) => {
            let Contains { list, item, known } = &**contains;
            match (fact(list, scenario), fact(item, scenario), known) {
                (Fact::Absent, ..) | (_, Fact::Absent, _) => Possible::FAILS,
                (Fact::Is(Value::List(list)), Fact::Is(item), Some(known)) => found(known, &list, &item),
                (list, item, _) => either(&[list, item]),
            }
        }
        _ => match fact(node, scenario) {
            Fact::Is(Value::Bool(truth)) => Possible::only(truth),
            Fact::Absent => Possible::FAILS,
            other => either(&[other]),
        },
    }
}

fn found(known: &Known, list: &[Value], item: &Value) -> Possible {
    let found = Operand::of(item).ok().and_then(|item| known.has(list, &item));
    found.map_or(Possible::EITHER, Possible::only)
}

fn either(facts: &[Fact]) -> Possible {
    let failure = facts.iter().any(|fact| matches!(fact, Fact::Perhaps));
    Possible { failure, ..Possible::EITHER }
}

fn compared(comparison: Comparison, left: Fact, right: Fact) -> Possible {
    match (&left, &right) {
        (Fact::Absent, _) | (_, Fact::Absent) => Possible::FAILS,
        (Fact::Is(Value::Int(left)), Fact::Is(Value::Int(right))) => {
            let order = left.cmp(right);
            Possible::only(match comparison {
                Comparison::Equal => order.is_eq(),
                Comparison::NotEqual => order.is_ne(),
                Comparison::Less => order.is_lt(),
                Comparison::LessOrEqual => order.is_le(),
                Comparison::Greater => order.is_gt(),
                Comparison::GreaterOrEqual => order.is_ge(),
                Comparison::In => return Possible::EITHER,
            })
        }
        (Fact::Is(left), Fact::Is(right)) => match comparison {
            Comparison::Equal => Possible::only(left == right),
            Comparison::NotEqual => Possible::only(left != right),
            _ => Possible::EITHER,
        },
        _ => either(&[left, right]),
    }
}

/// What is known of a value.
fn fact(node: &Node, scenario: &Scenario) -> Fact {
    match &node.step {
        Step::Constant(value) => Fact::Is(Value::clone(value)),
        Step::Root(root) => scenario.root(root),
        Step::Path(path) => scenario.path(path.root, &path.members),
        Step::Variable(_) => Fact::Perhaps,
        _ => {
            let parts: Vec<Fact> = node.parts().into_iter().map(|part| fact(part, scenario)).collect();
            if parts.iter().any(|part| matches!(part, Fact::Absent)) { Fact::Absent } else { Fact::Perhaps }
        }
    }
}

/// The paths that all requests of the sort lack.
pub(super) fn absent(node: &Node, scenario: &Scenario, paths: &mut Vec<String>) {
    match &node.step {
        Step::Path(_) | Step::Root(_) if matches!(fact(node, scenario), Fact::Absent) => {
            paths.push(spell(node, &[]));
        }
        _ => node.parts().into_iter().for_each(|part| absent(part, scenario, paths)),
    }
}

/// What the parts of a conjunction say of one value.
#[derive(Default)]
struct Bounds {
    /// The highest lower bound, and whether it is excluded itself.
    lower: Option<(Integer, bool)>,
    /// The lowest upper bound, and whether it is included itself.
    upper: Option<(Integer, bool)>,
    equal: Vec<Value>,
}

/// Whether parts that must hold together ask different things of the same value.
pub(super) fn contradict(parts: &[&Node]) -> bool {
    let mut bounds: BTreeMap<String, Bounds> = BTreeMap::new();
    for part in parts {
        bound(part, &mut bounds);
    }
    bounds.values().any(Bounds::exclude)
}

fn bound(node: &Node, bounds: &mut BTreeMap<String, Bounds>) {
    match &node.step {
        Step::And(parts) => parts.iter().for_each(|part| bound(part, bounds)),
        Step::Compare { comparison, left, right } => {
            if let Some(value) = right.constant() {
                bounds.entry(spell(left, &[])).or_default().narrow(*comparison, value);
            }
        }
        _ => {}
    }
}

impl Bounds {
    fn narrow(&mut self, comparison: Comparison, value: &Value) {
        match (comparison, value) {
            (Comparison::Equal, value) => self.equal.push(value.clone()),
            (Comparison::Less | Comparison::LessOrEqual, Value::Int(number)) => {
                let bound = (*number, comparison == Comparison::LessOrEqual);
                self.upper = Some(self.upper.map_or(bound, |known| known.min(bound)));
            }
            (Comparison::Greater | Comparison::GreaterOrEqual, Value::Int(number)) => {
                let bound = (*number, comparison == Comparison::Greater);
                self.lower = Some(self.lower.map_or(bound, |known| known.max(bound)));
            }
            _ => {}
        }
    }

    /// Whether no value is left.
    fn exclude(&self) -> bool {
        let is_above = |value: &Integer| {
            self.upper.is_some_and(|(most, included)| *value > most || (*value == most && !included))
        };
        let is_below = |value: &Integer| {
            self.lower.is_some_and(|(least, excluded)| *value < least || (*value == least && excluded))
        };
        let crossed = self.lower.is_some_and(|(least, excluded)| {
            is_above(&least) || (excluded && self.upper.is_some_and(|(most, _)| most == least))
        });
        let several = self.equal.windows(2).any(|pair| matches!(pair, [one, other] if differ(one, other)));
        let outside = self.equal.iter().any(|value| match value {
            Value::Int(number) => is_above(number) || is_below(number),
            _ => false,
        });
        crossed || several || outside
    }
}

/// Texts that differ only in case may be the same address.
fn differ(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text { text: one, .. }, Value::Text { text: other, .. }) => !one.eq_ignore_ascii_case(other),
        (one, other) => one != other,
    }
}
