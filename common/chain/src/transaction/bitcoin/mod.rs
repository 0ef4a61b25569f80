//! Transactions of Bitcoin on their way between signers: PSBT of version 0 (BIP-174, BIP-371).
//!
//! Signs inputs that one key can satisfy and writes down its signatures; never finalises. All else stays as it was read,
//! byte for byte.

mod claim;
mod flaw;
mod maps;
mod part;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use bitcoin::psbt::Psbt;
use bitcoin::secp256k1::ecdsa;
use bitcoin::{OutPoint, TxOut};
use quorate_policy::Value;

use self::maps::Map;
use super::{Signer, Slot};
use crate::address::{Network, on_bitcoin};
use crate::curve::{PublicKey, Signature};

pub use flaw::Flaw;
pub use part::{Holder, Input, LockTime, Output, Part};

/// Most inputs: as many as are signed within a tenth of a second.
pub const MAX_INPUTS: usize = 250;
/// Most bytes that are hashed for inputs without a witness. Each of them takes the whole transaction again.
const MAX_HASHED_BYTES: usize = 4 * 1024 * 1024;
/// Most satoshis there will ever be.
const MAX_MONEY: u64 = 21_000_000 * 100_000_000;

/// A transaction and what signers need to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    psbt: Psbt,
    /// As read: that of the whole, those of the inputs, those of the outputs.
    maps: Vec<Map>,
    /// What each input spends, as far as the PSBT says.
    spent: Vec<Option<Spent>>,
}

/// An output that an input spends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spent {
    output: TxOut,
    /// Whether the transaction that made it is there. Otherwise its value is what the asker says.
    is_proven: bool,
}

impl Transaction {
    /// Reads a PSBT. What the library writes must come to the same keys and values, in whatever order, since each library
    /// has an order of its own.
    ///
    /// # Errors
    /// The [`Flaw`] that applies first.
    pub fn decode(bytes: &[u8]) -> Result<Self, Flaw> {
        let psbt = Psbt::deserialize(bytes).map_err(|error| Flaw::of(&error))?;
        if psbt.inputs.len() > MAX_INPUTS {
            return Err(Flaw::Inputs);
        }
        if psbt.outputs.is_empty() {
            return Err(Flaw::Outputs);
        }
        let maps = maps::read(bytes).ok_or(Flaw::NotCanonical)?;
        check_canonical(&psbt, maps.clone())?;
        let spent = spent(&psbt)?;
        let transaction = Self { psbt, maps, spent };
        transaction.check_amounts()?;
        Ok(transaction)
    }

    /// Where the key signs, and what.
    pub(super) fn slots(&self, signer: &Signer<'_>) -> Result<Vec<Slot>, Flaw> {
        claim::slots(self, signer)
    }

    /// The PSBT with these signatures; one that the key gave before is replaced.
    pub(super) fn signed(&self, key: &PublicKey, signatures: &[(usize, Signature)]) -> Vec<u8> {
        const PARTIAL_SIG: u8 = 0x02;
        const TAP_KEY_SIG: u8 = 0x13;
        const SIGHASH_ALL: u8 = 0x01;
        let mut maps = self.maps.clone();
        for (input, signature) in signatures {
            let is_taproot = self.spent_by(*input).is_some_and(|spent| spent.output.script_pubkey.is_p2tr());
            let parts = [signature.r, signature.s].concat();
            let (key, value) = if is_taproot {
                (vec![TAP_KEY_SIG], parts)
            } else {
                let encoded =
                    ecdsa::Signature::from_compact(&parts).map(|signature| signature.serialize_der());
                let Ok(encoded) = encoded else { continue };
                let key = [&[PARTIAL_SIG], key.compressed()].concat();
                (key, [&encoded, [SIGHASH_ALL].as_slice()].concat())
            };
            if let Some(map) = maps.get_mut(input.saturating_add(1)) {
                map.set(key, value);
            }
        }
        maps::write(&maps)
    }

    /// What policies may ask about it. The fee is missing where an input does not say what it spends.
    pub(super) fn facts(&self, signer: &Signer<'_>) -> Value {
        let format = signer.format.and_then(on_bitcoin);
        let network = format.map_or(Network::Mainnet, |(network, _)| network);
        let inputs = self.psbt.unsigned_tx.input.iter().map(|input| {
            Value::record([
                ("tx_id", Value::text(input.previous_output.txid.to_string())),
                ("vout", Value::int(input.previous_output.vout)),
                ("sequence", Value::int(input.sequence.0)),
            ])
        });
        let outputs = self.psbt.unsigned_tx.output.iter().map(|output| {
            let output = Output::of(output, network, None);
            Value::record([
                ("value", Value::int(output.value)),
                ("script_pubkey", Value::text(const_hex::encode(&output.script))),
                ("address", Value::text(output.address.unwrap_or_default())),
                ("address_type", Value::folded(output.address_type)),
            ])
        });
        let (amount, unit) = match self.lock_time() {
            LockTime::Block(height) => (height, "Blocks"),
            LockTime::Second(second) => (second, "Seconds"),
        };
        let locktime = Value::record([("amount", Value::int(amount)), ("type", Value::text(unit))]);
        Value::record([
            ("version", Some(Value::text(self.psbt.unsigned_tx.version.0.to_string()))),
            ("inputs", Some(Value::list(inputs))),
            ("outputs", Some(Value::list(outputs))),
            ("locktime", Some(locktime)),
            ("fee", self.fee().map(Value::int)),
        ])
    }

    /// What is left to whoever mines it, in satoshis, if every input says what it spends.
    pub fn fee(&self) -> Option<u64> {
        self.taken_in()?.checked_sub(self.paid_out()?)
    }

    /// What the inputs spend, in satoshis, if each of them says so.
    fn taken_in(&self) -> Option<u64> {
        let values = self.spent.iter().map(|spent| Some(spent.as_ref()?.output.value.to_sat()));
        values.sum::<Option<u64>>()
    }

    /// What the outputs pay, in satoshis.
    fn paid_out(&self) -> Option<u64> {
        let mut values = self.psbt.unsigned_tx.output.iter().map(|output| output.value.to_sat());
        values.try_fold(0_u64, u64::checked_add)
    }

    fn check_amounts(&self) -> Result<(), Flaw> {
        let mut known = 0_u64;
        for value in self.spent.iter().flatten().map(|spent| spent.output.value.to_sat()) {
            known = known.checked_add(value).filter(|sum| *sum <= MAX_MONEY).ok_or(Flaw::Amounts)?;
        }
        let paid_out = self.paid_out().filter(|sum| *sum <= MAX_MONEY).ok_or(Flaw::Amounts)?;
        let is_all_known = self.spent.iter().all(Option::is_some);
        if is_all_known && paid_out > known { Err(Flaw::Amounts) } else { Ok(()) }
    }

    fn spent_by(&self, input: usize) -> Option<&Spent> {
        self.spent.get(input)?.as_ref()
    }
}

/// That the library would write the same keys and values. Two things it writes in a way of its own, and neither is signed:
/// it leaves out that the version is 0, and it lists the scripts of a Taproot output from the other side (BIP-371).
fn check_canonical(psbt: &Psbt, mut maps: Vec<Map>) -> Result<(), Flaw> {
    const VERSION: &[u8] = &[0xfb];
    const TAP_TREE: &[u8] = &[0x06];
    let mut again = maps::read(&psbt.serialize()).ok_or(Flaw::NotCanonical)?;
    if let Some(global) = maps.first_mut() {
        global.remove(VERSION);
    }
    for written in [&mut maps, &mut again] {
        let outputs = written.iter_mut().skip(psbt.inputs.len().saturating_add(1));
        outputs.for_each(|output| output.remove(TAP_TREE));
    }
    if maps::say_the_same(&maps, &again) { Ok(()) } else { Err(Flaw::NotCanonical) }
}

/// What the inputs spend. The transaction that an input names by its hash proves it.
fn spent(psbt: &Psbt) -> Result<Vec<Option<Spent>>, Flaw> {
    let mut known: BTreeSet<OutPoint> = BTreeSet::new();
    let mut all = Vec::with_capacity(psbt.inputs.len());
    for (place, (input, spending)) in psbt.inputs.iter().zip(&psbt.unsigned_tx.input).enumerate() {
        let from = spending.previous_output;
        if !known.insert(from) {
            return Err(Flaw::SpentTwice(place));
        }
        let mut spent = input.witness_utxo.clone().map(|output| Spent { output, is_proven: false });
        if let Some(previous) = &input.non_witness_utxo {
            let output = usize::try_from(from.vout).ok().and_then(|vout| previous.output.get(vout));
            let output = output.filter(|_| previous.compute_txid() == from.txid);
            let output = output.ok_or(Flaw::Previous(place))?.clone();
            if spent.is_some_and(|stated| stated.output != output) {
                return Err(Flaw::Utxo(place));
            }
            spent = Some(Spent { output, is_proven: true });
        }
        all.push(spent);
    }
    Ok(all)
}
