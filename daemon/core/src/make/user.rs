//! Users and their credentials: what must hold of new ones, and how they come about.

use std::collections::BTreeSet;

use quorate_common::ids::{ApiKeyId, AuthenticatorId, ProviderId, UserId};
use quorate_common::json;
use quorate_common::stamp::StampKey;
use quorate_common::webauthn::{AttestationFlaw, NewCredential};

use super::quorum;
use crate::cx::Cx;
use crate::limits::Limits;
use crate::model::{
    ApiKey, Authenticator, Change, Millis, OauthProvider, Organization, Passkey, TagKind, User,
};
use crate::params::{NewApiKey, NewAuthenticator, NewOauthProvider, NewUser};
use crate::refusal::{Clash, Intent, Limit, Missing, Refusal, Unoffered};
use crate::view::{View, distinct, not_empty, room};
use crate::world::Moment;

/// Which ways to sign in without a credential an organization offers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignIn {
    /// By mail.
    pub email: bool,
    /// By SMS.
    pub sms: bool,
}

impl SignIn {
    /// Whether a new user can sign in so.
    pub const fn admits(self, user: &NewUser) -> bool {
        (user.email.is_some() && self.email) || (user.phone.is_some() && self.sms)
    }
}

/// New users are well-formed, can get in, and bring no key that is taken. Gives what their authenticators are.
pub fn check(
    users: &[NewUser],
    within: Option<&Organization>,
    sign_in: SignIn,
    limits: &Limits,
) -> Result<Vec<NewCredential>, Refusal> {
    let mut keys = BTreeSet::new();
    for user in users {
        let credential =
            !(user.api_keys.is_empty() && user.authenticators.is_empty() && user.oauth_providers.is_empty());
        if !credential && !sign_in.admits(user) {
            return Err(Intent::NoCredential(user.name.to_string()).into());
        }
        for key in &user.api_keys {
            if !keys.insert((key.curve, key.public_key.as_str())) {
                return Err(Intent::Twice("apiKeys").into());
            }
        }
        check_api_keys(&user.api_keys, within)?;
        let long_lived = user.api_keys.iter().filter(|key| key.expiration_seconds.is_none()).count();
        let expiring = user.api_keys.len().saturating_sub(long_lived);
        if long_lived > limits.long_lived_api_keys || expiring > limits.expiring_api_keys {
            return Err(Limit::LongLivedApiKeys.into());
        }
        if user.authenticators.len() > limits.authenticators {
            return Err(Limit::Authenticators.into());
        }
        if user.oauth_providers.len() > limits.oauth_providers {
            return Err(Limit::Count(
                "OAuth providers of a user",
                limits.oauth_providers,
                Some("oauth_providers"),
            )
            .into());
        }
    }
    unclaimed_identities(users.iter().flat_map(|user| &user.oauth_providers), within)?;
    unclaimed_authenticators(users.iter().flat_map(|user| &user.authenticators), within)
}

/// New API keys are points of their curves and registered nowhere in the organization.
pub fn check_api_keys(keys: &[NewApiKey], within: Option<&Organization>) -> Result<(), Refusal> {
    for (place, key) in keys.iter().enumerate() {
        StampKey::parse(key.curve, &key.public_key).map_err(|_| Intent::PublicKey)?;
        let rest = keys.iter().skip(place.saturating_add(1));
        if rest.clone().any(|other| other.curve == key.curve && other.public_key == key.public_key) {
            return Err(Intent::Twice("apiKeys").into());
        }
        if within.is_some_and(|organization| organization.holder(key.curve, &key.public_key).is_some()) {
            return Err(Clash::PublicKey.into());
        }
    }
    Ok(())
}

/// New authenticators of a user are registered nowhere in the organization, and there is room for them.
pub fn check_authenticators(new: &[NewAuthenticator], user: &User, view: &View<'_>) -> Result<(), Refusal> {
    let credentials = unclaimed_authenticators(new, Some(view.organization))?;
    come_from_here(&credentials, view)?;
    let limit = view.limits().authenticators;
    let fits = user.authenticators.len().saturating_add(new.len()) <= limit;
    if fits { Ok(()) } else { Err(Limit::Authenticators.into()) }
}

/// Authenticators whose form says whose they are say that they are this user's.
pub fn are_meant_for(user: UserId, authenticators: &[NewAuthenticator]) -> Result<(), Refusal> {
    let meant = |one: &NewAuthenticator| one.user.is_none_or(|whose| whose == user);
    if authenticators.iter().all(meant) {
        return Ok(());
    }
    let text = "invalid request body: the `userId` of an authenticator must be that of the request";
    Err(Intent::Text(text).into())
}

/// New OAuth identities of a user belong to nobody in the organization, and there is room for them.
pub fn check_oauth_providers(new: &[NewOauthProvider], user: &User, view: &View<'_>) -> Result<(), Refusal> {
    unclaimed_identities(new, Some(view.organization))?;
    let count = user.oauth_providers.len();
    room(count, new.len(), view.limits().oauth_providers, "OAuth providers of a user", "oauth_providers")
}

fn unclaimed_authenticators<'a>(
    new: impl IntoIterator<Item = &'a NewAuthenticator>,
    within: Option<&Organization>,
) -> Result<Vec<NewCredential>, Refusal> {
    let credentials = new.into_iter().map(NewAuthenticator::credential).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<&str> = credentials.iter().map(|credential| credential.credential_id.as_str()).collect();
    distinct(&ids, "authenticators")?;
    let mut present = within.into_iter().flat_map(Organization::users).flat_map(|user| &user.authenticators);
    let taken = present.any(|present| ids.contains(&present.credential_id.as_str()));
    if taken { Err(Clash::CredentialId.into()) } else { Ok(credentials) }
}

/// Passkeys were registered at web origins from which the organization takes them.
pub fn come_from_here(credentials: &[NewCredential], view: &View<'_>) -> Result<(), Refusal> {
    for credential in credentials {
        if !view.takes_origin(&credential.origin)? {
            return Err(Intent::Attestation(AttestationFlaw::Invalid).into());
        }
    }
    Ok(())
}

fn unclaimed_identities<'a>(
    new: impl IntoIterator<Item = &'a NewOauthProvider>,
    within: Option<&Organization>,
) -> Result<(), Refusal> {
    let mut identities = Vec::new();
    for provider in new {
        let identity = provider.identity()?;
        identities.push((identity.issuer, identity.audience, identity.subject));
    }
    distinct(&identities, "oauthProviders")?;
    let mut present = within.into_iter().flat_map(Organization::users).flat_map(|user| &user.oauth_providers);
    let same = |present: &OauthProvider| {
        let known = (&present.issuer, &present.audience, &present.subject);
        identities.iter().any(|(issuer, audience, subject)| known == (issuer, audience, subject))
    };
    if present.any(same) { Err(Clash::OauthProvider.into()) } else { Ok(()) }
}

/// Takes credentials of a user out of a list of them, each of which must be there, once.
pub fn take_out<T, Id: Ord>(
    held: &mut Vec<T>,
    ids: &[Id],
    list: &'static str,
    id: impl Fn(&T) -> &Id,
    missing: impl Fn(&Id) -> Missing,
) -> Result<(), Refusal> {
    not_empty(ids, list)?;
    distinct(ids, list)?;
    for wanted in ids {
        let place = held.iter().position(|one| id(one) == wanted);
        held.remove(place.ok_or_else(|| missing(wanted))?);
    }
    Ok(())
}

/// Somebody can still act as the user, a root user can still vote, and the root quorum can always be met.
pub fn still_gets_in(user: &User, organization: &Organization) -> Result<(), Refusal> {
    if !user.has_credential() {
        return Err(Intent::NoCredential(user.id.to_string()).into());
    }
    let had_key = organization.user(user.id).is_some_and(User::has_key);
    if had_key && !user.has_key() && organization.is_root(user.id) {
        return Err(Intent::QuorumUsers.into());
    }
    quorum::survives(user, organization)
}

/// New users of an organization: well-formed, with tags that exist, and with room for them.
pub fn check_new(
    users: &[NewUser],
    list: &'static str,
    sign_in: SignIn,
    view: &View<'_>,
) -> Result<(), Refusal> {
    not_empty(users, list)?;
    let limits = view.limits();
    let credentials = check(users, Some(view.organization), sign_in, limits)?;
    come_from_here(&credentials, view)?;
    for user in users {
        distinct(&user.tags, "userTags")?;
        view.tags_exist(&user.tags, TagKind::User)?;
    }
    room(view.organization.users().count(), users.len(), limits.users, "users", "users")
}

/// A contact as it is to be; an empty text means none.
pub fn contact<T>(
    text: &str,
    parse: fn(String) -> Result<T, &'static str>,
    member: &str,
) -> Result<Option<T>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(parse(text.to_owned()).map_err(|reason| json::flaw("parameters", member, reason))?))
}

/// A token that proves a contact is refused: nobody here issues any.
pub fn no_token(given: bool) -> Result<(), Refusal> {
    let text = "verification tokens are not offered by this service";
    if given { Err(Unoffered::Feature(text.to_owned()).into()) } else { Ok(()) }
}

/// Adds users to the organization; gives their ids in the same order.
pub fn add(users: Vec<NewUser>, cx: &mut Cx<'_, '_>) -> Result<Vec<UserId>, Refusal> {
    let mut ids = Vec::with_capacity(users.len());
    for new in users {
        let user = user(new, cx)?;
        ids.push(user.id);
        cx.change(Change::PutUser(user));
    }
    Ok(ids)
}

/// A user as described.
pub fn user(new: NewUser, cx: &mut Cx<'_, '_>) -> Result<User, Refusal> {
    let now = cx.now();
    let mut random = || cx.random();
    user_of(new, now, &mut random)
}

/// A user as described, outside of an activity.
pub fn first_user(new: NewUser, moment: &mut Moment<'_>) -> Result<User, Refusal> {
    let now = moment.now;
    let mut random = || moment.random();
    user_of(new, now, &mut random)
}

fn user_of(new: NewUser, now: Millis, random: &mut dyn FnMut() -> [u8; 16]) -> Result<User, Refusal> {
    let mut authenticators = Vec::with_capacity(new.authenticators.len());
    for one in new.authenticators {
        authenticators.push(authenticator(one, now, random)?);
    }
    let mut oauth_providers = Vec::with_capacity(new.oauth_providers.len());
    for provider in &new.oauth_providers {
        oauth_providers.push(oauth_provider(provider, now, random)?);
    }
    Ok(User {
        id: UserId::random(random()),
        name: new.name,
        email: new.email,
        phone: new.phone,
        email_verified: false,
        phone_verified: false,
        api_keys: new.api_keys.into_iter().map(|key| api_key(key, now, random)).collect(),
        authenticators,
        oauth_providers,
        tags: new.tags,
        created: now,
        updated: now,
    })
}

/// An API key as described.
pub fn api_key(new: NewApiKey, now: Millis, random: &mut dyn FnMut() -> [u8; 16]) -> ApiKey {
    ApiKey {
        id: ApiKeyId::random(random()),
        name: new.name,
        curve: new.curve,
        public_key: new.public_key,
        expiration_seconds: new.expiration_seconds,
        ip_allowlist: None,
        created: now,
    }
}

/// An authenticator as described.
pub fn authenticator(
    new: NewAuthenticator,
    now: Millis,
    random: &mut dyn FnMut() -> [u8; 16],
) -> Result<Authenticator, Refusal> {
    let credential = new.credential()?;
    Ok(Authenticator {
        id: AuthenticatorId::random(random()),
        name: new.name,
        credential_id: credential.credential_id,
        transports: new.transports,
        passkey: Some(Passkey {
            public_key: credential.public_key,
            relying_party: credential.relying_party,
            aaguid: credential.aaguid,
            attestation_type: credential.format,
            signature_count: credential.signature_count,
        }),
        created: now,
    })
}

/// An OAuth identity as described.
pub fn oauth_provider(
    new: &NewOauthProvider,
    now: Millis,
    random: &mut dyn FnMut() -> [u8; 16],
) -> Result<OauthProvider, Refusal> {
    let identity = new.identity()?;
    Ok(OauthProvider {
        id: ProviderId::random(random()),
        name: identity.name,
        issuer: identity.issuer,
        audience: identity.audience,
        subject: identity.subject,
        created: now,
    })
}
