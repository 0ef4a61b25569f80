//! The rows of the screen: a text, and beside it a picture of the same numbers.

use quorate_common::console::{Health, QueueFigures};

use super::history::{History, class, percentile};
use crate::doctor::Finding;
use crate::proof::{
    daemons_text, engine_text, journal_text, log_text, mode_word, sealing_key_text, store_word,
};
use crate::text::{bytes, clean, counted, date_time, duration, micros, rate};

/// Upper bounds of the bars of the response times in microseconds, and their labels.
const BARS: [(u64, &str); 5] =
    [(1000, "1ms"), (5000, "5ms"), (25_000, "25"), (100_000, "100"), (1_000_000, "1s")];
/// Label of the last bar.
const SLOWER: &str = ">1s";

/// A picture beside a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Picture {
    None,
    /// A line of bars, the newest first.
    Spark(Vec<u64>),
    /// A part of a whole, between zero and one.
    Gauge(f64),
    /// Bars with labels.
    Bars(Vec<(&'static str, u64)>),
}

/// A row of the screen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) label: &'static str,
    /// Text, already cleaned.
    pub(super) text: String,
    pub(super) picture: Picture,
}

impl Item {
    const fn text(label: &'static str, text: String) -> Self {
        Self { label, text, picture: Picture::None }
    }

    fn spark(label: &'static str, text: String, numbers: Vec<u64>) -> Self {
        Self { label, text, picture: Picture::Spark(numbers) }
    }

    fn gauge(label: &'static str, text: String, part: u64, whole: Option<u64>) -> Self {
        let Some(whole) = whole.filter(|whole| *whole > 0) else { return Self::text(label, text) };
        // In thousandths, which a double holds exactly.
        let thousandths = part.min(whole).saturating_mul(1000) / whole;
        let ratio = f64::from(u32::try_from(thousandths).unwrap_or(1000)) / 1000.0;
        Self { label, text, picture: Picture::Gauge(ratio) }
    }
}

/// Returns what the daemon does, with pictures of the last minutes.
pub(super) fn work(history: &History) -> Vec<Item> {
    let Some((health, now)) = history.last() else { return Vec::new() };
    let mut items = load(history, health);
    items.extend(queues(history, health, *now));
    items.extend(space(health));
    items.push(response_times(history));
    items
}

fn load(history: &History, health: &Health) -> Vec<Item> {
    let newest = history.newest().cloned().unwrap_or_default();
    let latency = history.latency();
    let each = newest.commits.saturating_mul(10).checked_div(newest.syncs);
    let each = each.map(|tenths| format!(", {}.{} each", tenths / 10, tenths % 10)).unwrap_or_default();
    let clashes =
        if newest.clashes == 0 { String::new() } else { format!("; {} decided again", rate(newest.clashes)) };
    let bound = |percent| match percentile(&latency, percent) {
        None => "-".to_owned(),
        Some(u64::MAX) => "over 20 s".to_owned(),
        Some(time) => format!("<= {}", micros(time)),
    };
    let limits = health.limits_reached.values().fold(0, |sum: u64, one| sum.saturating_add(*one));
    vec![
        Item::spark(
            "requests",
            format!("{}; {} since start", rate(newest.requests), health.requests.total()),
            history.numbers(|sample| sample.requests),
        ),
        Item::spark(
            "rejected",
            format!("{} (4xx); {} since start", rate(newest.rejected), class(health, "4xx")),
            history.numbers(|sample| sample.rejected),
        ),
        Item::spark(
            "failed",
            format!("{} (5xx); {} since start", rate(newest.failed), class(health, "5xx")),
            history.numbers(|sample| sample.failed),
        ),
        Item::spark(
            "latency",
            format!("p50 {}, p99 {}", bound(50), bound(99)),
            history.numbers(|sample| sample.slowest),
        ),
        Item::spark(
            "commits",
            format!("{} in {} groups{each}{clashes}", rate(newest.commits), rate(newest.syncs)),
            history.numbers(|sample| sample.commits),
        ),
        Item::spark(
            "connections",
            format!("{} open; {} refused", health.connections, health.connections_refused),
            history.numbers(|sample| sample.connections),
        ),
        Item::spark(
            "limits",
            format!("{} reached since start", counted(limits, "limit")),
            history.numbers(|sample| sample.limits),
        ),
        Item::text(
            "stamps",
            format!("{} without a valid stamp since start", counted(health.stamps_refused, "request")),
        ),
    ]
}

fn queues(history: &History, health: &Health, now: u64) -> Vec<Item> {
    let outcome = |name: &str| health.deliveries.get(name).copied().unwrap_or(0);
    let oldest = health.webhooks.oldest_at.as_ref();
    let oldest = oldest.map(|at| format!(", oldest {}", duration(now.saturating_sub(at.millis()))));
    vec![
        Item::spark(
            "webhooks",
            format!("{} waiting{}", waiting(&health.webhooks), oldest.unwrap_or_default()),
            history.numbers(|sample| sample.webhooks),
        ),
        Item::text(
            "",
            format!(
                "{} delivered, {} failed attempts, {} lost",
                outcome("delivered"),
                outcome("failed"),
                outcome("parked").saturating_add(outcome("unreadable")).saturating_add(outcome("given_up")),
            ),
        ),
        Item::spark(
            "messages",
            format!("{} mail, {} SMS waiting", waiting(&health.mail), waiting(&health.sms)),
            history.numbers(|sample| sample.messages),
        ),
    ]
}

fn waiting(queue: &QueueFigures) -> String {
    format!("{}{}", queue.waiting, if queue.is_more { " or more" } else { "" })
}

fn space(health: &Health) -> Vec<Item> {
    let unknown = || "unknown".to_owned();
    let of = |whole: Option<u64>| whole.map(|whole| format!(" of {}", bytes(whole))).unwrap_or_default();
    let (memory, whole) = (health.memory_bytes, health.host_memory_bytes);
    let memory_text = memory.map_or_else(unknown, |used| format!("{}{}", bytes(used), of(whole)));
    let (free, disk) = (health.disk_free_bytes, health.disk_bytes);
    let used = disk.zip(free).map_or(0, |(disk, free)| disk.saturating_sub(free));
    let disk_text = free.map_or_else(unknown, |free| format!("{} free{}", bytes(free), of(disk)));
    let store = health.store_bytes.map_or_else(unknown, bytes);
    vec![
        Item::gauge("memory", memory_text, memory.unwrap_or(0), whole),
        Item::gauge("disk", disk_text, used, disk),
        Item::text("store", format!("{store}; {} stay free", bytes(health.reserve_bytes))),
    ]
}

fn response_times(history: &History) -> Item {
    let buckets = history.latency();
    let (mut bars, mut lower) = (Vec::new(), 0);
    let between = |from: u64, to: Option<u64>| {
        let is_in = |bound: Option<u64>| {
            let bound = bound.unwrap_or(u64::MAX);
            bound > from && to.is_none_or(|to| bound <= to)
        };
        buckets
            .iter()
            .filter(|(bound, _)| is_in(*bound))
            .fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    };
    for (bound, label) in BARS {
        bars.push((label, between(lower, Some(bound))));
        lower = bound;
    }
    bars.push((SLOWER, between(lower, None)));
    let counts: Vec<String> = bars.iter().map(|(label, count)| format!("{label} {count}")).collect();
    let text = format!("requests by milliseconds: {}", counts.join(", "));
    Item { label: "times", text, picture: Picture::Bars(bars) }
}

/// Returns the facts about the daemon, which are those of the past unless the connection `is_live`.
pub(super) fn daemon(history: &History, is_same_host: Option<bool>, is_live: bool, now: u64) -> Vec<Item> {
    let Some((health, received)) = history.last() else { return Vec::new() };
    let status = &health.status;
    let age = now.saturating_sub(*received);
    let state = match &status.store {
        _ if !is_live => {
            format!("[!] unknown: the connection was lost, and the rest is {} old", duration(age))
        }
        None if status.awaits_release => "[!] HELD after a restore; run `quorated release`".to_owned(),
        None => "READY, the store accepts changes".to_owned(),
        Some(store) => {
            format!("[x] STORE {} since {}", store_word(store.state), date_time(store.since.millis()))
        }
    };
    let up = duration(status.now_millis.saturating_sub(status.started_at.millis()));
    let apart = duration(status.now_millis.abs_diff(*received));
    let side = if status.now_millis < *received { "behind" } else { "ahead of" };
    let host = match is_same_host {
        Some(true) => "this console runs on the daemon's host",
        Some(false) => "this console runs on another host",
        None => "not known whether this console runs on the daemon's host",
    };
    let keys = if status.keys_locked { "locked in memory" } else { "[!] may be swapped to disk" };
    let daemons = daemons_text(status.engine.as_deref()).map(|text| Item::text("daemons", text));
    let backup = status.last_backup.map_or_else(|| "none with `quorated backup`".to_owned(), date_time);
    let items = [
        Item::text("state", state),
        Item::text("mode", mode_word(status.mode).to_owned()),
        Item::text("up", format!("{up}, since {}", date_time(status.started_at.millis()))),
        Item::text(
            "version",
            format!("{}, this console {}", clean(&status.version), env!("CARGO_PKG_VERSION")),
        ),
        Item::text("engine", engine_text(status.engine.as_deref())),
        Item::text("clock", format!("{apart} {side} this host's")),
        Item::text("host", host.to_owned()),
        Item::text("keys", keys.to_owned()),
        Item::text("backup", backup),
        Item::text("journal", journal_text(status.journal.as_deref())),
        Item::text("activity log", log_text(status.log.as_deref())),
        Item::text("sealing key", sealing_key_text(status.sealing_key.as_deref())),
        Item::text("API", status.base_url.as_deref().map_or_else(|| "not served".to_owned(), clean)),
        Item::text("process", status.process_id.to_string()),
        Item::text("figures", format!("{} old; stated by the daemon [s]", duration(age))),
    ];
    items.into_iter().chain(daemons).collect()
}

/// Returns the findings, each with its advice.
pub(super) fn findings(findings: &[Finding]) -> Vec<Item> {
    if findings.is_empty() {
        return vec![Item::text("", "Nothing found.".to_owned())];
    }
    let item = |finding: &Finding| {
        let text = format!("{}: {}", finding.what, finding.advice);
        Item::text(finding.level.mark(), text)
    };
    findings.iter().map(item).collect()
}
