//! Addresses of smart contracts, as far as their text tells: never whether anything is there.

/// Whether this is `0x` and 20 bytes of hex, in any case (ERC-55 is not asked for).
pub fn is_ethereum_address(text: &str) -> bool {
    let hex = text.strip_prefix("0x").unwrap_or_default();
    hex.len() == 40 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether this is base58 of 32 bytes.
pub fn is_solana_address(text: &str) -> bool {
    let mut bytes = [0; 32];
    bs58::decode(text).onto(bytes.as_mut_slice()).is_ok_and(|length| length == 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_addresses_of_one_chain() {
        let (token, program) =
            ("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
        assert!(is_ethereum_address(token) && !is_solana_address(token));
        assert!(is_solana_address(program) && !is_ethereum_address(program));
        for bad in ["", "0x", "0x00", &token[2..], &program[1..], "0OIl"] {
            assert!(!is_ethereum_address(bad) && !is_solana_address(bad), "{bad}");
        }
    }
}
