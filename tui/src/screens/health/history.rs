//! The figures of the last minutes: what changed between two answers of the daemon. Bounded in number.

use std::collections::VecDeque;

use quorate_common::console::Health;

/// Maximum number of samples.
const SAMPLES: usize = 240;
/// Time between two answers above which the earlier samples are forgotten, in milliseconds.
const GAP_MILLIS: u64 = 10_000;

/// What changed between two answers, and what was there at the second one. Rates are in tenths per second.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) requests: u64,
    /// Requests that failed in the daemon (status 5xx).
    pub(super) failed: u64,
    /// Requests that were rejected (status 4xx).
    pub(super) rejected: u64,
    pub(super) commits: u64,
    pub(super) syncs: u64,
    pub(super) clashes: u64,
    pub(super) limits: u64,
    /// Upper bound of the response time of 99 of 100 requests, in microseconds.
    pub(super) slowest: u64,
    pub(super) connections: u64,
    pub(super) webhooks: u64,
    pub(super) messages: u64,
    /// Requests by bucket of the response time.
    latency: Vec<u64>,
}

/// The samples, the oldest first.
#[derive(Default)]
pub(super) struct History {
    samples: VecDeque<Sample>,
    /// The last answer and its time, in milliseconds since the Unix epoch.
    last: Option<(Health, u64)>,
}

impl History {
    /// Adds an answer of the daemon. After a restart of the daemon, or a pause, the history starts again.
    pub(super) fn add(&mut self, health: Health, now: u64) {
        if let Some((before, at)) = &self.last {
            let elapsed = now.saturating_sub(*at);
            let is_same = before.status.process_id == health.status.process_id
                && before.status.started_at == health.status.started_at;
            if !is_same || elapsed > GAP_MILLIS {
                self.samples.clear();
            } else if elapsed > 0 {
                self.samples.push_back(Sample::between(before, &health, elapsed));
                if self.samples.len() > SAMPLES {
                    self.samples.pop_front();
                }
            }
        }
        self.last = Some((health, now));
    }

    /// Returns the last answer and its time.
    pub(super) const fn last(&self) -> Option<&(Health, u64)> {
        self.last.as_ref()
    }

    /// Returns the newest sample.
    pub(super) fn newest(&self) -> Option<&Sample> {
        self.samples.back()
    }

    /// Returns one number of each sample, the newest first.
    pub(super) fn numbers(&self, of: impl Fn(&Sample) -> u64) -> Vec<u64> {
        self.samples.iter().rev().map(of).collect()
    }

    /// Returns the requests of all samples by bucket, with the upper bounds of the buckets in microseconds.
    pub(super) fn latency(&self) -> Vec<(Option<u64>, u64)> {
        let bounds = self.last.iter().flat_map(|(health, _)| &health.requests.latency);
        let sum = |index: usize| {
            let counts = self.samples.iter().filter_map(|sample| sample.latency.get(index));
            counts.fold(0, |sum: u64, count| sum.saturating_add(*count))
        };
        bounds.enumerate().map(|(index, bucket)| (bucket.up_to_micros, sum(index))).collect()
    }
}

impl Sample {
    fn between(before: &Health, after: &Health, elapsed: u64) -> Self {
        let rate = |of: fn(&Health) -> u64| {
            of(after).saturating_sub(of(before)).saturating_mul(10_000) / elapsed.max(1)
        };
        let latency = buckets(before, after);
        Self {
            requests: rate(|health| health.requests.total()),
            failed: rate(|health| class(health, "5xx")),
            rejected: rate(|health| class(health, "4xx")),
            commits: rate(|health| health.commits),
            syncs: rate(|health| health.syncs),
            clashes: rate(|health| health.clashes),
            limits: rate(|health| {
                health.limits_reached.values().fold(0, |sum, one| sum.saturating_add(*one))
            }),
            slowest: slowest(after, &latency),
            connections: after.connections,
            webhooks: after.webhooks.waiting,
            messages: after.mail.waiting.saturating_add(after.sms.waiting),
            latency,
        }
    }
}

/// Returns the number of requests with this class of status.
pub(super) fn class(health: &Health, class: &str) -> u64 {
    health.requests.by_class.get(class).copied().unwrap_or(0)
}

/// Returns the number of requests between two answers for each bucket, without those of the buckets before.
fn buckets(before: &Health, after: &Health) -> Vec<u64> {
    let mut lower = 0;
    let earlier = before.requests.latency.iter().map(|bucket| bucket.count).chain(std::iter::repeat(0));
    let pairs = after.requests.latency.iter().zip(earlier);
    pairs
        .map(|(bucket, earlier)| {
            let up_to = bucket.count.saturating_sub(earlier);
            up_to.saturating_sub(std::mem::replace(&mut lower, up_to))
        })
        .collect()
}

/// Returns the upper bound of the response time of 99 of 100 requests; that of the last bucket is its lower bound.
fn slowest(health: &Health, counts: &[u64]) -> u64 {
    let bounds: Vec<_> = health
        .requests
        .latency
        .iter()
        .map(|bucket| bucket.up_to_micros)
        .zip(counts.iter().copied())
        .collect();
    percentile(&bounds, 99).map_or(0, |bound| bound.min(longest(&bounds)))
}

fn longest(buckets: &[(Option<u64>, u64)]) -> u64 {
    buckets.iter().filter_map(|(bound, _)| *bound).max().unwrap_or(0)
}

/// Returns the upper bound of the bucket below which this percentage of the requests is, or `u64::MAX` if it has none.
/// There is nothing without requests.
pub(super) fn percentile(buckets: &[(Option<u64>, u64)], percent: u64) -> Option<u64> {
    let total = buckets.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
    let wanted = total.saturating_mul(percent).div_ceil(100).max(1);
    let mut seen: u64 = 0;
    buckets.iter().find_map(|(bound, count)| {
        seen = seen.saturating_add(*count);
        (seen >= wanted).then(|| bound.unwrap_or(u64::MAX))
    })
}
