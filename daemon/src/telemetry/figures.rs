//! The metrics as figures, read from their text, so that the console shows the numbers that a scraper sees.

use std::collections::BTreeMap;

use quorate_common::console::LatencyBucket;

/// The samples of the metrics.
#[derive(Debug, Clone, Default)]
pub struct Figures(Vec<Sample>);

#[derive(Debug, Clone)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Figures {
    /// Reads the text of [`super::Metrics::text`]. Values of labels are from bounded sets, without quotes and commas.
    pub(super) fn of(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self(lines.filter_map(Sample::of).collect())
    }

    fn named<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f Sample> {
        self.0.iter().filter(move |sample| sample.name == name)
    }

    /// Returns the sum of all samples of a metric.
    pub fn number(&self, name: &str) -> u64 {
        self.named(name).fold(0, |sum, sample| sum.saturating_add(whole(sample.value)))
    }

    /// Returns the sums of the samples of a metric by one of its labels.
    pub fn labelled(&self, name: &str, label: &str) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        for sample in self.named(name) {
            let Some(value) = sample.labels.get(label) else { continue };
            let sum: &mut u64 = sums.entry(value.clone()).or_default();
            *sum = sum.saturating_add(whole(sample.value));
        }
        sums
    }

    /// Returns the buckets of a histogram of seconds.
    pub fn histogram(&self, name: &str) -> Vec<LatencyBucket> {
        let bucket = |sample: &Sample| {
            let seconds: f64 = sample.labels.get("le")?.parse().ok()?;
            let up_to_micros = seconds.is_finite().then(|| whole(seconds * 1_000_000.0));
            Some(LatencyBucket { up_to_micros, count: whole(sample.value) })
        };
        self.named(&format!("{name}_bucket")).filter_map(bucket).collect()
    }
}

impl Sample {
    fn of(line: &str) -> Option<Self> {
        let (head, value) = line.rsplit_once(' ')?;
        let (name, labels) = head.split_once('{').unwrap_or((head, ""));
        let pairs = labels.trim_end_matches('}').split(',').filter_map(|pair| pair.split_once('='));
        let labels = pairs.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()));
        Some(Self { name: name.to_owned(), labels: labels.collect(), value: value.parse().ok()? })
    }
}

/// Rounds to a whole number; values below zero become zero.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
