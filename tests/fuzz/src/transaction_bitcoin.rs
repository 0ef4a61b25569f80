//! Any bytes as a PSBT, in hexadecimal digits or as they are.

use quorate_chain::address::AddressFormat;
use quorate_chain::contract::NoInterfaces;
use quorate_chain::curve::{Curve, SecretKey};
use quorate_chain::transaction::{Bitcoin, BitcoinHolder, Signer, TransactionType, Unsigned};

/// How the key may be named.
const FORMATS: [Option<AddressFormat>; 6] = [
    None,
    Some(AddressFormat::BitcoinMainnetP2pkh),
    Some(AddressFormat::BitcoinTestnetP2sh),
    Some(AddressFormat::BitcoinSignetP2wpkh),
    Some(AddressFormat::BitcoinRegtestP2wsh),
    Some(AddressFormat::BitcoinMainnetP2tr),
];

pub(crate) fn run(data: &[u8]) {
    let text = core::str::from_utf8(data).ok().map(str::trim_end);
    let digits = text.filter(|text| text.chars().all(|letter| letter.is_ascii_hexdigit() || letter == 'x'));
    let digits = digits.map_or_else(|| const_hex::encode(data), str::to_owned);
    let read = Unsigned::read(TransactionType::Bitcoin, &digits);
    assert_eq!(read, Unsigned::read(TransactionType::Bitcoin, &digits), "reading twice comes to the same");
    let Ok(Unsigned::Bitcoin(transaction)) = &read else {
        assert!(
            read.err().is_none_or(|flaw| flaw.to_string().len() < 200),
            "the message grows with the text"
        );
        return;
    };
    // The key of the committed cases.
    let Ok(key) = SecretKey::from_bytes(Curve::Secp256k1, &[0x11; 32]) else { return };
    shown(transaction, &key);
    for format in FORMATS {
        let signer = Signer { key: key.public(), format };
        let Ok(signable) = Unsigned::Bitcoin(transaction.clone()).for_signer(&signer) else { continue };
        let _ = signable.facts(&NoInterfaces);
        let Ok(once) = signable.sign(|message| key.sign(message)) else {
            unreachable!("a key signs digests")
        };
        assert!(once.starts_with("70736274ff"), "a PSBT stays one");
        // What is signed can be signed again, and comes to the same: so nothing else was changed.
        let again = Unsigned::read(TransactionType::Bitcoin, &once);
        let again = again.and_then(|again| again.for_signer(&signer));
        assert!(again.is_ok(), "signed, but {again:?}");
        let Ok(again) = again else { continue };
        assert_eq!(again.sign(|message| key.sign(message)), Ok(once), "signing twice comes to the same");
        assert_eq!(again.facts(&NoInterfaces), signable.facts(&NoInterfaces), "a signature changes no fact");
    }
}

/// What people are shown fits what it is.
fn shown(transaction: &Bitcoin, key: &SecretKey) {
    let holder = BitcoinHolder::read(&key.public().compressed_hex());
    for holder in [None, holder.as_ref()] {
        let (inputs, outputs) = (transaction.inputs(holder), transaction.outputs(holder));
        assert!(transaction.unproven(holder) <= inputs.len());
        let taken: Option<u64> = inputs.iter().map(|input| input.value).sum();
        let paid: u64 = outputs.iter().map(|output| output.value).sum();
        assert_eq!(transaction.fee(), taken.map(|taken| taken - paid), "the fee is what is left");
        assert!(outputs.iter().all(|output| output.address.is_none() || output.said().is_none()));
        let _ = holder.and_then(|holder| transaction.refused(holder));
    }
    let _ =
        (transaction.lock_time(), transaction.is_locked(), transaction.is_replaceable(), transaction.tx_id());
}
