//! What is told of tags, whatever they group.

use super::scene::{Scene, count, listed};
use super::{Level, Reader, Story, Undecodable};
use crate::text::{clean, quoted};

/// What a tag groups.
pub(super) struct Grouped {
    /// One of them.
    pub(super) noun: &'static str,
    /// Type of the tag.
    pub(super) tag_type: &'static str,
    /// Name and whole id of one.
    pub(super) named: fn(&Scene<'_>, &str) -> String,
}

/// Users.
pub(super) const USERS: Grouped =
    Grouped { noun: "user", tag_type: "TAG_TYPE_USER", named: |scene, id| scene.user_named(id) };
/// Private keys.
pub(super) const PRIVATE_KEYS: Grouped = Grouped {
    noun: "private key",
    tag_type: "TAG_TYPE_PRIVATE_KEY",
    named: |scene, id| scene.private_key_named(id),
};

impl Grouped {
    /// A new tag.
    pub(super) fn made(&self, name: &str, ids: &[&str], scene: &Scene<'_>) -> Story {
        let noun = self.noun;
        let who = if ids.is_empty() { format!("no {noun}s yet") } else { count(ids.len(), noun) };
        let holders = if ids.is_empty() {
            "Nobody gets it yet.".to_owned()
        } else {
            format!("It goes on {}.", self.listed(ids, scene))
        };
        let mut story = Story::new(
            format!("{}, {who}", quoted(name)),
            format!("Make the {noun} tag {}. {holders}", quoted(name)),
        );
        self.same_name(name, scene, &mut story);
        let before = scene.organization.tags.len();
        story.change("tags", before.to_string(), before.saturating_add(1).to_string(), "");
        story
    }

    /// A changed tag; the members that name who gets and who loses it are given.
    pub(super) fn changed(
        &self,
        tag: &str,
        name: Option<&str>,
        (add, remove): (&[&str], &[&str]),
        scene: &Scene<'_>,
    ) -> Story {
        let named = scene.tag_named(tag);
        let mut parts = Vec::new();
        if let Some(name) = name {
            parts.push(format!("Give it the name {}.", quoted(name)));
        }
        if !add.is_empty() {
            parts.push(format!("Put it on {}.", self.listed(add, scene)));
        }
        if !remove.is_empty() {
            parts.push(format!("Take it off {}.", self.listed(remove, scene)));
        }
        if parts.is_empty() {
            parts.push("Nothing of it changes.".to_owned());
        }
        let brief = format!("{named}: {} on, {} off", add.len(), remove.len());
        let mut story =
            Story::new(brief, format!("Change the {} tag {named}. {}", self.noun, parts.join(" ")));
        if let Some(name) = name {
            let now = scene.tag(tag).map_or_else(|| "?".to_owned(), |tag| clean(&tag.tag_name));
            story.change("name", now, clean(name), "");
            if scene.tag(tag).is_none_or(|tag| tag.tag_name != name) {
                self.same_name(name, scene, &mut story);
            }
        }
        if !add.is_empty() || !remove.is_empty() {
            story.flag(
                Level::Med,
                "changes-tag",
                "policies that use the tag, also those that forbid something, then reach others than today",
            );
        }
        self.unknown(&[tag], scene, &mut story);
        story
    }

    /// Tags that go away.
    pub(super) fn gone(
        &self,
        parameters: &Reader<'_>,
        member: &str,
        scene: &Scene<'_>,
    ) -> Result<Story, Undecodable> {
        let tags = parameters.texts(member)?;
        let named = listed(tags.iter().map(|tag| scene.tag_named(tag)));
        let noun = format!("{} tag", self.noun);
        let mut story = Story::new(
            count(tags.len(), &noun),
            format!(
                "Delete {}: {named}. They come off every {} that bears them.",
                count(tags.len(), &noun),
                self.noun
            ),
        );
        let before = scene.organization.tags.len();
        story.change("tags", before.to_string(), before.saturating_sub(tags.len()).to_string(), "");
        story.flag(
            Level::Med,
            "changes-tag",
            "policies that use these tags, also those that forbid something, reach nobody by them afterwards",
        );
        self.unknown(&tags, scene, &mut story);
        Ok(story)
    }

    fn listed(&self, ids: &[&str], scene: &Scene<'_>) -> String {
        listed(ids.iter().map(|id| (self.named)(scene, id)))
    }

    fn same_name(&self, name: &str, scene: &Scene<'_>, story: &mut Story) {
        let same = |tag: &quorate_common::wire::Tag| tag.tag_type == self.tag_type && tag.tag_name == name;
        if scene.organization.tags.iter().any(same) {
            story.flag(Level::Med, "same-name", format!("there is a tag named {} already", quoted(name)));
        }
    }

    fn unknown(&self, tags: &[&str], scene: &Scene<'_>, story: &mut Story) {
        for tag in tags {
            if scene.tag(tag).is_none_or(|tag| tag.tag_type != self.tag_type) {
                let text =
                    format!("{} is no {} tag of this organization now", scene.tag_named(tag), self.noun);
                story.flag(Level::Med, "unknown-tag", text);
            }
        }
    }
}
