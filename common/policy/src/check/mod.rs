//! Turns a syntax tree into a plan: resolves names, infers types and validates literals, without evaluating
//! anything.

mod literal;
mod members;
pub(crate) mod namespaces;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::expression_error::{ErrorReason, ExpressionError, Result, echo};
use crate::expression_kind::ExpressionKind;
use crate::number::Integer;
use crate::plan::{Each, Node, Offset, Step};
use crate::syntax::{Comparison, Expression, Name, Quantifier, Syntax};
use crate::types::{Schema, Type};
use crate::value::Value;

/// Checks a complete expression, which must be boolean.
pub(crate) fn check(kind: ExpressionKind, source: &str, expression: &Expression) -> Result<Node> {
    let mut checker = Checker::new(kind, source);
    let whole = checker.expression(expression)?;
    checker.truth(whole)
}

/// Checks an expression of any type and returns its type.
pub(crate) fn infer(kind: ExpressionKind, source: &str, expression: &Expression) -> Result<Type> {
    let whole = Checker::new(kind, source).expression(expression)?;
    Ok(whole.type_)
}

/// A checked part and its type.
struct Checked {
    node: Node,
    type_: Type,
}

impl Checked {
    fn new(offset: usize, step: Step, type_: Type) -> Self {
        Self { node: Node { offset: Offset::new(offset), step }, type_ }
    }
}

/// Negates a part. Two negations of a part that is always boolean cancel out.
fn negated(offset: usize, node: Node) -> Node {
    match node.step {
        Step::Not(inner) if inner.is_truth() => *inner,
        step => {
            let inner = Node { offset: node.offset, step };
            Node { offset: Offset::new(offset), step: Step::Not(Box::new(inner)) }
        }
    }
}

/// Maximum number of type parts that are compared in one expression.
const TYPE_LIMIT: u32 = 100_000;

struct Checker<'s> {
    kind: ExpressionKind,
    source: &'s str,
    /// Lambda variables in scope, outermost first.
    scope: Vec<(String, Type)>,
    /// Number of type parts that may still be compared.
    steps_left: u32,
    /// Literals found so far; equal literals are shared.
    literals: Literals,
}

/// Scalar literals of one expression.
#[derive(Default)]
struct Literals {
    booleans: BTreeMap<bool, Arc<Value>>,
    integers: BTreeMap<Integer, Arc<Value>>,
    texts: BTreeMap<String, Arc<Value>>,
}

impl Literals {
    /// Returns the value, shared with equal literals.
    fn shared(&mut self, value: Value) -> Arc<Value> {
        let shared = match &value {
            Value::Bool(truth) => self.booleans.entry(*truth).or_insert_with(|| Arc::new(value)),
            Value::Int(number) => self.integers.entry(*number).or_insert_with(|| Arc::new(value)),
            Value::Text { text, folds_case: false } => {
                self.texts.entry(text.clone().into_owned()).or_insert_with(|| Arc::new(value))
            }
            _ => return Arc::new(value),
        };
        Arc::clone(shared)
    }
}

impl<'s> Checker<'s> {
    fn new(kind: ExpressionKind, source: &'s str) -> Self {
        Self { kind, source, scope: Vec::new(), steps_left: TYPE_LIMIT, literals: Literals::default() }
    }

    fn constant(&mut self, offset: usize, value: Value, type_: Type) -> Checked {
        let value = self.literals.shared(value);
        Checked::new(offset, Step::Constant(value), type_)
    }

    fn expression(&mut self, expression: &Expression) -> Result<Checked> {
        let offset = expression.offset;
        match &expression.syntax {
            Syntax::Bool(value) => Ok(self.constant(offset, Value::Bool(*value), Type::Bool)),
            Syntax::Integer(number) => Ok(self.constant(offset, Value::Int(*number), Type::Integer)),
            Syntax::Text(text) => Ok(self.constant(offset, Value::text(text.clone()), Type::Text)),
            Syntax::Name(name) => self.name(offset, name),
            Syntax::List(elements) => self.list(offset, elements),
            Syntax::Struct(members) => self.record(offset, members),
            Syntax::Call { function, arguments } => self.call(offset, *function, arguments),
            Syntax::Not(inner) => {
                let inner = self.truth_of(inner)?;
                Ok(Checked { node: negated(offset, inner), type_: Type::Bool })
            }
            Syntax::And(parts) => Ok(Checked::new(offset, Step::And(self.truths_of(parts)?), Type::Bool)),
            Syntax::Or(parts) => Ok(Checked::new(offset, Step::Or(self.truths_of(parts)?), Type::Bool)),
            Syntax::Compare { comparison, left, right } => self.comparison(offset, *comparison, left, right),
            Syntax::Field { of, name } => self.field(of, name),
            Syntax::Method { of, name, arguments } => self.method(of, name, arguments),
            Syntax::Each { of, quantifier, variable, predicate } => {
                self.each(offset, of, *quantifier, variable, predicate)
            }
            Syntax::Index { of, key } => self.index(offset, of, key),
            Syntax::Slice { of, from, to } => self.slice(offset, of, from, to),
        }
    }

    /// Resolves a name to a variable in scope, or else to a root of this kind of expression.
    fn name(&self, offset: usize, name: &str) -> Result<Checked> {
        let variable = self.scope.iter().position(|(known, _)| known == name);
        if let Some((index, (_, type_))) = variable.and_then(|index| Some((index, self.scope.get(index)?))) {
            return Ok(Checked::new(offset, Step::Variable(index), type_.clone()));
        }
        match namespaces::roots(self.kind).iter().find(|root| root.name == name) {
            Some(root) => Ok(Checked::new(offset, Step::Root(root.canonical), root.declared.into())),
            None => Err(self.error(offset, ErrorReason::FieldMissing(echo(name)))),
        }
    }

    fn list(&mut self, offset: usize, elements: &[Expression]) -> Result<Checked> {
        let mut common: Option<Type> = None;
        let mut nodes = Vec::with_capacity(elements.len());
        for element in elements {
            let Checked { node, type_ } = self.expression(element)?;
            let merged = match &common {
                None => Some(type_.clone()),
                Some(first) => self.meet(first, &type_, element.offset)?,
            };
            if merged.is_none() {
                let first = common.map(|first| first.to_string()).unwrap_or_default();
                let other = type_.to_string();
                return Err(self.error(element.offset, ErrorReason::MixedList { first, other }));
            }
            common = merged;
            nodes.push(node);
        }
        // An empty list is compatible with any list.
        let type_ = Type::List(Rc::new(common.unwrap_or(Type::Dynamic)));
        let step = if nodes.iter().all(|node| node.constant().is_some()) {
            let mut values: Vec<Value> = nodes.into_iter().filter_map(Node::into_constant).collect();
            values.shrink_to_fit();
            Step::Constant(Arc::new(Value::List(values)))
        } else {
            Step::List(nodes.into_boxed_slice())
        };
        Ok(Checked::new(offset, step, type_))
    }

    fn record(&mut self, offset: usize, members: &[(Name, Expression)]) -> Result<Checked> {
        let mut nodes: Vec<(String, Node)> = Vec::with_capacity(members.len());
        let mut schema = BTreeMap::new();
        for (name, member) in members {
            let Checked { node, type_ } = self.expression(member)?;
            nodes.push((name.text.clone(), node));
            if schema.insert(name.text.clone(), type_).is_some() {
                return Err(self.error(name.offset, ErrorReason::DuplicateMember(echo(&name.text))));
            }
        }
        let type_ = Type::Struct(Schema::Literal(Rc::new(schema)));
        let step = if nodes.iter().all(|(_, node)| node.constant().is_some()) {
            let members = nodes.into_iter().map(|(name, node)| (name, node.into_constant()));
            Step::Constant(Arc::new(Value::record(members)))
        } else {
            Step::Struct(nodes.into_boxed_slice())
        };
        Ok(Checked::new(offset, step, type_))
    }

    fn comparison(
        &mut self,
        offset: usize,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
    ) -> Result<Checked> {
        let mut left = self.expression(left)?;
        let mut right = self.expression(right)?;
        literal::read_decimal_text(comparison, &mut left, &mut right);
        let common = match comparison {
            Comparison::In => match right.type_.element() {
                Some(element) => self.meet(&element, &left.type_, offset)?,
                None => None,
            },
            _ => self.meet(&left.type_, &right.type_, offset)?,
        };
        let is_legal = common.is_some_and(|type_| match comparison {
            Comparison::Equal | Comparison::NotEqual | Comparison::In => type_.is_comparable(),
            _ => type_.is_ordered() && left.type_.is_ordered() && right.type_.is_ordered(),
        });
        if !is_legal {
            let reason = ErrorReason::Comparison {
                comparison: comparison.name(),
                left: left.type_.to_string(),
                right: right.type_.to_string(),
            };
            return Err(self.error(offset, reason));
        }
        let step = match comparison {
            Comparison::In => members::contained(right.node, left.node),
            _ => Step::Compare { comparison, left: Box::new(left.node), right: Box::new(right.node) },
        };
        Ok(Checked::new(offset, step, Type::Bool))
    }

    fn each(
        &mut self,
        offset: usize,
        of: &Expression,
        quantifier: Quantifier,
        variable: &Name,
        predicate: &Expression,
    ) -> Result<Checked> {
        let list = self.expression(of)?;
        let Some(element) = list.type_.element() else {
            return Err(self.type_error(of.offset, "list", &list.type_));
        };
        if namespaces::is_reserved(&variable.text) {
            return Err(self.error(variable.offset, ErrorReason::VariableReserved(echo(&variable.text))));
        }
        if self.scope.iter().any(|(known, _)| *known == variable.text) {
            return Err(self.error(variable.offset, ErrorReason::VariableInUse(echo(&variable.text))));
        }
        self.scope.push((variable.text.clone(), element));
        let predicate = self.truth_of(predicate);
        self.scope.pop();
        let type_ = match quantifier {
            Quantifier::All | Quantifier::Any => Type::Bool,
            Quantifier::Filter => list.type_,
        };
        let (variable, predicate) = (variable.text.clone(), predicate?);
        let each = Each { of: list.node, quantifier, variable, predicate };
        Ok(Checked::new(offset, Step::Each(Box::new(each)), type_))
    }

    /// Returns the common type of two types, if there is one.
    fn meet(&mut self, one: &Type, other: &Type, offset: usize) -> Result<Option<Type>> {
        let common = one.meet(other, &mut self.steps_left);
        if self.steps_left == 0 {
            Err(self.error(offset, ErrorReason::Types(TYPE_LIMIT)))
        } else {
            Ok(common)
        }
    }

    fn truths_of(&mut self, parts: &[Expression]) -> Result<Box<[Node]>> {
        parts.iter().map(|part| self.truth_of(part)).collect()
    }

    fn truth_of(&mut self, expression: &Expression) -> Result<Node> {
        let checked = self.expression(expression)?;
        self.truth(checked)
    }

    fn truth(&self, checked: Checked) -> Result<Node> {
        if checked.type_.is_bool() {
            Ok(checked.node)
        } else {
            Err(self.type_error(checked.node.offset.get(), "bool", &checked.type_))
        }
    }

    fn type_error(&self, offset: usize, expected: &'static str, found: &Type) -> ExpressionError {
        let found = found.to_string();
        self.error(offset, ErrorReason::Type { expected, found })
    }

    fn error(&self, offset: usize, reason: ErrorReason) -> ExpressionError {
        ExpressionError::new(self.source, offset, reason)
    }
}
