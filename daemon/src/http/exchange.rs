//! One request and its answer: what the HTTP library leaves open is checked, then the service is asked,
//! then its answer gets the headers that clients rely on.
//!
//! All header values written here are constants. Paths are compared as sent.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName,
    TRANSFER_ENCODING,
};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, Version};
use hyper::body::{Body, Incoming as RequestBody};
use quorate_common::fault::{Code, Fault};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::body::{AnswerBody, Bodies, Unread, Whole};
use super::gate::{REFUSED_AHEAD, REFUSED_LARGE, REFUSED_METHOD};
use super::limits::SMALL_BODY_BYTES;
use super::live::{Busy, Live};
use super::rate::Rate;
use super::shares::{Share, Shares};
use crate::door::{Answer, Content, Door, Incoming, Line, LineText, Service, Stamps};
use crate::fail_points;
use crate::source::{Client, Proxies};
use crate::telemetry::{Metrics, Readiness, RequestId, SharedReadiness, request_span};

const STAMP: HeaderName = HeaderName::from_static("x-stamp");
const STAMP_WEBAUTHN: HeaderName = HeaderName::from_static("x-stamp-webauthn");
const STAMP_ATTESTED: HeaderName = HeaderName::from_static("x-stamp-attested");
const SESSION: HeaderName = HeaderName::from_static("x-session");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The Rust client compares this string as a whole, so it never has parameters.
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const CLOSE: HeaderValue = HeaderValue::from_static("close");
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "Content-Type, X-Client-Version, X-Stamp, X-Stamp-Webauthn, X-Stamp-Attested, X-Session, \
     X-Auth-Proxy-Config-ID",
);
/// One day, in seconds.
const PREFLIGHT_AGE: HeaderValue = HeaderValue::from_static("86400");

/// What all connections of all doors share.
pub(super) struct Shared<S> {
    pub(super) service: Arc<S>,
    pub(super) metrics: Metrics,
    pub(super) readiness: SharedReadiness,
    /// Whose word counts about where a request came from.
    pub(super) proxies: Proxies,
    /// Memory of request bodies.
    pub(super) bodies: Bodies,
    /// Requests that are answered at once.
    pub(super) requests: Arc<Shares>,
    /// Memory of answers that are not taken yet.
    pub(super) answers: Arc<Shares>,
}

/// What the requests of one connection share.
pub(super) struct Context<S> {
    pub(super) shared: Arc<Shared<S>>,
    pub(super) rate: Option<Arc<Rate>>,
    /// Start of the clock that the rates are reckoned by.
    pub(super) epoch: Instant,
    pub(super) live: Arc<Live>,
    pub(super) door: Door,
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
    let mut busy = context.live.request();
    let one_at_a_time = request.version() <= Version::HTTP_11;
    let is_chunked = request.headers().contains_key(TRANSFER_ENCODING);
    let (answer, is_last) = match serve(&context, request, &mut busy, started).await {
        // The gate does not follow chunks, so nothing may come after them.
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
    let mut response = respond(answer, &context, busy);
    if is_last && one_at_a_time {
        response.headers_mut().insert(CONNECTION, CLOSE);
    }
    Ok(response)
}

fn respond<S>(answer: Answer, context: &Context<S>, busy: Busy) -> Response<AnswerBody> {
    fail_points::reach("answer.send");
    let (kind, body) = match answer.content {
        Content::Json(bytes) => (Some(JSON), AnswerBody::whole(bytes, busy)),
        Content::Metrics(bytes) => (Some(METRICS), AnswerBody::whole(bytes, busy)),
        Content::Empty => (None, AnswerBody::whole(Bytes::new(), busy)),
        Content::Events(events) => {
            (Some(EVENTS), AnswerBody::events(events, context.stop.clone().cancelled_owned(), busy))
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
    if let Door::Http { .. } = context.door {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN);
        if answer.status == StatusCode::NO_CONTENT {
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
            headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_AGE);
        }
    }
    response
}

/// The answer; as an error when the connection cannot go on after it.
async fn serve<S: Service>(
    context: &Context<S>,
    request: Request<RequestBody>,
    busy: &mut Busy,
    started: Instant,
) -> Result<Answer, Answer> {
    let (parts, body) = request.into_parts();
    if parts.method.as_str() == REFUSED_METHOD {
        return Err(refusal(parts.uri.path()));
    }
    let target = target(parts.uri, parts.version, &parts.headers).ok_or_else(malformed)?;
    // A body that stays unread would be taken for the next request, or the other way round.
    let unasked = |answer| {
        if body.is_end_stream() { Ok(answer) } else { Err(answer) }
    };
    if let Some(answer) = own_route(context, &parts.method, target.path()) {
        return unasked(answer);
    }
    if let (Door::Http { address }, Some(rate)) = (context.door, &context.rate)
        && !rate.take(address, millis(started.duration_since(context.epoch)))
    {
        return unasked(too_many());
    }
    if parts.headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        let fault = Fault::new(Code::InvalidArgument, "Request bodies must not be encoded");
        return unasked(Answer::fault_as(StatusCode::UNSUPPORTED_MEDIA_TYPE, &fault));
    }
    let stamps = stamps(&parts.headers).ok_or_else(malformed)?;
    let forwarded = forwarded(&parts.headers).ok_or_else(malformed)?;
    let shared = &context.shared;
    let client = shared.proxies.client(context.door, &forwarded);
    fail_points::reach("request.received");
    let request_id = RequestId::next();
    let mut incoming = Incoming {
        method: parts.method,
        target,
        stamps,
        forwarded,
        body: Bytes::new(),
        door: context.door,
        request_id,
    };
    // Whoever proves nothing does not get the memory for a large body.
    let is_small = body.size_hint().upper().is_some_and(|length| length <= SMALL_BODY_BYTES as u64);
    if !is_small && let Some(answer) = shared.service.refuse(&incoming) {
        return Err(answer);
    }
    let whole = if body.is_end_stream() {
        Whole { bytes: Bytes::new(), share: None }
    } else {
        shared.bodies.read(body, client, context.body_deadline).await.map_err(unread)?
    };
    busy.received();
    incoming.body = whole.bytes;
    let answer = call(context, incoming, client).await;
    // A body counts until the service is done with it.
    drop(whole.share);
    Ok(answer)
}

/// Asks the service, once the client has a place for one more request.
async fn call<S: Service>(context: &Context<S>, incoming: Incoming, client: Client) -> Answer {
    let shared = &context.shared;
    let counts = shared.service.counts(&incoming);
    let place = if counts {
        match place(shared, client, context.wait).await {
            Ok(place) => Some(place),
            Err(limit) => return full(limit),
        }
    } else {
        None
    };
    let (is_large, span) = (incoming.body.len() > SMALL_BODY_BYTES, request_span(incoming.request_id));
    // Pinned once: it is large, and would be copied wherever it is handed on.
    let mut call = pin!(shared.service.call(incoming).instrument(span));
    // Steps of large requests may take long: the other tasks of this thread go on elsewhere.
    let steps = poll_fn(|cx| {
        let mut step = || call.as_mut().poll(cx);
        if is_large { tokio::task::block_in_place(step) } else { step() }
    });
    let answer = match &place {
        Some(place) => place.compute(steps).await,
        None => steps.await,
    };
    drop(place);
    if counts { kept(shared, client, answer) } else { answer }
}

/// An answer that takes its share of the memory until it is written, or the refusal where there is none left: what its
/// client does not read must not fill the memory.
fn kept<S>(shared: &Shared<S>, client: Client, answer: Answer) -> Answer {
    let Content::Json(bytes) = &answer.content else { return answer };
    if bytes.len() <= SMALL_BODY_BYTES {
        return answer;
    }
    let Some(own) = shared.answers.own_now(client, bytes.len()) else {
        return full(CLIENT_ANSWERS).of(answer.operation);
    };
    let Some(share) = own.of_all_now() else {
        return full(ALL_ANSWERS).of(answer.operation);
    };
    let bytes = Bytes::from_owner(Unsent { bytes: bytes.clone(), _share: share });
    Answer { content: Content::Json(bytes), ..answer }
}

/// An answer, with its share of the memory.
struct Unsent {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A place among the requests that are answered at once.
async fn place<S>(shared: &Shared<S>, client: Client, wait: Duration) -> Result<Share, Reached> {
    // The first poll does not arm the timer, so a place that is free costs none.
    let own = timeout(wait, shared.requests.own(client, 1)).await.map_err(|_| CLIENT_BUSY)?;
    let own = own.ok_or(CLIENT_WAITS)?;
    timeout(wait, own.of_all(|_| None)).await.ok().flatten().ok_or(ALL_BUSY)
}

/// Path and query, if the target names nothing but a path of this host.
fn target(uri: Uri, version: Version, headers: &HeaderMap) -> Option<PathAndQuery> {
    // In HTTP/2 a target always has an authority; before, only in forms for proxies.
    let fits = match version {
        Version::HTTP_2 => names_one_host(&uri, headers),
        _ => uri.authority().is_none() && uri.scheme().is_none(),
    };
    let target = uri.into_parts().path_and_query?;
    (fits && target.as_str().starts_with('/')).then_some(target)
}

/// Whether `:authority` or `Host` is there, and both name the same if both are (RFC 9113 §8.3.1).
fn names_one_host(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    match (uri.authority(), hosts.next(), hosts.next()) {
        (_, _, Some(_)) | (None, None, None) => false,
        (Some(_), None, None) => true,
        (authority, Some(host), None) => {
            let port = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
            let parts = |one: &Authority| {
                let has_user_info = one.as_str().contains('@');
                (!has_user_info).then(|| (one.host().to_ascii_lowercase(), one.port_u16().unwrap_or(port)))
            };
            let host = Authority::try_from(host.as_bytes()).ok().as_ref().and_then(parts);
            host.is_some() && authority.is_none_or(|authority| parts(authority) == host)
        }
    }
}

fn stamps(headers: &HeaderMap) -> Option<Stamps> {
    Some(Stamps {
        stamp: line(headers, &STAMP)?,
        webauthn: line(headers, &STAMP_WEBAUTHN)?,
        attested: line(headers, &STAMP_ATTESTED)?,
        session: line(headers, &SESSION)?,
    })
}

/// None if a line holds bytes that no address can have.
fn forwarded(headers: &HeaderMap) -> Option<Vec<LineText>> {
    headers.get_all(FORWARDED_FOR).iter().cloned().map(LineText::new).collect()
}

/// None if the value holds bytes that no stamp can have.
fn line(headers: &HeaderMap, name: &HeaderName) -> Option<Line> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(Line::Absent),
        (Some(value), None) => Line::once(value.clone()),
        (Some(_), Some(_)) => Some(Line::Repeated),
    }
}

/// What the door answers without asking the service.
fn own_route<S>(context: &Context<S>, method: &Method, path: &str) -> Option<Answer> {
    let shared = &context.shared;
    let answer: fn(&Shared<S>) -> Answer = match path {
        _ if method == Method::OPTIONS && matches!(context.door, Door::Http { .. }) => {
            return Some(Answer {
                status: StatusCode::NO_CONTENT,
                content: Content::Empty,
                cache: None,
                operation: "preflight",
                limit: None,
            });
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
    match readiness.problem() {
        None => Answer::ok(Bytes::from_static(br#"{"status":"ready"}"#)),
        Some(problem) => Answer::fault(&Fault::new(Code::Unavailable, format!("Not ready: {problem}"))),
    }
}

fn refusal(target: &str) -> Answer {
    match target {
        REFUSED_LARGE => Answer::fault_as(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            &Fault::new(Code::ResourceExhausted, "Request head is too large"),
        ),
        REFUSED_AHEAD => Answer::fault(&Fault::new(Code::ResourceExhausted, "Too many requests sent ahead")),
        _ => malformed(),
    }
}

fn malformed() -> Answer {
    Answer::fault(&Fault::new(Code::InvalidArgument, "Malformed request"))
}

fn too_many() -> Answer {
    let message = "Too many requests. Please wait and try again in a few seconds";
    let fault = Fault::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED");
    Answer::fault(&fault.limit("requests_per_second"))
}

/// A limit of `[limits]` that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reached {
    key: &'static str,
    /// Whether the client reached it alone.
    by_client: bool,
}

const CLIENT_WAITS: Reached = Reached { key: "requests_waiting_per_client", by_client: true };
const CLIENT_BUSY: Reached = Reached { key: "requests_in_flight_per_client", by_client: true };
const ALL_BUSY: Reached = Reached { key: "requests_in_flight", by_client: false };
const CLIENT_BYTES: Reached = Reached { key: "body_bytes_per_client", by_client: true };
const ALL_BYTES: Reached = Reached { key: "body_bytes", by_client: false };
const CLIENT_ANSWERS: Reached = Reached { key: "answer_bytes_per_client", by_client: true };
const ALL_ANSWERS: Reached = Reached { key: "answer_bytes", by_client: false };

/// The answer that names a limit: 429 where the client can do something about it, 503 where others reached it, too.
fn full(limit: Reached) -> Answer {
    let Reached { key, by_client } = limit;
    let fault = if by_client {
        let message = format!("too many requests of this client at once (limits.{key})");
        Fault::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED")
    } else {
        Fault::new(Code::Unavailable, format!("too many requests at once (limits.{key})"))
    };
    Answer::fault(&fault.limit(key))
}

fn unread(cause: Unread) -> Answer {
    match cause {
        Unread::ClientFull => full(CLIENT_BYTES),
        Unread::AllFull => full(ALL_BYTES),
        Unread::TooLarge => Answer::fault_as(
            StatusCode::PAYLOAD_TOO_LARGE,
            &Fault::new(Code::ResourceExhausted, "Request body is too large"),
        ),
        Unread::TooSlow => Answer::fault_as(
            StatusCode::REQUEST_TIMEOUT,
            &Fault::new(Code::Unavailable, "Request body did not arrive in time"),
        ),
        Unread::Broken => malformed(),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
