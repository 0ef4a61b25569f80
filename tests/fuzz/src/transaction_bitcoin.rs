//! Parses any bytes as a PSBT (BIP-174), in hexadecimal digits or in binary.

use quorate_chain::address::AddressFormat;
use quorate_chain::contract::NoInterfaces;
use quorate_chain::curve::{Curve, SecretKey};
use quorate_chain::transaction::{Bitcoin, BitcoinHolder, Signer, TransactionType, Unsigned};

/// Address formats by which a request can refer to the key.
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
    assert_eq!(read, Unsigned::read(TransactionType::Bitcoin, &digits), "parsing is deterministic");
    let Ok(Unsigned::Bitcoin(transaction)) = &read else {
        assert!(
            read.err().is_none_or(|error| error.to_string().len() < 200),
            "the message grows with the text"
        );
        return;
    };
    // The key of the committed cases.
    let Ok(key) = SecretKey::from_bytes(Curve::Secp256k1, &[0x11; 32]) else { return };
    check_display(transaction, &key);
    for format in FORMATS {
        let signer = Signer { key: key.public(), format };
        let Ok(signable) = Unsigned::Bitcoin(transaction.clone()).for_signer(&signer) else { continue };
        let _ = signable.facts(&NoInterfaces);
        let Ok(once) = signable.sign(|message| key.sign(message)) else {
            unreachable!("a key signs digests")
        };
        assert!(once.starts_with("70736274ff"), "a signed PSBT is a PSBT");
        // Signing the signed PSBT again has the same result, so signing changes nothing else.
        let reparsed = Unsigned::read(TransactionType::Bitcoin, &once);
        let reparsed = reparsed.and_then(|transaction| transaction.for_signer(&signer));
        assert!(reparsed.is_ok(), "a signed PSBT can be signed again: {reparsed:?}");
        let Ok(reparsed) = reparsed else { continue };
        assert_eq!(reparsed.sign(|message| key.sign(message)), Ok(once), "signing is idempotent");
        assert_eq!(
            reparsed.facts(&NoInterfaces),
            signable.facts(&NoInterfaces),
            "a signature changes no fact"
        );
    }
}

/// Asserts that the displayed amounts are consistent.
fn check_display(transaction: &Bitcoin, key: &SecretKey) {
    let holder = BitcoinHolder::read(&key.public().compressed_hex());
    for holder in [None, holder.as_ref()] {
        let (inputs, outputs) = (transaction.inputs(holder), transaction.outputs(holder));
        assert!(transaction.unproven(holder) <= inputs.len());
        let spent: Option<u64> = inputs.iter().map(|input| input.value).sum();
        let paid: u64 = outputs.iter().map(|output| output.value).sum();
        assert_eq!(
            transaction.fee(),
            spent.map(|spent| spent - paid),
            "the fee is the sum of inputs minus outputs"
        );
        assert!(outputs.iter().all(|output| output.address.is_none() || output.op_return_data().is_none()));
        let _ = holder.and_then(|holder| transaction.signing_error(holder));
    }
    let _ =
        (transaction.lock_time(), transaction.is_locked(), transaction.is_replaceable(), transaction.tx_id());
}
