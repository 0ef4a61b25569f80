//! What is told of keys that are destroyed.

use super::scene::{count, listed};
use super::{Level, Reader, Story, Undecodable};
use crate::text::clean;

/// Something that holds keys and goes away.
pub(super) struct Destroyed<'a> {
    /// What one is called.
    pub(super) noun: &'static str,
    /// What goes with it.
    pub(super) with: &'static str,
    /// How many there are now.
    pub(super) present: usize,
    /// Name and whole id of one.
    pub(super) named: &'a dyn Fn(&str) -> String,
    /// Name of one that is known, and whether it ever left by export.
    pub(super) known: &'a dyn Fn(&str) -> Option<(&'a str, bool)>,
}

impl Destroyed<'_> {
    /// The story of those that a member of the parameters names.
    pub(super) fn told(&self, parameters: &Reader<'_>, member: &str) -> Result<Story, Undecodable> {
        let ids = parameters.texts(member)?;
        let those = count(ids.len(), self.noun);
        let named = listed(ids.iter().map(|id| (self.named)(id)));
        let mut story =
            Story::new(those.clone(), format!("Destroy {those}{}: {named}. It cannot be undone.", self.with));
        let after = self.present.saturating_sub(ids.len()).to_string();
        story.change(&format!("{}s", self.noun), self.present.to_string(), after, "");
        let text = format!("what these {}s hold or sign for is out of reach without a copy", self.noun);
        story.flag(Level::High, "key-destroyed", text);
        if parameters.yes("deleteWithoutExport")? {
            let text = "also what never left by export, of which there may be no copy";
            story.flag(Level::Med, "without-export", text);
        }
        let without_copy =
            ids.iter().filter(|id| !(self.known)(id).is_some_and(|(_, exported)| exported)).count();
        if without_copy > 0 {
            let text =
                format!("{} never left by export, so there may be no copy", count(without_copy, self.noun));
            story.flag(Level::High, "no-copy", text);
        }
        if let Some((name, _)) = ids.first().and_then(|id| (self.known)(id)) {
            story.danger(&format!("the NAME of the first {} that is destroyed", self.noun), &clean(name));
        }
        for id in ids.iter().filter(|id| (self.known)(id).is_none()) {
            let text = format!("{} is not in this organization now", (self.named)(id));
            story.flag(Level::Med, "unknown-key", text);
        }
        Ok(story)
    }
}
