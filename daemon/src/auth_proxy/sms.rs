//! Limits of the SMS that anonymous clients have sent. SMS cost money, and their receivers may share in it (toll fraud).
//! They are counted in memory, so a restart forgets the counts.

use std::net::IpAddr;

use quorate_common::api_error::{ApiError, Code};

use crate::rate::RateLimiter;

/// Period of the limits, in milliseconds.
const HOUR: u64 = 3_600_000;

/// Limits of SMS, as they are configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmsLimits {
    /// SMS per hour to all receivers.
    pub per_hour: u32,
    /// SMS per hour of one client address.
    pub per_hour_and_address: u32,
}

impl Default for SmsLimits {
    fn default() -> Self {
        Self { per_hour: 60, per_hour_and_address: 10 }
    }
}

/// Counts SMS.
pub(super) struct SmsCounts {
    all: RateLimiter<()>,
    addresses: RateLimiter<IpAddr>,
}

impl SmsCounts {
    pub(super) fn new(limits: SmsLimits) -> Self {
        Self {
            all: RateLimiter::new(limits.per_hour, HOUR),
            addresses: RateLimiter::new(limits.per_hour_and_address, HOUR),
        }
    }

    /// Counts an SMS that a client has sent.
    ///
    /// # Errors
    /// States the limit that is reached.
    pub(super) fn count(&self, client: IpAddr, now_millis: u64) -> Result<(), ApiError> {
        // An address that has used up its own SMS takes nothing from the others.
        if !self.addresses.take(client, now_millis) {
            return Err(limited("from this address", "sms_per_hour_and_address"));
        }
        if self.all.take((), now_millis) {
            return Ok(());
        }
        self.addresses.give_back(&client);
        Err(limited("in total", "sms_per_hour"))
    }

    /// Removes an SMS from the counts that was not sent after all.
    pub(super) fn forget(&self, client: IpAddr) {
        self.addresses.give_back(&client);
        self.all.give_back(&());
    }
}

fn limited(whose: &str, key: &str) -> ApiError {
    let message = format!(
        "Too many codes by SMS {whose} (`{key}`). Please try again later, or use another way to sign in"
    );
    ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn limits(per_hour: u32, per_hour_and_address: u32) -> SmsCounts {
        SmsCounts::new(SmsLimits { per_hour, per_hour_and_address })
    }

    #[test]
    fn sms_are_limited_for_each_address_and_in_total() {
        let counts = limits(5, 2);
        let count = |address: u8, now| counts.count([192, 0, 2, address].into(), now);
        for address in [1, 1, 2, 2] {
            count(address, 0).unwrap();
        }
        for address in [1, 2, 1, 2] {
            let error = count(address, 0).unwrap_err();
            assert_eq!(error.code, Code::ResourceExhausted);
            assert!(
                error.message.contains("from this address (`sms_per_hour_and_address`)"),
                "{}",
                error.message
            );
        }
        count(3, 0).unwrap();
        for address in [3, 4, 5] {
            let error = count(address, 0).unwrap_err();
            assert!(error.message.contains("in total (`sms_per_hour`)"), "{}", error.message);
        }
        // A fifth of an hour later, one more is allowed.
        count(6, HOUR / 5 - 1).unwrap_err();
        count(7, HOUR / 5).unwrap();
        count(8, HOUR / 5).unwrap_err();
    }

    #[test]
    fn sms_that_were_not_sent_do_not_count() {
        let counts = limits(2, 2);
        let client = [192, 0, 2, 1].into();
        for _ in 0..10 {
            counts.count(client, 0).unwrap();
            counts.forget(client);
        }
        for is_allowed in [true, true, false] {
            assert_eq!(counts.count(client, 0).is_ok(), is_allowed);
        }
    }
}
