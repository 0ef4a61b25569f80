//! Published PSBTs and those of another library: decoding, signing and errors.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use bitcoin::absolute::LockTime;
use bitcoin::hashes::Hash;
use bitcoin::psbt::{Input, Psbt, PsbtSighashType};
use bitcoin::{Amount, ScriptBuf, Sequence, TxOut};
use proptest::prelude::*;
use serde::Deserialize;

use super::{BitcoinError, Holder, MAX_INPUTS, Part, Transaction, maps};
use crate::address::{AddressFormat, address};
use crate::contract::NoInterfaces;
use crate::curve::{Curve, PublicKey, SecretKey};
use crate::transaction::{Signer, TransactionType, Unsigned};
use crate::vectors::{rows, secret};

#[derive(Deserialize)]
struct Row {
    case: String,
    private: String,
    format: Option<AddressFormat>,
    psbt: String,
    signed: String,
}

impl Row {
    fn key(&self) -> SecretKey {
        secret(Curve::Secp256k1, &self.private)
    }
}

fn samples() -> Vec<Row> {
    rows(include_str!("../../../../../assets/vectors/chain/psbt_signed.json"))
}

/// Returns the PSBT of the sample with this name.
fn sample(case: &str) -> Psbt {
    let row = samples().into_iter().find(|row| row.case == case).unwrap();
    Psbt::deserialize(&const_hex::decode(row.psbt).unwrap()).unwrap()
}

/// Signs a PSBT as the daemon does.
fn signed(key: &SecretKey, format: Option<AddressFormat>, psbt: &str) -> Result<String, String> {
    let read = Unsigned::read(TransactionType::Bitcoin, psbt).map_err(|error| error.to_string())?;
    let signer = Signer { key: key.public(), format };
    let signable = read.for_signer(&signer).map_err(|error| error.to_string())?;
    signable.sign(|message| key.sign(message)).map_err(|error| error.to_string())
}

#[test]
fn signed_psbts_match_the_vectors() {
    for row in samples() {
        let once = signed(&row.key(), row.format, &row.psbt);
        assert_eq!(once.as_ref(), Ok(&row.signed), "{}", row.case);
        let twice = signed(&row.key(), row.format, &row.signed);
        assert_eq!(twice.as_ref(), Ok(&row.signed), "{}: a signature replaces itself", row.case);
    }
}

#[test]
fn preserves_any_order_of_keys() {
    for row in samples() {
        let mut maps = maps::read(&const_hex::decode(&row.psbt).unwrap()).unwrap();
        maps.iter_mut().for_each(maps::Map::reverse);
        let reversed = const_hex::encode(maps::write(&maps));
        let signed = signed(&row.key(), row.format, &reversed).unwrap();
        let signed = maps::read(&const_hex::decode(signed).unwrap()).unwrap();
        let expected = maps::read(&const_hex::decode(&row.signed).unwrap()).unwrap();
        assert!(maps::have_same_entries(&signed, &expected), "{}", row.case);
        assert_eq!(signed.first(), maps.first(), "{}: the order is preserved", row.case);
    }
}

#[derive(Deserialize)]
struct ReadRow {
    case: String,
    psbt: String,
    valid: bool,
}

#[test]
fn decodes_only_valid_published_psbts() {
    let file = include_str!("../../../../../assets/vectors/chain/psbt_read.json");
    for row in rows::<ReadRow>(file) {
        let bytes = const_hex::decode(&row.psbt).unwrap();
        let read = Transaction::decode(&bytes);
        assert_eq!(read.is_ok(), row.valid, "{}: {:?}", row.case, read.err());
        if let Ok(read) = read {
            assert_eq!(maps::write(&read.maps), bytes, "{}", row.case);
        }
    }
}

#[derive(Deserialize)]
struct RefusedRow {
    case: String,
    private: String,
    psbt: String,
    error: String,
}

#[test]
fn does_not_sign_unsupported_published_psbts() {
    let file = include_str!("../../../../../assets/vectors/chain/psbt_refused.json");
    for row in rows::<RefusedRow>(file) {
        let signing_error = signed(&secret(Curve::Secp256k1, &row.private), None, &row.psbt);
        assert_eq!(signing_error, Err(format!("failed to parse transaction: {}", row.error)), "{}", row.case);
    }
}

/// Returns the error for a modified sample whose inputs all belong to the key.
fn signing_error(case: &str, change: impl FnOnce(&mut Psbt)) -> Option<BitcoinError> {
    let mut psbt = sample(case);
    change(&mut psbt);
    let key = secret(Curve::Secp256k1, &"11".repeat(32));
    let signer = Signer { key: key.public(), format: None };
    Transaction::decode(&psbt.serialize()).and_then(|read| read.slots(&signer)).err()
}

/// Returns the error for a sample whose only input was modified.
fn signing_error_of_input(kind: &str, change: impl FnOnce(&mut Input)) -> Option<BitcoinError> {
    signing_error(&format!("{kind}, one input"), |psbt| change(&mut psbt.inputs[0]))
}

#[test]
fn each_script_type_requires_its_fields() {
    use BitcoinError::{Forbidden, Missing, NoOwnInput, Script, SighashType};
    for kind in ["P2PKH", "P2SH", "P2WPKH", "P2WSH", "P2TR"] {
        assert_eq!(signing_error_of_input(kind, |_| {}), None, "{kind}");
        let finished = signing_error_of_input(kind, |input| input.final_script_sig = Some(ScriptBuf::new()));
        assert_eq!(finished, Some(Forbidden(0, "final_script_sig")), "{kind}");
        for number in [0x02, 0x03, 0x81, 0x41] {
            let requested = PsbtSighashType::from_u32(number);
            let other = signing_error_of_input(kind, |input| input.sighash_type = Some(requested));
            assert_eq!(other, Some(SighashType(0)), "{kind} {number}");
        }
        let usual = PsbtSighashType::from_u32(u32::from(kind != "P2TR"));
        assert_eq!(signing_error_of_input(kind, |input| input.sighash_type = Some(usual)), None, "{kind}");
        let unusual = PsbtSighashType::from_u32(u32::from(kind == "P2TR"));
        let other = signing_error_of_input(kind, |input| input.sighash_type = Some(unusual));
        assert_eq!(other, Some(SighashType(0)), "{kind}");
        let nothing = signing_error_of_input(kind, |input| *input = Input::default());
        assert_eq!(nothing, Some(NoOwnInput), "{kind}");
    }
    for kind in ["P2PKH", "P2SH"] {
        let output = |input: &Input| input.non_witness_utxo.as_ref().unwrap().output[1].clone();
        let both = signing_error_of_input(kind, |input| input.witness_utxo = Some(output(input)));
        assert_eq!(both, Some(Forbidden(0, "witness_utxo")), "{kind}");
        let only = signing_error_of_input(kind, |input| {
            input.witness_utxo = Some(output(input));
            input.non_witness_utxo = None;
        });
        assert_eq!(only, Some(Missing(0, "non_witness_utxo")), "{kind}");
    }
    let no_script = signing_error_of_input("P2SH", |input| input.redeem_script = None);
    assert_eq!(no_script, Some(Missing(0, "redeem_script")));
    let no_script = signing_error_of_input("P2WSH", |input| input.witness_script = None);
    assert_eq!(no_script, Some(Missing(0, "witness_script")));
    let other = signing_error_of_input("P2WSH", |input| {
        input.witness_script.as_mut().unwrap().push_opcode(0x75.into());
    });
    assert_eq!(other, Some(Script(0, "witness_script")));
}

#[test]
fn does_not_sign_script_trees() {
    let other = secret(Curve::Secp256k1, &"22".repeat(32));
    let other = bitcoin::XOnlyPublicKey::from_slice(&other.public().compressed()[1..]).unwrap();
    let named = signing_error_of_input("P2TR", |input| input.tap_internal_key = Some(other));
    assert_eq!(named, Some(BitcoinError::Forbidden(0, "another tap_internal_key")));
    let root = bitcoin::TapNodeHash::from_byte_array([1; 32]);
    let tree = signing_error_of_input("P2TR", |input| input.tap_merkle_root = Some(root));
    assert_eq!(tree, Some(BitcoinError::Forbidden(0, "tap_merkle_root")));
    // The key is the internal key of an output with a script tree.
    let tweaked = signing_error_of_input("P2TR", |input| {
        let output = input.witness_utxo.as_mut().unwrap();
        output.script_pubkey = ScriptBuf::from_hex(&format!("5120{other}")).unwrap();
        input.tap_merkle_root = Some(root);
    });
    assert_eq!(tweaked, Some(BitcoinError::Unsupported(0)));
}

#[test]
fn taproot_requires_the_utxos_of_all_inputs() {
    let case = "P2TR beside an input of somebody else";
    assert_eq!(signing_error(case, |_| {}), None);
    let unknown = signing_error(case, |psbt| psbt.inputs[0].witness_utxo = None);
    assert_eq!(unknown, Some(BitcoinError::MissingUtxo(1)));
    let unknown =
        signing_error("P2WPKH beside an input of somebody else", |psbt| psbt.inputs[0].witness_utxo = None);
    assert_eq!(unknown, None);
}

#[test]
fn previous_transactions_prove_their_outputs() {
    for kind in ["P2PKH", "P2SH"] {
        let richer = signing_error_of_input(kind, |input| {
            input.non_witness_utxo.as_mut().unwrap().output[1].value = Amount::from_sat(99_999_999);
        });
        assert_eq!(richer, Some(BitcoinError::Previous(0)), "{kind}");
        let case = format!("{kind}, one input");
        let beyond = signing_error(&case, |psbt| psbt.unsigned_tx.input[0].previous_output.vout = 2);
        assert_eq!(beyond, Some(BitcoinError::Previous(0)), "{kind}");
        let differing = signing_error_of_input(kind, |input| {
            let mut output = input.non_witness_utxo.as_ref().unwrap().output[1].clone();
            output.value = Amount::from_sat(1);
            input.witness_utxo = Some(output);
        });
        assert_eq!(differing, Some(BitcoinError::Utxo(0)), "{kind}");
    }
}

#[test]
fn rejects_impossible_amounts() {
    let pays = |value: u64| {
        signing_error("P2WPKH, one input", |psbt| psbt.unsigned_tx.output[0].value = Amount::from_sat(value))
    };
    assert_eq!(pays(60_010_000), None);
    for value in [60_010_001, 21_000_000 * 100_000_000, u64::MAX - 1, u64::MAX] {
        assert_eq!(pays(value), Some(BitcoinError::Amounts), "{value}");
    }
    for value in [99_989_999, 2_100_000_000_000_001, u64::MAX] {
        let spends = signing_error_of_input("P2WPKH", |input| {
            input.witness_utxo.as_mut().unwrap().value = Amount::from_sat(value);
        });
        assert_eq!(spends, Some(BitcoinError::Amounts), "{value}");
    }
    let unpaid = signing_error("P2WPKH, one input", |psbt| {
        psbt.unsigned_tx.output.clear();
        psbt.outputs.clear();
    });
    assert_eq!(unpaid, Some(BitcoinError::Outputs));
    let twice = signing_error("P2WPKH beside an input of somebody else", |psbt| {
        psbt.unsigned_tx.input[2].previous_output = psbt.unsigned_tx.input[0].previous_output;
    });
    assert_eq!(twice, Some(BitcoinError::DuplicateInput(2)));
}

#[test]
fn rejects_anything_but_version_0_psbts() {
    let decode_error = |bytes: &[u8]| Transaction::decode(bytes).unwrap_err();
    let bytes = sample("P2WPKH, one input").serialize();
    assert_eq!(decode_error(b"psbt"), BitcoinError::Malformed);
    assert_eq!(decode_error(b"pskt\xff\x00"), BitcoinError::NotPsbt);
    assert_eq!(decode_error(b"psbt\xff\x00"), BitcoinError::NoTransaction);
    // BIP-370: the version is first, or follows the counts.
    assert_eq!(decode_error(b"psbt\xff\x01\xfb\x04\x02\x00\x00\x00\x00"), BitcoinError::Version);
    assert_eq!(
        decode_error(b"psbt\xff\x01\x04\x01\x01\x01\x05\x01\x01\x01\xfb\x04\x02\x00\x00\x00\x00"),
        BitcoinError::Version
    );
    for more in [&[0][..], &[0, 0], &bytes] {
        assert_eq!(decode_error(&[&bytes, more].concat()), BitcoinError::NotCanonical);
    }
    // Version 0 may be explicit.
    let (magic, maps) = bytes.split_at(5);
    let explicit = [magic, b"\x01\xfb\x04\x00\x00\x00\x00", maps].concat();
    assert_eq!(Transaction::decode(&explicit).map(|read| maps::write(&read.maps)), Ok(explicit));
    for length in 0..bytes.len() {
        assert!(Transaction::decode(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn signer_must_be_named_by_a_bitcoin_address() {
    let row = &samples()[3];
    let with = |format| signed(&row.key(), Some(format), &row.psbt);
    for format in [AddressFormat::Ethereum, AddressFormat::DogeMainnet, AddressFormat::SparkMainnet] {
        let error = format!(
            "failed to parse transaction: the address of the key belongs to another chain ({format})"
        );
        assert_eq!(with(format), Err(error));
    }
    assert!(with(AddressFormat::Compressed).is_ok());
    assert!(with(AddressFormat::BitcoinTestnetP2pkh).is_ok());
    assert!(with(AddressFormat::BitcoinMainnetP2sh).is_err());
}

#[test]
fn number_of_inputs_is_limited() {
    let with = |count: usize| {
        signing_error("P2WPKH, one input", |psbt| {
            let (spending, input) = (psbt.unsigned_tx.input[0].clone(), psbt.inputs[0].clone());
            for index in 1..count {
                let mut spending = spending.clone();
                spending.previous_output.vout = u32::try_from(index).unwrap() + 1;
                psbt.unsigned_tx.input.push(spending);
                psbt.inputs.push(input.clone());
            }
        })
    };
    assert_eq!(with(MAX_INPUTS), None);
    assert_eq!(with(MAX_INPUTS + 1), Some(BitcoinError::Inputs));
}

/// Each input without a witness hashes the whole transaction: 60 inputs with 62 KB hash 3.7 MB, 80 inputs
/// with 63 KB hash 5 MB.
#[test]
fn hashing_is_limited() {
    let with = |count: u32| {
        signing_error("P2PKH, one input", |psbt| {
            let script_pubkey = ScriptBuf::from_bytes(vec![0x51; 60_000]);
            psbt.unsigned_tx.output.push(TxOut { value: Amount::ZERO, script_pubkey });
            psbt.outputs.push(bitcoin::psbt::Output::default());
            for index in 1..count {
                let (mut spending, mut input) = (psbt.unsigned_tx.input[0].clone(), psbt.inputs[0].clone());
                let previous = input.non_witness_utxo.as_mut().unwrap();
                previous.lock_time = LockTime::from_consensus(index);
                spending.previous_output.txid = previous.compute_txid();
                psbt.unsigned_tx.input.push(spending);
                psbt.inputs.push(input);
            }
        })
    };
    assert_eq!(with(60), None);
    assert_eq!(with(80), Some(BitcoinError::Hashing));
}

fn facts(psbt: &Psbt, format: Option<AddressFormat>) -> String {
    let key = secret(Curve::Secp256k1, &"11".repeat(32));
    let read = Unsigned::read(TransactionType::Bitcoin, &psbt.serialize_hex()).unwrap();
    let signable = read.for_signer(&Signer { key: key.public(), format }).unwrap();
    let (root, facts) = signable.facts(&NoInterfaces);
    assert_eq!(root, "bitcoin");
    format!("{:?}", facts.member("tx").unwrap())
}

#[test]
fn facts_match_the_psbt() {
    let mut psbt = sample("P2WPKH, one input");
    psbt.unsigned_tx.lock_time = LockTime::from_consensus(500_000_000);
    psbt.unsigned_tx.input[0].sequence = Sequence::from_consensus(7);
    let key = secret(Curve::Secp256k1, &"11".repeat(32));
    for (format, prefix) in [
        (None, "bc1q"),
        (Some(AddressFormat::BitcoinTestnetP2wpkh), "tb1q"),
        (Some(AddressFormat::BitcoinSignetP2wpkh), "tb1q"),
        (Some(AddressFormat::BitcoinRegtestP2wpkh), "bcrt1q"),
    ] {
        let text = facts(&psbt, format);
        let own = address(format.unwrap_or(AddressFormat::BitcoinMainnetP2wpkh), key.public()).unwrap();
        for part in [
            prefix,
            &own,
            "\"P2WPKH\"",
            "00143535353535353535353535353535353535353535",
            "\"Seconds\"",
            "500000000",
            "60000000",
            "39990000",
            // The difference between inputs and outputs.
            "(\"fee\", Int(Integer { negative: false, magnitude: 10000 }))",
            "(\"version\", Text { text: \"2\"",
            &psbt.unsigned_tx.input[0].previous_output.txid.to_string(),
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    let mut unknown = sample("P2WPKH beside an input of somebody else");
    unknown.inputs[0].witness_utxo = None;
    let text = facts(&unknown, None);
    assert!(!text.contains("fee") && text.contains("\"Blocks\"") && text.contains("800000"), "{text}");
}

#[test]
fn roles_follow_from_the_name_of_the_signer() {
    let key = secret(Curve::Secp256k1, &"11".repeat(32));
    let address = address(AddressFormat::BitcoinMainnetP2wpkh, key.public()).unwrap();
    let psbt = sample("P2WPKH beside an input of somebody else");
    let read = Transaction::decode(&psbt.serialize()).unwrap();
    for name in [address, key.public().compressed_hex()] {
        let holder = Holder::read(&name).unwrap();
        let parts: Vec<Part> = read.inputs(Some(&holder)).iter().map(|input| input.part).collect();
        assert_eq!(parts, [Part::Others, Part::Signs, Part::Signs]);
        assert_eq!(read.unproven(Some(&holder)), 3);
    }
    assert!(read.inputs(None).iter().all(|input| input.part == Part::Unknown));
    for (case, expected) in [
        ("P2WPKH, one input", 0),
        ("P2PKH, one input", 0),
        ("P2PKH beside an input of somebody else", 1),
        ("P2TR beside an input of somebody else", 0),
        ("one input of each kind", 0),
    ] {
        let read = Transaction::decode(&sample(case).serialize()).unwrap();
        let holder = Holder::read(&key.public().compressed_hex()).unwrap();
        assert_eq!(read.unproven(Some(&holder)), expected, "{case}");
    }
    for name in
        ["", "private", "77777777-7777-7777-7777-777777777777", "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"]
    {
        assert!(Holder::read(name).is_none(), "{name}");
    }
}

#[test]
fn error_messages_do_not_repeat_the_input() {
    // A duplicate key of the maximum length.
    let key = [&[0xfd, 0x00, 0xf0][..], &vec![0xf0; 0xf000], &[0x00][..]].concat();
    let bytes = [&b"psbt\xff"[..], &key, &key, &[0]].concat();
    assert_eq!(Transaction::decode(&bytes), Err(BitcoinError::DuplicateKey));
    assert!(BitcoinError::DuplicateKey.to_string().len() < 200);
}

#[test]
fn estimates_the_size_of_signed_transactions() {
    // Sizes from BIP-141, with a signature of 72 bytes and its sighash type, and a Taproot signature of 64 bytes: 10.5
    // for the frame, 68 for each P2WPKH and 57.5 for each P2TR input, 149 for P2PKH without a witness, 31 for each
    // P2WPKH and 43 for each P2TR output.
    let estimate = |case: &str| Transaction::decode(&sample(case).serialize()).unwrap().estimated_vsize();
    assert_eq!(estimate("P2WPKH, one input"), Some(141));
    assert_eq!(estimate("everything comes back"), Some(169));
    assert_eq!(estimate("P2SH, 2 of 2"), None);
    assert_eq!(estimate("an input that does not say what it spends"), None);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Transaction::decode(&bytes);
        let _ = Transaction::decode(&[b"psbt\xff", bytes.as_slice()].concat());
    }

    #[test]
    fn decoded_psbts_are_written_unchanged(index in 0_usize..700, byte in any::<u8>()) {
        let key = PublicKey::from_bytes(Curve::Secp256k1, secret(Curve::Secp256k1, &"11".repeat(32)).public().compressed());
        let key = key.unwrap();
        for row in samples() {
            let mut bytes = const_hex::decode(&row.psbt).unwrap();
            if let Some(changed) = bytes.get_mut(index) {
                *changed = byte;
            }
            let Ok(read) = Transaction::decode(&bytes) else { continue };
            prop_assert_eq!(read.signed(&key, &[]), bytes);
            let signer = Signer { key: &key, format: None };
            let _ = (read.slots(&signer), read.facts(&signer));
        }
    }
}
