//! Rate limits of client addresses, with a bounded number of token buckets.
//!
//! The current time is passed as an argument.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use crate::source::network;

/// Maximum number of tracked addresses. Beyond it, all buckets are dropped, so that no client is limited wrongly.
const ADDRESSES: usize = 16 * 1024;
/// A token in thousandths, so that milliseconds refill it exactly.
const TOKEN: u64 = 1000;

/// The token buckets of all addresses.
pub(super) struct RateLimiter {
    per_second: u64,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

struct Bucket {
    tokens: u64,
    at_millis: u64,
}

impl RateLimiter {
    pub(super) fn new(per_second: u32) -> Self {
        Self { per_second: u64::from(per_second), buckets: Mutex::default() }
    }

    /// Takes one token. Returns `false` if none is left.
    pub(super) fn take(&self, address: IpAddr, now_millis: u64) -> bool {
        let full = self.per_second.saturating_mul(TOKEN);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let key = network(address);
        if buckets.len() >= ADDRESSES && !buckets.contains_key(&key) {
            buckets.retain(|_, bucket| bucket.refill(full, self.per_second, now_millis) < full);
            if buckets.len() >= ADDRESSES {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(key).or_insert(Bucket { tokens: full, at_millis: now_millis });
        if bucket.refill(full, self.per_second, now_millis) < TOKEN {
            return false;
        }
        bucket.tokens -= TOKEN;
        true
    }
}

impl Bucket {
    fn refill(&mut self, full: u64, per_second: u64, now_millis: u64) -> u64 {
        let earned = now_millis.saturating_sub(self.at_millis).saturating_mul(per_second);
        self.tokens = self.tokens.saturating_add(earned).min(full);
        self.at_millis = self.at_millis.max(now_millis);
        self.tokens
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_bucket_empties_and_refills() {
        let rate = RateLimiter::new(2);
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
            assert_eq!(rate.take(address, now_millis), expected, "{address} at {now_millis}");
        }
    }

    #[test]
    fn addresses_of_an_ipv6_network_share_a_bucket() {
        let rate = RateLimiter::new(1);
        assert!(rate.take("2001:db8::1".parse().unwrap(), 0));
        assert!(!rate.take("2001:db8::2".parse().unwrap(), 0));
        assert!(rate.take("2001:db8:0:1::1".parse().unwrap(), 0));
        assert!(rate.take("::ffff:192.0.2.1".parse().unwrap(), 0));
        assert!(!rate.take("192.0.2.1".parse().unwrap(), 0));
    }

    #[test]
    fn the_number_of_buckets_is_bounded() {
        let rate = RateLimiter::new(1);
        for number in 0..100_000_u32 {
            rate.take(IpAddr::V4(number.into()), 0);
        }
        assert!(rate.buckets.lock().unwrap().len() <= ADDRESSES);
    }
}
