//! Ethereum addresses with the mixed-case checksum of ERC-55.
//!
//! The checksum does not depend on a chain id: the variant of ERC-1191 is never produced.

use sha3::{Digest, Keccak256};

/// Returns `0x` and the last 20 bytes of keccak256(X ‖ Y) in hex. A letter is upper case if the digit of
/// keccak256(lower-case text) at its index is 8 or more.
pub(super) fn address(uncompressed: &[u8; 65]) -> String {
    checksummed(&account(uncompressed))
}

/// Returns the last 20 bytes of keccak256(X ‖ Y).
pub(super) fn account(uncompressed: &[u8; 65]) -> [u8; 20] {
    let [_, coordinates @ ..] = uncompressed;
    let hash: [u8; 32] = Keccak256::digest(coordinates).into();
    let [_, _, _, _, _, _, _, _, _, _, _, _, account @ ..] = hash;
    account
}

pub(super) fn checksummed(account: &[u8; 20]) -> String {
    let lower = const_hex::encode(account);
    let hash: [u8; 32] = Keccak256::digest(lower.as_bytes()).into();
    let cases = hash.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    let letters = lower.chars().zip(cases).map(
        |(letter, case)| {
            if case >= 8 { letter.to_ascii_uppercase() } else { letter }
        },
    );
    "0x".chars().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::checksummed;
    use crate::vectors::{bytes, rows};

    #[test]
    fn erc55_samples() {
        let file = include_str!("../../../../assets/vectors/chain/erc55.json");
        for sample in rows::<String>(file) {
            assert_eq!(checksummed(&bytes(&sample)), sample);
        }
    }
}
