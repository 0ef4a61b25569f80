//! Adds several policies.

use super::policy::{Rule, count_policies};
use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreatePolicies;

impl Kind for CreatePolicies {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_POLICIES",
            intent: "createPoliciesIntent",
            schema: "policies[]:Policy",
        }]
    }

    fn title(&self) -> &'static str {
        "Create policies"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let policies = parameters.list("policies")?;
        let mut sentences = vec![format!("Add {}.", count_policies(policies.len()))];
        let mut description = Description::new(count_policies(policies.len()), String::new());
        for policy in &policies {
            let rule = Rule::of(policy)?;
            sentences.push(rule.added(policy)?);
            let name = quoted(policy.text("policyName")?);
            let stated = |text: Option<&str>, none: &str| text.map_or_else(|| none.to_owned(), clean);
            description.change(
                &format!("condition of {name}"),
                "-",
                stated(rule.condition, "none: any activity"),
                "",
            );
            description.change(
                &format!("consensus of {name}"),
                "-",
                stated(rule.consensus, "none: anybody alone"),
                "",
            );
            if rule.time.is_some() {
                description.change(&format!("time of {name}"), "-", stated(rule.time, ""), "");
            }
            rule.add_description(&format!("{name} in words"), &mut description, scene);
            rule.flags(&mut description);
        }
        description.sentence = sentences.join(" ");
        let before = scene.organization.policies.len();
        description.change(
            "policies",
            before.to_string(),
            before.saturating_add(policies.len()).to_string(),
            "",
        );
        Ok(description)
    }
}
