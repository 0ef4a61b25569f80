//! Opens sessions: an expiring API key of a user, and the token that describes it to clients.

use quorate_common::bounded::{ExpirationSeconds, Label, Text};
use quorate_common::bundle::TargetPublicKey;
use quorate_common::ids::{ApiKeyId, SessionProfileId};
use quorate_common::stamp::ApiKeyCurve;
use quorate_common::token::{READ_WRITE_SESSION, SessionClaims, UnsignedToken};

use super::credential;
use crate::bundles;
use crate::error::{Corrupt, RequestError};
use crate::execution::Execution;
use crate::limits::SESSION_SECONDS;
use crate::model::user::KeySource;
use crate::model::{ApiKey, SessionProfile, User};
use crate::params::session::{BundledSessionResult, LoginParams};
use crate::params::{NewApiKey, session};
use crate::policy;
use crate::view::View;

/// Returns the lifetime of a session in seconds, from the lifetime that its request states.
pub fn seconds(requested: Option<ExpirationSeconds>) -> u64 {
    requested.map_or(SESSION_SECONDS, |ExpirationSeconds(seconds)| seconds)
}

/// A login whose parameters were checked.
pub struct Login {
    key: NewApiKey,
    invalidates_existing: bool,
    profile: Option<SessionProfile>,
}

/// Checks the parameters of a login.
///
/// # Errors
/// If the public key is invalid or already registered, or the session profile does not exist.
pub fn check_login(params: &LoginParams, view: &View<'_>) -> Result<Login, RequestError> {
    let (curve, public_key) = session::login_key(&params.public_key)?;
    let profile = params.session_profile_id.map(|id| view.session_profile(id)).transpose()?;
    let limits = [params.expiration_seconds(), profile.as_ref().and_then(|one| one.expiration_seconds)];
    let key = NewApiKey {
        name: label("Login", view)?,
        curve,
        public_key,
        expiration_seconds: Some(limits.into_iter().flatten().min().unwrap_or(SESSION_SECONDS)),
    };
    credential::check_api_keys(std::slice::from_ref(&key), Some(view.organization))?;
    Ok(Login { key, invalidates_existing: params.invalidates_existing(), profile })
}

impl Login {
    /// Opens the session for a user, and returns its token.
    ///
    /// # Errors
    /// If the token cannot be signed.
    pub fn open(self, user: User, context: &mut Execution<'_>) -> Result<String, RequestError> {
        let Self { key, invalidates_existing, profile } = self;
        let claims = SessionClaims {
            exp: (context.now() / 1000).saturating_add(key.expiration_seconds.unwrap_or_default()),
            public_key: key.public_key.clone(),
            session_type: profile
                .as_ref()
                .map_or_else(|| READ_WRITE_SESSION.to_owned(), |profile| profile.name.to_string()),
            user_id: user.id,
            organization_id: context.organization.id(),
            session_profile_id: profile.as_ref().map(|profile| profile.id),
            scope: profile.as_ref().map(|profile| profile.scope.clone()),
        };
        let new = NewSession {
            key,
            source: KeySource::Login,
            invalidates_existing,
            profile: profile.map(|one| one.id),
        };
        new.open(user, context);
        token(&claims, context)
    }
}

/// An expiring key to add to a user.
struct NewSession {
    /// Key; its name, public key and lifetime.
    key: NewApiKey,
    /// Flow that creates it.
    source: KeySource,
    /// Whether it replaces the user's other keys of the same flow.
    invalidates_existing: bool,
    /// Session profile that limits it.
    profile: Option<SessionProfileId>,
}

impl NewSession {
    /// Adds the key to a user, and evicts others if it would not fit.
    fn open(self, mut user: User, context: &mut Execution<'_>) -> ApiKeyId {
        let (now, limit) = (context.now(), context.limits().expiring_api_keys);
        if self.invalidates_existing {
            user.api_keys.retain(|key| key.source != self.source);
        }
        credential::make_room(&mut user.api_keys, self.source, limit, now);
        let key = credential::api_key(self.key, now, &mut || context.random());
        let id = key.id;
        user.api_keys.push(ApiKey { source: self.source, session_profile: self.profile, ..key });
        context.update_user(user);
        id
    }
}

/// A session whose key this service makes and encrypts to a key of the client. Its parameters were checked.
pub struct BundledSession {
    target: TargetPublicKey,
    name: Label,
}

impl BundledSession {
    /// Checks the target key. The key is named after the flow and the time unless the request names it.
    ///
    /// # Errors
    /// If the target key is no P-256 key.
    pub fn check(
        target: &Text<130>,
        name: Option<&Label>,
        flow: &str,
        view: &View<'_>,
    ) -> Result<Self, RequestError> {
        let target = bundles::target(target.as_str())?;
        Ok(Self { target, name: name.cloned().map_or_else(|| label(flow, view), Ok)? })
    }

    /// Makes the key and opens the session for a user.
    ///
    /// # Errors
    /// If the target key is rejected.
    pub fn open(
        self,
        user: User,
        source: KeySource,
        lifetime: Option<ExpirationSeconds>,
        invalidates_existing: bool,
        context: &mut Execution<'_>,
    ) -> Result<BundledSessionResult, RequestError> {
        let (credential_bundle, public_key) = bundles::new_credential(&self.target, context)?;
        let (curve, expiration_seconds) = (ApiKeyCurve::P256, Some(seconds(lifetime)));
        let key = NewApiKey { name: self.name, curve, public_key, expiration_seconds };
        let (user_id, new) = (user.id, NewSession { key, source, invalidates_existing, profile: None });
        Ok(BundledSessionResult { user_id, api_key_id: new.open(user, context), credential_bundle })
    }
}

/// Returns the name of a session key: the flow and the time, as in `Login - 2026-01-31T12:00:00Z`.
///
/// # Errors
/// If the time is outside of the calendar.
fn label(flow: &str, view: &View<'_>) -> Result<Label, RequestError> {
    let error = Corrupt::Invariant("the name of a session key is invalid");
    let time = policy::instant(view.now).ok_or(error.clone())?;
    Ok(Label::parse(format!("{flow} - {time}")).map_err(|_| error)?)
}

/// Signs the token of a session.
fn token(claims: &SessionClaims, context: &Execution<'_>) -> Result<String, RequestError> {
    let error = || Corrupt::Invariant("a session token cannot be made");
    let token = UnsignedToken::session(claims).map_err(|_| error())?;
    let signature = context.installation().quorum_key().sign(token.statement())?;
    Ok(token.signed(&signature).ok_or_else(error)?)
}
