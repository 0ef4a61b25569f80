//! Parses addresses of accounts and contracts. Only the text is checked, not whether a contract exists.

/// Parses an Ethereum contract address: `0x` and 20 bytes of hex in any case. The checksum of ERC-55 is not
/// required.
pub fn ethereum_address(text: &str) -> Option<[u8; 20]> {
    let digits = text.strip_prefix("0x").filter(|digits| const_hex::check_raw(digits))?;
    const_hex::decode_to_array(digits).ok()
}

/// Parses a Solana program address: base58 of 32 bytes.
pub fn solana_address(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let length = bs58::decode(text).onto(bytes.as_mut_slice()).ok()?;
    (length == 32).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_belong_to_one_chain() {
        let (token, program) =
            ("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
        let bytes = ethereum_address(token);
        assert_eq!(bytes.map(|bytes| crate::address::of_account(&bytes)).as_deref(), Some(token));
        assert_eq!((ethereum_address(&token.to_lowercase()), solana_address(token)), (bytes, None));
        let bytes = solana_address(program).map(|bytes| bs58::encode(bytes).into_string());
        assert_eq!((bytes.as_deref(), ethereum_address(program)), (Some(program), None));
        let twice = format!("0x{}", &token[..40]);
        for bad in ["", "0x", "0x00", &twice, &token[2..], &program[1..], "0OIl"] {
            assert_eq!((ethereum_address(bad), solana_address(bad)), (None, None), "{bad}");
        }
    }
}
