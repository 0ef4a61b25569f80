//! Decodes hexadecimal text from callers: digits of either case, with or without the prefix `0x`.
//!
//! The decoder is stricter than the library, which also accepts the prefix `0X`.

/// Decodes an even number of digits after an optional `0x`. Returns `None` for any other text.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    // This also prevents the library from removing a second prefix.
    if !const_hex::check_raw(digits) {
        return None;
    }
    const_hex::decode(digits).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_digits_with_an_optional_prefix() {
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
