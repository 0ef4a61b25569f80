//! Finds suspicious policies, independently of any request.

mod coverage;
mod ids;
mod people;
mod scenario;
mod truth;
mod vocabulary;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::decide::{Effect, PolicyOutcome, PolicyProgram};
use crate::expression_kind::ExpressionKind;
use crate::plan::{Node, Step, conjuncts};
use crate::program::Program;
use crate::property::Property;
use crate::request::kind_of;
use crate::simulate::{NamedPolicy, OrganizationRules};
use crate::value::Value;
use crate::words::Names;

pub use coverage::{Coverage, coverage};
use ids::is_id;
pub use scenario::ActivityType;
use scenario::Scenario;
use truth::Possible;
pub use vocabulary::unknown_names;

/// Kinds that give access in the name of the user that their parameters state.
const ACCESS_KINDS: [&str; 4] =
    ["CREATE_API_KEYS", "CREATE_AUTHENTICATORS", "CREATE_OAUTH_PROVIDERS", "CREATE_READ_WRITE_SESSION"];
/// Properties that are names rather than grants of authority.
const NAMES: [Property; 4] =
    [Property::UserName, Property::UserEmail, Property::WalletName, Property::PrivateKeyName];
/// Maximum number of activity kinds that a finding names; the others are counted.
const NAMED_KINDS: usize = 4;
/// Maximum number of characters of a text that a finding shows.
const SHOWN_CHARS: usize = 100;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Level {
    /// The policy may be as intended.
    Note,
    /// The policy most likely does not do what its author intended.
    Warning,
}

/// A suspicious property of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Severity of the finding.
    pub level: Level,
    /// Machine-readable code: `never-true`, `always-true`, `access-as-others`, `absent-member`, `unknown-id`,
    /// `impossible-id`, `unknown-name`, `nobody-agrees`, `address-case`, `reads-name` or `fewer-people`.
    pub code: &'static str,
    /// Id of the policy.
    pub policy_id: String,
    /// Name of the policy.
    pub policy_name: String,
    /// Expression that the finding is about.
    pub expression: ExpressionKind,
    /// Description for people: the consequence, then the evidence.
    pub text: String,
}

/// Checks the policies of an organization.
///
/// `types` are the activity types that policies decide on. An id that `names` does not resolve is reported as
/// unknown.
pub fn lint(rules: &OrganizationRules, types: &[ActivityType], names: &dyn Names) -> Vec<Finding> {
    let scenarios: Vec<Scenario> = types.iter().flat_map(scenario::of_type).collect();
    let mut findings = Vec::new();
    for policy in &rules.policies {
        let mut report = Report { policy, findings: &mut findings };
        report.condition(&scenarios);
        report.people(rules);
        report.ids(names);
        report.impossible_ids(names);
        report.unknown_names(types);
        report.addresses();
        report.changeable();
    }
    people::overlaps(rules, &scenarios, &mut findings);
    findings
}

struct Report<'f, 'p> {
    policy: &'p NamedPolicy,
    findings: &'f mut Vec<Finding>,
}

impl Report<'_, '_> {
    fn add(&mut self, level: Level, code: &'static str, expression: ExpressionKind, text: String) {
        let NamedPolicy { id, name, .. } = self.policy;
        let (policy_id, policy_name) = (id.clone(), name.clone());
        self.findings.push(Finding { level, code, policy_id, policy_name, expression, text });
    }

    /// Reports a condition that is never true, that is always true, or that fails for kinds it is meant to
    /// match.
    fn condition(&mut self, scenarios: &[Scenario]) {
        const KIND: ExpressionKind = ExpressionKind::Condition;
        let denies = self.policy.program.effect == Effect::Deny;
        let Some(program) = &self.policy.program.condition else {
            let level = if denies { Level::Note } else { Level::Warning };
            self.add(
                level,
                "always-true",
                KIND,
                "the policy has no condition, so it applies to every activity".to_owned(),
            );
            return;
        };
        let parts = conjuncts(program.plan());
        let possible: Vec<_> = scenarios.iter().map(|scenario| truth::all(&parts, scenario)).collect();
        if truth::contradict(&parts) || !possible.iter().any(|one| one.truth) {
            let text = if possible.iter().all(|one| one.is_failure()) {
                "the policy never applies: no activity has all the fields that the condition reads"
            } else {
                "the policy never applies: no activity of this service can meet the condition"
            };
            self.add(Level::Warning, "never-true", KIND, text.to_owned());
            return;
        }
        if possible.iter().all(|one| one.is_truth()) {
            let level = if denies { Level::Note } else { Level::Warning };
            self.add(level, "always-true", KIND, "the policy applies to every activity".to_owned());
        } else if !denies {
            self.access_as_others(scenarios.iter().zip(&possible).filter(|(_, one)| one.is_truth()));
        }
        self.absent(program, &parts, scenarios);
    }

    /// Reports a policy that always allows a kind which gives access in the name of any user.
    fn access_as_others<'s>(&mut self, allowed: impl Iterator<Item = (&'s Scenario, &'s Possible)>) {
        let kinds: BTreeSet<String> =
            allowed.map(|(scenario, _)| kind_of(&scenario.activity.name).to_owned()).collect();
        let kinds: BTreeSet<String> =
            kinds.into_iter().filter(|kind| ACCESS_KINDS.contains(&kind.as_str())).collect();
        if !kinds.is_empty() {
            let text = format!(
                "the policy lets its approvers act as any user, members of the root quorum included: \
                 it allows {}",
                listed(&kinds)
            );
            self.add(Level::Warning, "access-as-others", ExpressionKind::Condition, text);
        }
    }

    /// Reports a condition that matches a kind and then reads a field which that kind does not have.
    fn absent(&mut self, program: &Program, parts: &[&Node], scenarios: &[Scenario]) {
        let guards: Vec<&Node> = parts.iter().copied().filter(|part| is_guard(part)).collect();
        let denies = self.policy.program.effect == Effect::Deny;
        let met = |scenario: &&Scenario| truth::all(&guards, scenario).truth;
        let mut missing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for scenario in scenarios.iter().filter(met).filter(|one| truth::all(parts, one).is_failure()) {
            let name = &scenario.activity.name;
            let of_type = || scenarios.iter().filter(|one| one.activity.name == *name);
            // An allow policy that can be true for one scenario of a type is meant for that scenario only.
            if !denies && of_type().any(|one| truth::all(parts, one).truth) {
                continue;
            }
            let mut paths = Vec::new();
            truth::absent(program.plan(), scenario, &mut paths);
            for path in paths {
                missing.entry(path).or_default().insert(kind_of(name).to_owned());
            }
        }
        let level = if denies && !guards.is_empty() { Level::Warning } else { Level::Note };
        let effect = if denies { "deny" } else { "allow" };
        for (path, kinds) in missing {
            let text = format!(
                "the policy does not {effect} {} requests without {path}: \
                 it is skipped because its evaluation fails",
                listed(&kinds)
            );
            self.add(level, "absent-member", ExpressionKind::Condition, text);
        }
    }

    /// Reports a consensus that all users of the organization together cannot meet.
    fn people(&mut self, rules: &OrganizationRules) {
        let outcome = people::outcome_of_all(&self.policy.program, rules);
        if self.policy.program.effect == Effect::Allow && outcome == PolicyOutcome::DenyImplicit {
            let text =
                "the policy never allows anything: all users together cannot meet the consensus".to_owned();
            self.add(Level::Warning, "nobody-agrees", ExpressionKind::Consensus, text);
        }
    }

    /// Reports ids that belong to nothing in the organization.
    fn ids(&mut self, names: &dyn Names) {
        let program = &self.policy.program;
        let mut unknown: BTreeSet<(&'static str, String)> = BTreeSet::new();
        for expression in [&program.condition, &program.consensus].into_iter().flatten() {
            texts(expression.plan(), &mut |text| {
                if is_id(text) && names.name(text).is_none() {
                    unknown.insert((expression.kind().name(), text.to_owned()));
                }
            });
        }
        for (kind, id) in unknown {
            let kind =
                if kind == "condition" { ExpressionKind::Condition } else { ExpressionKind::Consensus };
            self.add(
                Level::Warning,
                "unknown-id",
                kind,
                format!("unknown id {id}: nothing in this organization has it"),
            );
        }
    }

    /// Reports texts that are compared with ids and that can never be one.
    fn impossible_ids(&mut self, names: &dyn Names) {
        let PolicyProgram { condition, consensus, .. } = &self.policy.program;
        for expression in [condition, consensus].into_iter().flatten() {
            for text in ids::impossible(expression, names) {
                self.add(Level::Warning, "impossible-id", expression.kind(), text);
            }
        }
    }

    /// Reports names of kinds, types, actions and resources that no activity has.
    fn unknown_names(&mut self, types: &[ActivityType]) {
        let Some(condition) = &self.policy.program.condition else { return };
        for text in vocabulary::unknown_names(condition, types) {
            self.add(Level::Warning, "unknown-name", ExpressionKind::Condition, text);
        }
    }

    /// Reports lower-case addresses, because account addresses are stored in mixed case and compared exactly.
    fn addresses(&mut self) {
        let Some(program) = &self.policy.program.condition else { return };
        let mut addresses = BTreeSet::new();
        lower_addresses(program.plan(), &mut addresses);
        for address in addresses {
            let text = format!(
                "wallet_account.address never matches {address}: it is stored in mixed case and compared \
                 case-sensitively; write the address in mixed case"
            );
            self.add(Level::Warning, "address-case", ExpressionKind::Condition, text);
        }
    }

    /// Reports names and mail addresses, which an activity can change.
    fn changeable(&mut self) {
        let PolicyProgram { condition, consensus, .. } = &self.policy.program;
        for expression in [condition, consensus].into_iter().flatten() {
            for property in NAMES.into_iter().filter(|property| expression.reads(*property)) {
                let text = format!(
                    "everyone who may change {property} decides what the policy matches; use {}",
                    property.identity()
                );
                self.add(Level::Note, "reads-name", expression.kind(), text);
            }
        }
    }
}

/// Returns whether a part only selects activities: it reads fields of `activity` other than its parameters.
fn is_guard(node: &Node) -> bool {
    match &node.step {
        Step::Path(path) => {
            path.root == "activity" && path.members.first().is_some_and(|first| first.name != "params")
        }
        Step::Constant(_) => true,
        Step::Root(_) | Step::Variable(_) => false,
        _ => node.parts().into_iter().all(is_guard),
    }
}

/// Calls `visit` with each string literal in a part, including the elements of list literals.
fn texts(node: &Node, visit: &mut dyn FnMut(&str)) {
    if let Some(value) = node.constant() {
        match value {
            Value::Text { text, .. } => visit(text),
            Value::List(elements) => elements.iter().for_each(|element| {
                if let Value::Text { text, .. } = element {
                    visit(text);
                }
            }),
            _ => {}
        }
    }
    node.parts().into_iter().for_each(|part| texts(part, visit));
}

/// Collects the lower-case addresses that `wallet_account.address` is compared with.
fn lower_addresses(node: &Node, addresses: &mut BTreeSet<String>) {
    let sides = match &node.step {
        Step::Compare { left, right, .. } => Some((&**left, &**right)),
        Step::Contains(contains) => Some((&contains.item, &contains.list)),
        _ => None,
    };
    if let Some((_, right)) = sides.filter(|(left, _)| is_account_address(left)) {
        texts(right, &mut |text| {
            let digits = text.strip_prefix("0x").unwrap_or_default();
            let is_lower = digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_lower
                && digits.bytes().any(|byte| byte.is_ascii_lowercase())
                && *digits == digits.to_lowercase()
            {
                addresses.insert(text.to_owned());
            }
        });
    }
    node.parts().into_iter().for_each(|part| lower_addresses(part, addresses));
}

fn is_account_address(node: &Node) -> bool {
    matches!(&node.step, Step::Path(path)
        if path.root == "wallet_account" && path.members.first().is_some_and(|member| member.name == "address"))
}

fn listed(kinds: &BTreeSet<String>) -> String {
    let named: Vec<&str> = kinds.iter().take(NAMED_KINDS).map(String::as_str).collect();
    match kinds.len().saturating_sub(NAMED_KINDS) {
        0 => named.join(", "),
        1 => format!("{} and 1 other kind", named.join(", ")),
        more => format!("{} and {more} other kinds", named.join(", ")),
    }
}
