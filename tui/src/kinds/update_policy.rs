//! Changes a rule about who may do what.

use quorate_common::wire::Policy;

use super::policy::{Rule, expression};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::policies;
use crate::text::{clean, quoted};

/// No condition.
const ANY: &str = "none: any activity";
/// No consensus.
const ANYBODY: &str = "none: anybody alone";
/// No time.
const ALWAYS: &str = "none: always";

pub(super) struct UpdatePolicy;

impl Kind for UpdatePolicy {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_UPDATE_POLICY",
                intent: "updatePolicyIntent",
                shape: "policyId policyName policyEffect policyCondition policyConsensus policyNotes",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_UPDATE_POLICY_V2",
                intent: "updatePolicyIntentV2",
                shape: "policyId policyName policyEffect policyCondition policyConsensus policyNotes time",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Change policy"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("policyId")?;
        let named = scene.policy_named(id);
        let known = scene.policy(id);
        // A member that is there and empty takes the expression away; one that is not there keeps it.
        let kept = |member: &str, now: Option<&'_ str>| -> Result<Option<String>, Undecodable> {
            let text = if parameters.has(member) { parameters.maybe_text(member)? } else { now };
            Ok(expression(text).map(str::to_owned))
        };
        let condition = kept("policyCondition", known.map(|policy| policy.condition.as_str()))?;
        let consensus = kept("policyConsensus", known.map(|policy| policy.consensus.as_str()))?;
        let time = kept("time", known.and_then(|policy| policy.time.as_deref()))?;
        let effect = parameters.maybe_text("policyEffect")?;
        let effect = effect.or(known.map(|policy| policy.effect.as_str())).unwrap_or("not known here");
        let rule = Rule {
            effect,
            condition: condition.as_deref(),
            consensus: consensus.as_deref(),
            time: time.as_deref(),
        };
        // An effect that is not signed is the daemon's word, and so no ground for fewer flags.
        let signed = parameters.has("policyEffect");
        let verb = if signed { rule.verb() } else { "CHANGE".to_owned() };
        let mut story = Story::new(format!("{verb} {named}"), String::new());
        let mut told = vec![format!("Change the rule {named}.")];
        told.extend(changes(parameters, known, rule.time.is_some(), &mut story)?);
        // What stays is not in the signed bytes, so it is told as the daemon's word.
        let members = ["policyEffect", "policyCondition", "policyConsensus", "time"];
        let whole = members.iter().all(|member| parameters.has(member));
        let source = if whole {
            "It is then"
        } else {
            "What is not named stays; by the daemon's word on that, it is then"
        };
        told.push(format!("{source}: {}.", rule.words()));
        story.sentence = told.join(" ");
        compare(known.map(Rule::known).as_ref(), &rule, &mut story, scene);
        let is_limited = rule.time.is_some();
        let feared = Rule { effect: if signed { rule.effect } else { "EFFECT_ALLOW" }, ..rule };
        feared.flags(&mut story);
        if known.is_some_and(|policy| policy.time.is_some()) && !is_limited {
            story.flag(Level::High, "time-removed", "it is active at all times from then on");
        }
        match known {
            None => story.flag(
                Level::High,
                "unknown-policy",
                format!("{named} is not known here, so what stays of it is not"),
            ),
            Some(policy) if policy.effect == "EFFECT_DENY" => {
                story.flag(Level::High, "deny-changed", format!("{named} forbids something today"));
            }
            Some(_) => {}
        }
        Ok(story)
    }
}

/// Compares each member with what is; what is named is told in sentences.
fn changes(
    parameters: &Reader<'_>,
    known: Option<&Policy>,
    is_limited: bool,
    story: &mut Story,
) -> Result<Vec<String>, Undecodable> {
    let mut told = Vec::new();
    let shown = |text: &str, none: &str| expression(Some(text)).map_or_else(|| none.to_owned(), clean);
    for (label, member, none, now) in [
        ("name", "policyName", "?", known.map(|policy| policy.policy_name.as_str())),
        ("effect", "policyEffect", "?", known.map(|policy| policy.effect.as_str())),
        ("condition", "policyCondition", ANY, known.map(|policy| policy.condition.as_str())),
        ("consensus", "policyConsensus", ANYBODY, known.map(|policy| policy.consensus.as_str())),
        ("time", "time", ALWAYS, known.map(|policy| policy.time.as_deref().unwrap_or_default())),
    ] {
        // Most policies have no time, and most changes name none.
        if label == "time" && !is_limited && !parameters.has(member) {
            continue;
        }
        let now = now.map_or_else(|| "?".to_owned(), |now| shown(now, none));
        if parameters.has(member) {
            let after = parameters.maybe_text(member)?.unwrap_or_default();
            let becomes = expression(Some(after)).map_or_else(|| none.to_owned(), quoted);
            told.push(format!("Its {label} becomes {becomes}."));
            story.change(label, now, shown(after, none), "");
        } else {
            story.change(label, now, "as it is", "");
        }
    }
    Ok(told)
}

/// Tells the rule in words, before and after, and which parts of its expressions go and come.
fn compare(before: Option<&Rule<'_>>, after: &Rule<'_>, story: &mut Story, scene: &Scene<'_>) {
    if let Some(before) = before {
        before.tell("in words, now", story, scene);
    }
    after.tell("in words, after", story, scene);
    let (Some(before), Some(after)) = (before.and_then(Rule::program), after.program()) else { return };
    for (label, before, after) in [
        ("condition", &before.condition, &after.condition),
        ("consensus", &before.consensus, &after.consensus),
        ("time", &before.time, &after.time),
    ] {
        for part in policies::difference(before.as_ref(), after.as_ref()) {
            story.fact(&format!("{label} differs"), clean(&part));
        }
    }
}
