//! Rows of the page about what is said of policies: words, reasons, findings.

use quorate_policy::decide::{Approver, Effect, PolicyProgram};
use quorate_policy::lint::{self, ActivityType};
use quorate_policy::simulate::{House, NamedPolicy};
use quorate_policy::{ExpressionKind, Names, Program, explain, in_words};

use super::specification::{Row, Walk, kind_of, policy, same, source};

/// Who is who on the page.
struct People;

impl Names for People {
    fn name(&self, id: &str) -> Option<String> {
        let known =
            [("ops", "operations"), ("u1", "Alice"), ("00000000-0000-4000-8000-000000000001", "treasury")];
        known.into_iter().find(|(known, _)| *known == id).map(|(_, name)| name.to_owned())
    }
}

/// An expression in words.
pub(super) fn words(row: &Row) -> Result<(), String> {
    let source = source(&row["expression"]).expect("an expression");
    let program = Program::parse(kind_of(row)?, &source).map_err(|flaw| flaw.to_string())?;
    same("words", &row["words"], &in_words(&program, &People))
}

/// Why an expression does not hold.
pub(super) fn reason(walk: &Walk, row: &Row) -> Result<(), String> {
    let kind = kind_of(row)?;
    let text = source(&row["expression"]).expect("an expression");
    let only = |wanted| (kind == wanted).then_some(text.as_str());
    let (condition, consensus, time) =
        (only(ExpressionKind::Condition), only(ExpressionKind::Consensus), only(ExpressionKind::Time));
    let policy =
        PolicyProgram::parse(Effect::Allow, condition, consensus, time).map_err(|flaw| flaw.to_string())?;
    let explanation = walk.with_request(row, |facts, electorate| explain(&policy, facts, electorate));
    let part = explanation.parts.iter().find(|part| part.kind == kind).expect("each kind has a part");
    same("reason", &row["reason"], part.reason.as_deref().unwrap_or("it holds"))
}

/// What is suspicious about one policy.
pub(super) fn findings(walk: &Walk, row: &Row) -> Result<(), String> {
    let found = lint(vec![named("first", policy(row))], walk.team());
    let codes: Vec<&str> = found.iter().map(|finding| finding.code).collect();
    let codes = if codes.is_empty() { "—".to_owned() } else { codes.join(", ") };
    same("findings", &row["findings"], &codes)
}

/// Whether the second policy lets fewer people decide than the first.
pub(super) fn fewer(walk: &Walk, row: &Row) -> Result<(), String> {
    let read = |cell: &str| {
        let (condition, consensus) = row[cell].split_once(" by ").expect("a condition by a consensus");
        let (condition, consensus) = (source(condition), source(consensus));
        let read = PolicyProgram::parse(Effect::Allow, condition.as_deref(), consensus.as_deref(), None);
        named(cell, read.expect("it parses"))
    };
    let found = lint(vec![read("first"), read("second")], walk.team());
    let fewer = found.iter().any(|finding| finding.policy_id == "first" && finding.code == "fewer-people");
    same("finding", &row["finding"], if fewer { "fewer-people" } else { "—" })
}

fn named(name: &str, program: PolicyProgram) -> NamedPolicy {
    NamedPolicy { id: name.to_owned(), name: name.to_owned(), program }
}

fn lint(policies: Vec<NamedPolicy>, users: Vec<Approver>) -> Vec<lint::Finding> {
    let types = [
        ("CREATE_WALLET", "CREATE", "WALLET"),
        ("CREATE_API_KEYS_V2", "CREATE", "CREDENTIAL"),
        ("DELETE_USERS", "DELETE", "USER"),
        ("EXPORT_WALLET", "EXPORT", "WALLET"),
        ("SIGN_RAW_PAYLOAD_V2", "SIGN", "PRIVATE_KEY"),
        ("SIGN_TRANSACTION_V2", "SIGN", "PRIVATE_KEY"),
    ];
    let types = types.map(|(name, action, resource)| ActivityType {
        name: format!("ACTIVITY_TYPE_{name}"),
        action: action.to_owned(),
        resource: resource.to_owned(),
    });
    let house = House { users, policies, ..House::default() };
    lint::lint(&house, &types, &People)
}
