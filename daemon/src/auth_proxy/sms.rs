//! Limits of the SMS that anonymous clients have sent. SMS cost money, and their receivers may share in it (toll fraud).
//! They are counted in memory, so a restart forgets the counts.

use std::net::IpAddr;
use std::str::FromStr;

use quorate_common::api_error::{ApiError, Code};
use quorate_common::bounded::Phone;

use super::invalid;
use crate::rate::RateLimiter;

/// Period of the limits, in milliseconds.
const HOUR: u64 = 3_600_000;
/// Maximum number of digits of a phone number (E.164 §6.2.1).
const DIGITS: usize = 15;

/// Limits of SMS, as they are configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmsLimits {
    /// SMS per hour to all receivers.
    pub per_hour: u32,
    /// SMS per hour of one client address.
    pub per_hour_and_address: u32,
    /// Prefixes of the numbers that SMS are sent to. All numbers are allowed if there is none.
    pub prefixes: Vec<SmsPrefix>,
}

impl Default for SmsLimits {
    fn default() -> Self {
        Self { per_hour: 60, per_hour_and_address: 10, prefixes: Vec::new() }
    }
}

/// The beginning of phone numbers (E.164): a plus sign, a country code, and possibly more digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmsPrefix(String);

impl FromStr for SmsPrefix {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix('+').unwrap_or_default();
        let is_prefix = (1..=DIGITS).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && !digits.starts_with('0');
        if is_prefix {
            Ok(Self(text.to_owned()))
        } else {
            Err(r#"must be a prefix of phone numbers, such as "+49""#)
        }
    }
}

/// Counts SMS.
pub(super) struct SmsCounts {
    prefixes: Vec<SmsPrefix>,
    all: RateLimiter<()>,
    addresses: RateLimiter<IpAddr>,
}

impl SmsCounts {
    pub(super) fn new(limits: &SmsLimits) -> Self {
        Self {
            prefixes: limits.prefixes.clone(),
            all: RateLimiter::new(limits.per_hour, HOUR),
            addresses: RateLimiter::new(limits.per_hour_and_address, HOUR),
        }
    }

    /// Checks that the prefix of a number is allowed, and counts an SMS that a client has sent to it.
    ///
    /// # Errors
    /// States the limit that is reached.
    pub(super) fn count(&self, to: &Phone, client: IpAddr, now_millis: u64) -> Result<(), ApiError> {
        let is_allowed = |prefix: &SmsPrefix| to.as_str().starts_with(&prefix.0);
        if !self.prefixes.is_empty() && !self.prefixes.iter().any(is_allowed) {
            return Err(invalid(
                "codes by SMS are not sent to phone numbers with this prefix (`sms_prefixes`)",
            ));
        }
        // An address that has used up its own SMS takes nothing from the others.
        if !self.addresses.take(client, now_millis) {
            return Err(limited("from this address", "sms_per_hour_and_address"));
        }
        if self.all.take((), now_millis) { Ok(()) } else { Err(limited("in total", "sms_per_hour")) }
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

    fn limits(per_hour: u32, per_hour_and_address: u32, prefixes: &[&str]) -> SmsCounts {
        let prefixes = prefixes.iter().map(|prefix| prefix.parse().unwrap()).collect();
        SmsCounts::new(&SmsLimits { per_hour, per_hour_and_address, prefixes })
    }

    fn phone(text: &str) -> Phone {
        Phone::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn sms_are_limited_for_each_address_and_in_total() {
        let counts = limits(5, 2, &[]);
        let to = phone("+882131234567");
        let count = |address: u8, now| counts.count(&to, [192, 0, 2, address].into(), now);
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
        // A fifth of an hour later there is room for one more.
        count(6, HOUR / 5 - 1).unwrap_err();
        count(7, HOUR / 5).unwrap();
        count(8, HOUR / 5).unwrap_err();
    }

    #[test]
    fn sms_that_were_not_sent_do_not_count() {
        let counts = limits(2, 2, &[]);
        let (to, client) = (phone("+12025550123"), [192, 0, 2, 1].into());
        for _ in 0..10 {
            counts.count(&to, client, 0).unwrap();
            counts.forget(client);
        }
        for is_allowed in [true, true, false] {
            assert_eq!(counts.count(&to, client, 0).is_ok(), is_allowed);
        }
    }

    #[test]
    fn sms_go_to_allowed_prefixes_only() {
        let counts = limits(1000, 1000, &["+1", "+49", "+3531"]);
        for (to, is_allowed) in [
            ("+12025550123", true),
            ("+4915112345678", true),
            ("+35312345678", true),
            ("+353861234567", false),
            ("+442071838750", false),
            ("+882131234567", false),
        ] {
            let counted = counts.count(&phone(to), [192, 0, 2, 1].into(), 0);
            assert_eq!(counted.is_ok(), is_allowed, "{to}");
            if let Err(error) = counted {
                assert_eq!(error.code, Code::InvalidArgument);
                assert!(error.message.contains("(`sms_prefixes`)"), "{}", error.message);
            }
        }
        for bad in
            ["", "+", "49", "+0", "+049", "+4 9", "0049", "+4915112345678901", "+1-202", "++1", "+\u{661}"]
        {
            assert!(bad.parse::<SmsPrefix>().is_err(), "{bad}");
        }
        for good in ["+1", "+1202", "+491511234567890"] {
            assert!(good.parse::<SmsPrefix>().is_ok(), "{good}");
        }
    }
}
