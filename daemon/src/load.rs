//! Running deliveries, counted by the trust in their receivers. This module only counts.

/// Number of variants of [`Trust`].
pub(crate) const CLASSES: usize = 3;

/// Trust in a receiver, from its past behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trust {
    /// It answers promptly.
    Prompt,
    /// It has not been called yet.
    Unknown,
    /// It was slow, failed or did not answer.
    Doubtful,
}

impl Trust {
    const ALL: [Self; CLASSES] = [Self::Prompt, Self::Unknown, Self::Doubtful];

    /// Returns the divisor of a share for receivers of this trust and of less.
    const fn part(self) -> usize {
        match self {
            Self::Prompt => 1,
            Self::Unknown => 2,
            Self::Doubtful => 4,
        }
    }
}

/// A share: a number of deliveries, and bytes of their bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) deliveries: usize,
    pub(crate) bytes: u64,
}

impl Share {
    /// Divides the share; the result has at least one delivery.
    pub(crate) fn part(self, of: usize) -> Self {
        let bytes = self.bytes.checked_div(of as u64).unwrap_or(self.bytes);
        Self { deliveries: self.deliveries.div_ceil(of), bytes }
    }

    /// Returns what is left if one of this many parts of the deliveries is kept for others.
    pub(crate) fn without(self, of: usize) -> Self {
        let deliveries = self.deliveries.saturating_sub(self.part(of).deliveries).max(1);
        Self { deliveries, ..self }
    }
}

/// Number of running deliveries, and bytes of their bodies.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counter {
    pub(crate) deliveries: usize,
    pub(crate) bytes: u64,
}

/// Running deliveries, for each trust together with all of less trust.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Load(pub(crate) [Counter; CLASSES]);

impl Load {
    /// Adds a delivery with a body of this size.
    pub(crate) fn add(&mut self, trust: Trust, size: u32) {
        for (_, counter) in self.charged(trust) {
            counter.deliveries = counter.deliveries.saturating_add(1);
            counter.bytes = counter.bytes.saturating_add(size.into());
        }
    }

    /// Removes a delivery with a body of this size.
    pub(crate) fn remove(&mut self, trust: Trust, size: u32) {
        for (_, counter) in self.charged(trust) {
            counter.deliveries = counter.deliveries.saturating_sub(1);
            counter.bytes = counter.bytes.saturating_sub(size.into());
        }
    }

    /// Returns the counters that a delivery to a receiver of this trust is charged to.
    fn charged(&mut self, trust: Trust) -> impl Iterator<Item = (Trust, &mut Counter)> {
        Trust::ALL.into_iter().zip(&mut self.0).filter(move |(of, _)| *of <= trust)
    }

    /// Returns whether one more delivery with a body of this size fits into a share. A larger body is
    /// delivered alone.
    pub(crate) fn has_room(mut self, share: Share, trust: Trust, size: u32) -> bool {
        self.charged(trust).all(|(of, counter)| {
            let part = share.part(of.part());
            counter.deliveries == 0
                || (counter.deliveries < part.deliveries
                    && counter.bytes.saturating_add(size.into()) <= part.bytes)
        })
    }

    /// Returns whether nothing runs.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|counter| counter.deliveries == 0)
    }
}
