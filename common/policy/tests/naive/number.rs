//! Integers as people write them: a sign and decimal digits, compared by length and then from the left.

use std::cmp::Ordering;

/// Largest values of the two domains, and the magnitude of the least `int`.
const INT_MOST: &str = "170141183460469231731687303715884105727";
const INT_LEAST: &str = "170141183460469231731687303715884105728";
const UINT_MOST: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// An integer of any size. Zero has no digits and no sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    negative: bool,
    digits: String,
}

impl Number {
    /// Reads decimal digits with an optional sign.
    pub(crate) fn read(text: &str) -> Self {
        let digits = text.strip_prefix('-').unwrap_or(text).trim_start_matches('0');
        Self { negative: text.starts_with('-') && !digits.is_empty(), digits: digits.to_owned() }
    }

    /// How many there are.
    pub(crate) fn count(count: usize) -> Self {
        Self::read(&count.to_string())
    }

    /// Whether it comes before or after the other on the number line.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => longer(&self.digits, &other.digits),
            (true, true) => longer(&other.digits, &self.digits),
        }
    }

    /// The number as a position; `None` if no list can have it.
    pub(crate) fn position(&self) -> Option<usize> {
        match self.digits.as_str() {
            "" => Some(0),
            digits if !self.negative => digits.parse().ok(),
            _ => None,
        }
    }

    /// −2^127 … 2^127 − 1.
    pub(crate) fn is_int(&self) -> bool {
        longer(&self.digits, if self.negative { INT_LEAST } else { INT_MOST }) != Ordering::Greater
    }

    /// 0 … 2^256 − 1.
    pub(crate) fn is_uint(&self) -> bool {
        !self.negative && longer(&self.digits, UINT_MOST) != Ordering::Greater
    }

    /// Decimal digits, with a sign if it is negative.
    pub(crate) fn text(&self) -> String {
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        format!("{}{digits}", if self.negative { "-" } else { "" })
    }
}

fn longer(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}
