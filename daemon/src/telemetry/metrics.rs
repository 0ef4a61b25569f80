//! Counters and histograms, in the format of Prometheus.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use super::Figures;

/// Upper bounds of the latency histogram, in seconds.
const LATENCY_BUCKETS: [f64; 14] =
    [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 20.0];

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
    passkeys_back: Counter,
    limits_reached: Family<LimitLabels, Counter>,
    commits: Counter,
    clashes: Counter,
    syncs: Counter,
    deliveries: Family<DeliveryLabels, Counter>,
    messages: Family<MessageLabels, Counter>,
    store_ready: Gauge,
    journal_ready: Gauge,
    clock_behind: Gauge,
    notice_lag: Gauge,
    sealing_terms: Gauge,
    sealed_again: Counter,
    log_entries: Counter,
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

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MessageLabels {
    channel: &'static str,
    outcome: &'static str,
}

/// What happened to a message, as its metric states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageStep {
    /// It was queued.
    Queued,
    /// The server took it.
    Sent,
    /// An attempt failed, and another one will be made.
    Delayed,
    /// The server rejected it, or the last attempt failed.
    Bounced,
    /// Its secret expired before the server took it.
    Expired,
    /// It was delayed, and newer messages displaced it.
    Displaced,
    /// It cannot be read, and is kept in the store.
    Unreadable,
}

impl MessageStep {
    const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Delayed => "delayed",
            Self::Bounced => "bounced",
            Self::Expired => "expired",
            Self::Displaced => "displaced",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Registers a metric that starts at zero.
fn add<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
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
        let all = &mut registry;
        let syncs = "Syncs of the store; each covers one or more commits";
        let deliveries =
            "Webhook deliveries by outcome: attempts, and deliveries that were parked or unreadable";
        let messages = "Mail and SMS by outcome: queued, sent, delayed (each failed attempt that is repeated), bounced, expired, displaced (removed for newer messages because its receiver delayed it) or unreadable";
        let behind = "Time by which the system clock is behind the newest recorded time";
        let lag = "Time from the last commit of another daemon to its effect on this one";
        let journal = "Whether changes of organizations are accepted as far as the journal is concerned: 1 or 0; 1 without a journal";
        let terms = "Terms of sealing keys of which records may remain; 1 if one key seals all";
        let limits = "Requests rejected because of a limit in [limits]";
        let back = "Uses of a passkey whose signature counter went back: it may have been copied";
        let latency = Histogram::new(LATENCY_BUCKETS);
        let requests = add(all, "requests", "Answered requests");
        all.register("request_seconds", "Time from head to answer", latency.clone());
        Self(Arc::new(Instruments {
            requests,
            latency,
            connections: add(all, "connections", "Open connections of all listeners"),
            connections_refused: add(all, "connections_refused", "Connections closed at once"),
            stamps_refused: add(all, "stamps_refused", "Requests without a valid stamp"),
            passkeys_back: add(all, "passkey_counters_went_back", back),
            limits_reached: add(all, "limits_reached", limits),
            commits: add(all, "commits", "Durable commits"),
            clashes: add(all, "clashes", "Commits that lost against another one, and were decided again"),
            syncs: add(all, "syncs", syncs),
            deliveries: add(all, "webhook_deliveries", deliveries),
            messages: add(all, "messages", messages),
            store_ready: add(all, "store_ready", "Whether the store accepts writes: 1 or 0"),
            journal_ready: add(all, "journal_ready", journal),
            clock_behind: add(all, "clock_behind_milliseconds", behind),
            notice_lag: add(all, "notice_lag_milliseconds", lag),
            sealing_terms: add(all, "sealing_terms", terms),
            sealed_again: add(all, "records_sealed_again", "Records of earlier terms that were sealed again"),
            log_entries: add(all, "log_entries", "Entries that were appended to the activity log"),
            registry,
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

    /// Counts a use of a passkey whose signature counter went back.
    pub fn passkey_went_back(&self) {
        self.0.passkeys_back.inc();
    }

    /// Counts a request that was rejected because of a limit; `limit` is its key in `[limits]`.
    pub fn limit_reached(&self, limit: &'static str) {
        self.0.limits_reached.get_or_create(&LimitLabels { limit }).inc();
    }

    /// Counts durable commits.
    pub fn committed(&self, count: u64) {
        self.0.commits.inc_by(count);
    }

    /// Counts commits that lost against another one.
    pub fn clashed(&self, count: u64) {
        self.0.clashes.inc_by(count);
    }

    /// Counts syncs of the store.
    pub fn synced(&self, count: u64) {
        self.0.syncs.inc_by(count);
    }

    /// Counts a webhook delivery; `outcome` is from a fixed set.
    pub fn delivery(&self, outcome: &'static str) {
        self.0.deliveries.get_or_create(&DeliveryLabels { outcome }).inc();
    }

    /// Counts messages; `channel` is from a fixed set.
    pub fn messages(&self, channel: &'static str, step: MessageStep, count: u64) {
        let labels = MessageLabels { channel, outcome: step.name() };
        self.0.messages.get_or_create(&labels).inc_by(count);
    }

    /// Sets whether the store accepts writes.
    pub fn store_is_ready(&self, ready: bool) {
        self.0.store_ready.set(i64::from(ready));
    }

    /// Sets whether the journal can be written, or there is none.
    pub fn journal_is_ready(&self, ready: bool) {
        self.0.journal_ready.set(i64::from(ready));
    }

    /// Sets the delay of the system clock, in milliseconds.
    pub fn clock_is_behind(&self, millis: u64) {
        self.0.clock_behind.set(i64::try_from(millis).unwrap_or(i64::MAX));
    }

    /// Sets the time from the last commit of another daemon to its effect on this one.
    pub fn notices_lag(&self, millis: u64) {
        self.0.notice_lag.set(i64::try_from(millis).unwrap_or(i64::MAX));
    }

    /// Sets the number of terms of sealing keys, and counts records that were sealed again.
    pub fn sealing(&self, terms: u32, again: u64) {
        self.0.sealing_terms.set(i64::from(terms));
        self.0.sealed_again.inc_by(again);
    }

    /// Counts entries that were appended to the activity log.
    pub fn logged(&self, entries: u64) {
        self.0.log_entries.inc_by(entries);
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

    /// Returns the figures that [`Self::text`] shows.
    pub fn figures(&self) -> Figures {
        Figures::of(&self.text())
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
        metrics.limit_reached("readers_per_organization");
        metrics.connection_opened();
        let figures = metrics.figures();
        assert_eq!(figures.labelled("quorate_requests_total", "class").get("2xx"), Some(&2));
        let limits = figures.labelled("quorate_limits_reached_total", "limit");
        assert_eq!(limits.get("readers_per_organization"), Some(&1));
        assert_eq!((figures.number("quorate_commits_total"), figures.number("quorate_connections")), (3, 1));
        let latency = figures.histogram("quorate_request_seconds");
        let at = |micros| latency.iter().find(|bucket| bucket.up_to_micros == Some(micros)).unwrap().count;
        assert_eq!((at(500), at(1000), at(2500), latency.last().unwrap().count), (0, 1, 3, 3));
    }
}
