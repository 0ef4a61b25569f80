//! Splits the input of the targets for contract interfaces: data in hexadecimal digits, and a text.

/// Returns the bytes of the hexadecimal digits in the first line, ignoring other characters, and the
/// remaining lines.
pub(crate) fn split(data: &[u8]) -> (Vec<u8>, String) {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let digits = parts.next().unwrap_or_default().iter();
    let digits: Vec<u8> = digits
        .filter_map(|letter| char::from(*letter).to_digit(16))
        .filter_map(|digit| u8::try_from(digit).ok())
        .collect();
    let (pairs, _) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| high << 4 | low).collect();
    (bytes, String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned())
}
