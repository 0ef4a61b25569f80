//! Integers as a sign and decimal digits, compared by length and then digit by digit.

use std::cmp::Ordering;

/// Maximum of `int`.
const INT_MAX: &str = "170141183460469231731687303715884105727";
/// Magnitude of the minimum of `int`.
const INT_MIN: &str = "170141183460469231731687303715884105728";
/// Maximum of `uint`.
const UINT_MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// An integer of any size. Zero has no digits and no sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    negative: bool,
    digits: String,
}

impl Number {
    /// Parses decimal digits with an optional sign.
    pub(crate) fn parse(text: &str) -> Self {
        let digits = text.strip_prefix('-').unwrap_or(text).trim_start_matches('0');
        Self { negative: text.starts_with('-') && !digits.is_empty(), digits: digits.to_owned() }
    }

    /// Creates a number from a count.
    pub(crate) fn count(count: usize) -> Self {
        Self::parse(&count.to_string())
    }

    /// Compares two numbers mathematically.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => compare_magnitudes(&self.digits, &other.digits),
            (true, true) => compare_magnitudes(&other.digits, &self.digits),
        }
    }

    /// Returns the number as a position, or `None` if it is negative or too large.
    pub(crate) fn position(&self) -> Option<usize> {
        match self.digits.as_str() {
            "" => Some(0),
            digits if !self.negative => digits.parse().ok(),
            _ => None,
        }
    }

    /// Returns whether the number is from −2^127 to 2^127 − 1.
    pub(crate) fn is_int(&self) -> bool {
        compare_magnitudes(&self.digits, if self.negative { INT_MIN } else { INT_MAX }) != Ordering::Greater
    }

    /// Returns whether the number is from 0 to 2^256 − 1.
    pub(crate) fn is_uint(&self) -> bool {
        !self.negative && compare_magnitudes(&self.digits, UINT_MAX) != Ordering::Greater
    }

    /// Returns the decimal digits, with a minus sign if the number is negative.
    pub(crate) fn text(&self) -> String {
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        format!("{}{digits}", if self.negative { "-" } else { "" })
    }
}

fn compare_magnitudes(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}
