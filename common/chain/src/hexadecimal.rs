//! Hexadecimal text as callers send it: digits of either case, `0x` in front or not.
//!
//! Stricter than the library, which also takes `0X` for a prefix.

/// The bytes, or nothing if the text is anything else than an even number of digits after an
/// optional `0x`.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    // Also keeps the library from taking a second prefix off.
    if !const_hex::check_raw(digits) {
        return None;
    }
    const_hex::decode(digits).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn texts() {
        for (text, expected) in [
            ("", Some(vec![])),
            ("0x", Some(vec![])),
            ("00fF", Some(vec![0, 255])),
            ("0x00Ff", Some(vec![0, 255])),
            ("0", None),
            ("0x0", None),
            ("0X", None),
            ("0X00", None),
            ("0x0x00", None),
            ("0x0X00", None),
            ("x0", None),
            ("zz", None),
            (" 00", None),
            ("00 ", None),
            ("00\n", None),
            ("-1", None),
            ("\u{ff10}0", None),
            ("\u{660}\u{660}", None),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
