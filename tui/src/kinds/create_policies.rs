//! Adds several rules about who may do what.

use super::policy::{Rule, counted};
use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreatePolicies;

impl Kind for CreatePolicies {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_POLICIES",
            intent: "createPoliciesIntent",
            shape: "policies[]:Policy",
        }]
    }

    fn title(&self) -> &'static str {
        "Create policies"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let policies = parameters.list("policies")?;
        let mut sentences = vec![format!("Add {}.", counted(policies.len()))];
        let mut story = Story::new(counted(policies.len()), String::new());
        for policy in &policies {
            let rule = Rule::of(policy)?;
            sentences.push(rule.added(policy)?);
            let name = quoted(policy.text("policyName")?);
            let stated = |text: Option<&str>, none: &str| text.map_or_else(|| none.to_owned(), clean);
            story.change(
                &format!("condition of {name}"),
                "-",
                stated(rule.condition, "none: any activity"),
                "",
            );
            story.change(
                &format!("consensus of {name}"),
                "-",
                stated(rule.consensus, "none: anybody alone"),
                "",
            );
            if rule.time.is_some() {
                story.change(&format!("time of {name}"), "-", stated(rule.time, ""), "");
            }
            rule.tell(&format!("{name} in words"), &mut story, scene);
            rule.flags(&mut story);
        }
        story.sentence = sentences.join(" ");
        let before = scene.organization.policies.len();
        story.change("policies", before.to_string(), before.saturating_add(policies.len()).to_string(), "");
        Ok(story)
    }
}
