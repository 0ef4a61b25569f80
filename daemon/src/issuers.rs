//! The signing keys of OpenID Connect issuers. They are fetched when a request needs them, outside of any decision, and
//! cached.
//!
//! Issuers may be hostile or slow, and anyone can register an identity at an issuer of their own. A fetch has a deadline, a
//! limit of bytes, and reaches permitted addresses only. A tenant has a share of the concurrent fetches, which issuers that
//! were slow or failed cannot occupy, and a share of the cache.

mod held;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quorate_common::api_error::{ApiError, Code};
use quorate_core::error::{Intent, RequestError};
use quorate_core::id_token::{IssuerKeys, configuration_url, key_set_url};
use tokio::sync::watch;
use tokio::time::Instant;

use self::held::{Held, Holder};
use crate::clock;
use crate::load::Trust;
use crate::outgoing::{Dialler, Outcome, OutgoingUrl, ReceiverPolicy, shares};
use crate::rate::RateLimiter;
use crate::readers::Account;

/// How long fetched keys are used. A key that its issuer revoked is accepted for as long.
const LIFETIME: Duration = Duration::from_mins(10);
/// Minimum time between two fetches because of a key id that is not known.
const REFRESH: Duration = Duration::from_mins(1);
/// Minimum time between two fetches of which the first failed.
const RETRY: Duration = Duration::from_secs(10);
/// Deadline of a fetch, which consists of two requests.
const DEADLINE: Duration = Duration::from_secs(5);
/// Duration of a fetch from which its issuer is slow.
const SLOW: Duration = Duration::from_secs(1);
/// Maximum size of each of the two documents, in bytes.
const DOCUMENT_BYTES: usize = 128 * 1024;
/// Maximum total size of the cached key sets, in bytes.
const CACHE_BYTES: usize = 8 * 1024 * 1024;
/// Maximum number of failed fetches that are logged within a minute. Anybody with a token of an own issuer can cause them.
const WARNINGS: u32 = 60;

/// Which issuers are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OidcSettings {
    /// Whether no ID tokens are accepted.
    pub disabled: bool,
    /// The only issuers that are accepted; if empty, all that can be reached are.
    pub issuers: Vec<String>,
    /// Addresses at which issuers may be reached.
    pub receivers: ReceiverPolicy,
}

/// What is known of the keys of an issuer.
#[derive(Clone)]
struct Fetched {
    /// Keys, and when they were fetched.
    keys: Option<(Arc<IssuerKeys>, Instant)>,
    /// Size of the document with the keys, in bytes.
    bytes: usize,
    /// When the last fetch ended.
    tried: Instant,
    /// Why the last fetch failed, if it did.
    failure: &'static str,
    /// Whether the issuer was prompt.
    trust: Trust,
}

/// A fetch in progress.
struct Fetch {
    /// Account of the first request that needs the keys.
    account: Account,
    /// Accounts of all requests that need the keys.
    holders: Vec<Holder>,
    trust: Trust,
    /// Its sender is dropped when the fetch ends.
    ended: watch::Receiver<()>,
}

/// Fetches in progress, by issuer.
type Fetches = HashMap<String, Fetch>;

/// The keys of issuers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Issuers(Arc<Inner>);

struct Inner {
    settings: OidcSettings,
    dialler: Dialler,
    deadline: Duration,
    fetched: Mutex<Held<Fetched>>,
    warnings: RateLimiter<()>,
    fetches: Mutex<Fetches>,
}

impl Issuers {
    /// Creates an empty cache.
    pub(crate) fn new(settings: OidcSettings) -> Self {
        let dialler = Dialler::new(settings.receivers.clone());
        let fetched = Mutex::new(Held::new(CACHE_BYTES));
        let warnings = RateLimiter::new(WARNINGS, 60_000);
        Self(Arc::new(Inner {
            settings,
            dialler,
            deadline: DEADLINE,
            fetched,
            warnings,
            fetches: Mutex::default(),
        }))
    }

    /// Returns whether no ID tokens are accepted.
    pub(crate) fn are_disabled(&self) -> bool {
        self.0.settings.disabled
    }

    /// Returns the keys of an issuer, or `None` if they must be fetched first.
    pub(crate) fn keys(
        &self,
        issuer: &str,
        key_id: Option<&str>,
    ) -> Option<Result<Arc<IssuerKeys>, RequestError>> {
        if let Err(error) = self.check(issuer) {
            return Some(Err(error));
        }
        let mut fetched = self.0.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        let Fetched { keys, tried, failure, .. } = fetched.value(issuer)?;
        let waited = tried.elapsed();
        match keys.filter(|(_, since)| since.elapsed() < LIFETIME) {
            Some((keys, _)) if waited < REFRESH || key_id.is_none_or(|id| keys.has(id)) => Some(Ok(keys)),
            None if waited < RETRY => Some(Err(Intent::OidcIssuer(failure).into())),
            _ => None,
        }
    }

    /// Checks whether an issuer is accepted. Nothing is sent to one that is not.
    fn check(&self, issuer: &str) -> Result<(), RequestError> {
        let Inner { settings, .. } = &*self.0;
        if settings.disabled {
            return Err(Intent::OauthOff.into());
        }
        let is_listed = settings.issuers.is_empty() || settings.issuers.iter().any(|one| one == issuer);
        let url = OutgoingUrl::check(&configuration_url(issuer), &settings.receivers);
        if is_listed && url.is_ok() {
            Ok(())
        } else {
            Err(Intent::OidcIssuer("its issuer is not allowed").into())
        }
    }

    /// Fetches the keys of an issuer, or waits until another request has fetched them. The result is cached.
    ///
    /// # Errors
    /// If too many fetches are in progress.
    pub(crate) async fn load(
        &self,
        issuer: &str,
        key_id: Option<&str>,
        account: Account,
    ) -> Result<(), ApiError> {
        if self.keys(issuer, key_id).is_some() {
            return Ok(());
        }
        let mut ended = self.join(issuer, account)?;
        // The error means that the fetch has ended.
        let _ = ended.changed().await;
        Ok(())
    }

    /// Returns a receiver that is closed when the fetch ends, and starts the fetch unless it is in progress. It continues
    /// if all requests that need it are cancelled.
    fn join(&self, issuer: &str, account: Account) -> Result<watch::Receiver<()>, ApiError> {
        let trust = self.trust(issuer);
        let mut fetches = self.0.fetches.lock().unwrap_or_else(PoisonError::into_inner);
        let holder = Holder::from(&account);
        if let Some(Fetch { ended, holders, .. }) = fetches.get_mut(issuer) {
            if !holders.contains(&holder) {
                holders.push(holder);
            }
            return Ok(ended.clone());
        }
        if !shares::has_room(&fetches.values().map(|one| (&one.account, one.trust)), &account, trust) {
            let message = "too many OpenID Connect issuers are being contacted; try again later";
            return Err(ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED"));
        }
        let (sender, ended) = watch::channel(());
        fetches
            .insert(issuer.to_owned(), Fetch { account, holders: vec![holder], trust, ended: ended.clone() });
        let (issuers, issuer) = (self.clone(), issuer.to_owned());
        tokio::spawn(async move {
            let begun = Instant::now();
            let keys = issuers.fetch(&issuer).await;
            let mut fetches = issuers.0.fetches.lock().unwrap_or_else(PoisonError::into_inner);
            let holders = fetches.remove(&issuer).map_or_else(Vec::new, |fetch| fetch.holders);
            issuers.keep(&issuer, keys, begun.elapsed(), &holders);
            drop((sender, fetches));
        });
        Ok(ended)
    }

    /// Returns the trust in an issuer, from the last fetch.
    fn trust(&self, issuer: &str) -> Trust {
        let mut fetched = self.0.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.value(issuer).map_or(Trust::Unknown, |last| last.trust)
    }

    /// Caches the outcome of a fetch that took this long, for the accounts that need it. Keys that were fetched before are
    /// used until the end of their lifetime.
    fn keep(
        &self,
        issuer: &str,
        keys: Result<(IssuerKeys, usize), &'static str>,
        took: Duration,
        holders: &[Holder],
    ) {
        let trust = if keys.is_ok() && took < SLOW { Trust::Prompt } else { Trust::Doubtful };
        let mut fetched = self.0.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = Instant::now();
        let (keys, bytes, failure) = match keys {
            Ok((keys, bytes)) => (Some((Arc::new(keys), tried)), bytes, ""),
            Err(failure) => {
                if self.0.warnings.take((), clock::now()) {
                    tracing::warn!(
                        issuer = issuer.escape_debug().to_string(),
                        failure,
                        "the keys of an issuer cannot be fetched"
                    );
                }
                let before = fetched.value(issuer);
                let (keys, bytes) = before.map_or((None, 0), |before: Fetched| (before.keys, before.bytes));
                (keys, bytes, failure)
            }
        };
        let size = bytes.saturating_add(issuer.len());
        fetched.keep(issuer, Fetched { keys, bytes, tried, failure, trust }, size, holders);
    }

    /// Fetches the configuration of an issuer, and the keys that it names. Also returns the size of their document.
    async fn fetch(&self, issuer: &str) -> Result<(IssuerKeys, usize), &'static str> {
        let deadline = Instant::now() + self.0.deadline;
        let configuration = self.get(&configuration_url(issuer), deadline).await?;
        let url =
            key_set_url(&configuration, issuer).ok_or("the configuration of its issuer is not valid")?;
        let keys = self.get(&url, deadline).await?;
        let parsed = IssuerKeys::parse(&keys).ok_or("the keys of its issuer are not valid")?;
        Ok((parsed, keys.len()))
    }

    async fn get(&self, url: &str, deadline: Instant) -> Result<bytes::Bytes, &'static str> {
        let Inner { settings, dialler, .. } = &*self.0;
        let url = OutgoingUrl::check(url, &settings.receivers);
        let url = url.map_err(|_| "its issuer names an address that is not allowed")?;
        dialler.get(&url, DOCUMENT_BYTES, deadline).await.map_err(|outcome| match outcome {
            Outcome::NotAllowed(_) => "its issuer has an address that is not allowed",
            _ => "its issuer does not answer as expected",
        })
    }
}

#[cfg(test)]
mod tests;
