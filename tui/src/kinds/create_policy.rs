//! Adds a rule about who may do what.

use super::policy::{self, Rule};
use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreatePolicy;

impl Kind for CreatePolicy {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_POLICY",
                intent: "createPolicyIntent",
                shape: "policyName selectors[]:Selector1 effect notes",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_POLICY_V2",
                intent: "createPolicyIntentV2",
                shape: "policyName selectors[]:Selector2 effect notes",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_POLICY_V3",
                intent: "createPolicyIntentV3",
                shape: "policyName effect condition consensus notes time",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Create policy"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let older = policy::selected(parameters)?;
        let rule = match &older {
            Some(older) => Rule {
                condition: older.condition.as_deref(),
                consensus: older.consensus.as_deref(),
                ..Rule::of(parameters)?
            },
            None => Rule::of(parameters)?,
        };
        let brief = format!("{} {}", rule.verb(), quoted(parameters.text("policyName")?));
        let mut story = Story::new(brief, rule.added(parameters)?);
        let stated = |text: Option<&str>, none: &str| text.map_or_else(|| none.to_owned(), clean);
        story.change("condition", "-", stated(rule.condition, "none: any activity"), "");
        story.change("consensus", "-", stated(rule.consensus, "none: anybody alone"), "");
        if rule.time.is_some() {
            story.change("time", "-", stated(rule.time, ""), "");
        }
        rule.tell("in words", &mut story, scene);
        let before = scene.organization.policies.len();
        story.change("policies", before.to_string(), before.saturating_add(1).to_string(), "");
        rule.flags(&mut story);
        Ok(story)
    }
}
