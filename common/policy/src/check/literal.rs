//! Checks functions with literal arguments, and converts decimal text to integers.

use std::sync::Arc;

use super::{Checked, Checker};
use crate::cron::{self, CronSpan};
use crate::expression_error::{ErrorReason, ExpressionError, Result};
use crate::expression_kind::ExpressionKind;
use crate::number::Integer;
use crate::plan::{Node, Step};
use crate::syntax::{Comparison, Expression, Function, Syntax};
use crate::timestamp::Timestamp;
use crate::types::Type;
use crate::value::Value;

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        offset: usize,
        function: Function,
        arguments: &[Expression],
    ) -> Result<Checked> {
        match (function, arguments) {
            (Function::Timestamp, [text]) => self.timestamp(offset, text),
            (Function::CaseInsensitiveString, [text]) => self.lower(offset, text),
            (Function::CronSpan, [schedule, duration, zone]) => {
                self.cron_span(offset, schedule, duration, zone)
            }
            (Function::Timestamp | Function::CaseInsensitiveString, _) => {
                Err(self.arity(offset, function, 1))
            }
            (Function::CronSpan, _) => Err(self.arity(offset, function, 3)),
        }
    }

    fn arity(&self, offset: usize, function: Function, expected: usize) -> ExpressionError {
        let function = function.name().to_owned();
        self.error(offset, ErrorReason::ArgumentCount { function, expected })
    }

    fn timestamp(&mut self, offset: usize, text: &Expression) -> Result<Checked> {
        let literal = self.literal(Function::Timestamp, text)?;
        let instant = Timestamp::parse(literal).map_err(|error| self.error(text.offset, error.into()))?;
        Ok(self.constant(offset, Value::Timestamp(instant), Type::Timestamp))
    }

    fn lower(&mut self, offset: usize, text: &Expression) -> Result<Checked> {
        let text = self.expression(text)?;
        if !text.type_.is_text() {
            return Err(self.type_error(text.node.offset.get(), "string", &text.type_));
        }
        let step = match text.node.constant() {
            Some(Value::Text { text, .. }) => {
                let lower = Value::text(text.to_ascii_lowercase());
                return Ok(self.constant(offset, lower, Type::Text));
            }
            _ => Step::Lower(Box::new(text.node)),
        };
        Ok(Checked::new(offset, step, Type::Text))
    }

    /// Checks a `CronSpan`. All three arguments are literals, so errors are reported when the policy is
    /// created.
    fn cron_span(
        &self,
        offset: usize,
        schedule: &Expression,
        duration: &Expression,
        zone: &Expression,
    ) -> Result<Checked> {
        if self.kind != ExpressionKind::Time {
            return Err(self.error(offset, ErrorReason::CronSpanKind));
        }
        let error = |argument: &Expression, error| self.error(argument.offset, ErrorReason::CronSpan(error));
        let text = |argument| self.literal(Function::CronSpan, argument);
        let [cron, span, name] = [text(schedule)?, text(duration)?, text(zone)?];
        let span = CronSpan {
            schedule: cron::schedule(cron).map_err(|why| error(schedule, why))?,
            minutes: cron::minutes(span).map_err(|why| error(duration, why))?,
            zone: cron::zone(name).map_err(|why| error(zone, why))?,
            source: format!("CronSpan('{cron}', '{span}', '{name}')"),
        };
        Ok(Checked::new(offset, Step::CronSpan(Box::new(span)), Type::Bool))
    }

    fn literal<'e>(&self, function: Function, expression: &'e Expression) -> Result<&'e str> {
        match &expression.syntax {
            Syntax::Text(text) => Ok(text),
            _ => Err(self.error(expression.offset, ErrorReason::LiteralRequired(function.name()))),
        }
    }
}

/// Converts decimal text that is compared with a quantity to an integer. Other text is kept and fails the
/// type check.
pub(super) fn read_decimal_text(comparison: Comparison, left: &mut Checked, right: &mut Checked) {
    match (comparison, &left.type_, &right.type_) {
        (Comparison::Equal | Comparison::NotEqual | Comparison::In, Type::Quantity, _) => {
            read_side(right);
        }
        (Comparison::Equal | Comparison::NotEqual, _, Type::Quantity) => read_side(left),
        _ => {}
    }
}

fn read_side(side: &mut Checked) {
    let Some(value) = side.node.constant() else {
        return;
    };
    let (read, type_) = match value {
        Value::Text { text, .. } => (decimal(text), Type::Integer),
        Value::List(elements) => {
            let numbers: Option<Vec<Value>> = elements.iter().map(element).collect();
            (numbers.map(Value::List), Type::List(Type::Integer.into()))
        }
        _ => return,
    };
    if let Some(value) = read {
        side.node = Node { offset: side.node.offset, step: Step::Constant(Arc::new(value)) };
        side.type_ = type_;
    }
}

fn element(value: &Value) -> Option<Value> {
    match value {
        Value::Text { text, .. } => decimal(text),
        _ => None,
    }
}

fn decimal(text: &str) -> Option<Value> {
    let number = Integer::from_decimal(text).filter(|_| !text.starts_with('-'))?;
    Some(Value::Int(number))
}
