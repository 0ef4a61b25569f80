//! The authentication proxy: sign-up and sign-in for clients that have no credential yet.
//!
//! It turns each request into ordinary requests, stamps them with the API key of its user, and runs them as any
//! other. Policies, limits and records of activities therefore apply. It decides nothing itself, except what an
//! operator configured: origins, methods and rates.

mod account;
mod codes;
mod credentials;
mod disallowed;
mod oauth2;
mod problems;
mod request;
mod sessions;
pub mod settings;
mod sign_up;
pub mod sms;
mod turns;
mod waiting_codes;

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_common::json;
use quorate_core::auth_proxy;
use quorate_core::authn::{Credentials, Header};
use quorate_core::budget::Cancellation;
use quorate_core::error::{Corrupt, Missing, RequestError, Unimplemented};
use quorate_core::model::Organization;
use quorate_core::world::World;
use quorate_core::{kinds, queries};
use serde_json::{Map, Value, json};

use crate::clock;
use crate::executor::Executor;
use crate::listener::{Answer, Incoming, Sharing};
use crate::rate::RateLimiter;
use crate::source::network;
use crate::telemetry;
use credentials::SigningUp;
pub use problems::problems;
use request::Parameters;
pub use settings::Settings;
use sms::SmsCounts;
use waiting_codes::WaitingCodes;

/// Period of the rate limits, in milliseconds.
const MINUTE: u64 = 60_000;
/// Period of the limit of sign-ups, in milliseconds.
const HOUR: u64 = 3_600_000;
/// Metrics label of all routes.
const OPERATION: &str = "auth_proxy";

/// The authentication proxy of one organization.
pub struct AuthProxy {
    executor: Arc<Executor>,
    settings: Settings,
    addresses: RateLimiter<IpAddr>,
    /// By a keyed digest of the contact.
    contacts: RateLimiter<u64>,
    sms: SmsCounts,
    waiting_codes: WaitingCodes,
    sign_ups: RateLimiter<IpAddr>,
    digests: RandomState,
    credentials: SigningUp,
    /// Requests that exchange a code.
    turns: turns::Turns,
    /// Timestamp of the newest body. Each body has its own, so that no two requests are the same.
    newest: AtomicU64,
}

/// Returns the error for a body that exceeds the limit of the proxy.
pub fn too_large() -> Answer {
    let error = ApiError::new(Code::ResourceExhausted, "Request body is too large");
    Answer::error_as(StatusCode::PAYLOAD_TOO_LARGE, &error).of(OPERATION)
}

fn limited(what: &str) -> ApiError {
    let message = format!("Too many requests {what}. Please wait and try again in a minute");
    ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED")
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidArgument, message)
}

/// A request to a route: its parameters, and the credentials without a stamp.
struct Call<'a> {
    proxy: &'a AuthProxy,
    parameters: Parameters,
    source: Option<IpAddr>,
    /// Network that the request is charged to.
    client: IpAddr,
}

impl AuthProxy {
    /// Creates the proxy.
    pub fn new(executor: Arc<Executor>, settings: Settings) -> Self {
        for method in settings.without_client() {
            tracing::warn!(
                provider = method.name(),
                "the authentication proxy accepts ID tokens for every application of a provider; set its client id"
            );
        }
        for problem in problems(&**executor.world(), &settings).unwrap_or_default() {
            tracing::warn!(organization = %settings.organization, "{problem}");
        }
        let addresses = RateLimiter::new(settings.requests_per_address, MINUTE);
        let contacts = RateLimiter::new(settings.requests_per_contact, MINUTE);
        let sms = SmsCounts::new(settings.sms);
        let waiting_codes = WaitingCodes::new(settings.waiting_codes_per_address);
        let sign_ups = RateLimiter::new(settings.sign_ups_per_address, HOUR);
        let (digests, credentials) = (RandomState::new(), SigningUp::default());
        let (turns, newest) = (turns::Turns::default(), AtomicU64::new(0));
        Self {
            executor,
            settings,
            addresses,
            contacts,
            sms,
            waiting_codes,
            sign_ups,
            digests,
            credentials,
            turns,
            newest,
        }
    }

    /// Returns the route of a path, if it is below the base path.
    pub fn route<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(&self.settings.base_path)?.strip_prefix('/')
    }

    /// Returns which pages may read answers: those of the configured origins.
    pub fn sharing(&self, origin: Option<&HeaderValue>) -> Sharing {
        let known = origin.and_then(|origin| self.settings.origins.iter().find(|known| known.0 == origin));
        known.map_or(Sharing::Nobody, |known| Sharing::Origin(known.0.clone()))
    }

    /// Answers one request.
    pub async fn call(&self, route: &str, incoming: &Incoming) -> Answer {
        if incoming.method != http::Method::POST {
            return Answer::wrong_method();
        }
        match self.answer(route, incoming).await {
            Ok(Some(value)) => Answer::ok(value.to_string()).cached("no-store").of(OPERATION),
            Ok(None) => Answer::not_found(),
            Err(error) => {
                telemetry::log_cause(&error);
                Answer::error(&error).of(OPERATION)
            }
        }
    }

    async fn answer(&self, route: &str, incoming: &Incoming) -> Result<Option<Value>, ApiError> {
        let source = incoming.credentials.source;
        let client = network(source.unwrap_or(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED)));
        if !self.addresses.take(client, clock::now()) {
            return Err(limited("from this address"));
        }
        let id = incoming.proxy_config.as_deref().and_then(|id| id.parse::<OrganizationId>().ok());
        if id != Some(self.settings.organization) {
            return Err(invalid("X-Auth-Proxy-Config-ID must be the id of the organization of this proxy"));
        }
        let body = if incoming.body.is_empty() { b"{}" } else { incoming.body.as_ref() };
        let parameters = Parameters::new(json::parse(body).map_err(|error| invalid(error.to_string()))?)?;
        let call = Call { proxy: self, parameters, source, client };
        Ok(Some(match route {
            "v1/account" => account::account(&call).await?,
            "v1/otp_init" => codes::init(&call, false).await?,
            "v1/otp_init_v2" => codes::init(&call, true).await?,
            "v1/otp_verify" => codes::verify(&call, false).await?,
            "v1/otp_verify_v2" => codes::verify(&call, true).await?,
            "v1/otp_login" => sessions::otp(&call, false).await?,
            "v1/otp_login_v2" => sessions::otp(&call, true).await?,
            "v1/oauth_login" => sessions::oauth(&call).await?,
            "v1/oauth2_authenticate" => oauth2::authenticate(&call).await?,
            "v1/signup" => sign_up::sign_up(&call, false).await?,
            "v1/signup_v2" => sign_up::sign_up(&call, true).await?,
            "v1/wallet_kit_config" => call.wallet_kit()?,
            "v1/wallet_kit_client_params" => json!({}),
            _ => return Ok(None),
        }))
    }

    /// Counts a request about a contact.
    fn count_contact(&self, contact: &str) -> Result<(), ApiError> {
        let digest = self.digests.hash_one(contact.to_lowercase());
        if self.contacts.take(digest, clock::now()) { Ok(()) } else { Err(limited("for this contact")) }
    }

    /// Returns the time of a new body.
    fn timestamp(&self) -> u64 {
        let now = clock::now();
        let next = |newest: u64| Some(now.max(newest.saturating_add(1)));
        let newest = self.newest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or(now);
        now.max(newest.saturating_add(1))
    }

    /// Reads something of the organization.
    fn read<T>(&self, read: impl Fn(&dyn World, &Organization) -> Result<T, Corrupt>) -> Result<T, ApiError> {
        self.executor.read(&Cancellation::default(), |world| {
            let organization =
                world.organization(self.settings.organization)?.ok_or(Missing::Organization)?;
            Ok(read(world, &organization)?)
        })
    }
}

impl Call<'_> {
    /// Stamps a body in the name of the user of the proxy.
    fn stamped(&self, body: &[u8]) -> Result<Credentials, ApiError> {
        let stamper = self.proxy.read(auth_proxy::stamper)?.ok_or_else(disabled)?;
        let stamp = stamper.stamp(body).map_err(|_| internal("a body cannot be stamped"))?;
        Ok(Credentials { stamp: Header::Once(stamp.header()), source: self.source, ..Credentials::default() })
    }

    /// Returns a result, or why it is an error: the proxy may have been disabled since the request was stamped.
    fn explained<T>(&self, result: Result<T, ApiError>) -> Result<T, ApiError> {
        result.map_err(|error| match self.proxy.read(auth_proxy::stamper) {
            Ok(None) => disabled(),
            Ok(Some(_)) | Err(_) => error,
        })
    }

    /// Submits an activity, and returns its result.
    async fn submit(&self, to: OrganizationId, name: &str, parameters: Value) -> Result<Value, ApiError> {
        self.submit_then(to, name, parameters, |_| ()).await
    }

    /// Submits an activity, and returns its result. `then` gets the activity once it is durable, or nothing if it was
    /// rejected, even if the client disconnects before.
    async fn submit_then(
        &self,
        to: OrganizationId,
        name: &str,
        parameters: Value,
        then: impl FnOnce(Option<ActivityId>) + Send + 'static,
    ) -> Result<Value, ApiError> {
        let activity_type = format!("ACTIVITY_TYPE_{name}");
        let operation = operation_of(name);
        let operation =
            kinds::operation(&operation).filter(|operation| operation.version(&activity_type).is_some());
        let operation = operation.ok_or_else(|| unoffered(activity_type.clone()))?;
        let body = json!({"type": activity_type, "timestampMs": self.proxy.timestamp().to_string(),
            "organizationId": to, "parameters": parameters});
        let body = Bytes::from(body.to_string());
        let credentials = self.stamped(&body)?;
        let executor = Arc::clone(&self.proxy.executor);
        let submission = tokio::spawn(async move {
            let answer = executor.submit(operation, &credentials, &body).await;
            let answer = answer.and_then(|answer| parsed(&answer));
            let id = answer
                .as_ref()
                .ok()
                .and_then(|answer| answer.pointer("/activity/id")?.as_str()?.parse().ok());
            then(id);
            answer
        });
        let answer = submission.await.unwrap_or_else(|_| Err(internal("a submission panicked")));
        let mut answer = self.explained(answer)?;
        let status = answer.pointer("/activity/status").and_then(Value::as_str);
        if status != Some("ACTIVITY_STATUS_COMPLETED") {
            let message =
                "this activity waits for approvals; a policy must allow it to the user of the proxy";
            return Err(ApiError::new(Code::PermissionDenied, message));
        }
        let result = answer
            .pointer_mut("/activity/result")
            .and_then(Value::as_object_mut)
            .and_then(|result| result.values_mut().next());
        Ok(result.map(Value::take).unwrap_or_default())
    }

    /// Queries the organization.
    async fn query(&self, name: &str, mut body: Map<String, Value>) -> Result<Value, ApiError> {
        let entry = queries::find(name).ok_or_else(|| unoffered(name.to_owned()))?;
        body.insert("organizationId".to_owned(), json!(self.proxy.settings.organization));
        let body = Bytes::from(Value::from(body).to_string());
        let credentials = self.stamped(&body)?;
        let answer = self.proxy.executor.query(entry, &credentials, &body).await;
        parsed(&self.explained(answer)?)
    }

    /// Returns the configuration that clients read.
    fn wallet_kit(&self) -> Result<Value, ApiError> {
        let settings = &self.proxy.settings;
        // A client learns at once that the proxy is disabled.
        self.stamped(b"")?;
        let methods: Vec<&str> = settings.methods.iter().map(|method| method.name()).collect();
        let mut config = json!({
            "enabledProviders": methods,
            "organizationId": settings.organization,
            "sessionExpirationSeconds": settings.session_seconds.to_string(),
            "otpAlphanumeric": settings.code_letters,
            "otpLength": settings.code_length.to_string(),
        });
        let ids: Map<String, Value> =
            settings.client_ids.iter().map(|(method, id)| (method.name().to_owned(), json!(id))).collect();
        if let Some(members) = config.as_object_mut() {
            if !ids.is_empty() {
                members.insert("oauthClientIds".to_owned(), ids.into());
            }
            let url = settings.redirect_url.as_ref();
            members.extend(url.map(|url| ("oauthRedirectUrl".to_owned(), json!(url.0))));
        }
        Ok(config)
    }
}

/// Returns the operation of a type, given without its prefix: its name in lower case, without its version.
fn operation_of(name: &str) -> String {
    let base = name.rsplit_once("_V").filter(|(_, version)| version.parse::<u8>().is_ok());
    base.map_or(name, |(base, _)| base).to_ascii_lowercase()
}

fn unoffered(name: String) -> ApiError {
    RequestError::from(Unimplemented::Type(name)).api_error()
}

fn parsed(answer: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(answer).map_err(|_| internal("an answer is not JSON"))
}

fn internal(cause: &'static str) -> ApiError {
    RequestError::from(Corrupt::Invariant(cause)).api_error()
}

fn disabled() -> ApiError {
    let message = "the authentication proxy is not enabled in this organization";
    ApiError::new(Code::FailedPrecondition, message)
}
