//! Credentials of users: API keys, authenticators and OAuth providers, created and deleted.

use serde_json::{Value, json};

use super::people::{self, NewAuthenticator, NewKey, NewProvider};
use super::{Move, new_ids, texts};
use crate::model::chooser::Chooser;
use crate::model::objections::Objections;
use crate::model::world::{ApiKey, Organization, User};

const UNKNOWN_USER: &str = "unable to find user";

/// Chooses the user of a request. Some users get many credentials.
fn user(chooser: &mut Chooser<'_>) -> String {
    chooser.favoured_id(&chooser.organization().user_ids())
}

struct CreateApiKeys {
    user: String,
    keys: Vec<NewKey>,
    names_curve: bool,
}

pub(super) fn create_api_keys(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let user = user(chooser);
    let names_curve = chooser.one(&[false, true, true]);
    let count = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 2, 2, 5, 11]);
    let keys = (0..count).map(|_| NewKey::choose(chooser, names_curve)).collect();
    Box::new(CreateApiKeys { user, keys, names_curve })
}

/// Creates so many expiring keys at once that repeated calls remove the oldest.
pub(super) fn create_ending_keys(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let (user, _) = chooser.organization().voters().swap_remove(0);
    let keys = (0..4).map(|_| NewKey::choose(chooser, true).ending()).collect();
    Box::new(CreateApiKeys { user, keys, names_curve: true })
}

impl Move for CreateApiKeys {
    fn name(&self) -> &'static str {
        if self.names_curve { "CREATE_API_KEYS_V2" } else { "CREATE_API_KEYS" }
    }

    fn result_name(&self) -> &'static str {
        "createApiKeysResult"
    }

    fn parameters(&self) -> Value {
        let keys: Vec<Value> = self.keys.iter().map(|key| key.json(self.names_curve)).collect();
        json!({ "userId": self.user, "apiKeys": keys })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let user = organization.user(&self.user);
        objections.exists(&self.user, user.is_some(), UNKNOWN_USER);
        objections.batch(&self.keys);
        objections.distinct(&self.keys.iter().map(NewKey::public_key).collect::<Vec<_>>());
        let held = user.map(|user| user.api_keys.as_slice()).unwrap_or_default();
        people::object_to_keys(&mut objections, organization, held, &self.keys);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["apiKeyIds"], self.keys.len());
        let user = organization.user_mut(&self.user);
        user.api_keys.extend(self.keys.iter().zip(ids).map(|(key, id)| key.to_model(Some(id))));
        let removed = remove_excess_keys(user);
        organization.deleted_ids.extend(removed);
    }

    fn owner(&self) -> Option<&str> {
        Some(&self.user)
    }
}

/// Removes the oldest expiring keys above the limit of ten, and returns their ids.
fn remove_excess_keys(user: &mut User) -> Vec<String> {
    let ending = |key: &ApiKey| key.life_seconds.is_some();
    let mut too_many =
        user.api_keys.iter().filter(|key| ending(key)).count().saturating_sub(people::CREDENTIALS);
    let removed = user.api_keys.extract_if(.., |key| {
        let is_removed = ending(key) && too_many > 0;
        too_many -= usize::from(is_removed);
        is_removed
    });
    removed.filter_map(|key| key.id).collect()
}

struct CreateAuthenticators {
    user: String,
    authenticators: Vec<NewAuthenticator>,
    is_old: bool,
}

pub(super) fn create_authenticators(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let user = user(chooser);
    let is_old = chooser.choices.one_in(3);
    let count = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 2, 2, 5, 11]);
    let authenticators = (0..count).map(|_| NewAuthenticator::choose(chooser)).collect();
    Box::new(CreateAuthenticators { user, authenticators, is_old })
}

impl Move for CreateAuthenticators {
    fn name(&self) -> &'static str {
        if self.is_old { "CREATE_AUTHENTICATORS" } else { "CREATE_AUTHENTICATORS_V2" }
    }

    fn result_name(&self) -> &'static str {
        "createAuthenticatorsResult"
    }

    fn parameters(&self) -> Value {
        let json = |one: &NewAuthenticator| if self.is_old { one.old_json(&self.user) } else { one.json() };
        let authenticators: Vec<Value> = self.authenticators.iter().map(json).collect();
        json!({ "userId": self.user, "authenticators": authenticators })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let user = organization.user(&self.user);
        objections.exists(&self.user, user.is_some(), UNKNOWN_USER);
        objections.batch(&self.authenticators);
        let credentials = self.authenticators.iter().map(NewAuthenticator::credential);
        objections.distinct(&credentials.collect::<Vec<_>>());
        let held = user.map_or(0, |user| user.authenticators.len());
        people::object_to_authenticators(&mut objections, organization, held, &self.authenticators);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["authenticatorIds"], self.authenticators.len());
        let created = self.authenticators.iter().zip(ids).map(|(one, id)| one.to_model(Some(id)));
        organization.user_mut(&self.user).authenticators.extend(created);
    }

    fn owner(&self) -> Option<&str> {
        Some(&self.user)
    }
}

struct CreateProviders {
    user: String,
    providers: Vec<NewProvider>,
}

pub(super) fn create_providers(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let user = user(chooser);
    let count = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 2, 2, 5, 11]);
    Box::new(CreateProviders { user, providers: (0..count).map(|_| NewProvider::choose(chooser)).collect() })
}

impl Move for CreateProviders {
    fn name(&self) -> &'static str {
        "CREATE_OAUTH_PROVIDERS_V2"
    }

    fn result_name(&self) -> &'static str {
        "createOauthProvidersResultV2"
    }

    fn parameters(&self) -> Value {
        let providers: Vec<Value> = self.providers.iter().map(NewProvider::json).collect();
        json!({ "userId": self.user, "oauthProviders": providers })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let user = organization.user(&self.user);
        objections.exists(&self.user, user.is_some(), UNKNOWN_USER);
        objections.batch(&self.providers);
        objections.distinct(&self.providers.iter().map(NewProvider::subject).collect::<Vec<_>>());
        let held = user.map_or(0, |user| user.providers.len());
        people::object_to_providers(&mut objections, organization, held, &self.providers);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["providerIds"], self.providers.len());
        let created = self.providers.iter().zip(ids).map(|(provider, id)| provider.to_model(Some(id)));
        organization.user_mut(&self.user).providers.extend(created);
    }

    fn owner(&self) -> Option<&str> {
        Some(&self.user)
    }
}

/// Type of the deleted credentials.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    ApiKeys,
    Authenticators,
    Providers,
}

struct Delete {
    sort: Sort,
    user: String,
    ids: Vec<String>,
}

pub(super) fn delete_api_keys(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(delete(chooser, Sort::ApiKeys))
}

pub(super) fn delete_authenticators(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(delete(chooser, Sort::Authenticators))
}

pub(super) fn delete_providers(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(delete(chooser, Sort::Providers))
}

fn delete(chooser: &mut Chooser<'_>, sort: Sort) -> Delete {
    let users = chooser.organization().users.iter().filter(|user| !sort.ids(user).is_empty());
    let users: Vec<String> = users.map(|user| user.id.clone()).collect();
    let user = chooser.id(&users);
    let fitting = chooser.organization().user(&user).map(|user| sort.ids(user)).unwrap_or_default();
    Delete { sort, ids: chooser.ids(&fitting), user }
}

impl Sort {
    fn ids(self, user: &User) -> Vec<String> {
        match self {
            Self::ApiKeys => user.api_keys.iter().filter_map(|key| key.id.clone()).collect(),
            Self::Authenticators => user.authenticators.iter().filter_map(|one| one.id.clone()).collect(),
            Self::Providers => user.providers.iter().filter_map(|one| one.id.clone()).collect(),
        }
    }

    fn member(self) -> &'static str {
        match self {
            Self::ApiKeys => "apiKeyIds",
            Self::Authenticators => "authenticatorIds",
            Self::Providers => "providerIds",
        }
    }
}

impl Delete {
    /// Returns the user without these credentials.
    fn without(&self, user: &User) -> User {
        let remains = |id: &Option<String>| id.as_ref().is_none_or(|id| !self.ids.contains(id));
        let mut user = user.clone();
        match self.sort {
            Sort::ApiKeys => user.api_keys.retain(|key| remains(&key.id)),
            Sort::Authenticators => user.authenticators.retain(|one| remains(&one.id)),
            Sort::Providers => user.providers.retain(|one| remains(&one.id)),
        }
        user
    }
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        match self.sort {
            Sort::ApiKeys => "DELETE_API_KEYS",
            Sort::Authenticators => "DELETE_AUTHENTICATORS",
            Sort::Providers => "DELETE_OAUTH_PROVIDERS",
        }
    }

    fn result_name(&self) -> &'static str {
        match self.sort {
            Sort::ApiKeys => "deleteApiKeysResult",
            Sort::Authenticators => "deleteAuthenticatorsResult",
            Sort::Providers => "deleteOauthProvidersResult",
        }
    }

    fn parameters(&self) -> Value {
        json!({ "userId": self.user, (self.sort.member()): self.ids })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.ids);
        let user = organization.user(&self.user);
        objections.exists(&self.user, user.is_some(), UNKNOWN_USER);
        let ids = user.map(|user| self.sort.ids(user)).unwrap_or_default();
        objections.all_exist(&self.ids, |id| ids.iter().any(|held| held == id), "");
        if let Some(user) = user {
            let lost = user.credential_ids().iter().filter(|id| self.ids.contains(id)).count();
            objections.invalid(lost == user.credential_count(), "user missing valid credential");
            // Members of the root quorum must remain able to vote.
            let keys = user.public_keys().len();
            let is_last = self.sort != Sort::Providers && lost > 0 && lost == keys;
            let is_member = organization.members.contains(&user.id);
            objections.invalid(is_last && is_member, "quorum users missing");
            let loses_lasting_key = user.can_always_stamp() && !self.without(user).can_always_stamp();
            let lasting = organization.lasting(&organization.members);
            let is_needed = lasting <= organization.threshold;
            objections.invalid(loses_lasting_key && is_member && is_needed, people::CANNOT_BE_MET);
        }
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(texts(&result[self.sort.member()]), self.ids);
        let user = organization.user_mut(&self.user);
        *user = self.without(user);
        organization.deleted_ids.extend(self.ids.iter().cloned());
    }

    fn owner(&self) -> Option<&str> {
        Some(&self.user)
    }
}
