//! Runs the rows of `advice.md`: descriptions in words, reasons and findings.

use quorate_policy::decide::{Approver, Effect, PolicyProgram};
use quorate_policy::lint::{self, ActivityType};
use quorate_policy::simulate::{NamedPolicy, OrganizationRules};
use quorate_policy::{ExpressionKind, Names, Program, explain, in_words};

use super::specification::{Row, Walk, kind_of, policy, same, source};

/// The names that the page uses.
struct People;

impl Names for People {
    fn name(&self, id: &str) -> Option<String> {
        let known =
            [("ops", "operations"), ("u1", "Alice"), ("00000000-0000-4000-8000-000000000001", "treasury")];
        known.into_iter().find(|(known, _)| *known == id).map(|(_, name)| name.to_owned())
    }
}

/// Checks the description of an expression in words.
pub(super) fn words(row: &Row) -> Result<(), String> {
    let source = source(&row["expression"]).expect("an expression");
    let program = Program::parse(kind_of(row)?, &source).map_err(|error| error.to_string())?;
    same("words", &row["words"], &in_words(&program, &People))
}

/// Checks the reason why an expression does not hold.
pub(super) fn reason(walk: &Walk, row: &Row) -> Result<(), String> {
    let kind = kind_of(row)?;
    let text = source(&row["expression"]).expect("an expression");
    let only = |wanted| (kind == wanted).then_some(text.as_str());
    let (condition, consensus, time) =
        (only(ExpressionKind::Condition), only(ExpressionKind::Consensus), only(ExpressionKind::Time));
    let policy =
        PolicyProgram::parse(Effect::Allow, condition, consensus, time).map_err(|error| error.to_string())?;
    let explanation = walk.with_request(row, |facts, electorate| explain(&policy, facts, electorate));
    let part = explanation.parts.iter().find(|part| part.kind == kind).expect("each kind has a part");
    same("reason", &row["reason"], part.reason.as_deref().unwrap_or("it holds"))
}

/// Checks the findings about one policy.
pub(super) fn findings(walk: &Walk, row: &Row) -> Result<(), String> {
    let findings = lint(vec![named("first", policy(row))], walk.team());
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    let codes = if codes.is_empty() { "—".to_owned() } else { codes.join(", ") };
    same("findings", &row["findings"], &codes)
}

/// Checks whether the second policy needs fewer approvals than the first.
pub(super) fn fewer(walk: &Walk, row: &Row) -> Result<(), String> {
    let parse = |cell: &str| {
        let (condition, consensus) = row[cell].split_once(" by ").expect("a condition by a consensus");
        let (condition, consensus) = (source(condition), source(consensus));
        let program = PolicyProgram::parse(Effect::Allow, condition.as_deref(), consensus.as_deref(), None);
        named(cell, program.expect("it parses"))
    };
    let findings = lint(vec![parse("first"), parse("second")], walk.team());
    let fewer = findings.iter().any(|finding| finding.policy_id == "first" && finding.code == "fewer-people");
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
    let rules = OrganizationRules { users, policies, ..OrganizationRules::default() };
    lint::lint(&rules, &types, &People)
}
