//! Cost of reading transactions and exposing their facts to policies, and of importing and exporting wallets:
//! the daemon's own functions, on one thread, in a loop.

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

/// Number of measurements, of which the fastest counts, because it is the least disturbed.
const TIMES: usize = 30;
/// Numbers of reads and of wallets that are timed together.
const READS: u32 = 500;
const WALLETS: u32 = 5;
/// Number of instructions in the Solana transaction.
const INSTRUCTIONS: u8 = 100;
/// A type 2 transaction on chain 1: one ether.
const TRANSFER: &str =
    "02f00180843b9aca008506fc23ac00825208943535353535353535353535353535353535353535880de0b6b3a764000080c0";
const MNEMONIC: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

/// Costs of transactions and wallets.
#[derive(Debug, Serialize, Deserialize)]
pub struct Chains {
    /// Reading an Ethereum type 2 transfer and its facts, in microseconds.
    pub ethereum_us: f64,
    /// The same for a Solana version 0 transaction with 100 instructions, in microseconds.
    pub solana_us: f64,
    /// Decrypting a mnemonic, deriving its seed and one account, in milliseconds.
    pub import_ms: f64,
    /// Encrypting a mnemonic and signing the bundle, in milliseconds.
    pub export_ms: f64,
}

/// Measures all costs.
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

/// Returns the microseconds of one call.
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

/// Returns a transaction with an empty signature slot of the payer, which calls one program in each
/// instruction.
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

/// Fills the buffer with constant bytes, because costs do not depend on randomness.
fn fill(buffer: &mut [u8]) {
    buffer.fill(9);
}
