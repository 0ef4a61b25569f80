//! Telemetry of the daemon: log lines on standard error, request ids, spans and metrics.
//!
//! It never contains a body, a stamp or a secret. Labels of metrics are from bounded sets and contain no ids.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use quorate_core::limits::BODY_AGE_MILLIS;
use tracing::level_filters::LevelFilter;
use tracing::{Event, Span, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{self, FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, Layer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::clock;

/// Crates whose log level the operator sets. All others stay at warnings, because their debug lines contain
/// headers.
const OWN_CRATES: [&str; 5] =
    ["quorated", "quorate_core", "quorate_common", "quorate_chain", "quorate_policy"];

/// Upper bounds of the latency histogram, in seconds.
const LATENCY_BUCKETS: [f64; 14] =
    [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 20.0];

/// Format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Starts logging to standard error, once per process. In dev mode, each line is marked with DEV.
///
/// # Errors
/// Returns an error if logging was started before.
pub fn start(format: LogFormat, level: LevelFilter, dev: bool) -> Result<(), TryInitError> {
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_targets(OWN_CRATES.map(|name| (name, level)));
    let registry = tracing_subscriber::registry().with(targets);
    match format {
        LogFormat::Text => registry.with(text_layer(dev)).try_init(),
        LogFormat::Json => registry.with(json_layer(dev)).try_init(),
    }
}

fn text_layer<S>(dev: bool) -> Layer<S, format::DefaultFields, Lines<format::Format>, fn() -> std::io::Stderr>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let inner = tracing_subscriber::fmt::format().with_ansi(false).with_target(false);
    let style = if dev { LineStyle::DevText } else { LineStyle::Text };
    tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .event_format(Lines { inner, style })
        .with_writer(std::io::stderr as fn() -> std::io::Stderr)
}

type JsonFormat = format::Format<format::Json>;

fn json_layer<S>(dev: bool) -> Layer<S, format::JsonFields, Lines<JsonFormat>, fn() -> std::io::Stderr>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let inner = tracing_subscriber::fmt::format().json().flatten_event(true).with_span_list(false);
    let style = if dev { LineStyle::DevJson } else { LineStyle::Json };
    tracing_subscriber::fmt::layer()
        .fmt_fields(format::JsonFields::new())
        .event_format(Lines { inner, style })
        .with_writer(std::io::stderr as fn() -> std::io::Stderr)
}

#[derive(Debug, Clone, Copy)]
enum LineStyle {
    Text,
    DevText,
    Json,
    DevJson,
}

/// Keeps each event on one line, whatever its fields contain, and marks it in dev mode.
struct Lines<F> {
    inner: F,
    style: LineStyle,
}

impl<S, N, F> FormatEvent<S, N> for Lines<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::with_capacity(256);
        self.inner.format_event(context, Writer::new(&mut line), event)?;
        write_line(self.style, line.trim_end_matches('\n'), &mut writer)
    }
}

fn write_line(style: LineStyle, line: &str, writer: &mut impl fmt::Write) -> fmt::Result {
    match style {
        LineStyle::Text => {}
        LineStyle::DevText => writer.write_str("DEV ")?,
        LineStyle::Json => return writeln!(writer, "{line}"),
        LineStyle::DevJson => {
            let rest = line.strip_prefix('{').unwrap_or(line);
            return writeln!(writer, "{{\"mode\":\"DEV\",{rest}");
        }
    }
    for character in line.chars() {
        if character.is_control() {
            write!(writer, "{}", character.escape_default())?;
        } else {
            writer.write_char(character)?;
        }
    }
    writer.write_char('\n')
}

/// Id of a request, unique within the process and practically unique across processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId {
    process: u64,
    number: u64,
}

impl RequestId {
    /// Returns the next id.
    pub fn next() -> Self {
        static PROCESS: OnceLock<u64> = OnceLock::new();
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let process = *PROCESS.get_or_init(|| getrandom::u64().unwrap_or_default());
        Self { process, number: NUMBER.fetch_add(1, Ordering::Relaxed) }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}-{:08x}", self.process, self.number)
    }
}

/// Returns the span of one request. The code that serves the request records `operation` and `organization`.
pub fn request_span(id: RequestId) -> Span {
    tracing::info_span!(
        "request",
        request_id = %id,
        operation = tracing::field::Empty,
        organization = tracing::field::Empty,
    )
}

/// Readiness of the daemon, as reported by `/readyz`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Readiness {
    /// The daemon does not accept requests yet.
    #[default]
    Starting,
    /// The daemon is ready.
    Ready,
    /// The store has too little free space.
    StoreFull,
    /// The store is being reopened after a failure.
    StoreFailed,
    /// The guard file cannot be written.
    GuardFailed,
    /// Records of the store were altered.
    StoreAltered,
    /// The system clock is so far behind the newest recorded time that all requests are too old.
    ClockBehind,
    /// The daemon received the stop signal.
    Stopping,
}

impl Readiness {
    /// Returns the reason why the daemon is not ready.
    pub const fn problem(self) -> Option<&'static str> {
        match self {
            Self::Ready => None,
            Self::Starting => Some("starting"),
            Self::StoreFull => Some("the file system of the store is full"),
            Self::StoreFailed => Some("the store failed and is being reopened"),
            Self::GuardFailed => Some("the guard file of the store cannot be written"),
            Self::StoreAltered => Some("records of the store were altered or damaged"),
            Self::ClockBehind => Some(
                "the system clock is more than one hour behind the newest recorded time, so all requests are \
                 too old; correct the clock, or run 'quorated accept-clock'",
            ),
            Self::Stopping => Some("stopping"),
        }
    }
}

/// The readiness of a daemon; clones share it.
#[derive(Debug, Clone, Default)]
pub struct SharedReadiness(Arc<Mutex<Readiness>>);

impl SharedReadiness {
    /// Sets the readiness for all clones.
    pub fn set(&self, readiness: Readiness) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = readiness;
    }

    /// Returns the current readiness.
    pub fn get(&self) -> Readiness {
        let readiness = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let requests_are_too_old = clock::behind() > BODY_AGE_MILLIS;
        if readiness == Readiness::Ready && requests_are_too_old { Readiness::ClockBehind } else { readiness }
    }
}

/// Counters and histograms of the daemon; clones share them.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<Instruments>);

#[derive(Debug)]
struct Instruments {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    latency: Histogram,
    connections: Gauge,
    connections_refused: Counter,
    stamps_refused: Counter,
    limits_reached: Family<LimitLabels, Counter>,
    commits: Counter,
    syncs: Counter,
    deliveries: Family<DeliveryLabels, Counter>,
    store_ready: Gauge,
    clock_behind: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    operation: &'static str,
    class: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeliveryLabels {
    outcome: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Creates metrics with all counters at zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("quorate");
        let requests = Family::default();
        let latency = Histogram::new(LATENCY_BUCKETS);
        let connections = Gauge::default();
        let connections_refused = Counter::default();
        let stamps_refused = Counter::default();
        let limits_reached = Family::default();
        let commits = Counter::default();
        let syncs = Counter::default();
        let deliveries = Family::default();
        let (store_ready, clock_behind) = (Gauge::default(), Gauge::default());
        registry.register("requests", "Answered requests", requests.clone());
        registry.register("request_seconds", "Time from head to answer", latency.clone());
        registry.register("connections", "Open connections of all listeners", connections.clone());
        registry.register("connections_refused", "Connections closed at once", connections_refused.clone());
        registry.register("stamps_refused", "Requests without a valid stamp", stamps_refused.clone());
        let help = "Requests rejected because of a limit in [limits]";
        registry.register("limits_reached", help, limits_reached.clone());
        registry.register("commits", "Durable commits", commits.clone());
        registry.register("syncs", "Syncs of the store; each covers one or more commits", syncs.clone());
        let help = "Webhook deliveries by outcome: attempts, and deliveries that were parked or unreadable";
        registry.register("webhook_deliveries", help, deliveries.clone());
        registry.register("store_ready", "Whether the store accepts writes: 1 or 0", store_ready.clone());
        registry.register(
            "clock_behind_milliseconds",
            "Time by which the system clock is behind the newest recorded time",
            clock_behind.clone(),
        );
        Self(Arc::new(Instruments {
            registry,
            requests,
            latency,
            connections,
            connections_refused,
            stamps_refused,
            limits_reached,
            commits,
            syncs,
            deliveries,
            store_ready,
            clock_behind,
        }))
    }

    /// Counts an answered request.
    pub fn answered(&self, operation: &'static str, status: StatusCode, took: Duration) {
        let labels = RequestLabels { operation, class: class(status) };
        self.0.requests.get_or_create(&labels).inc();
        self.0.latency.observe(took.as_secs_f64());
    }

    /// Counts a request whose stamp was rejected.
    pub fn stamp_refused(&self) {
        self.0.stamps_refused.inc();
    }

    /// Counts a request that was rejected because of a limit; `limit` is its key in `[limits]`.
    pub fn limit_reached(&self, limit: &'static str) {
        self.0.limits_reached.get_or_create(&LimitLabels { limit }).inc();
    }

    /// Counts durable commits.
    pub fn committed(&self, count: u64) {
        self.0.commits.inc_by(count);
    }

    /// Counts a sync of the store.
    pub fn synced(&self) {
        self.0.syncs.inc();
    }

    /// Counts a webhook delivery; `outcome` is from a fixed set.
    pub fn delivery(&self, outcome: &'static str) {
        self.0.deliveries.get_or_create(&DeliveryLabels { outcome }).inc();
    }

    /// Sets whether the store accepts writes.
    pub fn store_is_ready(&self, ready: bool) {
        self.0.store_ready.set(i64::from(ready));
    }

    /// Sets the delay of the system clock, in milliseconds.
    pub fn clock_is_behind(&self, millis: u64) {
        self.0.clock_behind.set(i64::try_from(millis).unwrap_or(i64::MAX));
    }

    pub(crate) fn connection_opened(&self) {
        self.0.connections.inc();
    }

    pub(crate) fn connection_closed(&self) {
        self.0.connections.dec();
    }

    pub(crate) fn connection_refused(&self) {
        self.0.connections_refused.inc();
    }

    /// Returns all metrics in the `OpenMetrics` text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.0.registry);
        text
    }
}

const fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        500..600 => "5xx",
        _ => "1xx",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn line(style: LineStyle, text: &str) -> String {
        let mut out = String::new();
        write_line(style, text, &mut out).unwrap();
        out
    }

    #[test]
    fn an_event_stays_on_one_line() {
        assert_eq!(line(LineStyle::Text, "name=a\nb\u{1b}[31m"), "name=a\\nb\\u{1b}[31m\n");
        assert_eq!(line(LineStyle::DevText, "started"), "DEV started\n");
        assert_eq!(line(LineStyle::DevJson, r#"{"a":1}"#), "{\"mode\":\"DEV\",\"a\":1}\n");
        assert_eq!(line(LineStyle::Json, r#"{"a":"\n"}"#), "{\"a\":\"\\n\"}\n");
    }

    #[test]
    fn metrics_count_by_operation_and_class() {
        let metrics = Metrics::new();
        metrics.answered("whoami", StatusCode::OK, Duration::from_millis(2));
        metrics.answered("whoami", StatusCode::OK, Duration::from_millis(2));
        metrics.answered("whoami", StatusCode::UNAUTHORIZED, Duration::from_millis(1));
        metrics.clone().committed(3);
        let text = metrics.text();
        for expected in [
            r#"quorate_requests_total{operation="whoami",class="2xx"} 2"#,
            r#"quorate_requests_total{operation="whoami",class="4xx"} 1"#,
            "quorate_request_seconds_count 3",
            "quorate_commits_total 3",
        ] {
            assert!(text.contains(expected), "{expected} is missing in\n{text}");
        }
    }

    #[test]
    fn request_ids_differ() {
        assert_ne!(RequestId::next(), RequestId::next());
        assert_eq!(RequestId::next().to_string().len(), 25);
    }
}
