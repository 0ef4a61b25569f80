//! Serves one request: checks what hyper does not check, calls the service, and adds the headers that clients
//! rely on.
//!
//! All header values written here are constants, web origins of the configuration, or those of a page, which are computed
//! at the start.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, ORIGIN, REFERRER_POLICY, TRANSFER_ENCODING, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Method, Request, Response, StatusCode, Version};
use hyper::body::{Body, Incoming as RequestBody};
use quorate_common::api_error::{ApiError, Code};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::body::{AnswerBody, Bodies, ReceivedBody};
use super::connection_state::{ConnectionState, RequestGuard};
use super::errors::{
    ALL_ANSWERS, ALL_BUSY, CLIENT_ANSWERS, CLIENT_BUSY, CLIENT_WAITS, LimitReached, body_error, head_error,
    limit_error, malformed, too_many,
};
use super::head_filter::REJECTED_METHOD;
use super::limits::SMALL_BODY_BYTES;
use super::request::{credentials, proxy_config, target};
use super::shares::{Share, Shares};
use crate::fail_points;
use crate::listener::{Answer, Content, Incoming, Listener, Service, Sharing};
use crate::rate::RateLimiter;
use crate::source::{Client, Proxies, network};
use crate::telemetry::{Metrics, Readiness, RequestId, SharedReadiness, request_span};

/// The Rust client compares the whole header value, so it must not have parameters.
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
const CLOSE: HeaderValue = HeaderValue::from_static("close");
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const VARY_ORIGIN: HeaderValue = HeaderValue::from_static("Origin");
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "Content-Type, X-Client-Version, X-Stamp, X-Stamp-Webauthn, X-Stamp-Attested, X-Session, \
     X-Auth-Proxy-Config-ID, X-Captcha-Token",
);
/// Headers of the pages: they load nothing from elsewhere, run one script, and cannot be embedded.
const PAGE_HEADERS: [(HeaderName, HeaderValue); 5] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
             form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
        ),
    ),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];
/// One day, in seconds.
const PREFLIGHT_AGE: HeaderValue = HeaderValue::from_static("86400");

/// State that all connections of all listeners share.
pub(super) struct Shared<S> {
    pub(super) service: Arc<S>,
    pub(super) metrics: Metrics,
    pub(super) readiness: SharedReadiness,
    /// Proxies that are trusted to report the client address.
    pub(super) proxies: Proxies,
    /// Memory for request bodies.
    pub(super) bodies: Bodies,
    /// Slots for requests that are answered concurrently.
    pub(super) requests: Arc<Shares>,
    /// Memory for answers that their clients have not read yet.
    pub(super) answers: Arc<Shares>,
}

/// State that the requests of one connection share.
pub(super) struct Context<S> {
    pub(super) shared: Arc<Shared<S>>,
    pub(super) rate: Option<Arc<RateLimiter<IpAddr>>>,
    /// Start of the clock that rate limits use.
    pub(super) epoch: Instant,
    pub(super) state: Arc<ConnectionState>,
    pub(super) listener: Listener,
    pub(super) body_deadline: Duration,
    pub(super) wait: Duration,
    pub(super) stop: CancellationToken,
}

/// Serves one request.
pub(super) async fn exchange<S: Service>(
    context: Arc<Context<S>>,
    request: Request<RequestBody>,
) -> Result<Response<AnswerBody>, Infallible> {
    let started = Instant::now();
    let mut guard = context.state.request();
    let one_at_a_time = request.version() <= Version::HTTP_11;
    let is_chunked = request.headers().contains_key(TRANSFER_ENCODING);
    let sharing = context.shared.service.sharing(request.uri().path(), request.headers().get(ORIGIN));
    let (answer, is_last) = match serve(&context, request, &sharing, &mut guard, started).await {
        // The head filter does not parse chunks, so no further request may follow them.
        Ok(answer) => (answer, is_chunked),
        Err(answer) => (answer, true),
    };
    context.shared.metrics.answered(answer.operation, answer.status, started.elapsed());
    if answer.status == StatusCode::UNAUTHORIZED {
        context.shared.metrics.stamp_refused();
    }
    if let Some(limit) = answer.limit {
        context.shared.metrics.limit_reached(limit);
    }
    let mut response = respond(answer, sharing, &context, guard);
    if is_last && one_at_a_time {
        response.headers_mut().insert(CONNECTION, CLOSE);
    }
    Ok(response)
}

fn respond<S>(
    answer: Answer,
    sharing: Sharing,
    context: &Context<S>,
    guard: RequestGuard,
) -> Response<AnswerBody> {
    fail_points::reach("answer.send");
    let mut page_tag = None;
    let (kind, body) = match answer.content {
        Content::Json(bytes) => (Some(JSON), AnswerBody::whole(bytes, guard)),
        Content::Metrics(bytes) => (Some(METRICS), AnswerBody::whole(bytes, guard)),
        Content::Page(file) => {
            page_tag = Some(file.tag);
            (Some(file.kind), AnswerBody::whole(file.bytes, guard))
        }
        Content::Empty => (None, AnswerBody::whole(Bytes::new(), guard)),
        Content::Backup(parts) => {
            (Some(BYTES), AnswerBody::events(parts, context.stop.clone().cancelled_owned(), guard))
        }
        Content::Events(events) => {
            (Some(EVENTS), AnswerBody::events(events, context.stop.clone().cancelled_owned(), guard))
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    if let Some(kind) = kind {
        headers.insert(CONTENT_TYPE, kind);
    }
    if let Some(cache) = answer.cache {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    }
    if let Some(tag) = page_tag {
        headers.insert(ETAG, tag);
        headers.extend(PAGE_HEADERS);
    } else if let Listener::Http { .. } = context.listener {
        let shared = match sharing {
            Sharing::Everyone => Some(ANY_ORIGIN),
            Sharing::Origin(origin) => Some(origin),
            Sharing::Nobody => None,
        };
        if shared.as_ref() != Some(&ANY_ORIGIN) {
            headers.insert(VARY, VARY_ORIGIN);
        }
        let is_shared = shared.is_some();
        headers.extend(shared.map(|origin| (ACCESS_CONTROL_ALLOW_ORIGIN, origin)));
        if is_shared && answer.status == StatusCode::NO_CONTENT {
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
            headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_AGE);
        }
    }
    response
}

/// Returns the answer, as `Err` if the connection must be closed after it.
async fn serve<S: Service>(
    context: &Context<S>,
    request: Request<RequestBody>,
    sharing: &Sharing,
    guard: &mut RequestGuard,
    started: Instant,
) -> Result<Answer, Answer> {
    let (parts, body) = request.into_parts();
    if parts.method.as_str() == REJECTED_METHOD {
        return Err(head_error(parts.uri.path()));
    }
    let target = target(parts.uri, parts.version, &parts.headers).ok_or_else(malformed)?;
    // After an unread body, the connection must be closed, because the rest would be read as the next
    // request.
    let early = |answer| {
        if body.is_end_stream() { Ok(answer) } else { Err(answer) }
    };
    if let Some(answer) = listener_route(context, &parts.method, target.path()) {
        return early(answer);
    }
    if let (Listener::Http { address }, Some(rate)) = (context.listener, &context.rate)
        && !rate.take(network(address), millis(started.duration_since(context.epoch)))
    {
        return early(too_many());
    }
    if matches!(sharing, Sharing::Nobody) && parts.headers.contains_key(ORIGIN) {
        return early(Answer::error(&ApiError::new(
            Code::PermissionDenied,
            "this web origin is not allowed",
        )));
    }
    if parts.headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        let error = ApiError::new(Code::InvalidArgument, "Request bodies must not be encoded");
        return early(Answer::error_as(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error));
    }
    let shared = &context.shared;
    let credentials = credentials(context.listener, &shared.proxies, &parts.headers).ok_or_else(malformed)?;
    let client = Client::of(context.listener, credentials.source);
    fail_points::reach("request.received");
    let request_id = RequestId::next();
    let mut incoming = Incoming {
        method: parts.method,
        target,
        credentials,
        entity_tags: parts.headers.get(IF_NONE_MATCH).cloned(),
        body: Bytes::new(),
        proxy_config: proxy_config(&parts.headers),
        listener: context.listener,
        request_id,
    };
    // Callers that prove no identity get no memory for a large body.
    let is_small = body.size_hint().upper().is_some_and(|length| length <= SMALL_BODY_BYTES as u64);
    if !is_small && let Some(answer) = shared.service.reject(&incoming) {
        return Err(answer);
    }
    let received = if body.is_end_stream() {
        ReceivedBody { bytes: Bytes::new(), share: None }
    } else {
        shared.bodies.read(body, client, context.body_deadline).await.map_err(body_error)?
    };
    guard.received();
    incoming.body = received.bytes;
    let answer = call(context, incoming, client).await;
    // The body counts until the service has finished with it.
    drop(received.share);
    Ok(answer)
}

/// Calls the service, once a slot for one more request of the client is free.
async fn call<S: Service>(context: &Context<S>, incoming: Incoming, client: Client) -> Answer {
    let shared = &context.shared;
    let counts = shared.service.counts(&incoming);
    let slot = if counts {
        match slot(shared, client, context.wait).await {
            Ok(slot) => Some(slot),
            Err(limit) => return limit_error(limit),
        }
    } else {
        None
    };
    let (is_large, span) = (incoming.body.len() > SMALL_BODY_BYTES, request_span(incoming.request_id));
    // Pinned once: the future is large and would be copied at each move.
    let mut call = pin!(shared.service.call(incoming).instrument(span));
    // A step of a large request may take long, so the other tasks of this thread are moved to another one.
    let steps = poll_fn(|cx| {
        let mut step = || call.as_mut().poll(cx);
        if is_large { tokio::task::block_in_place(step) } else { step() }
    });
    let answer = match &slot {
        Some(slot) => slot.compute(steps).await,
        None => steps.await,
    };
    drop(slot);
    if counts { charge_memory(shared, client, answer) } else { answer }
}

/// Charges the memory of an answer to its client until the answer is written. Returns an error if the limit is
/// reached, so that clients that do not read their answers cannot use up the memory.
fn charge_memory<S>(shared: &Shared<S>, client: Client, answer: Answer) -> Answer {
    let Content::Json(bytes) = &answer.content else { return answer };
    if bytes.len() <= SMALL_BODY_BYTES {
        return answer;
    }
    let Some(client_share) = shared.answers.try_acquire(client, bytes.len()) else {
        return limit_error(CLIENT_ANSWERS).of(answer.operation);
    };
    let Some(share) = client_share.try_acquire_global() else {
        return limit_error(ALL_ANSWERS).of(answer.operation);
    };
    let bytes = Bytes::from_owner(ChargedAnswer { bytes: bytes.clone(), _share: share });
    Answer { content: Content::Json(bytes), ..answer }
}

/// An answer and its share of the memory.
struct ChargedAnswer {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for ChargedAnswer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Acquires a slot for a request that is answered concurrently with others.
async fn slot<S>(shared: &Shared<S>, client: Client, wait: Duration) -> Result<Share, LimitReached> {
    // The first poll does not arm the timer, so a free slot costs no timer.
    let client_share = timeout(wait, shared.requests.acquire(client, 1)).await.map_err(|_| CLIENT_BUSY)?;
    let client_share = client_share.ok_or(CLIENT_WAITS)?;
    timeout(wait, client_share.acquire_global(|_| None)).await.ok().flatten().ok_or(ALL_BUSY)
}

/// Returns the answer of a route that does not involve the service.
fn listener_route<S>(context: &Context<S>, method: &Method, path: &str) -> Option<Answer> {
    let shared = &context.shared;
    let answer: fn(&Shared<S>) -> Answer = match path {
        _ if method == Method::OPTIONS && matches!(context.listener, Listener::Http { .. }) => {
            let answer = Answer::json(StatusCode::NO_CONTENT, Bytes::new()).of("preflight");
            return Some(Answer { content: Content::Empty, ..answer });
        }
        "/healthz" => |_| Answer::ok(Bytes::from_static(br#"{"status":"ok"}"#)).of("healthz"),
        "/readyz" => |shared| ready(shared.readiness.get()).of("readyz"),
        "/metrics" => |shared| {
            let text = shared.metrics.text().into();
            Answer { content: Content::Metrics(text), ..Answer::ok(Bytes::new()) }.of("metrics")
        },
        _ => return None,
    };
    let reads = method == Method::GET || method == Method::HEAD;
    Some(if reads { answer(shared) } else { Answer::wrong_method() })
}

fn ready(readiness: Readiness) -> Answer {
    if readiness == Readiness::Sealed {
        return Answer::json(StatusCode::SERVICE_UNAVAILABLE, Bytes::from_static(br#"{"status":"sealed"}"#));
    }
    match readiness.problem() {
        None => Answer::ok(Bytes::from_static(br#"{"status":"ready"}"#)),
        Some(problem) => Answer::error(&ApiError::new(Code::Unavailable, format!("Not ready: {problem}"))),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
