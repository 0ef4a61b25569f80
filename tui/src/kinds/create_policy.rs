//! Adds a rule about who may do what.

use quorate_policy::decide::{Effect, PolicyProgram};

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreatePolicy;

impl Kind for CreatePolicy {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_POLICY_V3",
            intent: "createPolicyIntentV3",
            shape: "policyName effect condition consensus notes time",
        }]
    }

    fn title(&self) -> &'static str {
        "Create policy"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let name = quoted(parameters.text("policyName")?);
        let effect = parameters.text("effect")?;
        let condition = parameters.maybe_text("condition")?.filter(|text| !text.trim().is_empty());
        let consensus = parameters.maybe_text("consensus")?.filter(|text| !text.trim().is_empty());
        let when = condition.map_or_else(
            || "ANY activity".to_owned(),
            |text| format!("activities for which {} holds", clean(text)),
        );
        let who = consensus.map_or_else(
            || "ANYBODY, alone".to_owned(),
            |text| format!("approvers for whom {} holds", clean(text)),
        );
        let sentence = match effect {
            "EFFECT_ALLOW" => format!("Add the rule {name}: ALLOW {when}, by {who}."),
            "EFFECT_DENY" => {
                let who = consensus.map_or_else(|| "whoever asks".to_owned(), |_| format!("asked by {who}"));
                format!("Add the rule {name}: DENY {when}, {who}. A deny wins over every allow.")
            }
            other => format!("Add the rule {name} with the effect {}: {when}, by {who}.", clean(other)),
        };
        let verb = clean(effect.strip_prefix("EFFECT_").unwrap_or(effect));
        let mut story = Story::new(format!("{verb} {name}"), sentence);
        story.change("condition", "-", condition.map_or_else(|| "none: any activity".to_owned(), clean), "");
        story.change("consensus", "-", consensus.map_or_else(|| "none: anybody alone".to_owned(), clean), "");
        story.change(
            "policies",
            scene.organization.policies.len().to_string(),
            scene.organization.policies.len().saturating_add(1).to_string(),
            "",
        );
        match effect {
            "EFFECT_ALLOW" => {
                if condition.is_none_or(|text| text.trim() == "true") {
                    story.flag(
                        Level::High,
                        "allow-without-condition",
                        "allows ANY activity that policies decide on",
                    );
                }
                if consensus.is_none_or(|text| text.trim() == "true") {
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
        if let Err(flaw) =
            PolicyProgram::parse(Effect::Deny, condition, consensus, parameters.maybe_text("time")?)
        {
            story.flag(Level::Med, "unreadable-expression", clean(&flaw.to_string()));
        }
        Ok(story)
    }
}
