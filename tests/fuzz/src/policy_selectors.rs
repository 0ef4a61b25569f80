//! Any list of selectors of the older form. What they are translated into is a legal policy, or is refused like any other.

use quorate_policy::decide::{self, Effect, Electorate, PolicyOutcome, PolicyProgram, Requester};
use quorate_policy::selectors::{self, Operator, Selector};
use quorate_policy::{ExpressionKind, Value};
use serde_json::Value as Json;

use crate::flaw;

/// Between the fields of a selector.
const SEPARATOR: char = '|';

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let given: Vec<Selector> = text.lines().filter_map(selector).collect();
    let translated = selectors::translate(&given);
    assert_eq!(translated, selectors::translate(&given), "translating twice comes to the same");
    let Ok(translation) = translated else { return };
    let (condition, consensus) = (translation.condition.as_deref(), translation.consensus.as_deref());
    assert_eq!(condition.is_none() && consensus.is_none(), given.is_empty(), "no selector is lost");
    match PolicyProgram::parse(Effect::Allow, condition, consensus, None) {
        Err(refused) => {
            let source = match refused.kind {
                ExpressionKind::Condition => condition,
                ExpressionKind::Consensus => consensus,
                ExpressionKind::Time => None,
            };
            flaw::check(source.unwrap_or_default(), &refused.flaw);
        }
        Ok(policy) => {
            let requester = Requester { user_id: String::new(), is_root: true };
            let nobody = Electorate::new(requester, Vec::new(), Vec::new);
            let permits = decide::outcome(&policy, &Value::List(Vec::new()), &nobody);
            // Whatever is asked about a request or a voter, there is none.
            let asks = given.iter().any(|selector| !matches!(selector.subject.as_str(), "true" | "false"));
            assert!(permits != PolicyOutcome::Allow || !asks, "{translation:?}");
        }
    }
}

/// A line of `subject|OPERATOR|target|target`; `None` if the operator is none.
fn selector(line: &str) -> Option<Selector> {
    let mut fields = line.split(SEPARATOR).map(str::to_owned);
    let subject = fields.next()?;
    let name = format!("OPERATOR_{}", fields.next()?);
    let operator: Operator = serde_json::from_value(Json::String(name)).ok()?;
    Some(Selector { subject, operator, targets: fields.collect() })
}
