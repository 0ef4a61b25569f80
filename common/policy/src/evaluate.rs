//! Evaluates a plan over facts or voters. Names were resolved by the checker; types are checked again where
//! needed.
//!
//! Every part is evaluated, even if another part already decides. Without short-circuit evaluation, an
//! expression fails in the same way regardless of the position of the missing fact. Work is counted in steps,
//! never in time.

use std::cmp::Ordering;

use crate::NESTING_LIMIT;
use crate::budget::Budget;
use crate::cron::CronSpan;
use crate::electorate::Voters;
use crate::error::{EvaluationError, EvaluationReason};
use crate::operand::{Elements, Members, Operand, Text};
use crate::plan::{Contains, Each, Node, Offset, Path, Slice, Step};
use crate::syntax::{Comparison, Quantifier};
use crate::value::{Facts, Value};

/// Bytes of text per step.
const BYTES_PER_STEP: usize = 64;
/// Characters per step when a text that is not ASCII is counted.
const CHARACTERS_PER_STEP: usize = 8;
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

    fn compare(
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

    fn contains(&mut self, node: &'a Node, contains: &'a Contains) -> Evaluated<'a> {
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

    fn index(&mut self, node: &'a Node, of: &'a Node, key: &'a Node) -> Evaluated<'a> {
        let key_node = key;
        let of = self.operand(of)?;
        let key = self.operand(key)?;
        match (of, key) {
            (Operand::List(list), Operand::Integer(number)) => {
                let index = number.position().ok_or_else(|| out_of_range(node))?;
                list.at(index).map_err(at(node))
            }
            (Operand::Text(text), Operand::Integer(number)) => {
                let from = number.position().ok_or_else(|| out_of_range(node))?;
                let to = from.checked_add(1).ok_or_else(|| out_of_range(node))?;
                self.text_part(node, &text, from, to)
            }
            (Operand::Members(members), Operand::Text(name)) => {
                let member = self.member(node, &members, name.as_str());
                member.map_err(|EvaluationError { offset, reason }| EvaluationError {
                    offset,
                    reason: as_key(reason),
                })
            }
            (Operand::List(_) | Operand::Text(_), key) => Err(mismatch(key_node, "int", &key)),
            (Operand::Members(_), key) => Err(mismatch(key_node, "string", &key)),
            (other, _) => Err(mismatch(node, "list, string or map", &other)),
        }
    }

    fn slice(&mut self, node: &'a Node, slice: &'a Slice) -> Evaluated<'a> {
        let Slice { of, from, to } = slice;
        let of = self.operand(of)?;
        let from = self.bound(from)?;
        let to = self.bound(to)?;
        match of {
            Operand::List(list) => {
                if let Elements::Computed(_) = list {
                    self.spend(node, to.saturating_sub(from).min(list.len()))?;
                }
                let part = list.part(from, to).ok_or_else(|| out_of_range(node))?;
                Ok(Operand::List(part))
            }
            Operand::Text(text) => self.text_part(node, &text, from, to),
            other => Err(mismatch(node, "list or string", &other)),
        }
    }

    fn bound(&mut self, node: &'a Node) -> Result<usize, EvaluationError> {
        match self.operand(node)? {
            Operand::Integer(number) => number.position().ok_or_else(|| out_of_range(node)),
            other => Err(mismatch(node, "int", &other)),
        }
    }

    /// Returns the characters `from..to` of a text.
    fn text_part(&mut self, node: &Node, text: &Text<'a>, from: usize, to: usize) -> Evaluated<'a> {
        let characters = text.as_str();
        self.spend_text(node, characters.len())?;
        let part = if characters.is_ascii() {
            text.part(from, to)
        } else {
            let counted = from.max(to).min(characters.len());
            self.spend(node, counted.checked_div(CHARACTERS_PER_STEP).unwrap_or_default())?;
            let bounds = byte_of(characters, from).zip(byte_of(characters, to));
            bounds.and_then(|(start, end)| text.part(start, end))
        };
        part.map(Operand::Text).ok_or_else(|| out_of_range(node))
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

/// Returns the byte offset of a character by its index, or the length of the text for the index after the
/// last one.
fn byte_of(text: &str, character: usize) -> Option<usize> {
    let starts = text.char_indices().map(|(byte, _)| byte);
    starts.chain(std::iter::once(text.len())).nth(character)
}

fn as_key(reason: EvaluationReason) -> EvaluationReason {
    match reason {
        EvaluationReason::MissingField(name) => EvaluationReason::MissingKey(name),
        other => other,
    }
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
