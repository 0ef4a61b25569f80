//! Parses scalar values from their allowed JSON notations. Nothing is guessed or rounded.

use alloy_primitives::U256;
use quorate_policy::Integer;

use crate::json::Json;

/// Parses `0x` and 20 bytes of hexadecimal digits of either case.
pub(crate) fn address(json: &Json<'_>) -> Option<[u8; 20]> {
    bytes(json)?.try_into().ok()
}

/// Parses `0x` and an even number of hexadecimal digits of either case.
pub(super) fn bytes(json: &Json<'_>) -> Option<Vec<u8>> {
    let Json::Text(text) = json else { return None };
    let digits = text.strip_prefix("0x").filter(|digits| const_hex::check_raw(digits))?;
    const_hex::decode(digits).ok()
}

/// Parses a JSON boolean, or the string `true` or `false`.
pub(super) fn boolean(json: &Json<'_>) -> Option<bool> {
    match json {
        Json::Bool(value) => Some(*value),
        Json::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// Parses an integer of at most `bits` bits: a JSON number, or a string of decimal digits or of hexadecimal
/// digits after `0x`. Signed integers may have the prefix `-`.
///
/// Returns the encoding that is hashed: 32 bytes, big-endian, two's complement.
pub(crate) fn integer(json: &Json<'_>, is_signed: bool, bits: usize) -> Option<[u8; 32]> {
    let text = match json {
        Json::Number(text) => text,
        Json::Text(text) => text.as_str(),
        _ => return None,
    };
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) if is_signed => (true, digits),
        _ => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => magnitude(digits, 16)?,
        None => magnitude(digits, 10)?,
    };
    let bits = if is_signed { bits.checked_sub(1)? } else { bits };
    // The magnitude of the smallest negative number exceeds that of the largest positive one by one.
    let limited = if is_negative { magnitude.saturating_sub(U256::ONE) } else { magnitude };
    let word = if is_negative { U256::ZERO.wrapping_sub(magnitude) } else { magnitude };
    (limited.bit_len() <= bits).then(|| word.to_be_bytes())
}

fn magnitude(digits: &str, radix: u32) -> Option<U256> {
    // The library skips signs between digits.
    let are_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    let significant = digits.trim_start_matches('0');
    let digits = if significant.is_empty() { "0" } else { significant };
    U256::from_str_radix(digits, u64::from(radix)).ok().filter(|_| are_digits)
}

/// Returns the number in a word of [`integer`].
pub(super) fn number(word: &[u8; 32], is_signed: bool) -> Integer {
    if is_signed { Integer::from_twos_complement(word) } else { U256::from_be_bytes(*word).into() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn check(text: &str, is_signed: bool, bits: usize, expected: Option<&str>) {
        let as_text = integer(&Json::Text(text.to_owned()), is_signed, bits);
        let decimal = |word: &[u8; 32]| number(word, is_signed).to_string();
        assert_eq!(as_text.as_ref().map(decimal).as_deref(), expected, "{text} {bits}");
        if serde_json::from_str::<serde_json::Number>(text).is_ok() {
            assert_eq!(integer(&Json::Number(text), is_signed, bits), as_text, "{text} as a number");
        }
    }

    #[test]
    fn integers_must_be_whole_and_in_range() {
        let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        let beyond = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        for (text, bits, expected) in [
            ("0", 8, Some("0")),
            ("255", 8, Some("255")),
            ("256", 8, None),
            ("0xff", 8, Some("255")),
            ("0xFF", 8, Some("255")),
            ("0x000100", 8, None),
            ("0x0000000000000000000000000000000000000000000000000000000000000000000001", 8, Some("1")),
            ("007", 8, Some("7")),
            (max, 256, Some(max)),
            (beyond, 256, None),
            (&"9".repeat(100_000), 256, None),
            ("-1", 8, None),
            ("-0", 8, None),
        ] {
            check(text, false, bits, expected);
        }
        for (text, bits, expected) in [
            ("127", 8, Some("127")),
            ("128", 8, None),
            ("-128", 8, Some("-128")),
            ("-129", 8, None),
            ("-0x80", 8, Some("-128")),
            ("0xff", 8, None),
            ("-0", 8, Some("0")),
            (
                "-57896044618658097711785492504343953926634992332820282019728792003956564819968",
                256,
                Some("-57896044618658097711785492504343953926634992332820282019728792003956564819968"),
            ),
            ("-57896044618658097711785492504343953926634992332820282019728792003956564819969", 256, None),
            ("57896044618658097711785492504343953926634992332820282019728792003956564819968", 256, None),
        ] {
            check(text, true, bits, expected);
        }
        for text in [
            "", "-", "--1", "+1", "0x", "0X1", "0x-1", "1_0", "1e3", "1.0", "1.5", " 1", "1 ", "ff",
            "\u{ff11}",
        ] {
            check(text, true, 256, None);
        }
        for json in [Json::Null, Json::Bool(true), Json::List(Vec::new())] {
            assert_eq!(integer(&json, false, 256), None);
        }
    }

    #[test]
    fn bytes_and_booleans_have_strict_notations() {
        let text = |text: &str| Json::Text(text.to_owned());
        assert_eq!(bytes(&text("0x00fF")), Some(vec![0, 255]));
        assert_eq!(bytes(&text("0x")), Some(Vec::new()));
        for bad in ["", "00", "0X00", "0x0", "0x0x", "0xzz", " 0x00", "0x\u{ff10}\u{ff10}"] {
            assert_eq!(bytes(&text(bad)), None, "{bad}");
        }
        assert_eq!(bytes(&Json::List(Vec::new())), None);
        assert_eq!(address(&text(&format!("0x{}", "aB".repeat(20)))), Some([0xab; 20]));
        assert_eq!(address(&text(&format!("0x{}", "ab".repeat(21)))), None);
        assert_eq!((boolean(&Json::Bool(true)), boolean(&text("false"))), (Some(true), Some(false)));
        for bad in [text("True"), text(""), Json::Number("1"), Json::Null] {
            assert_eq!(boolean(&bad), None);
        }
    }
}
