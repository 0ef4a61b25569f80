//! Translates any list of selectors. The translation is a valid policy, or is rejected with the error of an
//! expression.

use quorate_policy::decide::{self, Effect, Electorate, PolicyOutcome, PolicyProgram, Proposer};
use quorate_policy::selectors::{self, Operator, Selector};
use quorate_policy::{ExpressionKind, Value};
use serde_json::Value as Json;

use crate::expression_error;

/// Separator of the fields of a selector.
const SEPARATOR: char = '|';

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let selectors: Vec<Selector> = text.lines().filter_map(selector).collect();
    let translated = selectors::translate(&selectors);
    assert_eq!(translated, selectors::translate(&selectors), "translation is deterministic");
    let Ok(translation) = translated else { return };
    let (condition, consensus) = (translation.condition.as_deref(), translation.consensus.as_deref());
    assert_eq!(condition.is_none() && consensus.is_none(), selectors.is_empty(), "no selector is lost");
    match PolicyProgram::parse(Effect::Allow, condition, consensus, None) {
        Err(rejected) => {
            let source = match rejected.kind {
                ExpressionKind::Condition => condition,
                ExpressionKind::Consensus => consensus,
                ExpressionKind::Time => None,
            };
            expression_error::check(source.unwrap_or_default(), &rejected.error);
        }
        Ok(policy) => {
            let proposer = Proposer { user_id: String::new(), is_root: true };
            let empty = Electorate::new(proposer, Vec::new(), Vec::new);
            let outcome = decide::outcome(&policy, &Value::List(Vec::new()), &empty);
            // There are no facts and no voters, so a policy that reads any of them cannot allow.
            let is_path = |selector: &Selector| !matches!(selector.subject.as_str(), "true" | "false");
            assert!(outcome != PolicyOutcome::Allow || !selectors.iter().any(is_path), "{translation:?}");
        }
    }
}

/// Parses a line of `subject|OPERATOR|target|target`, or returns `None` if the operator is unknown.
fn selector(line: &str) -> Option<Selector> {
    let mut fields = line.split(SEPARATOR).map(str::to_owned);
    let subject = fields.next()?;
    let name = format!("OPERATOR_{}", fields.next()?);
    let operator: Operator = serde_json::from_value(Json::String(name)).ok()?;
    Some(Selector { subject, operator, targets: fields.collect() })
}
