//! Users and credentials in requests: choice, JSON, objections and model entries.

use quorate_common::stamp::ApiKeyCurve;
use quorate_tests::keys::Key;
use quorate_tests::passkey::Passkey;
use serde_json::{Value, json};

use super::put;
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::{ApiKey, Authenticator, Organization, Provider, Tagged, User};

/// Start of the error message for a root quorum that could become unsatisfiable.
pub(super) const CANNOT_BE_MET: &str = "quorum threshold cannot always be met";
/// Limit of credentials of each type per user.
pub(super) const CREDENTIALS: usize = 10;
/// Curves of keys in older requests, which do not name the curve.
const OLD: [ApiKeyCurve; 1] = [ApiKeyCurve::P256];
const ALL: [ApiKeyCurve; 3] = [ApiKeyCurve::P256, ApiKeyCurve::Secp256k1, ApiKeyCurve::Ed25519];

/// An API key to register.
pub(super) struct NewKey {
    name: String,
    public_key: String,
    /// Public key as written, possibly in upper case, which is equivalent.
    written: String,
    curve: &'static str,
    /// Lifetime as written, which may be invalid.
    life: Option<&'static str>,
}

impl NewKey {
    /// Returns the key with an expiration.
    pub(super) fn ending(self) -> Self {
        Self { life: Some("1000000"), ..self }
    }

    /// Chooses a key for a request that names curves, or does not.
    pub(super) fn choose(chooser: &mut Chooser<'_>, names_curve: bool) -> Self {
        let (public_key, curve) = chooser.public_key(if names_curve { &ALL } else { &OLD });
        // Names of keys may repeat.
        let name = chooser.name("key");
        let life = chooser.one(&[None, None, None, Some("1000000"), Some("86400000")]);
        let wrong = chooser.one(&["0", "-1", "a while"]);
        let life = if chooser.rarely() { Some(wrong) } else { life };
        let is_capital = chooser.choices.one_in(6);
        let written = if is_capital { public_key.to_uppercase() } else { public_key.clone() };
        Self { name, public_key, written, curve, life }
    }

    /// Returns its identifier.
    pub(super) fn public_key(&self) -> &str {
        &self.public_key
    }

    /// Returns the JSON of the request.
    pub(super) fn json(&self, names_curve: bool) -> Value {
        let mut key = json!({ "apiKeyName": self.name, "publicKey": self.written });
        put(&mut key, "curveType", names_curve.then_some(self.curve));
        put(&mut key, "expirationSeconds", self.life);
        key
    }

    /// Returns the entry in the model.
    pub(super) fn to_model(&self, id: Option<String>) -> ApiKey {
        let life_seconds = self.life.map(|life| life.parse().expect("a checked number"));
        ApiKey {
            id,
            name: self.name.clone(),
            public_key: self.public_key.clone(),
            curve: self.curve.strip_prefix("API_KEY_CURVE_").expect("the name of a curve"),
            life_seconds,
            allowlist: None,
        }
    }
}

/// Adds the objections to registering these keys for a user with the keys `held`.
pub(super) fn object_to_keys(
    objections: &mut Objections,
    organization: &Organization,
    held: &[ApiKey],
    new: &[NewKey],
) {
    for key in new {
        objections.label(&key.name);
        let is_wrong = key.life.is_some_and(|life| life.parse::<u64>().is_ok_and(|life| life > 0));
        objections.invalid(key.life.is_some() && !is_wrong, "invalid api key expiration");
        objections.when(organization.holder(&key.public_key).is_some(), Code::AlreadyExists, "");
    }
    let lasting = held.iter().filter(|key| key.life_seconds.is_none()).count();
    let more = new.iter().filter(|key| key.life.is_none()).count();
    objections.capacity(lasting, more, CREDENTIALS, "user has exceeded maximum long-lived api keys");
}

/// An authenticator to register.
pub(super) struct NewAuthenticator {
    name: String,
    /// The name of the software authenticator.
    passkey: String,
    transports: Vec<&'static str>,
}

impl NewAuthenticator {
    /// Chooses the values of a request.
    pub(super) fn choose(chooser: &mut Chooser<'_>) -> Self {
        let number =
            if chooser.choices.one_in(6) { chooser.choices.below(20) } else { 100 + chooser.number() };
        let passkey = format!("passkey {number}");
        chooser.keys.keep(Key::passkey(&passkey));
        let transports = chooser.one(&[&[][..], &["USB", "NFC"], &["INTERNAL"], &["HYBRID"]]);
        Self { name: chooser.name("passkey"), passkey, transports: transports.to_vec() }
    }

    /// Returns the JSON of the request.
    pub(super) fn json(&self) -> Value {
        let mut json = Passkey::of(&self.passkey).registration();
        json["authenticatorName"] = json!(self.name);
        json["attestation"]["transports"] = json!(self.transport_names());
        json
    }

    /// Returns the JSON of older requests.
    pub(super) fn old_json(&self, user: &str) -> Value {
        let mut json = Passkey::of(&self.passkey).registration_v1(user);
        json["authenticatorName"] = json!(self.name);
        json["attestation"]["response"]["transports"] = json!(self.transport_names());
        json
    }

    fn transport_names(&self) -> Vec<String> {
        self.transports.iter().map(|name| format!("AUTHENTICATOR_TRANSPORT_{name}")).collect()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its identifier.
    pub(super) fn credential(&self) -> String {
        Passkey::of(&self.passkey).id()
    }

    /// Returns the entry in the model.
    pub(super) fn to_model(&self, id: Option<String>) -> Authenticator {
        let (credential, public_key) = (self.credential(), Passkey::of(&self.passkey).public_key());
        Authenticator {
            id,
            name: self.name.clone(),
            credential,
            public_key,
            transports: self.transports.clone(),
        }
    }
}

/// Adds the objections to registering these for a user who has `held` of them.
pub(super) fn object_to_authenticators(
    objections: &mut Objections,
    organization: &Organization,
    held: usize,
    new: &[NewAuthenticator],
) {
    let is_used = |new: &NewAuthenticator| {
        let mut all = organization.users.iter().flat_map(|user| &user.authenticators);
        all.any(|authenticator| authenticator.credential == new.credential())
    };
    for authenticator in new {
        objections.label(&authenticator.name);
        objections.when(is_used(authenticator), Code::AlreadyExists, "");
    }
    objections.capacity(held, new.len(), CREDENTIALS, "user has exceeded maximum authenticators");
}

/// An OAuth identity to register by its claims.
pub(super) struct NewProvider {
    name: String,
    subject: String,
}

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "model";

impl NewProvider {
    /// Chooses the values of a request.
    pub(super) fn choose(chooser: &mut Chooser<'_>) -> Self {
        let subject = match chooser.choices.below(8) {
            0 => chooser.choices.below(chooser.organization().users.len() + 20),
            _ => 1000 + chooser.number(),
        };
        Self { name: chooser.name("issuer"), subject: subject.to_string() }
    }

    /// Returns the subject. Issuer and audience are the same for all.
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns the JSON of the request.
    pub(super) fn json(&self) -> Value {
        let claims = json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": self.subject });
        json!({ "providerName": self.name, "oidcClaims": claims })
    }

    /// Returns the entry in the model.
    pub(super) fn to_model(&self, id: Option<String>) -> Provider {
        Provider {
            id,
            name: self.name.clone(),
            issuer: ISSUER.to_owned(),
            audience: AUDIENCE.to_owned(),
            subject: self.subject.clone(),
        }
    }
}

/// Adds the objections to registering these for a user who has `held` of them.
pub(super) fn object_to_providers(
    objections: &mut Objections,
    organization: &Organization,
    held: usize,
    new: &[NewProvider],
) {
    let is_used = |new: &NewProvider| {
        let mut all = organization.users.iter().flat_map(|user| &user.providers);
        all.any(|provider| provider.subject == new.subject)
    };
    for provider in new {
        objections.label(&provider.name);
        let is_taken = is_used(provider);
        objections.named(is_taken, Code::AlreadyExists, "", "OAUTH_PROVIDER_ALREADY_EXISTS");
    }
    objections.capacity(held, new.len(), CREDENTIALS, "");
}

/// Members of a user in a version of the request, in addition to name, mail address and API keys.
#[derive(Clone, Copy)]
pub(super) struct Schema {
    pub(super) members: &'static [&'static str],
    pub(super) names_curve: bool,
}

impl Schema {
    /// Returns whether the version has this member.
    pub(super) fn has(self, member: &str) -> bool {
        self.members.contains(&member)
    }
}

/// A user to create.
#[derive(Default)]
pub(super) struct NewUser {
    pub(super) name: String,
    pub(super) email: Option<String>,
    pub(super) phone: Option<String>,
    pub(super) keys: Vec<NewKey>,
    pub(super) authenticators: Vec<NewAuthenticator>,
    pub(super) providers: Vec<NewProvider>,
    pub(super) tags: Vec<String>,
}

impl NewUser {
    /// Chooses a user for a version of the request.
    pub(super) fn choose(chooser: &mut Chooser<'_>, schema: Schema) -> Self {
        let keys = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
        let others = |chooser: &mut Chooser<'_>, wanted| if wanted { chooser.one(&[0, 0, 0, 1]) } else { 0 };
        let authenticators = others(chooser, schema.has("authenticators"));
        let providers = others(chooser, schema.has("oauthProviders"));
        let tags = chooser.organization().tag_ids(Tagged::Users);
        Self {
            name: chooser.name("user"),
            email: chooser.maybe(Chooser::email),
            phone: if schema.has("userPhoneNumber") { chooser.maybe(Chooser::phone_number) } else { None },
            keys: (0..keys).map(|_| NewKey::choose(chooser, schema.names_curve)).collect(),
            authenticators: (0..authenticators).map(|_| NewAuthenticator::choose(chooser)).collect(),
            providers: (0..providers).map(|_| NewProvider::choose(chooser)).collect(),
            tags: if schema.has("userTags") { chooser.optional_ids(&tags) } else { Vec::new() },
        }
    }

    /// Returns the JSON of the request.
    pub(super) fn json(&self, schema: Schema) -> Value {
        let keys: Vec<Value> = self.keys.iter().map(|key| key.json(schema.names_curve)).collect();
        let authenticators: Vec<Value> = self.authenticators.iter().map(NewAuthenticator::json).collect();
        let providers: Vec<Value> = self.providers.iter().map(NewProvider::json).collect();
        let mut user = json!({ "userName": self.name, "apiKeys": keys });
        put(&mut user, "userEmail", self.email.as_deref());
        put(&mut user, "userPhoneNumber", self.phone.as_deref());
        put(&mut user, "accessType", schema.has("accessType").then_some("ACCESS_TYPE_ALL"));
        put(&mut user, "authenticators", schema.has("authenticators").then_some(authenticators));
        put(&mut user, "oauthProviders", schema.has("oauthProviders").then_some(providers));
        put(&mut user, "userTags", schema.has("userTags").then_some(self.tags.clone()));
        user
    }

    /// Returns the entry in the model.
    pub(super) fn to_model(&self, id: String) -> User {
        User {
            id,
            name: self.name.clone(),
            email: self.email.clone(),
            phone: self.phone.clone(),
            tags: self.tags.iter().cloned().collect(),
            api_keys: self.keys.iter().map(|key| key.to_model(None)).collect(),
            authenticators: self.authenticators.iter().map(|one| one.to_model(None)).collect(),
            providers: self.providers.iter().map(|provider| provider.to_model(None)).collect(),
            mfa_policies: Vec::new(),
        }
    }

    fn object(&self, objections: &mut Objections, organization: &Organization) {
        objections.label(&self.name);
        object_to_email(objections, self.email.as_deref());
        object_to_phone_number(objections, self.phone.as_deref());
        object_to_keys(objections, organization, &[], &self.keys);
        object_to_authenticators(objections, organization, 0, &self.authenticators);
        object_to_providers(objections, organization, 0, &self.providers);
        let is_tag = |id: &str| organization.tag(Tagged::Users, id).is_some();
        objections.tags_exist(&self.tags, is_tag, "no user tag found");
    }

    fn has_credential(&self) -> bool {
        !self.keys.is_empty() || !self.authenticators.is_empty() || !self.providers.is_empty()
    }

    /// Returns whether the user can always authenticate, at least by signing in.
    pub(super) fn can_always_sign_in(&self, organization: &Organization) -> bool {
        self.keys.iter().any(|key| key.life.is_none())
            || !self.authenticators.is_empty()
            || !self.providers.is_empty()
            || self.has_contact(organization)
    }

    /// Returns whether the user has a contact that the organization accepts for sign-in.
    fn has_contact(&self, organization: &Organization) -> bool {
        let on = |feature: &str| organization.features.contains_key(&format!("FEATURE_NAME_{feature}"));
        (self.email.is_some() && (on("EMAIL_AUTH") || on("OTP_EMAIL_AUTH")))
            || (self.phone.is_some() && on("SMS_AUTH"))
    }
}

/// Adds the objections to creating these users. A contact may be enough to sign in.
pub(super) fn object_to_users(
    objections: &mut Objections,
    organization: &Organization,
    users: &[NewUser],
    is_contact_enough: bool,
) {
    const USERS: usize = 100;
    objections.batch(users);
    for user in users {
        user.object(objections, organization);
        let can_sign_in = user.has_credential() || (is_contact_enough && user.has_contact(organization));
        objections.invalid(!can_sign_in, "user missing valid credential");
    }
    let keys = users.iter().flat_map(|user| &user.keys).map(NewKey::public_key);
    objections.distinct(&keys.collect::<Vec<_>>());
    let credentials = users.iter().flat_map(|user| &user.authenticators).map(NewAuthenticator::credential);
    objections.distinct(&credentials.collect::<Vec<_>>());
    let subjects = users.iter().flat_map(|user| &user.providers).map(NewProvider::subject);
    objections.distinct(&subjects.collect::<Vec<_>>());
    objections.capacity(organization.users.len(), users.len(), USERS, "");
}

/// Adds the objections to a mail address, which needs local part and domain. An empty text means no address.
pub(super) fn object_to_email(objections: &mut Objections, email: Option<&str>) {
    let is_wrong = email.is_some_and(|email| !email.is_empty() && !email.contains('@'));
    objections.named(is_wrong, Code::InvalidArgument, "invalid email address", "INVALID_EMAIL");
}

/// Adds the objections to a phone number, which must be in E.164 format. An empty text means no number.
pub(super) fn object_to_phone_number(objections: &mut Objections, phone: Option<&str>) {
    objections.invalid(phone.is_some_and(|phone| !phone.is_empty() && !phone.starts_with('+')), "");
}
