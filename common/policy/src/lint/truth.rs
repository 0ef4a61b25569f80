//! Computes which results an expression can have over all requests of a scenario.

use std::collections::BTreeMap;

use super::scenario::{Fact, Scenario};
use crate::literal_index::LiteralIndex;
use crate::number::Integer;
use crate::operand::Operand;
use crate::plan::{Contains, Node, Step};
use crate::spell::spell;
use crate::syntax::Comparison;
use crate::value::Value;

/// The results that are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Possible {
    /// The expression can be true.
    pub(super) truth: bool,
    /// The expression can be false.
    pub(super) falsity: bool,
    /// The evaluation can fail.
    pub(super) failure: bool,
}

impl Possible {
    const EITHER: Self = Self { truth: true, falsity: true, failure: false };
    const FAILS: Self = Self { truth: false, falsity: false, failure: true };

    fn only(truth: bool) -> Self {
        Self { truth, falsity: !truth, failure: false }
    }

    fn negated(self) -> Self {
        Self { truth: self.falsity, falsity: self.truth, failure: self.failure }
    }

    /// Returns whether the evaluation always fails.
    pub(super) fn is_failure(self) -> bool {
        !self.truth && !self.falsity
    }

    /// Returns whether the expression is always true.
    pub(super) fn is_truth(self) -> bool {
        self.truth && !self.falsity && !self.failure
    }
}

/// Returns the possible results of a conjunction.
///
/// Contradictions between the parts are not considered; see [`contradict`].
pub(super) fn all(parts: &[&Node], scenario: &Scenario) -> Possible {
    conjunction(&parts.iter().map(|part| possible(part, scenario)).collect::<Vec<_>>())
}

fn conjunction(parts: &[Possible]) -> Possible {
    if parts.iter().any(|one| one.is_failure()) {
        return Possible::FAILS;
    }
    Possible {
        truth: parts.iter().all(|one| one.truth),
        falsity: parts.iter().any(|one| one.falsity),
        failure: parts.iter().any(|one| one.failure),
    }
}

/// Returns the possible results of a part.
pub(super) fn possible(node: &Node, scenario: &Scenario) -> Possible {
    match &node.step {
        Step::And(parts) => all(&parts.iter().collect::<Vec<_>>(), scenario),
        Step::Or(parts) => {
            // One of the parts is true unless all of them are false.
            let negated: Vec<_> = parts.iter().map(|part| possible(part, scenario).negated()).collect();
            conjunction(&negated).negated()
        }
        Step::Not(inner) => possible(inner, scenario).negated(),
        Step::Compare { comparison, left, right } => {
            compared(*comparison, fact(left, scenario), fact(right, scenario))
        }
        Step::Contains(contains) => {
            let Contains { list, item, index } = &**contains;
            match (fact(list, scenario), fact(item, scenario), index) {
                (Fact::Absent, ..) | (_, Fact::Absent, _) => Possible::FAILS,
                (Fact::Known(Value::List(list)), Fact::Known(item), Some(index)) => {
                    contained(index, &list, &item)
                }
                (list, item, _) => either(&[list, item]),
            }
        }
        _ => match fact(node, scenario) {
            Fact::Known(Value::Bool(truth)) => Possible::only(truth),
            Fact::Absent => Possible::FAILS,
            other => either(&[other]),
        },
    }
}

fn contained(index: &LiteralIndex, list: &[Value], item: &Value) -> Possible {
    let is_contained = Operand::of(item).ok().and_then(|item| index.contains(list, &item));
    is_contained.map_or(Possible::EITHER, Possible::only)
}

fn either(facts: &[Fact]) -> Possible {
    let failure = facts.iter().any(|fact| matches!(fact, Fact::Optional));
    Possible { failure, ..Possible::EITHER }
}

fn compared(comparison: Comparison, left: Fact, right: Fact) -> Possible {
    match (&left, &right) {
        (Fact::Absent, _) | (_, Fact::Absent) => Possible::FAILS,
        (Fact::Known(Value::Int(left)), Fact::Known(Value::Int(right))) => {
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
        (Fact::Known(left), Fact::Known(right)) => match comparison {
            Comparison::Equal => Possible::only(left == right),
            Comparison::NotEqual => Possible::only(left != right),
            _ => Possible::EITHER,
        },
        _ => either(&[left, right]),
    }
}

/// Returns what is known about the value of a part.
fn fact(node: &Node, scenario: &Scenario) -> Fact {
    match &node.step {
        Step::Constant(value) => Fact::Known(Value::clone(value)),
        Step::Root(root) => scenario.root(root),
        Step::Path(path) => scenario.path(path.root, &path.members),
        Step::Variable(_) => Fact::Optional,
        _ => {
            let parts: Vec<Fact> = node.parts().into_iter().map(|part| fact(part, scenario)).collect();
            if parts.iter().any(|part| matches!(part, Fact::Absent)) { Fact::Absent } else { Fact::Optional }
        }
    }
}

/// Collects the paths that are absent in all requests of a scenario.
pub(super) fn absent(node: &Node, scenario: &Scenario, paths: &mut Vec<String>) {
    match &node.step {
        Step::Path(_) | Step::Root(_) if matches!(fact(node, scenario), Fact::Absent) => {
            paths.push(spell(node, &[]));
        }
        _ => node.parts().into_iter().for_each(|part| absent(part, scenario, paths)),
    }
}

/// The constraints that the parts of a conjunction put on one value.
#[derive(Default)]
struct Bounds {
    /// Highest lower bound, and whether the bound itself is excluded.
    lower: Option<(Integer, bool)>,
    /// Lowest upper bound, and whether the bound itself is included.
    upper: Option<(Integer, bool)>,
    /// Values that the value must equal.
    equal: Vec<Value>,
}

/// Returns whether the parts of a conjunction contradict each other about one value.
pub(super) fn contradict(parts: &[&Node]) -> bool {
    let mut bounds: BTreeMap<String, Bounds> = BTreeMap::new();
    for part in parts {
        bound(part, &mut bounds);
    }
    bounds.values().any(Bounds::exclude_all)
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

    /// Returns whether no value meets the constraints.
    fn exclude_all(&self) -> bool {
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

/// Returns whether two values differ. Texts that differ only in ASCII case may be the same address.
fn differ(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text { text: one, .. }, Value::Text { text: other, .. }) => !one.eq_ignore_ascii_case(other),
        (one, other) => one != other,
    }
}
