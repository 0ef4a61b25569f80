//! Integers of the policy language: one signed type wide enough for both integer types of the wire.
//!
//! The language has a signed 128-bit `int` and an unsigned 256-bit `uint` and compares them mathematically.
//! Both are stored as a sign and a 256-bit magnitude. The language has no arithmetic.

use std::cmp::Ordering;
use std::fmt;

use alloy_primitives::{I256, U256};

/// The magnitude of the lowest `int`, 2^127.
const LOWEST_INT: U256 = U256::from_limbs([0, 1 << 63, 0, 0]);

/// An integer from −(2^256 − 1) to 2^256 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Integer {
    /// Never set for zero, so that equality is equality of fields.
    negative: bool,
    magnitude: U256,
}

impl Integer {
    /// The integer zero.
    pub const ZERO: Self = Self { negative: false, magnitude: U256::ZERO };

    fn new(negative: bool, magnitude: U256) -> Self {
        Self { negative: negative && !magnitude.is_zero(), magnitude }
    }

    /// Parses decimal digits with an optional leading `-`. Returns `None` for other text and beyond 256 bits.
    pub fn from_decimal(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        // The library skips underscores, and reads an empty text as zero.
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        Some(Self::new(negative, U256::from_str_radix(digits, 10).ok()?))
    }

    /// Reads an unsigned big-endian number of any length. Returns `None` beyond 256 significant bits.
    pub fn from_be_bytes(bytes: &[u8]) -> Option<Self> {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        U256::try_from_be_slice(bytes.get(zeros..)?).map(Self::from)
    }

    /// Reads the 32-byte two's complement format in which Solidity encodes `int256` and narrower signed
    /// integers.
    pub fn from_twos_complement(bytes: &[u8; 32]) -> Self {
        let (sign, magnitude) = I256::from_be_bytes(*bytes).into_sign_and_abs();
        Self::new(sign.is_negative(), magnitude)
    }

    /// Returns whether the number is in the domain of `int`: −2^127 to 2^127 − 1.
    pub fn is_int(&self) -> bool {
        self.magnitude < LOWEST_INT || (self.negative && self.magnitude == LOWEST_INT)
    }

    /// Returns whether the number is in the domain of `uint`: 0 to 2^256 − 1.
    pub fn is_uint(&self) -> bool {
        !self.negative
    }

    /// Returns the number as a position in a list or a string, or `None` if it is negative or too large.
    pub(crate) fn position(&self) -> Option<usize> {
        self.magnitude.try_into().ok().filter(|_| !self.negative)
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude.cmp(&other.magnitude),
            (true, true) => other.magnitude.cmp(&self.magnitude),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        write!(formatter, "{sign}{}", self.magnitude)
    }
}

impl From<U256> for Integer {
    fn from(number: U256) -> Self {
        Self::new(false, number)
    }
}

impl From<u128> for Integer {
    fn from(number: u128) -> Self {
        Self::from(U256::from(number))
    }
}

impl From<i128> for Integer {
    fn from(number: i128) -> Self {
        Self::new(number.is_negative(), U256::from(number.unsigned_abs()))
    }
}

macro_rules! widening {
    ($wide:ty: $($narrow:ty),+) => {$(
        impl From<$narrow> for Integer {
            fn from(number: $narrow) -> Self {
                Self::from(<$wide>::from(number))
            }
        }
    )+};
}

widening!(u128: u8, u16, u32, u64);
widening!(i128: i8, i16, i32, i64);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const TWO_POW_127: &str = "170141183460469231731687303715884105728";
    const TWO_POW_256_LESS_1: &str =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    const TWO_POW_256: &str =
        "115792089237316195423570985008687907853269984665640564039457584007913129639936";

    #[test]
    fn parses_and_prints_decimal_text() {
        for (text, printed) in [
            ("0", Some("0")),
            ("-0", Some("0")),
            ("007", Some("7")),
            ("-42", Some("-42")),
            ("10000000000000000000", Some("10000000000000000000")),
            (TWO_POW_127, Some(TWO_POW_127)),
            (TWO_POW_256_LESS_1, Some(TWO_POW_256_LESS_1)),
            (TWO_POW_256, None),
            ("", None),
            ("-", None),
            ("+1", None),
            ("1 ", None),
            ("0x10", None),
            ("--1", None),
            ("\u{661}", None),
        ] {
            let read = Integer::from_decimal(text).map(|number| number.to_string());
            assert_eq!(read.as_deref(), printed, "{text}");
        }
    }

    #[test]
    fn order_is_mathematical() {
        let ascending = [
            format!("-{TWO_POW_256_LESS_1}"),
            format!("-{TWO_POW_127}"),
            "-2".to_owned(),
            "-1".to_owned(),
            "0".to_owned(),
            "1".to_owned(),
            "18446744073709551615".to_owned(),
            "18446744073709551616".to_owned(),
            TWO_POW_127.to_owned(),
            TWO_POW_256_LESS_1.to_owned(),
        ];
        let numbers: Vec<Integer> =
            ascending.iter().map(|text| Integer::from_decimal(text).unwrap()).collect();
        assert!(numbers.is_sorted_by(|left, right| left < right));
    }

    #[test]
    fn int_and_uint_domains_have_exact_bounds() {
        for (text, int, uint) in [
            ("0".to_owned(), true, true),
            ("-1".to_owned(), true, false),
            (format!("-{TWO_POW_127}"), true, false),
            ("-170141183460469231731687303715884105729".to_owned(), false, false),
            ("170141183460469231731687303715884105727".to_owned(), true, true),
            (TWO_POW_127.to_owned(), false, true),
            (TWO_POW_256_LESS_1.to_owned(), false, true),
            ("340282366920938463463374607431768211456".to_owned(), false, true),
        ] {
            let number = Integer::from_decimal(&text).unwrap();
            assert_eq!((number.is_int(), number.is_uint()), (int, uint), "{text}");
        }
    }

    #[test]
    fn reads_big_endian_bytes() {
        assert_eq!(Integer::from_be_bytes(&[]), Some(Integer::ZERO));
        assert_eq!(Integer::from_be_bytes(&[1, 0]), Some(Integer::from(256_u64)));
        assert_eq!(Integer::from_be_bytes(&[0xff; 32]), Integer::from_decimal(TWO_POW_256_LESS_1));
        assert_eq!(Integer::from_be_bytes(&[0xff; 33]), None);
        let padded = [[0_u8; 32], [0xff; 32]].concat();
        assert_eq!(Integer::from_be_bytes(&padded), Integer::from_decimal(TWO_POW_256_LESS_1));
    }

    #[test]
    fn reads_twos_complement_as_signed() {
        let mut lowest = [0_u8; 32];
        lowest[0] = 0x80;
        let mut minus_two = [0xff_u8; 32];
        minus_two[31] = 0xfe;
        let mut five = [0_u8; 32];
        five[31] = 5;
        for (bytes, decimal) in [
            ([0_u8; 32], "0"),
            ([0xff; 32], "-1"),
            (minus_two, "-2"),
            (five, "5"),
            (lowest, "-57896044618658097711785492504343953926634992332820282019728792003956564819968"),
        ] {
            assert_eq!(Integer::from_twos_complement(&bytes).to_string(), decimal);
        }
    }

    #[test]
    fn converts_native_integers() {
        assert_eq!(Integer::from(i128::MIN).to_string(), i128::MIN.to_string());
        assert_eq!(Integer::from(u128::MAX).to_string(), u128::MAX.to_string());
        assert_eq!(Integer::from(-7_i8).to_string(), "-7");
        assert_eq!(Integer::from(7_u64).position(), Some(7));
        assert_eq!(Integer::from(-7_i64).position(), None);
        assert_eq!(Integer::from(u128::MAX).position(), None);
    }
}
