//! What is told of the rules that policies are.

use quorate_common::wire::Policy;
use quorate_policy::decide::{Effect, PolicyProgram};
use quorate_policy::selectors::{self, Operator, Selector, Translation};
use serde_json::Value;

use super::{Level, Reader, Scene, Story, Undecodable};
use crate::policies;
use crate::text::{clean, quoted};

/// A rule in words.
pub(super) struct Rule<'a> {
    /// Its effect.
    pub(super) effect: &'a str,
    /// Which activities it is about; all when absent.
    pub(super) condition: Option<&'a str>,
    /// Whose approvals it needs; anybody's when absent.
    pub(super) consensus: Option<&'a str>,
    /// When it applies; always when absent.
    pub(super) time: Option<&'a str>,
}

/// An expression, unless it is blank.
pub(super) fn expression(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

impl<'a> Rule<'a> {
    /// As the daemon tells it.
    pub(super) fn known(policy: &'a Policy) -> Self {
        Self {
            effect: &policy.effect,
            condition: expression(Some(&policy.condition)),
            consensus: expression(Some(&policy.consensus)),
            time: expression(policy.time.as_deref()),
        }
    }

    /// Of the parameters of a new policy.
    pub(super) fn of(parameters: &Reader<'a>) -> Result<Self, Undecodable> {
        Ok(Self {
            effect: parameters.text("effect")?,
            condition: expression(parameters.maybe_text("condition")?),
            consensus: expression(parameters.maybe_text("consensus")?),
            time: expression(parameters.maybe_text("time")?),
        })
    }

    /// What it allows or denies, and to whom, without a full stop.
    pub(super) fn words(&self) -> String {
        let when = self.condition.map_or_else(
            || "ANY activity".to_owned(),
            |text| format!("activities for which {} holds", quoted(text)),
        );
        let who = self.consensus.map_or_else(
            || "ANYBODY, alone".to_owned(),
            |text| format!("approvers for whom {} holds", quoted(text)),
        );
        let when = match self.time {
            Some(text) => format!("{when}, while {} holds", quoted(text)),
            None => when,
        };
        match self.effect {
            "EFFECT_ALLOW" => format!("ALLOW {when}, by {who}"),
            "EFFECT_DENY" => {
                let who =
                    self.consensus.map_or_else(|| "whoever asks".to_owned(), |_| format!("asked by {who}"));
                format!("DENY {when}, {who}. A deny wins over every allow")
            }
            other => format!("with the effect {}: {when}, by {who}", clean(other)),
        }
    }

    /// The rule as this console reads it; nothing if it cannot.
    pub(super) fn program(&self) -> Option<PolicyProgram> {
        let effect = match self.effect {
            "EFFECT_ALLOW" => Effect::Allow,
            "EFFECT_DENY" => Effect::Deny,
            _ => return None,
        };
        PolicyProgram::parse(effect, self.condition, self.consensus, self.time).ok()
    }

    /// Tells the rule in words, with the names of the organization.
    pub(super) fn tell(&self, label: &str, story: &mut Story, scene: &Scene<'_>) {
        if let Some(program) = self.program() {
            let sentence = policies::sentence(&program, &policies::Named(scene.organization));
            let names =
                if sentence.contains('"') { " Names in quotes are stated by the daemon [s]." } else { "" };
            story.fact(label, clean(&format!("{sentence}{names}")));
        }
    }

    /// The rule as it is added, as a sentence.
    pub(super) fn added(&self, parameters: &Reader<'_>) -> Result<String, Undecodable> {
        let colon = if matches!(self.effect, "EFFECT_ALLOW" | "EFFECT_DENY") { ":" } else { "" };
        Ok(format!("Add the rule {}{colon} {}.", quoted(parameters.text("policyName")?), self.words()))
    }

    /// The effect in a word.
    pub(super) fn verb(&self) -> String {
        clean(self.effect.strip_prefix("EFFECT_").unwrap_or(self.effect))
    }

    /// Reasons to look twice.
    pub(super) fn flags(&self, story: &mut Story) {
        match self.effect {
            "EFFECT_ALLOW" => {
                let program = self.program();
                let is = |what: fn(&PolicyProgram) -> bool| program.as_ref().is_some_and(what);
                if self.condition.is_none() || is(policies::takes_anything) {
                    story.flag(
                        Level::High,
                        "allow-without-condition",
                        "allows ANY activity that policies decide on",
                    );
                }
                if self.consensus.is_none() || is(policies::takes_anybody) {
                    story.flag(
                        Level::High,
                        "allow-without-consensus",
                        "ANYBODY in the organization may do it alone",
                    );
                }
                story.danger("the word that tells what or who is allowed: any", "any");
                story.flag(Level::Med, "grants", "gives people or programs a right they may not have today");
            }
            "EFFECT_DENY" => story.flag(Level::Med, "denies", "can stop work that is possible today"),
            _ => story.flag(Level::High, "unknown-effect", "the effect is neither allow nor deny"),
        }
        // The effect plays no part in whether the expressions can be read.
        if let Err(flaw) = PolicyProgram::parse(Effect::Deny, self.condition, self.consensus, self.time) {
            story.flag(Level::Med, "unreadable-expression", clean(&flaw.to_string()));
        }
    }
}

/// Policies that go away.
pub(super) fn gone(ids: &[&str], scene: &Scene<'_>) -> Story {
    let named = super::scene::listed(ids.iter().map(|id| scene.policy_named(id)));
    let mut story = Story::new(named.clone(), format!("Delete {}: {named}.", counted(ids.len())));
    let before = scene.organization.policies.len();
    story.change("policies", before.to_string(), before.saturating_sub(ids.len()).to_string(), "");
    for id in ids {
        if let Some(policy) = scene.policy(id) {
            Rule::known(policy).tell("in words", &mut story, scene);
        }
        match scene.policy(id).map(|policy| policy.effect.as_str()) {
            Some("EFFECT_DENY") => story.flag(
                Level::High,
                "deny-removed",
                format!("{} forbids something today, which others may allow", scene.policy_named(id)),
            ),
            Some(_) => story.flag(
                Level::Med,
                "allow-removed",
                format!("what only {} allows needs the root quorum afterwards", scene.policy_named(id)),
            ),
            None => story.flag(
                Level::Med,
                "unknown-policy",
                format!("{} is not in this organization now", scene.policy_named(id)),
            ),
        }
    }
    story
}

/// `1 policy`, `2 policies`.
pub(super) fn counted(number: usize) -> String {
    if number == 1 { "1 policy".to_owned() } else { format!("{number} policies") }
}

/// The expressions that selectors of the older form stand for, if there are any: translated here, from the signed
/// bytes, as the daemon must translate them.
pub(super) fn selected(parameters: &Reader<'_>) -> Result<Option<Translation>, Undecodable> {
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
