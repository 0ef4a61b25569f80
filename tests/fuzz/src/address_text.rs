//! Any text as an address of each chain. What is read is written the one way that its chain has.

use quorate_chain::address::{AddressTextFlaw, Chain};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for chain in Chain::ALL.iter().copied() {
        match chain.address(&text) {
            Ok(address) => check(chain, &text, &address),
            Err(AddressTextFlaw::Format(named)) => assert_eq!(named, chain),
            Err(AddressTextFlaw::Checksum) => {}
        }
    }
}

fn check(chain: Chain, text: &str, address: &str) {
    assert_eq!(chain.address(address).as_deref(), Ok(address), "what is written is read as it stands");
    assert!(address.eq_ignore_ascii_case(text), "only the case may differ: {text}");
    // A mistyped letter is found where the chain has a checksum for it.
    let has_checksum = !matches!(chain, Chain::Solana);
    let at = address.len() / 2;
    let other = if address.as_bytes().get(at) == Some(&b'q') { 'p' } else { 'q' };
    if let (true, Some(before), Some(behind)) =
        (has_checksum, address.get(..at), address.get(at.saturating_add(1)..))
    {
        let mistyped = format!("{before}{other}{behind}");
        assert!(chain.address(&mistyped).is_err(), "{mistyped}");
    }
}
