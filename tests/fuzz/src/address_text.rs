//! Parses any text as an address of each chain. An accepted address has exactly one canonical text.

use quorate_chain::address::{AddressTextError, Chain};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for chain in Chain::ALL.iter().copied() {
        match chain.address(&text) {
            Ok(address) => check(chain, &text, &address),
            Err(AddressTextError::Format(reported)) => assert_eq!(reported, chain),
            Err(AddressTextError::Checksum) => {}
        }
    }
}

fn check(chain: Chain, text: &str, address: &str) {
    assert_eq!(chain.address(address).as_deref(), Ok(address), "the canonical text is accepted unchanged");
    assert!(address.eq_ignore_ascii_case(text), "the canonical text differs in more than case: {text}");
    // The checksum of the chain detects a mistyped letter.
    let has_checksum = !matches!(chain, Chain::Solana);
    let index = address.len() / 2;
    let other = if address.as_bytes().get(index) == Some(&b'q') { 'p' } else { 'q' };
    if let (true, Some(before), Some(after)) =
        (has_checksum, address.get(..index), address.get(index.saturating_add(1)..))
    {
        let mistyped = format!("{before}{other}{after}");
        assert!(chain.address(&mistyped).is_err(), "{mistyped}");
    }
}
