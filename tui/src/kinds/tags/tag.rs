//! Descriptions of activities on tags, both user tags and private key tags.

use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::read_by_policies::flag_tags;

/// The type of object that a tag groups.
pub(super) struct TagTarget {
    /// Singular noun.
    pub(super) noun: &'static str,
    /// `TAG_TYPE_*`.
    pub(super) tag_type: &'static str,
    /// How policies read the tags of an object.
    property: Property,
    /// Returns name and full id of one object.
    pub(super) named: fn(&ReviewContext<'_>, &str) -> String,
}

pub(super) const USERS: TagTarget = TagTarget {
    noun: "user",
    tag_type: "TAG_TYPE_USER",
    property: Property::UserTags,
    named: |context, id| context.user_named(id),
};
pub(super) const PRIVATE_KEYS: TagTarget = TagTarget {
    noun: "private key",
    tag_type: "TAG_TYPE_PRIVATE_KEY",
    property: Property::PrivateKeyTags,
    named: |context, id| context.private_key_named(id),
};

impl TagTarget {
    /// Describes the creation of a tag. `name` and `ids` are members of the parameters.
    pub(super) fn describe_creation(
        &self,
        parameters: &Reader<'_>,
        name: &str,
        ids: &str,
        context: &ReviewContext<'_>,
    ) -> Result<Description> {
        let (ids, name) = (parameters.texts(ids)?, parameters.text(name)?);
        let noun = self.noun;
        let who = if ids.is_empty() { format!("no {noun}s yet") } else { count(ids.len(), noun) };
        let holders = if ids.is_empty() {
            format!("No {noun} has it yet.")
        } else {
            format!("Put it on {}.", self.listed(&ids, context))
        };
        let mut description = Description::new(
            format!("{}, {who}", quoted(name)),
            format!("Create the {noun} tag {}. {holders}", quoted(name)),
        );
        if !ids.is_empty() {
            flag_tags(self.property, &[], &mut description, context);
        }
        self.flag_same_name(name, context, &mut description);
        description.change_added("tags", context.organization.tags.len(), 1);
        Ok(description)
    }

    /// Describes a change of a tag: the new name, and the ids that are added and removed.
    pub(super) fn describe_update(
        &self,
        tag: &str,
        name: Option<&str>,
        (add, remove): (&[&str], &[&str]),
        context: &ReviewContext<'_>,
    ) -> Description {
        let named = context.tag_named(tag);
        let mut parts = Vec::new();
        if let Some(name) = name {
            parts.push(format!("Rename it to {}.", quoted(name)));
        }
        if !add.is_empty() {
            parts.push(format!("Put it on {}.", self.listed(add, context)));
        }
        if !remove.is_empty() {
            parts.push(format!("Remove it from {}.", self.listed(remove, context)));
        }
        if parts.is_empty() {
            parts.push("Nothing changes.".to_owned());
        }
        let brief = format!("{} added, {} removed: {named}", add.len(), remove.len());
        let mut description =
            Description::new(brief, format!("Change the {} tag {named}. {}", self.noun, parts.join(" ")));
        if let Some(name) = name {
            let now = context.tag(tag).map_or_else(|| "?".to_owned(), |tag| clean(&tag.tag_name));
            description.change("name", now, clean(name));
            if context.tag(tag).is_none_or(|tag| tag.tag_name != name) {
                self.flag_same_name(name, context, &mut description);
            }
        }
        if !add.is_empty() || !remove.is_empty() {
            flag_tags(self.property, &[tag], &mut description, context);
            description.flag_medium(
                "changes-tag",
                format!(
                    "Policies that use the tag, including those that deny, then apply to other {}s than \
                     today.",
                    self.noun
                ),
            );
        }
        self.flag_unknown(&[tag], context, &mut description);
        description
    }

    /// Describes the deletion of the tags that a member of the parameters names.
    pub(super) fn describe_deletion(
        &self,
        parameters: &Reader<'_>,
        member: &str,
        context: &ReviewContext<'_>,
    ) -> Result<Description> {
        let tags = parameters.texts(member)?;
        let named = listed(tags.iter().map(|tag| context.tag_named(tag)));
        let noun = format!("{} tag", self.noun);
        let them = if tags.len() == 1 { "This removes it" } else { "This removes them" };
        let mut description = Description::new(
            count(tags.len(), &noun),
            format!("Delete {}: {named}. {them} from every {}.", count(tags.len(), &noun), self.noun),
        );
        description.change_removed("tags", context.organization.tags.len(), tags.len());
        description.flag_medium(
            "changes-tag",
            "Policies that use the deleted tags, including those that deny, no longer match anything through \
             them.",
        );
        flag_tags(self.property, &tags, &mut description, context);
        self.flag_unknown(&tags, context, &mut description);
        Ok(description)
    }

    fn listed(&self, ids: &[&str], context: &ReviewContext<'_>) -> String {
        listed(ids.iter().map(|id| (self.named)(context, id)))
    }

    fn flag_same_name(&self, name: &str, context: &ReviewContext<'_>, description: &mut Description) {
        let same = |tag: &quorate_common::wire::Tag| tag.tag_type == self.tag_type && tag.tag_name == name;
        if context.organization.tags.iter().any(same) {
            description.flag_same_name("a tag", name);
        }
    }

    fn flag_unknown(&self, tags: &[&str], context: &ReviewContext<'_>, description: &mut Description) {
        for tag in tags {
            if context.tag(tag).is_none_or(|tag| tag.tag_type != self.tag_type) {
                let (named, noun) = (context.tag_named(tag), self.noun);
                let text = format!("{named} is not a {noun} tag of this organization now.");
                description.flag_medium("unknown-tag", text);
            }
        }
    }
}
