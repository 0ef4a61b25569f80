//! Rate limits of clients, with a bounded number of token buckets.
//!
//! The current time is passed as an argument.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Maximum number of tracked clients. Beyond it, all buckets are dropped, so that no client is limited wrongly.
const CLIENTS: usize = 16 * 1024;

/// The token buckets of all clients.
pub(crate) struct RateLimiter<K> {
    /// Tokens of a full bucket, which refills within one period.
    count: u64,
    /// Length of the period in milliseconds, which is also the value of one token: milliseconds refill it exactly.
    period: u64,
    buckets: Mutex<HashMap<K, Bucket>>,
}

struct Bucket {
    tokens: u64,
    at_millis: u64,
}

impl<K: Hash + Eq> RateLimiter<K> {
    /// Allows each client this number of requests in each period.
    pub(crate) fn new(count: u32, period_millis: u64) -> Self {
        Self { count: u64::from(count), period: period_millis, buckets: Mutex::new(HashMap::new()) }
    }

    /// Takes one token. Returns `false` if none is left.
    pub(crate) fn take(&self, key: K, now_millis: u64) -> bool {
        let full = self.count.saturating_mul(self.period);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= CLIENTS && !buckets.contains_key(&key) {
            buckets.retain(|_, bucket| bucket.refill(full, self.count, now_millis) < full);
            if buckets.len() >= CLIENTS {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(key).or_insert(Bucket { tokens: full, at_millis: now_millis });
        if bucket.refill(full, self.count, now_millis) < self.period {
            return false;
        }
        bucket.tokens = bucket.tokens.saturating_sub(self.period);
        true
    }

    /// Returns a token that was taken for nothing.
    pub(crate) fn give_back(&self, key: &K) {
        let full = self.count.saturating_mul(self.period);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(key) {
            bucket.tokens = bucket.tokens.saturating_add(self.period).min(full);
        }
    }
}

impl Bucket {
    fn refill(&mut self, full: u64, count: u64, now_millis: u64) -> u64 {
        let earned = now_millis.saturating_sub(self.at_millis).saturating_mul(count);
        self.tokens = self.tokens.saturating_add(earned).min(full);
        self.at_millis = self.at_millis.max(now_millis);
        self.tokens
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::net::IpAddr;

    use super::*;
    use crate::source::network;

    #[test]
    fn a_bucket_empties_and_refills() {
        let rate = RateLimiter::new(2, 1000);
        let (one, other): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        for (address, now_millis, expected) in [
            (one, 0, true),
            (one, 0, true),
            (one, 0, false),
            (other, 0, true),
            (one, 499, false),
            (one, 500, true),
            (one, 500, false),
            (one, 60_000, true),
            (one, 60_000, true),
            (one, 60_000, false),
        ] {
            assert_eq!(rate.take(network(address), now_millis), expected, "{address} at {now_millis}");
        }
    }

    #[test]
    fn addresses_of_an_ipv6_network_share_a_bucket() {
        let rate = RateLimiter::new(1, 1000);
        assert!(rate.take(network("2001:db8::1".parse().unwrap()), 0));
        assert!(!rate.take(network("2001:db8::2".parse().unwrap()), 0));
        assert!(rate.take(network("2001:db8:0:1::1".parse().unwrap()), 0));
        assert!(rate.take(network("::ffff:192.0.2.1".parse().unwrap()), 0));
        assert!(!rate.take(network("192.0.2.1".parse().unwrap()), 0));
    }

    #[test]
    fn the_number_of_buckets_is_bounded() {
        let rate = RateLimiter::new(1, 1000);
        for number in 0..100_000_u32 {
            rate.take(IpAddr::V4(number.into()), 0);
        }
        assert!(rate.buckets.lock().unwrap().len() <= CLIENTS);
    }
}
