//! Validates tags, and assigns them to users and private keys.

use quorate_common::bounded::Label;
use quorate_common::ids::{PrivateKeyId, TagId, UserId};

use crate::error::{Conflict, Intent, RequestError};
use crate::execution::Execution;
use crate::model::{Change, Millis, Organization, PrivateKey, Tag, TagKind, User};
use crate::view::{View, check_limit, distinct, look_up_each};

/// A record that can have tags.
pub trait Tagged: Clone + 'static {
    /// Id of such a record.
    type Id: Copy + Ord;
    /// Kind of the tags that such records have.
    const KIND: TagKind;

    /// Returns all such records of an organization.
    fn all(organization: &Organization) -> impl Iterator<Item = &Self>;
    /// Looks up a record by id.
    ///
    /// # Errors
    /// If there is no such record.
    fn find<'a>(view: &View<'a>, id: Self::Id) -> Result<&'a Self, RequestError>;
    /// Returns the id of the record.
    fn id(&self) -> Self::Id;
    /// Returns the tags of the record.
    fn tags(&self) -> &[TagId];
    /// Returns the change that replaces the tags of the record.
    fn with_tags(self, tags: Vec<TagId>, now: Millis) -> Change;
}

impl Tagged for User {
    type Id = UserId;
    const KIND: TagKind = TagKind::User;

    fn all(organization: &Organization) -> impl Iterator<Item = &Self> {
        organization.users()
    }

    fn find<'a>(view: &View<'a>, id: UserId) -> Result<&'a Self, RequestError> {
        view.user(id)
    }

    fn id(&self) -> UserId {
        self.id
    }

    fn tags(&self) -> &[TagId] {
        &self.tags
    }

    fn with_tags(self, tags: Vec<TagId>, now: Millis) -> Change {
        Change::PutUser(Self { tags, updated: now, ..self })
    }
}

impl Tagged for PrivateKey {
    type Id = PrivateKeyId;
    const KIND: TagKind = TagKind::PrivateKey;

    fn all(organization: &Organization) -> impl Iterator<Item = &Self> {
        organization.private_keys()
    }

    fn find<'a>(view: &View<'a>, id: PrivateKeyId) -> Result<&'a Self, RequestError> {
        view.private_key(id)
    }

    fn id(&self) -> PrivateKeyId {
        self.id
    }

    fn tags(&self) -> &[TagId] {
        &self.tags
    }

    fn with_tags(self, tags: Vec<TagId>, now: Millis) -> Change {
        Change::put(Self { tags, updated: now, ..self })
    }
}

/// Checks a new tag: its name, its first members and the limit.
///
/// # Errors
/// If the name is already in use, a member does not exist or occurs twice, or the limit is reached.
pub fn check_new<T: Tagged>(
    view: &View<'_>,
    name: &Label,
    members: &[T::Id],
    list: &'static str,
) -> Result<(), RequestError> {
    check_members::<T>(view, members, list)?;
    name_is_free(view, name, T::KIND)?;
    let limits = view.limits();
    let (limit, key) = match view.organization.head.parent {
        Some(_) => (limits.child_tags, "child_tags"),
        None => (limits.records.tags, "tags"),
    };
    check_limit(view.organization.tags().count(), 1, limit, "tags", key)
}

/// Adds a tag and assigns it to its first members.
///
/// # Errors
/// If a member does not exist.
pub fn create<T: Tagged>(
    name: Label,
    members: &[T::Id],
    context: &mut Execution<'_>,
) -> Result<TagId, RequestError> {
    let now = context.now();
    let id = TagId::random(context.random());
    context.change(Change::put(Tag { id, name, kind: T::KIND, created: now, updated: now }));
    members.iter().try_for_each(|member| add_tag::<T>(id, *member, context))?;
    Ok(id)
}

/// An update of a tag.
pub struct Update<'a, Id> {
    /// Tag to update.
    pub tag: TagId,
    /// New name of the tag, if it is to change.
    pub name: Option<&'a Label>,
    /// Records that get the tag, and the name of that list.
    pub add: (&'a [Id], &'static str),
    /// Records that lose the tag, and the name of that list.
    pub remove: (&'a [Id], &'static str),
}

/// Checks an update: the tag, its new name and its members.
///
/// # Errors
/// If the tag or a member does not exist, the new name is already in use, or a member occurs twice.
pub fn check_update<T: Tagged>(view: &View<'_>, update: &Update<'_, T::Id>) -> Result<(), RequestError> {
    let tag = view.tag(update.tag, T::KIND)?;
    if let Some(name) = update.name.filter(|name| **name != tag.name) {
        name_is_free(view, name, T::KIND)?;
    }
    for (members, list) in [update.add, update.remove] {
        check_members::<T>(view, members, list)?;
    }
    if update.add.0.iter().any(|member| update.remove.0.contains(member)) {
        return Err(Intent::Duplicate(update.remove.1).into());
    }
    Ok(())
}

/// Renames a tag, assigns it to some records and removes it from others.
///
/// # Errors
/// If the tag or a member does not exist.
pub fn update<T: Tagged>(
    update: &Update<'_, T::Id>,
    context: &mut Execution<'_>,
) -> Result<(), RequestError> {
    if let Some(name) = update.name {
        let tag = context.tag(update.tag, T::KIND)?.clone();
        context.change(Change::put(Tag { name: name.clone(), updated: context.now(), ..tag }));
    }
    update.add.0.iter().try_for_each(|member| add_tag::<T>(update.tag, *member, context))?;
    for member in update.remove.0 {
        remove_tags(&[update.tag], T::find(context, *member)?, context);
    }
    Ok(())
}

/// Checks that there are tags to delete, that they exist and that none occurs twice.
///
/// # Errors
/// If the list is empty, or a tag does not exist or occurs twice.
pub fn check_delete<T: Tagged>(
    view: &View<'_>,
    tags: &[TagId],
    list: &'static str,
) -> Result<(), RequestError> {
    look_up_each(tags, list, |id| view.tag(id, T::KIND)).map(drop)
}

/// Deletes tags and removes them from their members. Returns the ids of those members.
pub fn delete<T: Tagged>(tags: &[TagId], context: &mut Execution<'_>) -> Vec<T::Id> {
    let organization = context.view().organization;
    let members = T::all(organization).filter(|member| member.tags().iter().any(|tag| tags.contains(tag)));
    let mut ids = Vec::new();
    for member in members {
        ids.push(member.id());
        remove_tags(tags, member, context);
    }
    for tag in tags {
        context.change(Change::remove::<Tag>(*tag));
    }
    ids
}

fn check_members<T: Tagged>(
    view: &View<'_>,
    members: &[T::Id],
    list: &'static str,
) -> Result<(), RequestError> {
    distinct(members, list)?;
    members.iter().try_for_each(|member| T::find(view, *member).map(drop))
}

fn name_is_free(view: &View<'_>, name: &Label, kind: TagKind) -> Result<(), RequestError> {
    let is_in_use = view.organization.tags().any(|tag| tag.kind == kind && tag.name == *name);
    if is_in_use { Err(Conflict::Name(kind.noun()).into()) } else { Ok(()) }
}

fn add_tag<T: Tagged>(tag: TagId, member: T::Id, context: &mut Execution<'_>) -> Result<(), RequestError> {
    let member = T::find(context, member)?;
    if !member.tags().contains(&tag) {
        let tags = member.tags().iter().copied().chain([tag]).collect();
        context.change(member.clone().with_tags(tags, context.now()));
    }
    Ok(())
}

fn remove_tags<T: Tagged>(tags: &[TagId], member: &T, context: &mut Execution<'_>) {
    let remaining: Vec<TagId> = member.tags().iter().copied().filter(|tag| !tags.contains(tag)).collect();
    if remaining.len() < member.tags().len() {
        context.change(member.clone().with_tags(remaining, context.now()));
    }
}
