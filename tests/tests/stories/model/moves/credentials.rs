//! Credentials of users: API keys, authenticators and identities at issuers, made and deleted.

use serde_json::{Value, json};

use super::people::{self, NewAuthenticator, NewKey, NewProvider};
use super::{Move, new_ids, texts};
use crate::model::chooser::Chooser;
use crate::model::objections::Objections;
use crate::model::world::{ApiKey, Organization, User};

const UNKNOWN_USER: &str = "unable to find user";

/// The user of a request: some get many credentials.
fn user(chooser: &mut Chooser<'_>) -> String {
    chooser.favoured_id(&chooser.here().user_ids())
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

/// As many at once, again and again, that the oldest must go.
pub(super) fn create_ending_keys(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let (user, _) = chooser.here().voters().swap_remove(0);
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
        objections.found(&self.user, user.is_some(), UNKNOWN_USER);
        objections.batch(&self.keys);
        objections.distinct(&self.keys.iter().map(NewKey::public_key).collect::<Vec<_>>());
        let held = user.map(|user| user.api_keys.as_slice()).unwrap_or_default();
        people::object_to_keys(&mut objections, organization, held, &self.keys);
        objections
    }

    fn happen(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["apiKeyIds"], self.keys.len());
        let user = organization.user_mut(&self.user);
        user.api_keys.extend(self.keys.iter().zip(ids).map(|(key, id)| key.made(Some(id))));
        let gone = make_room(user);
        organization.gone.extend(gone);
    }

    fn owner(&self) -> Option<&str> {
        Some(&self.user)
    }
}

/// An eleventh key with an end takes the place of the oldest. Returns ids.
fn make_room(user: &mut User) -> Vec<String> {
    let ending = |key: &ApiKey| key.life_seconds.is_some();
    let mut too_many =
        user.api_keys.iter().filter(|key| ending(key)).count().saturating_sub(people::CREDENTIALS);
    let gone = user.api_keys.extract_if(.., |key| {
        let goes = ending(key) && too_many > 0;
        too_many -= usize::from(goes);
        goes
    });
    gone.filter_map(|key| key.id).collect()
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
        objections.found(&self.user, user.is_some(), UNKNOWN_USER);
        objections.batch(&self.authenticators);
        let credentials = self.authenticators.iter().map(NewAuthenticator::credential);
        objections.distinct(&credentials.collect::<Vec<_>>());
        let held = user.map_or(0, |user| user.authenticators.len());
        people::object_to_authenticators(&mut objections, organization, held, &self.authenticators);
        objections
    }

    fn happen(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["authenticatorIds"], self.authenticators.len());
        let made = self.authenticators.iter().zip(ids).map(|(one, id)| one.made(Some(id)));
        organization.user_mut(&self.user).authenticators.extend(made);
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
        objections.found(&self.user, user.is_some(), UNKNOWN_USER);
        objections.batch(&self.providers);
        objections.distinct(&self.providers.iter().map(NewProvider::subject).collect::<Vec<_>>());
        let held = user.map_or(0, |user| user.providers.len());
        people::object_to_providers(&mut objections, organization, held, &self.providers);
        objections
    }

    fn happen(&self, organization: &mut Organization, result: &Value) {
        let ids = new_ids(&result["providerIds"], self.providers.len());
        let made = self.providers.iter().zip(ids).map(|(provider, id)| provider.made(Some(id)));
        organization.user_mut(&self.user).providers.extend(made);
    }

    fn owner(&self) -> Option<&str> {
        Some(&self.user)
    }
}

/// What is deleted.
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
    let users = chooser.here().users.iter().filter(|user| !sort.ids(user).is_empty());
    let users: Vec<String> = users.map(|user| user.id.clone()).collect();
    let user = chooser.id(&users);
    let fitting = chooser.here().user(&user).map(|user| sort.ids(user)).unwrap_or_default();
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
    /// The user without these credentials.
    fn without(&self, user: &User) -> User {
        let kept = |id: &Option<String>| id.as_ref().is_none_or(|id| !self.ids.contains(id));
        let mut user = user.clone();
        match self.sort {
            Sort::ApiKeys => user.api_keys.retain(|key| kept(&key.id)),
            Sort::Authenticators => user.authenticators.retain(|one| kept(&one.id)),
            Sort::Providers => user.providers.retain(|one| kept(&one.id)),
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
        objections.found(&self.user, user.is_some(), UNKNOWN_USER);
        let ids = user.map(|user| self.sort.ids(user)).unwrap_or_default();
        objections.all_found(&self.ids, |id| ids.iter().any(|held| held == id), "");
        if let Some(user) = user {
            let lost = user.credential_ids().iter().filter(|id| self.ids.contains(id)).count();
            objections.invalid(lost == user.credential_count(), "user missing valid credential");
            // Members of the root quorum must be able to vote as long as they are.
            let keys = user.public_keys().len();
            let is_last = self.sort != Sort::Providers && lost > 0 && lost == keys;
            let is_member = organization.members.contains(&user.id);
            objections.invalid(is_last && is_member, "quorum users missing");
            let ends = user.can_always_stamp() && !self.without(user).can_always_stamp();
            let lasting = organization.lasting(&organization.members);
            let is_needed = lasting <= organization.threshold;
            objections.invalid(ends && is_member && is_needed, people::CANNOT_BE_MET);
        }
        objections
    }

    fn happen(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(texts(&result[self.sort.member()]), self.ids);
        let user = organization.user_mut(&self.user);
        *user = self.without(user);
        organization.gone.extend(self.ids.iter().cloned());
    }

    fn owner(&self) -> Option<&str> {
        Some(&self.user)
    }
}
