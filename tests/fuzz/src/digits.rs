//! Decodes the cases of binary formats, which are stored as hexadecimal text so that people can read them.

/// Returns the bytes of the hexadecimal digits in `data`. Other characters and an odd last digit are ignored.
pub(crate) fn bytes(data: &[u8]) -> Vec<u8> {
    let digits: Vec<u32> = data.iter().filter_map(|byte| char::from(*byte).to_digit(16)).collect();
    let (pairs, _) = digits.as_chunks::<2>();
    pairs.iter().filter_map(|[high, low]| u8::try_from(high * 16 + low).ok()).collect()
}
