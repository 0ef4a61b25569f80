//! Changes a rule about who may do what.

use super::policy::{Rule, expression};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

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
        let effect = parameters.maybe_text("policyEffect")?;
        let effect = effect.or(known.map(|policy| policy.effect.as_str())).unwrap_or("not known here");
        let rule = Rule {
            effect,
            condition: condition.as_deref(),
            consensus: consensus.as_deref(),
            time: parameters.maybe_text("time")?,
        };
        let mut story = Story::new(
            format!("{} {named}", rule.verb()),
            format!("Change the rule {named}. From then on it is: {}.", rule.words()),
        );
        if let Some(name) = parameters.maybe_text("policyName")? {
            story.sentence = format!("{} Its name becomes {}.", story.sentence, quoted(name));
            let now = known.map_or_else(|| "?".to_owned(), |policy| clean(&policy.policy_name));
            story.change("name", now, clean(name), "");
        }
        let shown = |text: Option<&str>, none: &str| expression(text).map_or_else(|| none.to_owned(), clean);
        let now = |of: fn(&quorate_common::wire::Policy) -> &str, none: &str| {
            known.map_or_else(|| "?".to_owned(), |policy| shown(Some(of(policy)), none))
        };
        let (any, anybody) = ("none: any activity", "none: anybody alone");
        story.change("effect", now(|policy| &policy.effect, "?"), clean(effect), "");
        story.change("condition", now(|policy| &policy.condition, any), shown(rule.condition, any), "");
        story.change(
            "consensus",
            now(|policy| &policy.consensus, anybody),
            shown(rule.consensus, anybody),
            "",
        );
        rule.flags(&mut story);
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
