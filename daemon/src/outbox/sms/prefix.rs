//! The phone numbers that SMS are sent to.

use std::str::FromStr;

use quorate_common::bounded::Phone;

/// Maximum number of digits of a phone number (E.164 §6.2.1).
const DIGITS: usize = 15;

/// The beginning of phone numbers (E.164): a plus sign, a country code, and possibly more digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmsPrefix(String);

impl SmsPrefix {
    /// Returns whether a phone number begins so.
    pub fn includes(&self, phone: &Phone) -> bool {
        phone.as_str().starts_with(&self.0)
    }
}

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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn prefixes_are_those_of_phone_numbers() {
        for bad in
            ["", "+", "49", "+0", "+049", "+4 9", "0049", "+4915112345678901", "+1-202", "++1", "+\u{661}"]
        {
            assert!(bad.parse::<SmsPrefix>().is_err(), "{bad}");
        }
        let phone = Phone::parse("+12025550123".to_owned()).unwrap();
        for (prefix, expected) in [
            ("+1", true),
            ("+1202", true),
            ("+12025550123", true),
            ("+491511234567890", false),
            ("+2", false),
        ] {
            assert_eq!(prefix.parse::<SmsPrefix>().unwrap().includes(&phone), expected, "{prefix}");
        }
    }
}
