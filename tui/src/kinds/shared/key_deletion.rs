//! Description of the deletion of keys and wallets.

use crate::kinds::prelude::*;

/// A deletion of objects that hold keys.
pub(in crate::kinds) struct KeyDeletion<'a> {
    /// Singular noun of the objects.
    pub(in crate::kinds) noun: &'static str,
    /// What is deleted with them, as a phrase that starts with a blank.
    pub(in crate::kinds) with: &'static str,
    /// Current number of objects.
    pub(in crate::kinds) present: usize,
    /// Returns name and full id of an object.
    pub(in crate::kinds) named: &'a dyn Fn(&str) -> String,
    /// Returns the name of a known object, and whether it was ever exported.
    pub(in crate::kinds) known: &'a dyn Fn(&str) -> Option<(&'a str, bool)>,
}

impl KeyDeletion<'_> {
    /// Describes the deletion of the objects that a member of the parameters names.
    pub(in crate::kinds) fn describe(&self, parameters: &Reader<'_>, member: &str) -> Result<Description> {
        let ids = parameters.texts(member)?;
        let those = count(ids.len(), self.noun);
        let named = listed(ids.iter().map(|id| (self.named)(id)));
        let mut description = Description::new(
            those.clone(),
            format!("Destroy {those}{}: {named}. This cannot be undone.", self.with),
        );
        let after = self.present.saturating_sub(ids.len()).to_string();
        description.change(&format!("{}s", self.noun), self.present.to_string(), after);
        let text = format!(
            "Everything that a deleted {0} controls, funds included, is lost unless a copy of the {0} exists.",
            self.noun
        );
        description.flag_high("key-destroyed", text);
        if parameters.boolean("deleteWithoutExport")? {
            let text = "Also deletes keys that were never exported and may have no copy.";
            description.flag_medium("without-export", text);
        }
        let without_copy =
            ids.iter().filter(|id| !(self.known)(id).is_some_and(|(_, exported)| exported)).count();
        if without_copy > 0 {
            let were = if without_copy == 1 { "was" } else { "were" };
            let number = count(without_copy, self.noun);
            let text = format!("Keys may be lost for good: {number} {were} never exported.");
            description.flag_high("no-copy", text);
        }
        if let Some((name, _)) = ids.first().and_then(|id| (self.known)(id)) {
            description
                .danger(&format!("the NAME of the first {} that is destroyed", self.noun), &clean(name));
        }
        for id in ids.iter().filter(|id| (self.known)(id).is_none()) {
            description.flag_missing("unknown-key", &(self.named)(id));
        }
        Ok(description)
    }
}
