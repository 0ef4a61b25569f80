//! Tags of users and of private keys: two nouns with the same rules.

use serde_json::{Value, json};

use super::{Move, new_ids, put, text, texts};
use crate::model::chooser::Chooser;
use crate::model::objections::Objections;
use crate::model::world::{Organization, Tag, Tagged};

impl Tagged {
    fn noun(self) -> &'static str {
        match self {
            Self::Users => "user",
            Self::PrivateKeys => "privateKey",
        }
    }

    /// Returns the word for users or the one for private keys.
    fn word(self, users: &'static str, private_keys: &'static str) -> &'static str {
        match self {
            Self::Users => users,
            Self::PrivateKeys => private_keys,
        }
    }

    fn object_to_name(self, objections: &mut Objections, organization: &Organization, name: &str, own: &str) {
        let others = organization.tags.iter().filter(|tag| tag.tagged == self && tag.id != own);
        objections.free_label(name, others.map(|tag| tag.name.as_str()));
    }

    fn object_to_holders(self, objections: &mut Objections, organization: &Organization, ids: &[String]) {
        let holders = organization.holder_ids(self);
        let message = self.word("unable to find user", "no private key found");
        objections.all_exist(ids, |id| holders.iter().any(|holder| holder == id), message);
    }

    fn object_to_tags(self, objections: &mut Objections, organization: &Organization, ids: &[String]) {
        let message = self.word("no user tag found", "no private key tag found");
        objections.all_exist(ids, |id| organization.tag(self, id).is_some(), message);
    }
}

fn tagged(chooser: &mut Chooser<'_>) -> Tagged {
    chooser.one(&[Tagged::Users, Tagged::PrivateKeys])
}

struct Create {
    tagged: Tagged,
    tag_name: String,
    holders: Vec<String>,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let tagged = tagged(chooser);
    let tag_name = chooser.name("tag");
    let holders = chooser.organization().holder_ids(tagged);
    Box::new(Create { tagged, tag_name, holders: chooser.optional_ids(&holders) })
}

impl Move for Create {
    fn name(&self) -> &'static str {
        self.tagged.word("CREATE_USER_TAG", "CREATE_PRIVATE_KEY_TAG")
    }

    fn result_name(&self) -> &'static str {
        self.tagged.word("createUserTagResult", "createPrivateKeyTagResult")
    }

    fn parameters(&self) -> Value {
        let noun = self.tagged.noun();
        json!({ (format!("{noun}TagName")): self.tag_name, (format!("{noun}Ids")): self.holders })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        self.tagged.object_to_name(&mut objections, organization, &self.tag_name, "");
        self.tagged.object_to_holders(&mut objections, organization, &self.holders);
        objections.capacity(organization.tags.len(), 1, organization.tag_limit(), "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let noun = self.tagged.noun();
        let id = text(&result[format!("{noun}TagId")]);
        assert_eq!(texts(&result[format!("{noun}Ids")]), self.holders, "users or keys with the new tag");
        for (holder, tags) in organization.holders_mut(self.tagged) {
            if self.holders.iter().any(|id| id == holder) {
                tags.insert(id.clone());
            }
        }
        organization.tags.push(Tag { id, name: self.tag_name.clone(), tagged: self.tagged });
    }
}

struct Update {
    tagged: Tagged,
    id: String,
    new_name: Option<String>,
    added: Vec<String>,
    removed: Vec<String>,
}

pub(super) fn update(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let tagged = tagged(chooser);
    let id = chooser.id(&chooser.organization().tag_ids(tagged));
    let new_name = chooser.maybe(|chooser| chooser.name("tag"));
    let holders = chooser.organization().holder_ids(tagged);
    let added = chooser.optional_ids(&holders);
    let others: Vec<String> = holders.into_iter().filter(|id| !added.contains(id)).collect();
    let is_contrary = chooser.rarely();
    let removed = chooser.optional_ids(if is_contrary { &added } else { &others });
    Box::new(Update { tagged, id, new_name, added, removed })
}

impl Move for Update {
    fn name(&self) -> &'static str {
        self.tagged.word("UPDATE_USER_TAG", "UPDATE_PRIVATE_KEY_TAG")
    }

    fn result_name(&self) -> &'static str {
        self.tagged.word("updateUserTagResult", "updatePrivateKeyTagResult")
    }

    fn parameters(&self) -> Value {
        let (noun, nouns) = (self.tagged.noun(), self.tagged.word("User", "PrivateKey"));
        let mut parameters = json!({
            (format!("{noun}TagId")): self.id,
            (format!("add{nouns}Ids")): self.added,
            (format!("remove{nouns}Ids")): self.removed,
        });
        put(&mut parameters, &format!("new{nouns}TagName"), self.new_name.as_deref());
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        self.tagged.object_to_tags(&mut objections, organization, std::slice::from_ref(&self.id));
        if let Some(name) = &self.new_name {
            self.tagged.object_to_name(&mut objections, organization, name, &self.id);
        }
        self.tagged.object_to_holders(&mut objections, organization, &self.added);
        self.tagged.object_to_holders(&mut objections, organization, &self.removed);
        // Adding and removing at once is contradictory.
        objections.distinct(&[self.added.as_slice(), &self.removed].concat());
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result[format!("{}TagId", self.tagged.noun())], self.id.as_str());
        for (holder, tags) in organization.holders_mut(self.tagged) {
            if self.added.iter().any(|id| id == holder) {
                tags.insert(self.id.clone());
            }
            if self.removed.iter().any(|id| id == holder) {
                tags.remove(&self.id);
            }
        }
        if let Some(name) = &self.new_name {
            let tag = organization.tags.iter_mut().find(|tag| tag.id == self.id);
            tag.expect("an existing tag").name.clone_from(name);
        }
    }
}

struct Delete {
    tagged: Tagged,
    ids: Vec<String>,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let tagged = tagged(chooser);
    let ids = chooser.ids(&chooser.organization().tag_ids(tagged));
    Box::new(Delete { tagged, ids })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        self.tagged.word("DELETE_USER_TAGS", "DELETE_PRIVATE_KEY_TAGS")
    }

    fn result_name(&self) -> &'static str {
        self.tagged.word("deleteUserTagsResult", "deletePrivateKeyTagsResult")
    }

    fn parameters(&self) -> Value {
        json!({ (format!("{}TagIds", self.tagged.noun())): self.ids })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.ids);
        self.tagged.object_to_tags(&mut objections, organization, &self.ids);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let noun = self.tagged.noun();
        assert_eq!(new_ids(&result[format!("{noun}TagIds")], self.ids.len()), self.ids);
        let mut affected = Vec::new();
        for (holder, tags) in organization.holders_mut(self.tagged) {
            let before = tags.len();
            tags.retain(|tag| !self.ids.contains(tag));
            if tags.len() < before {
                affected.push(holder.to_owned());
            }
        }
        let mut reported = texts(&result[format!("{noun}Ids")]);
        reported.sort();
        affected.sort();
        assert_eq!(reported, affected, "users or keys with the deleted tags");
        // A user who accepts an invitation gets the remaining tags.
        for invitation in organization.invitations.iter_mut().filter(|one| one.waits()) {
            invitation.tags.retain(|tag| !self.ids.contains(tag));
        }
        organization.tags.retain(|tag| !self.ids.contains(&tag.id));
        organization.deleted_ids.extend(self.ids.iter().cloned());
    }
}
