//! What is suspicious about policies before any request is made.

mod people;
mod scenario;
mod truth;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::decide::{Effect, PolicyOutcome};
use crate::plan::{Node, Step};
use crate::program::{ExpressionKind, Program};
use crate::request::kind_of;
use crate::simulate::{House, NamedPolicy};
use crate::value::Value;
use crate::words::Names;

pub use scenario::ActivityType;
use scenario::Scenario;

/// Kinds that a finding names; of more the number is told.
const NAMED_KINDS: usize = 4;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Level {
    /// Worth knowing.
    Note,
    /// The policy hardly does what its author meant.
    Warning,
}

/// Something suspicious.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What it is, for machines: `never-true`, `always-true`, `absent-member`, `unknown-id`, `nobody-agrees`,
    /// `address-case`, `fewer-people`.
    pub code: &'static str,
    /// Id of the policy.
    pub policy_id: String,
    /// Its name.
    pub policy_name: String,
    /// The expression it stands in.
    pub expression: ExpressionKind,
    /// What it is, for people.
    pub text: String,
}

/// Looks over the policies of an organization. `types` are those that policies are asked about; `names` knows what
/// ids stand for, and an id without a name stands for nothing any more.
pub fn lint(house: &House, types: &[ActivityType], names: &dyn Names) -> Vec<Finding> {
    let scenarios: Vec<Scenario> = types.iter().flat_map(scenario::of_type).collect();
    let mut findings = Vec::new();
    for policy in &house.policies {
        let mut report = Report { policy, findings: &mut findings };
        report.condition(&scenarios);
        report.people(house);
        report.ids(names);
        report.addresses();
    }
    people::overlaps(house, &scenarios, &mut findings);
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

    /// Whether the condition can hold at all, whether it always does, and where it fails though it means to match.
    fn condition(&mut self, scenarios: &[Scenario]) {
        const KIND: ExpressionKind = ExpressionKind::Condition;
        let denies = self.policy.program.effect == Effect::Deny;
        let Some(program) = &self.policy.program.condition else {
            let level = if denies { Level::Note } else { Level::Warning };
            self.add(
                level,
                "always-true",
                KIND,
                "there is no condition: it applies to every activity".to_owned(),
            );
            return;
        };
        let parts = conjuncts(program.plan());
        let came: Vec<_> =
            scenarios.iter().map(|scenario| (scenario, truth::all(&parts, scenario))).collect();
        if truth::contradict(&parts) || !came.iter().any(|(_, possible)| possible.truth) {
            let why = if came.iter().all(|(_, possible)| possible.is_failure()) {
                "no activity has all that it asks for, so it always fails"
            } else {
                "no activity that this service has meets it"
            };
            self.add(Level::Warning, "never-true", KIND, why.to_owned());
            return;
        }
        if came.iter().all(|(_, possible)| possible.is_truth()) {
            let level = if denies { Level::Note } else { Level::Warning };
            self.add(level, "always-true", KIND, "it holds for every activity".to_owned());
        }
        self.absent(program, &parts, scenarios);
    }

    /// The trap: a condition that matches a kind and then asks for what that kind does not have.
    fn absent(&mut self, program: &Program, parts: &[&Node], scenarios: &[Scenario]) {
        let guards: Vec<&Node> = parts.iter().copied().filter(|part| is_guard(part)).collect();
        let denies = self.policy.program.effect == Effect::Deny;
        let met = |scenario: &&Scenario| truth::all(&guards, scenario).truth;
        let mut missing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for scenario in scenarios.iter().filter(met).filter(|one| truth::all(parts, one).is_failure()) {
            let name = &scenario.activity.name;
            let of_type = || scenarios.iter().filter(|one| one.activity.name == *name);
            // A grant that holds for one sort of a type simply does not reach the other sorts.
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
        let skipped = if denies { "the denial is skipped" } else { "it grants nothing" };
        for (path, kinds) in missing {
            let text =
                format!("{path} may be absent for {}: there the policy fails, and {skipped}", listed(&kinds));
            self.add(level, "absent-member", ExpressionKind::Condition, text);
        }
    }

    /// Whether the people of the organization could meet the consensus.
    fn people(&mut self, house: &House) {
        let met = people::outcome_of_all(&self.policy.program, house);
        if self.policy.program.effect == Effect::Allow && met == PolicyOutcome::DenyImplicit {
            let text = "the users of the organization cannot meet it, all of them together".to_owned();
            self.add(Level::Warning, "nobody-agrees", ExpressionKind::Consensus, text);
        }
    }

    /// Ids that stand for nothing.
    fn ids(&mut self, names: &dyn Names) {
        let program = &self.policy.program;
        let mut unknown: BTreeSet<(&'static str, String)> = BTreeSet::new();
        for one in [&program.condition, &program.consensus].into_iter().flatten() {
            texts(one.plan(), &mut |text| {
                if is_id(text) && names.name(text).is_none() {
                    unknown.insert((one.kind().name(), text.to_owned()));
                }
            });
        }
        for (place, id) in unknown {
            let kind =
                if place == "condition" { ExpressionKind::Condition } else { ExpressionKind::Consensus };
            self.add(
                Level::Warning,
                "unknown-id",
                kind,
                format!("{id} stands for nothing in this organization"),
            );
        }
    }

    /// Addresses of accounts are compared as they are stored, with upper and lower case.
    fn addresses(&mut self) {
        let Some(program) = &self.policy.program.condition else { return };
        let mut found = BTreeSet::new();
        lower_addresses(program.plan(), &mut found);
        for address in found {
            let text = format!(
                "wallet_account.address is compared with {address}, but is stored in upper and lower case: it never matches"
            );
            self.add(Level::Warning, "address-case", ExpressionKind::Condition, text);
        }
    }
}

/// The parts that must all hold.
pub(crate) fn conjuncts(node: &Node) -> Vec<&Node> {
    match &node.step {
        Step::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        _ => vec![node],
    }
}

/// Whether a part only says which activities are meant.
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

fn texts(node: &Node, found: &mut dyn FnMut(&str)) {
    if let Some(value) = node.constant() {
        match value {
            Value::Text { text, .. } => found(text),
            Value::List(elements) => elements.iter().for_each(|element| {
                if let Value::Text { text, .. } = element {
                    found(text);
                }
            }),
            _ => {}
        }
    }
    node.parts().into_iter().for_each(|part| texts(part, found));
}

/// Whether a text has the form of an id: 36 characters in five groups of hexadecimal digits.
fn is_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn lower_addresses(node: &Node, found: &mut BTreeSet<String>) {
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
                found.insert(text.to_owned());
            }
        });
    }
    node.parts().into_iter().for_each(|part| lower_addresses(part, found));
}

fn is_account_address(node: &Node) -> bool {
    matches!(&node.step, Step::Path(path)
        if path.root == "wallet_account" && path.members.first().is_some_and(|member| member.name == "address"))
}

fn listed(kinds: &BTreeSet<String>) -> String {
    let named: Vec<&str> = kinds.iter().take(NAMED_KINDS).map(String::as_str).collect();
    match kinds.len().saturating_sub(NAMED_KINDS) {
        0 => named.join(", "),
        more => format!("{} and {more} other kinds", named.join(", ")),
    }
}
