//! Published PSBTs and those of another library: what is read, what is signed and what is refused.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use bitcoin::absolute::LockTime;
use bitcoin::hashes::Hash;
use bitcoin::psbt::{Input, Psbt, PsbtSighashType};
use bitcoin::{Amount, ScriptBuf, Sequence, TxOut};
use proptest::prelude::*;
use serde::Deserialize;

use super::{Flaw, Holder, MAX_INPUTS, Part, Transaction, maps};
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

/// The PSBT of the sample of that name.
fn sample(case: &str) -> Psbt {
    let row = samples().into_iter().find(|row| row.case == case).unwrap();
    Psbt::deserialize(&const_hex::decode(row.psbt).unwrap()).unwrap()
}

/// As the daemon signs it.
fn signed(key: &SecretKey, format: Option<AddressFormat>, psbt: &str) -> Result<String, String> {
    let read = Unsigned::read(TransactionType::Bitcoin, psbt).map_err(|flaw| flaw.to_string())?;
    let signer = Signer { key: key.public(), format };
    let signable = read.for_signer(&signer).map_err(|flaw| flaw.to_string())?;
    signable.sign(|message| key.sign(message)).map_err(|fault| fault.to_string())
}

#[test]
fn published_psbts_are_signed() {
    for row in samples() {
        let once = signed(&row.key(), row.format, &row.psbt);
        assert_eq!(once.as_ref(), Ok(&row.signed), "{}", row.case);
        let twice = signed(&row.key(), row.format, &row.signed);
        assert_eq!(twice.as_ref(), Ok(&row.signed), "{}: a signature replaces itself", row.case);
    }
}

#[test]
fn keys_may_come_in_any_order_and_keep_it() {
    for row in samples() {
        let mut maps = maps::read(&const_hex::decode(&row.psbt).unwrap()).unwrap();
        maps.iter_mut().for_each(maps::Map::reverse);
        let turned = const_hex::encode(maps::write(&maps));
        let signed = signed(&row.key(), row.format, &turned).unwrap();
        let signed = maps::read(&const_hex::decode(signed).unwrap()).unwrap();
        let expected = maps::read(&const_hex::decode(&row.signed).unwrap()).unwrap();
        assert!(maps::say_the_same(&signed, &expected), "{}", row.case);
        assert_eq!(signed.first(), maps.first(), "{}: nothing is put in order", row.case);
    }
}

#[derive(Deserialize)]
struct ReadRow {
    case: String,
    psbt: String,
    valid: bool,
}

#[test]
fn published_psbts_are_read_or_refused() {
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
    flaw: String,
}

#[test]
fn published_psbts_are_not_signed() {
    let file = include_str!("../../../../../assets/vectors/chain/psbt_refused.json");
    for row in rows::<RefusedRow>(file) {
        let refused = signed(&secret(Curve::Secp256k1, &row.private), None, &row.psbt);
        assert_eq!(refused, Err(format!("failed to parse transaction: {}", row.flaw)), "{}", row.case);
    }
}

/// What is said to a change of a sample whose inputs all belong to the key.
fn refused(case: &str, change: impl FnOnce(&mut Psbt)) -> Option<Flaw> {
    let mut psbt = sample(case);
    change(&mut psbt);
    let key = secret(Curve::Secp256k1, &"11".repeat(32));
    let signer = Signer { key: key.public(), format: None };
    Transaction::decode(&psbt.serialize()).and_then(|read| read.slots(&signer)).err()
}

/// The same for the one input of a sample.
fn refused_input(kind: &str, change: impl FnOnce(&mut Input)) -> Option<Flaw> {
    refused(&format!("{kind}, one input"), |psbt| change(&mut psbt.inputs[0]))
}

#[test]
fn each_kind_has_its_fields() {
    use Flaw::{Forbidden, Missing, NotAsked, Script, SighashType};
    for kind in ["P2PKH", "P2SH", "P2WPKH", "P2WSH", "P2TR"] {
        assert_eq!(refused_input(kind, |_| {}), None, "{kind}");
        let finished = refused_input(kind, |input| input.final_script_sig = Some(ScriptBuf::new()));
        assert_eq!(finished, Some(Forbidden(0, "final_script_sig")), "{kind}");
        for asked in [0x02, 0x03, 0x81, 0x41] {
            let asked = PsbtSighashType::from_u32(asked);
            let other = refused_input(kind, |input| input.sighash_type = Some(asked));
            assert_eq!(other, Some(SighashType(0)), "{kind} {asked}");
        }
        let usual = PsbtSighashType::from_u32(u32::from(kind != "P2TR"));
        assert_eq!(refused_input(kind, |input| input.sighash_type = Some(usual)), None, "{kind}");
        let unusual = PsbtSighashType::from_u32(u32::from(kind == "P2TR"));
        let other = refused_input(kind, |input| input.sighash_type = Some(unusual));
        assert_eq!(other, Some(SighashType(0)), "{kind}");
        let nothing = refused_input(kind, |input| *input = Input::default());
        assert_eq!(nothing, Some(NotAsked), "{kind}");
    }
    for kind in ["P2PKH", "P2SH"] {
        let output = |input: &Input| input.non_witness_utxo.as_ref().unwrap().output[1].clone();
        let both = refused_input(kind, |input| input.witness_utxo = Some(output(input)));
        assert_eq!(both, Some(Forbidden(0, "witness_utxo")), "{kind}");
        let only = refused_input(kind, |input| {
            input.witness_utxo = Some(output(input));
            input.non_witness_utxo = None;
        });
        assert_eq!(only, Some(Missing(0, "non_witness_utxo")), "{kind}");
    }
    let no_script = refused_input("P2SH", |input| input.redeem_script = None);
    assert_eq!(no_script, Some(Missing(0, "redeem_script")));
    let no_script = refused_input("P2WSH", |input| input.witness_script = None);
    assert_eq!(no_script, Some(Missing(0, "witness_script")));
    let other =
        refused_input("P2WSH", |input| input.witness_script.as_mut().unwrap().push_opcode(0x75.into()));
    assert_eq!(other, Some(Script(0, "witness_script")));
}

#[test]
fn trees_of_scripts_are_not_signed() {
    let other = secret(Curve::Secp256k1, &"22".repeat(32));
    let other = bitcoin::XOnlyPublicKey::from_slice(&other.public().compressed()[1..]).unwrap();
    let named = refused_input("P2TR", |input| input.tap_internal_key = Some(other));
    assert_eq!(named, Some(Flaw::Forbidden(0, "another tap_internal_key")));
    let root = bitcoin::TapNodeHash::from_byte_array([1; 32]);
    let tree = refused_input("P2TR", |input| input.tap_merkle_root = Some(root));
    assert_eq!(tree, Some(Flaw::Forbidden(0, "tap_merkle_root")));
    // The key is the internal one of an output that has a tree.
    let tweaked = refused_input("P2TR", |input| {
        let output = input.witness_utxo.as_mut().unwrap();
        output.script_pubkey = ScriptBuf::from_hex(&format!("5120{other}")).unwrap();
        input.tap_merkle_root = Some(root);
    });
    assert_eq!(tweaked, Some(Flaw::Unsupported(0)));
}

#[test]
fn taproot_needs_to_know_what_every_input_spends() {
    let case = "P2TR beside an input of somebody else";
    assert_eq!(refused(case, |_| {}), None);
    let unknown = refused(case, |psbt| psbt.inputs[0].witness_utxo = None);
    assert_eq!(unknown, Some(Flaw::Silent(1)));
    let unknown =
        refused("P2WPKH beside an input of somebody else", |psbt| psbt.inputs[0].witness_utxo = None);
    assert_eq!(unknown, None);
}

#[test]
fn previous_transactions_prove_what_they_pay() {
    for kind in ["P2PKH", "P2SH"] {
        let richer = refused_input(kind, |input| {
            input.non_witness_utxo.as_mut().unwrap().output[1].value = Amount::from_sat(99_999_999);
        });
        assert_eq!(richer, Some(Flaw::Previous(0)), "{kind}");
        let case = format!("{kind}, one input");
        let beyond = refused(&case, |psbt| psbt.unsigned_tx.input[0].previous_output.vout = 2);
        assert_eq!(beyond, Some(Flaw::Previous(0)), "{kind}");
        let differing = refused_input(kind, |input| {
            let mut output = input.non_witness_utxo.as_ref().unwrap().output[1].clone();
            output.value = Amount::from_sat(1);
            input.witness_utxo = Some(output);
        });
        assert_eq!(differing, Some(Flaw::Utxo(0)), "{kind}");
    }
}

#[test]
fn amounts_must_add_up() {
    let pays = |value: u64| {
        refused("P2WPKH, one input", |psbt| psbt.unsigned_tx.output[0].value = Amount::from_sat(value))
    };
    assert_eq!(pays(60_010_000), None);
    for value in [60_010_001, 21_000_000 * 100_000_000, u64::MAX - 1, u64::MAX] {
        assert_eq!(pays(value), Some(Flaw::Amounts), "{value}");
    }
    for value in [99_989_999, 2_100_000_000_000_001, u64::MAX] {
        let spends = refused_input("P2WPKH", |input| {
            input.witness_utxo.as_mut().unwrap().value = Amount::from_sat(value);
        });
        assert_eq!(spends, Some(Flaw::Amounts), "{value}");
    }
    let unpaid = refused("P2WPKH, one input", |psbt| {
        psbt.unsigned_tx.output.clear();
        psbt.outputs.clear();
    });
    assert_eq!(unpaid, Some(Flaw::Outputs));
    let twice = refused("P2WPKH beside an input of somebody else", |psbt| {
        psbt.unsigned_tx.input[2].previous_output = psbt.unsigned_tx.input[0].previous_output;
    });
    assert_eq!(twice, Some(Flaw::SpentTwice(2)));
}

#[test]
fn what_is_no_psbt_of_version_0_is_refused() {
    let told = |bytes: &[u8]| Transaction::decode(bytes).unwrap_err();
    let bytes = sample("P2WPKH, one input").serialize();
    assert_eq!(told(b"psbt"), Flaw::Malformed);
    assert_eq!(told(b"pskt\xff\x00"), Flaw::NotPsbt);
    assert_eq!(told(b"psbt\xff\x00"), Flaw::NoTransaction);
    // BIP-370: the version stands first, or behind the counts.
    assert_eq!(told(b"psbt\xff\x01\xfb\x04\x02\x00\x00\x00\x00"), Flaw::Version);
    assert_eq!(
        told(b"psbt\xff\x01\x04\x01\x01\x01\x05\x01\x01\x01\xfb\x04\x02\x00\x00\x00\x00"),
        Flaw::Version
    );
    for more in [&[0][..], &[0, 0], &bytes] {
        assert_eq!(told(&[&bytes, more].concat()), Flaw::NotCanonical);
    }
    // That the version is 0 may be said.
    let (magic, maps) = bytes.split_at(5);
    let said = [magic, b"\x01\xfb\x04\x00\x00\x00\x00", maps].concat();
    assert_eq!(Transaction::decode(&said).map(|read| maps::write(&read.maps)), Ok(said));
    for length in 0..bytes.len() {
        assert!(Transaction::decode(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn a_key_is_named_by_an_address_of_bitcoin() {
    let row = &samples()[3];
    let with = |format| signed(&row.key(), Some(format), &row.psbt);
    for format in [AddressFormat::Ethereum, AddressFormat::DogeMainnet, AddressFormat::SparkMainnet] {
        let told =
            format!("failed to parse transaction: the address of the key is of another chain, {format}");
        assert_eq!(with(format), Err(told));
    }
    assert!(with(AddressFormat::Compressed).is_ok());
    assert!(with(AddressFormat::BitcoinTestnetP2pkh).is_ok());
    assert!(with(AddressFormat::BitcoinMainnetP2sh).is_err());
}

#[test]
fn inputs_are_limited() {
    let with = |count: usize| {
        refused("P2WPKH, one input", |psbt| {
            let (spending, input) = (psbt.unsigned_tx.input[0].clone(), psbt.inputs[0].clone());
            for place in 1..count {
                let mut spending = spending.clone();
                spending.previous_output.vout = u32::try_from(place).unwrap() + 1;
                psbt.unsigned_tx.input.push(spending);
                psbt.inputs.push(input.clone());
            }
        })
    };
    assert_eq!(with(MAX_INPUTS), None);
    assert_eq!(with(MAX_INPUTS + 1), Some(Flaw::Inputs));
}

/// Each input without a witness hashes the whole transaction: 60 inputs and 62 KB are 3.7 MB, 80 inputs and 63 KB are 5.
#[test]
fn hashing_is_limited() {
    let with = |count: u32| {
        refused("P2PKH, one input", |psbt| {
            let script_pubkey = ScriptBuf::from_bytes(vec![0x51; 60_000]);
            psbt.unsigned_tx.output.push(TxOut { value: Amount::ZERO, script_pubkey });
            psbt.outputs.push(bitcoin::psbt::Output::default());
            for place in 1..count {
                let (mut spending, mut input) = (psbt.unsigned_tx.input[0].clone(), psbt.inputs[0].clone());
                let previous = input.non_witness_utxo.as_mut().unwrap();
                previous.lock_time = LockTime::from_consensus(place);
                spending.previous_output.txid = previous.compute_txid();
                psbt.unsigned_tx.input.push(spending);
                psbt.inputs.push(input);
            }
        })
    };
    assert_eq!(with(60), None);
    assert_eq!(with(80), Some(Flaw::Hashing));
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
fn facts_are_those_of_the_bytes() {
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
        let told = facts(&psbt, format);
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
            // What the inputs take in and the outputs do not pay out.
            "(\"fee\", Int(Integer { negative: false, magnitude: [0, 0, 0, 10000] }))",
            "(\"version\", Text { text: \"2\"",
            &psbt.unsigned_tx.input[0].previous_output.txid.to_string(),
        ] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }
    let mut unknown = sample("P2WPKH beside an input of somebody else");
    unknown.inputs[0].witness_utxo = None;
    let told = facts(&unknown, None);
    assert!(!told.contains("fee") && told.contains("\"Blocks\"") && told.contains("800000"), "{told}");
}

#[test]
fn the_name_of_the_signer_tells_what_is_its_own() {
    let key = secret(Curve::Secp256k1, &"11".repeat(32));
    let address = address(AddressFormat::BitcoinMainnetP2wpkh, key.public()).unwrap();
    let psbt = sample("P2WPKH beside an input of somebody else");
    let read = Transaction::decode(&psbt.serialize()).unwrap();
    for name in [address, key.public().compressed_hex()] {
        let holder = Holder::read(&name).unwrap();
        let parts: Vec<Part> = read.inputs(Some(&holder)).iter().map(|input| input.part).collect();
        assert_eq!(parts, [Part::Foreign, Part::Signs, Part::Signs]);
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
fn messages_never_grow_with_what_was_sent() {
    // A key that stands twice, as long as a key can be.
    let key = [&[0xfd, 0x00, 0xf0][..], &vec![0xf0; 0xf000], &[0x00][..]].concat();
    let bytes = [&b"psbt\xff"[..], &key, &key, &[0]].concat();
    assert_eq!(Transaction::decode(&bytes), Err(Flaw::Twice));
    assert!(Flaw::Twice.to_string().len() < 200);
}

proptest! {
    #[test]
    fn anything_is_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Transaction::decode(&bytes);
        let _ = Transaction::decode(&[b"psbt\xff", bytes.as_slice()].concat());
    }

    #[test]
    fn what_is_read_is_what_is_kept(place in 0_usize..700, byte in any::<u8>()) {
        let key = PublicKey::from_bytes(Curve::Secp256k1, secret(Curve::Secp256k1, &"11".repeat(32)).public().compressed());
        let key = key.unwrap();
        for row in samples() {
            let mut bytes = const_hex::decode(&row.psbt).unwrap();
            if let Some(changed) = bytes.get_mut(place) {
                *changed = byte;
            }
            let Ok(read) = Transaction::decode(&bytes) else { continue };
            prop_assert_eq!(read.signed(&key, &[]), bytes);
            let signer = Signer { key: &key, format: None };
            let _ = (read.slots(&signer), read.facts(&signer));
        }
    }
}
