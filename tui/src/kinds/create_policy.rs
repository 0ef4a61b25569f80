//! Adds a policy.

use super::policy::{self, Rule};
use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreatePolicy;

impl Kind for CreatePolicy {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_POLICY",
                intent: "createPolicyIntent",
                schema: "policyName selectors[]:Selector1 effect notes",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_POLICY_V2",
                intent: "createPolicyIntentV2",
                schema: "policyName selectors[]:Selector2 effect notes",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_POLICY_V3",
                intent: "createPolicyIntentV3",
                schema: "policyName effect condition consensus notes time",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Create policy"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let translated = policy::translate_selectors(parameters)?;
        let rule = match &translated {
            Some(translated) => Rule {
                condition: translated.condition.as_deref(),
                consensus: translated.consensus.as_deref(),
                ..Rule::of(parameters)?
            },
            None => Rule::of(parameters)?,
        };
        let brief = format!("{} {}", rule.verb(), quoted(parameters.text("policyName")?));
        let mut description = Description::new(brief, rule.added(parameters)?);
        let stated = |text: Option<&str>, none: &str| text.map_or_else(|| none.to_owned(), clean);
        description.change("condition", "-", stated(rule.condition, "none: any activity"), "");
        description.change("consensus", "-", stated(rule.consensus, "none: anybody alone"), "");
        if rule.time.is_some() {
            description.change("time", "-", stated(rule.time, ""), "");
        }
        rule.add_description("in words", &mut description, scene);
        let before = scene.organization.policies.len();
        description.change("policies", before.to_string(), before.saturating_add(1).to_string(), "");
        rule.flags(&mut description);
        Ok(description)
    }
}
