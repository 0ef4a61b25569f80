//! Takes away what says from which addresses requests are taken.

use super::allowlist::{Target, state};
use super::block::Rule;
use super::scene::listed;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};

pub(super) struct RemoveIpAllowlist;

impl Kind for RemoveIpAllowlist {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST",
            intent: "removeIpAllowlistIntent",
            shape: "publicKey",
        }]
    }

    fn title(&self) -> &'static str {
        "Remove IP allowlist"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let target = Target::of(parameters)?;
        let whose = target.named(scene);
        let mut story = Story::new(
            target.brief(scene),
            format!(
                "Remove the list of addresses that requests of {whose} may come from: {}.",
                target.opened()
            ),
        );
        let now = target.now(scene);
        let before = now.map_or_else(|| "none".to_owned(), |list| state(list.enabled, list.rules.len()));
        story.change("list", before, "none", "");
        let blocks = now.map(|list| list.rules.as_slice()).unwrap_or_default();
        if !blocks.is_empty() {
            let told = blocks.iter().map(|rule| Rule::new(&rule.cidr, rule.label.as_deref()).told());
            story.change("blocks that go", listed(told), "-", "");
        }
        let text = match target.key {
            Some(_) => "the API key works from wherever the list of the organization, if it is on, lets it",
            None => "whoever has a credential can use it from anywhere",
        };
        story.flag(Level::Med, "allowlist-off", text);
        if now.is_none() {
            story.flag(Level::Med, "unknown-allowlist", "there is no such list now");
        }
        target.flag(scene, &mut story);
        Ok(story)
    }
}
