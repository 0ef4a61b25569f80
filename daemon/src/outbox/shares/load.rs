//! Running deliveries, counted by the trust in their destinations.

use quorate_core::model::layout::outbox::Destination;

/// Number of variants of [`Trust`].
pub(super) const CLASSES: usize = 3;

/// A running delivery.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    pub(super) destination: Destination,
    pub(super) size: u32,
    /// Trust in the destination when the delivery began.
    pub(super) trust: Trust,
}

/// Trust in a destination, from its past behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trust {
    /// It answers promptly.
    Prompt,
    /// It has not been called yet.
    Unknown,
    /// It was slow, failed or did not answer.
    Doubtful,
}

impl Trust {
    const ALL: [Self; CLASSES] = [Self::Prompt, Self::Unknown, Self::Doubtful];

    /// Returns the divisor of a share for destinations of this trust and of less.
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
pub(super) struct Share {
    pub(super) deliveries: usize,
    pub(super) bytes: u64,
}

impl Share {
    /// Divides the share; the result has at least one delivery.
    pub(super) fn part(self, of: usize) -> Self {
        let bytes = self.bytes.checked_div(of as u64).unwrap_or(self.bytes);
        Self { deliveries: self.deliveries.div_ceil(of), bytes }
    }
}

/// Number of running deliveries, and bytes of their bodies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counter {
    pub(super) deliveries: usize,
    pub(super) bytes: u64,
}

/// Running deliveries, for each trust together with all of less trust.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load(pub(super) [Counter; CLASSES]);

impl Load {
    pub(super) fn add(&mut self, slot: &Slot) {
        for (_, counter) in self.charged(slot.trust) {
            counter.deliveries = counter.deliveries.saturating_add(1);
            counter.bytes = counter.bytes.saturating_add(slot.size.into());
        }
    }

    pub(super) fn remove(&mut self, slot: &Slot) {
        for (_, counter) in self.charged(slot.trust) {
            counter.deliveries = counter.deliveries.saturating_sub(1);
            counter.bytes = counter.bytes.saturating_sub(slot.size.into());
        }
    }

    /// Returns the counters that a delivery to a destination of this trust is charged to.
    fn charged(&mut self, trust: Trust) -> impl Iterator<Item = (Trust, &mut Counter)> {
        Trust::ALL.into_iter().zip(&mut self.0).filter(move |(of, _)| *of <= trust)
    }

    /// Returns whether one more delivery with a body of this size fits into a share. A larger body is
    /// delivered alone.
    pub(super) fn has_room(mut self, share: Share, trust: Trust, size: u32) -> bool {
        self.charged(trust).all(|(of, counter)| {
            let part = share.part(of.part());
            counter.deliveries == 0
                || (counter.deliveries < part.deliveries
                    && counter.bytes.saturating_add(size.into()) <= part.bytes)
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|counter| counter.deliveries == 0)
    }
}
