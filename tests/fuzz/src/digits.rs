//! Cases of bytes are kept as texts, so that they can be read.

/// The bytes of which these are the digits; whatever is no digit is passed over, and so is half a byte.
pub(crate) fn bytes(data: &[u8]) -> Vec<u8> {
    let digits: Vec<u32> = data.iter().filter_map(|byte| char::from(*byte).to_digit(16)).collect();
    let (pairs, _) = digits.as_chunks::<2>();
    pairs.iter().filter_map(|[high, low]| u8::try_from(high * 16 + low).ok()).collect()
}
