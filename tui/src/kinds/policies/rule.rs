//! Descriptions of policies that the kinds on policies share.

use quorate_common::wire::Policy;
use quorate_policy::decide::{Effect, PolicyProgram};
use quorate_policy::selectors::{self, Operator, Selector, Translation};
use serde_json::Value;

use crate::kinds::prelude::*;
use crate::policies;

/// Shown for an absent condition.
pub(super) const ANY: &str = "none: any activity";
/// Shown for an absent consensus.
pub(super) const ANYBODY: &str = "none: anybody alone";
/// Shown for an absent time.
pub(super) const ALWAYS: &str = "none: always";

/// The parts of a policy that decide.
pub(super) struct Rule<'a> {
    /// `EFFECT_*`.
    pub(super) effect: &'a str,
    /// Selects the activities that the policy applies to; all if absent.
    pub(super) condition: Option<&'a str>,
    /// The approvals that are required; those of anybody if absent.
    pub(super) consensus: Option<&'a str>,
    /// The time at which the policy is active; always if absent.
    pub(super) time: Option<&'a str>,
}

/// Returns the expression, or `None` if it is blank.
pub(super) fn expression(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

impl<'a> Rule<'a> {
    /// Returns the rule of a policy as the daemon states it.
    pub(super) fn known(policy: &'a Policy) -> Self {
        Self {
            effect: &policy.effect,
            condition: expression(Some(&policy.condition)),
            consensus: expression(Some(&policy.consensus)),
            time: expression(policy.time.as_deref()),
        }
    }

    /// Reads the rule from the parameters of a new policy.
    pub(super) fn of(parameters: &Reader<'a>) -> Result<Self> {
        Ok(Self {
            effect: parameters.text("effect")?,
            condition: expression(parameters.maybe_text("condition")?),
            consensus: expression(parameters.maybe_text("consensus")?),
            time: expression(parameters.maybe_text("time")?),
        })
    }

    /// Returns what the rule allows or denies and to whom, without a full stop.
    pub(super) fn words(&self) -> String {
        let when = self.condition.map_or_else(
            || "ANY activity".to_owned(),
            |text| format!("activities where {} is true", quoted(text)),
        );
        let who = self.consensus.map_or_else(
            || "ANYBODY alone".to_owned(),
            |text| format!("approvers for whom {} is true", quoted(text)),
        );
        let when = match self.time {
            Some(text) => format!("{when}, while {} is true", quoted(text)),
            None => when,
        };
        match self.effect {
            "EFFECT_ALLOW" => format!("ALLOW {when}, by {who}"),
            "EFFECT_DENY" => {
                let who = self.consensus.map_or("ANYBODY", |_| who.as_str());
                format!("DENY {when}, proposed by {who}. A deny overrides every allow")
            }
            other => format!("with the effect {}: {when}, by {who}", clean(other)),
        }
    }

    /// Parses the rule, or returns `None` if this console cannot parse it.
    pub(super) fn program(&self) -> Option<PolicyProgram> {
        let effect = match self.effect {
            "EFFECT_ALLOW" => Effect::Allow,
            "EFFECT_DENY" => Effect::Deny,
            _ => return None,
        };
        PolicyProgram::parse(effect, self.condition, self.consensus, self.time).ok()
    }

    /// Adds the expressions of a new policy to the comparison. `of` ends their labels.
    pub(super) fn add_parts(&self, of: &str, description: &mut Description) {
        let mut add = |label: &str, text: Option<&str>, none: &str| {
            description.change(&format!("{label}{of}"), "-", text.map_or_else(|| none.to_owned(), clean));
        };
        add("condition", self.condition, ANY);
        add("consensus", self.consensus, ANYBODY);
        if self.time.is_some() {
            add("time", self.time, ALWAYS);
        }
    }

    /// Adds the rule in words as a fact, with the names that the organization uses.
    pub(super) fn add_description(
        &self,
        label: &str,
        description: &mut Description,
        context: &ReviewContext<'_>,
    ) {
        if let Some(program) = self.program() {
            let sentence = policies::sentence(&program, &policies::Named(context.organization));
            let names =
                if sentence.contains('"') { " Names in quotes are stated by the daemon [s]." } else { "" };
            description.fact(label, clean(&format!("{sentence}{names}")));
        }
    }

    /// Returns the sentence that describes the creation of the policy.
    pub(super) fn added(&self, parameters: &Reader<'_>) -> Result<String> {
        let colon = if matches!(self.effect, "EFFECT_ALLOW" | "EFFECT_DENY") { ":" } else { "" };
        Ok(format!("Add the policy {}{colon} {}.", quoted(parameters.text("policyName")?), self.words()))
    }

    /// Returns the effect as one word.
    pub(super) fn verb(&self) -> String {
        clean(self.effect.strip_prefix("EFFECT_").unwrap_or(self.effect))
    }

    /// Adds the flags of a rule that comes into effect.
    pub(super) fn flags(&self, description: &mut Description) {
        match self.effect {
            "EFFECT_ALLOW" => {
                let program = self.program();
                let is = |what: fn(&PolicyProgram) -> bool| program.as_ref().is_some_and(what);
                if self.condition.is_none() || is(policies::matches_any_activity) {
                    description.flag_high(
                        "allow-without-condition",
                        "Allows ANY activity that policies decide on: no condition limits it.",
                    );
                }
                if is(policies::gives_access_as_others) {
                    description.flag_high(
                        "allow-access-as-others",
                        "Lets its approvers act as ANY user, members of the root quorum included: they can open sessions or add credentials for others.",
                    );
                }
                if self.consensus.is_none() || is(policies::is_met_by_anybody) {
                    description.flag_high(
                        "allow-without-consensus",
                        "Lets ANYBODY in the organization act alone: no further approval is required.",
                    );
                }
                description.danger("the word any", "any");
                description
                    .flag_medium("grants", "Grants people or programs a right that they may not have today.");
            }
            "EFFECT_DENY" => description.flag_medium("denies", "May block work that is possible today."),
            _ => description
                .flag_high("unknown-effect", "Its outcome is unknown: the effect is neither allow nor deny."),
        }
        for finding in self.program().iter().flat_map(policies::doubtful) {
            let (expression, text) = (finding.expression.name(), clean(&finding.text));
            let text = format!("Its {expression} may not match what its author meant: {text}.");
            description.flag_medium(finding.code, text);
        }
        // Whether the expressions can be parsed does not depend on the effect.
        if let Err(error) = PolicyProgram::parse(Effect::Deny, self.condition, self.consensus, self.time) {
            description.flag_medium(
                "unreadable-expression",
                format!("This console cannot evaluate it: {}.", clean(&error.to_string())),
            );
        }
    }
}

/// Describes the deletion of policies.
pub(super) fn describe_deletion(ids: &[&str], context: &ReviewContext<'_>) -> Description {
    let named = listed(ids.iter().map(|id| context.policy_named(id)));
    let mut description =
        Description::new(named.clone(), format!("Delete {}: {named}.", count_policies(ids.len())));
    description.change_removed("policies", context.organization.policies.len(), ids.len());
    for id in ids {
        let named = context.policy_named(id);
        if let Some(policy) = context.policy(id) {
            Rule::known(policy).add_description("in words", &mut description, context);
        }
        match context.policy(id).map(|policy| policy.effect.as_str()) {
            Some("EFFECT_DENY") => description.flag_high(
                "deny-removed",
                format!(
                    "Removes a prohibition: {named} denies activities today that other policies may allow."
                ),
            ),
            Some(_) => description.flag_medium(
                "allow-removed",
                format!("Withdraws a right: what only {named} allows then needs the root quorum."),
            ),
            None => description.flag_missing("unknown-policy", &named),
        }
    }
    description
}

/// Returns a number of policies: `1 policy`, `2 policies`.
pub(super) fn count_policies(number: usize) -> String {
    if number == 1 { "1 policy".to_owned() } else { format!("{number} policies") }
}

/// Translates the selectors of older versions to expressions, from the signed bytes and as the daemon must
/// translate them. Returns `None` if the parameters have no selectors.
///
/// # Errors
///
/// Fails if a selector is malformed or unknown.
pub(super) fn translate_selectors(parameters: &Reader<'_>) -> Result<Option<Translation>> {
    if !parameters.has("selectors") {
        return Ok(None);
    }
    let mut selectors = Vec::new();
    for selector in parameters.list("selectors")? {
        let operator = Value::String(selector.text("operator")?.to_owned());
        let targets = if selector.has("target") {
            vec![selector.text("target")?.to_owned()]
        } else {
            selector.texts("targets")?.into_iter().map(str::to_owned).collect()
        };
        let operator: Operator =
            serde_json::from_value(operator).map_err(|_| selector.unknown("operator"))?;
        selectors.push(Selector { subject: selector.text("subject")?.to_owned(), operator, targets });
    }
    let translation = selectors::translate(&selectors).map_err(|_| parameters.unknown("selectors"))?;
    Ok(Some(translation))
}
