//! Exchanges authorization codes with OAuth 2.0 providers, outside of any decision.
//!
//! Providers may be slow or answer anything. An exchange has a deadline and a limit of bytes, and reaches permitted
//! addresses only. A tenant has a share of the concurrent exchanges. What an exchange sends is never logged.

mod failure;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64ct::{Base64, Encoding};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use quorate_common::api_error::{ApiError, Code};
use quorate_common::wire::Oauth2Provider;
use quorate_core::error::{Intent, RequestError};
use quorate_core::model::layout::Key;
use quorate_core::oauth2::{Exchange, Oauth2User, bearer_token, subject};
use tokio::sync::watch;
use tokio::time::Instant;
use url::form_urlencoded;
use zeroize::Zeroizing;

use self::failure::{Endpoint, Failure};
use crate::clock;
use crate::load::Trust;
use crate::outgoing::{Dialler, OutgoingUrl, ReceiverPolicy, shares};
use crate::rate::RateLimiter;
use crate::readers::Account;

/// Deadline of an exchange, which consists of two requests.
const DEADLINE: Duration = Duration::from_secs(5);
/// Maximum size of each of the two answers, in bytes.
const ANSWER_BYTES: usize = 64 * 1024;

/// Maximum number of failures that are logged within a minute. Anybody who may exchange codes can cause them.
const WARNINGS: u32 = 60;

/// The endpoints of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// URL at which codes are exchanged (RFC 6749, section 3.2).
    pub token: String,
    /// URL that describes the user of an access token.
    pub user: String,
}

impl Endpoints {
    /// Returns the public endpoints of a provider.
    pub fn of(provider: Oauth2Provider) -> Self {
        let (token, user) = match provider {
            Oauth2Provider::X => ("https://api.x.com/2/oauth2/token", "https://api.x.com/2/users/me"),
            Oauth2Provider::Discord => {
                ("https://discord.com/api/oauth2/token", "https://discord.com/api/users/@me")
            }
        };
        Self { token: token.to_owned(), user: user.to_owned() }
    }
}

/// Settings of OAuth 2.0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oauth2Settings {
    /// URL of the issuer of the daemon's ID tokens.
    pub issuer: String,
    /// Generation of the key that signs ID tokens.
    pub key_generation: u32,
    /// Endpoints of X.
    pub x: Endpoints,
    /// Endpoints of Discord.
    pub discord: Endpoints,
    /// Addresses at which providers may be reached.
    pub receivers: ReceiverPolicy,
}

impl Oauth2Settings {
    /// Returns the settings of an issuer that reaches the public endpoints of all providers.
    pub fn new(issuer: String) -> Self {
        let [x, discord] = [Oauth2Provider::X, Oauth2Provider::Discord].map(Endpoints::of);
        Self { issuer, key_generation: 1, x, discord, receivers: ReceiverPolicy::default() }
    }
}

/// Requests that exchange a code, by the key of the claim, with their accounts. The sender is dropped when the request
/// is answered.
type Begun = HashMap<Key, (Account, watch::Receiver<()>)>;

/// The exchanges with OAuth 2.0 providers.
pub(crate) struct Exchanges {
    settings: Oauth2Settings,
    dialler: Dialler,
    deadline: Duration,
    begun: Arc<Mutex<Begun>>,
    warnings: RateLimiter<()>,
}

/// What a request that exchanges a code may do.
pub(crate) enum Turn {
    /// It exchanges the code.
    Own(InProgress),
    /// Another request exchanges it, until this receiver is closed.
    Other(watch::Receiver<()>),
}

/// An exchange in progress, from before its code is claimed until its request is answered.
pub(crate) struct InProgress {
    claim: Key,
    begun: Arc<Mutex<Begun>>,
    _sender: watch::Sender<()>,
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.claim);
    }
}

/// An exchange that was made, with its outcome.
pub(crate) struct Exchanged {
    exchange: Exchange,
    outcome: Result<Arc<Oauth2User>, &'static str>,
    /// Other requests with the same code wait until this one is answered.
    _in_progress: InProgress,
}

impl Exchanged {
    /// Creates an exchange with its outcome.
    pub(crate) fn new(
        exchange: Exchange,
        outcome: Result<Arc<Oauth2User>, &'static str>,
        in_progress: InProgress,
    ) -> Self {
        Self { exchange, outcome, _in_progress: in_progress }
    }

    /// Returns the outcome, if it is one of this exchange.
    pub(crate) fn outcome(&self, exchange: &Exchange) -> Result<Arc<Oauth2User>, RequestError> {
        if !self.exchange.is_same(exchange) {
            return Err(Intent::Oauth2("the credential was changed during the exchange").into());
        }
        self.outcome.clone().map_err(|reason| Intent::Oauth2(reason).into())
    }
}

impl Exchanges {
    /// Creates exchanges with the providers of these settings.
    pub(crate) fn new(settings: Oauth2Settings) -> Self {
        let dialler = Dialler::new(settings.receivers.clone());
        let warnings = RateLimiter::new(WARNINGS, 60_000);
        Self { settings, dialler, deadline: DEADLINE, begun: Arc::default(), warnings }
    }

    /// Returns whether a request that exchanges the code of this claim is in progress.
    pub(crate) fn is_in_progress(&self, claim: &[u8]) -> bool {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).contains_key(claim)
    }

    /// Begins an exchange, unless another request exchanges the same code.
    ///
    /// # Errors
    /// If too many exchanges are in progress.
    pub(crate) fn begin(&self, claim: &Key, account: Account) -> Result<Turn, ApiError> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, ended)) = begun.get(claim) {
            return Ok(Turn::Other(ended.clone()));
        }
        if !shares::has_room(&begun.values().map(|(one, _)| (one, Trust::Prompt)), &account, Trust::Prompt) {
            let message = "too many OAuth 2.0 providers are being contacted; try again later";
            return Err(ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED"));
        }
        let (sender, ended) = watch::channel(());
        begun.insert(claim.clone(), (account, ended));
        Ok(Turn::Own(InProgress { claim: claim.clone(), begun: Arc::clone(&self.begun), _sender: sender }))
    }

    /// Exchanges a code, and requests the id of its user. Logs a failure.
    ///
    /// # Errors
    /// Returns the reason why the user is unknown.
    pub(crate) async fn make(&self, exchange: &Exchange) -> Result<Oauth2User, &'static str> {
        let made = self.attempt(exchange).await;
        made.map_err(|failure| {
            if self.warnings.take((), clock::now()) {
                failure.log(exchange.provider);
            }
            failure.reason
        })
    }

    async fn attempt(&self, exchange: &Exchange) -> Result<Oauth2User, Failure> {
        let endpoints = match exchange.provider {
            Oauth2Provider::X => &self.settings.x,
            Oauth2Provider::Discord => &self.settings.discord,
        };
        let deadline = Instant::now() + self.deadline;
        let mut request = Request::new(Full::new(form(exchange)));
        *request.method_mut() = Method::POST;
        let media_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, media_type);
        let authorization = basic(exchange).ok_or(Failure::unsent(Endpoint::Token))?;
        request.headers_mut().insert(AUTHORIZATION, authorization);
        let secrets: [&str; 3] = [&exchange.code, &exchange.code_verifier, &exchange.client_secret];
        let url = &endpoints.token;
        let answer = self.send(Endpoint::Token, url, request, deadline, &secrets).await?;
        let bearer_token = bearer_token(&answer).ok_or_else(|| Failure::incomplete(Endpoint::Token))?;

        let mut request = Request::new(Full::default());
        let authorization = Zeroizing::new(format!("Bearer {}", bearer_token.as_str()));
        let authorization = secret_value(&authorization).ok_or(Failure::unsent(Endpoint::User))?;
        request.headers_mut().insert(AUTHORIZATION, authorization);
        let secrets = [secrets.as_slice(), &[bearer_token.as_str()]].concat();
        let answer = self.send(Endpoint::User, &endpoints.user, request, deadline, &secrets).await?;
        let subject =
            subject(exchange.provider, &answer).ok_or_else(|| Failure::incomplete(Endpoint::User))?;
        Ok(Oauth2User { subject, bearer_token })
    }

    /// Sends a request, and returns its answer of status 200. `secrets` are what no failure reveals.
    async fn send(
        &self,
        endpoint: Endpoint,
        url: &str,
        mut request: Request<Full<Bytes>>,
        deadline: Instant,
        secrets: &[&str],
    ) -> Result<Bytes, Failure> {
        let url = OutgoingUrl::check(url, &self.settings.receivers);
        let url = url.map_err(|_| Failure::not_allowed(endpoint))?;
        *request.uri_mut() = url.target.clone().into();
        let answer = self.dialler.answer(&url, request, ANSWER_BYTES, deadline).await;
        match answer.map_err(|outcome| Failure::silent(endpoint, outcome))? {
            (StatusCode::OK, body) => Ok(body),
            (status, body) => Err(Failure::refused(endpoint, status, &body, secrets)),
        }
    }
}

/// Returns the body of the request that exchanges a code (RFC 6749, section 4.1.3; RFC 7636, section 4.5).
fn form(exchange: &Exchange) -> Bytes {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", &exchange.code)
        .append_pair("redirect_uri", &exchange.redirect_uri)
        .append_pair("code_verifier", &exchange.code_verifier);
    Bytes::from(form.finish())
}

/// Returns the value of the header that authenticates the application (RFC 6749, section 2.3.1).
fn basic(exchange: &Exchange) -> Option<HeaderValue> {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let secret = Zeroizing::new(encoded(&exchange.client_secret));
    let pair = Zeroizing::new(format!("{}:{}", encoded(&exchange.client_id), secret.as_str()));
    let pair = Zeroizing::new(Base64::encode_string(pair.as_bytes()));
    secret_value(&Zeroizing::new(format!("Basic {}", pair.as_str())))
}

/// Returns a header value that is never shown.
fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests;
