//! Tags: what must hold of new and changed ones, and how they come on and off what they group.

use quorate_common::bounded::Label;
use quorate_common::ids::{PrivateKeyId, TagId, UserId};

use crate::cx::Cx;
use crate::model::{Change, Millis, Organization, PrivateKey, Tag, TagKind, User};
use crate::refusal::{Clash, Intent, Refusal};
use crate::view::{View, distinct, room};

/// What tags group.
pub trait Tagged: Clone + 'static {
    /// Names one.
    type Id: Copy + Ord;
    /// The kind of tags that group these.
    const KIND: TagKind;

    /// All of an organization.
    fn all(organization: &Organization) -> impl Iterator<Item = &Self>;
    /// The one of this id.
    fn find<'a>(view: &View<'a>, id: Self::Id) -> Result<&'a Self, Refusal>;
    /// Its id.
    fn id(&self) -> Self::Id;
    /// The tags it bears.
    fn tags(&self) -> &[TagId];
    /// The change that gives it these tags.
    fn tagged(self, tags: Vec<TagId>, now: Millis) -> Change;
}

impl Tagged for User {
    type Id = UserId;
    const KIND: TagKind = TagKind::User;

    fn all(organization: &Organization) -> impl Iterator<Item = &Self> {
        organization.users()
    }

    fn find<'a>(view: &View<'a>, id: UserId) -> Result<&'a Self, Refusal> {
        view.user(id)
    }

    fn id(&self) -> UserId {
        self.id
    }

    fn tags(&self) -> &[TagId] {
        &self.tags
    }

    fn tagged(self, tags: Vec<TagId>, now: Millis) -> Change {
        Change::PutUser(Self { tags, updated: now, ..self })
    }
}

impl Tagged for PrivateKey {
    type Id = PrivateKeyId;
    const KIND: TagKind = TagKind::PrivateKey;

    fn all(organization: &Organization) -> impl Iterator<Item = &Self> {
        organization.private_keys()
    }

    fn find<'a>(view: &View<'a>, id: PrivateKeyId) -> Result<&'a Self, Refusal> {
        view.private_key(id)
    }

    fn id(&self) -> PrivateKeyId {
        self.id
    }

    fn tags(&self) -> &[TagId] {
        &self.tags
    }

    fn tagged(self, tags: Vec<TagId>, now: Millis) -> Change {
        Change::PutPrivateKey(Self { tags, updated: now, ..self })
    }
}

/// A new tag has a free name and room, and what is to bear it exists.
pub fn check_new<T: Tagged>(
    view: &View<'_>,
    name: &Label,
    bearers: &[T::Id],
    list: &'static str,
) -> Result<(), Refusal> {
    check_bearers::<T>(view, bearers, list)?;
    name_is_free(view, name, T::KIND)?;
    let limits = view.limits();
    let (limit, key) = match view.organization.head.parent {
        Some(_) => (limits.child_tags, "child_tags"),
        None => (limits.tags, "tags"),
    };
    room(view.organization.tags().count(), 1, limit, "tags", key)
}

/// Adds a tag and puts it on its first bearers.
pub fn create<T: Tagged>(name: Label, bearers: &[T::Id], cx: &mut Cx<'_, '_>) -> Result<TagId, Refusal> {
    let now = cx.now();
    let id = TagId::random(cx.random());
    cx.change(Change::PutTag(Tag { id, name, kind: T::KIND, created: now, updated: now }));
    bearers.iter().try_for_each(|bearer| put_on::<T>(id, *bearer, cx))?;
    Ok(id)
}

/// What an update asks for.
pub struct Update<'a, Id> {
    /// The tag.
    pub tag: TagId,
    /// Its new name, if it gets one.
    pub name: Option<&'a Label>,
    /// Who gets it, and the name of that list.
    pub add: (&'a [Id], &'static str),
    /// Who loses it, and the name of that list.
    pub remove: (&'a [Id], &'static str),
}

/// The tag and all bearers exist, its new name is free, and nobody both gets and loses it.
pub fn check_update<T: Tagged>(view: &View<'_>, update: &Update<'_, T::Id>) -> Result<(), Refusal> {
    let tag = view.tag(update.tag, T::KIND)?;
    if let Some(name) = update.name.filter(|name| **name != tag.name) {
        name_is_free(view, name, T::KIND)?;
    }
    for (bearers, list) in [update.add, update.remove] {
        check_bearers::<T>(view, bearers, list)?;
    }
    if update.add.0.iter().any(|bearer| update.remove.0.contains(bearer)) {
        return Err(Intent::Twice(update.remove.1).into());
    }
    Ok(())
}

/// Renames a tag, puts it on some and takes it off others.
pub fn update<T: Tagged>(update: &Update<'_, T::Id>, cx: &mut Cx<'_, '_>) -> Result<(), Refusal> {
    if let Some(name) = update.name {
        let tag = cx.tag(update.tag, T::KIND)?.clone();
        cx.change(Change::PutTag(Tag { name: name.clone(), updated: cx.now(), ..tag }));
    }
    update.add.0.iter().try_for_each(|bearer| put_on::<T>(update.tag, *bearer, cx))?;
    for bearer in update.remove.0 {
        take_off(&[update.tag], T::find(cx, *bearer)?, cx);
    }
    Ok(())
}

/// The tags exist, each once.
pub fn check_delete<T: Tagged>(view: &View<'_>, tags: &[TagId], list: &'static str) -> Result<(), Refusal> {
    distinct(tags, list)?;
    view.tags_exist(tags, T::KIND)
}

/// Takes tags off all that bear them, and away; gives who bore one.
pub fn delete<T: Tagged>(tags: &[TagId], cx: &mut Cx<'_, '_>) -> Vec<T::Id> {
    let organization = cx.view().organization;
    let bearers = T::all(organization).filter(|bearer| bearer.tags().iter().any(|tag| tags.contains(tag)));
    let mut ids = Vec::new();
    for bearer in bearers {
        ids.push(bearer.id());
        take_off(tags, bearer, cx);
    }
    for tag in tags {
        cx.change(Change::RemoveTag(*tag));
    }
    ids
}

fn check_bearers<T: Tagged>(view: &View<'_>, bearers: &[T::Id], list: &'static str) -> Result<(), Refusal> {
    distinct(bearers, list)?;
    bearers.iter().try_for_each(|bearer| T::find(view, *bearer).map(drop))
}

fn name_is_free(view: &View<'_>, name: &Label, kind: TagKind) -> Result<(), Refusal> {
    let taken = view.organization.tags().any(|tag| tag.kind == kind && tag.name == *name);
    if taken { Err(Clash::Name(kind.noun()).into()) } else { Ok(()) }
}

fn put_on<T: Tagged>(tag: TagId, bearer: T::Id, cx: &mut Cx<'_, '_>) -> Result<(), Refusal> {
    let bearer = T::find(cx, bearer)?;
    if !bearer.tags().contains(&tag) {
        let tags = bearer.tags().iter().copied().chain([tag]).collect();
        cx.change(bearer.clone().tagged(tags, cx.now()));
    }
    Ok(())
}

fn take_off<T: Tagged>(tags: &[TagId], bearer: &T, cx: &mut Cx<'_, '_>) {
    let kept: Vec<TagId> = bearer.tags().iter().copied().filter(|tag| !tags.contains(tag)).collect();
    if kept.len() < bearer.tags().len() {
        cx.change(bearer.clone().tagged(kept, cx.now()));
    }
}
