//! What it costs to read transactions and tell policies what stands in them, and to take wallets in and out: the daemon's
//! own functions, on one thread, in a loop.

use std::hint::black_box;
use std::time::Instant;

use quorate_chain::address::{AddressFormat, address};
use quorate_chain::contract::NoInterfaces;
use quorate_chain::derive::{Path, derive};
use quorate_chain::mnemonic::Mnemonic;
use quorate_chain::transaction::{Signer, TransactionType, Unsigned};
use quorate_chain::{Curve, Message, PublicKey, SecretKey};
use quorate_common::bundle::{Sealed, Statement, TargetKey, quorum_signature};
use quorate_common::ids::OrganizationId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The fastest of so many counts, for it is the least disturbed.
const TIMES: usize = 30;
/// Reads and wallets that are timed together.
const READS: u32 = 500;
const WALLETS: u32 = 5;
/// Instructions of the transaction of Solana.
const INSTRUCTIONS: u8 = 100;
/// Type 2, on chain 1: one ether.
const TRANSFER: &str =
    "02f00180843b9aca008506fc23ac00825208943535353535353535353535353535353535353535880de0b6b3a764000080c0";
const MNEMONIC: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

/// Costs of what is signed, and of what comes and goes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Chains {
    /// Reading a type 2 transfer of Ethereum and telling its facts, in microseconds.
    pub ethereum_us: f64,
    /// The same of a version 0 transaction of Solana with 100 instructions, in microseconds.
    pub solana_us: f64,
    /// Opening a mnemonic, making its seed and one account of it, in milliseconds.
    pub import_ms: f64,
    /// Encrypting a mnemonic and vouching for it, in milliseconds.
    pub export_ms: f64,
}

/// Measures.
pub fn measure() -> Chains {
    let secret = SecretKey::from_bytes(Curve::Secp256k1, &[7; 32]).expect("a scalar");
    let payer = SecretKey::from_bytes(Curve::Ed25519, &[7; 32]).expect("a key");
    let solana = const_hex::encode(solana(payer.public()));
    Chains {
        ethereum_us: timed(READS, || read(TransactionType::Ethereum, TRANSFER, secret.public())),
        solana_us: timed(READS, || read(TransactionType::Solana, &solana, payer.public())),
        import_ms: imports() / 1000.0,
        export_ms: exports() / 1000.0,
    }
}

/// Microseconds of one call.
fn timed(count: u32, mut call: impl FnMut()) -> f64 {
    let counts = (0..TIMES).map(|_| {
        let start = Instant::now();
        (0..count).for_each(|_| call());
        start.elapsed().as_secs_f64() * 1e6 / f64::from(count)
    });
    counts.fold(f64::INFINITY, f64::min)
}

fn read(kind: TransactionType, text: &str, key: &PublicKey) {
    let transaction = Unsigned::read(kind, text).expect("a transaction");
    let signable = transaction.for_signer(&Signer { key, format: None }).expect("one of this key");
    black_box(signable.facts(&NoInterfaces));
}

/// A transaction with a place for the signature of one payer, who calls one program as often as it takes.
fn solana(payer: &PublicKey) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend([0; 64]);
    bytes.extend([0x80, 1, 0, 1, 3]);
    bytes.extend(payer.compressed());
    bytes.extend([2; 32]);
    bytes.extend([3; 32]);
    bytes.extend([4; 32]);
    bytes.push(INSTRUCTIONS);
    for number in 0..INSTRUCTIONS {
        bytes.extend([2, 2, 0, 1, 4, number, 0, 0, 0]);
    }
    bytes.push(0);
    bytes
}

fn imports() -> f64 {
    let target = TargetKey::from_bytes(&[5; 32]).expect("a scalar");
    let sealed = Sealed::new(target.public(), MNEMONIC.as_bytes(), &mut fill).expect("it seals");
    let path: Path = "m/44'/60'/0'/0/0".parse().expect("a path");
    timed(WALLETS, || {
        let opened = target.open(&sealed).expect("it opens");
        let mnemonic = Mnemonic::parse(std::str::from_utf8(&opened).expect("UTF-8"));
        let seed = mnemonic.expect("a mnemonic").seed("");
        let key = derive(Curve::Secp256k1, &seed, &path).expect("a key");
        black_box(address(AddressFormat::Ethereum, key.public()).expect("an address"));
    })
}

fn exports() -> f64 {
    let target = TargetKey::from_bytes(&[5; 32]).expect("a scalar");
    let quorum = SecretKey::from_bytes(Curve::P256, &[6; 32]).expect("a scalar");
    let organization = OrganizationId::from_bytes([1; 16]);
    timed(WALLETS, || {
        let sealed = Sealed::new(target.public(), MNEMONIC.as_bytes(), &mut fill).expect("it seals");
        let statement = Statement::export(&sealed, organization).expect("it serializes");
        let digest = Message::Digest(Sha256::digest(statement.bytes()).into());
        let signature = quorum.sign(&digest).expect("it signs");
        let signature = quorum_signature(signature.r, signature.s).expect("a signature");
        black_box(statement.signed(&signature, "").expect("it serializes"));
    })
}

/// Costs depend on no randomness.
fn fill(buffer: &mut [u8]) {
    buffer.fill(9);
}
