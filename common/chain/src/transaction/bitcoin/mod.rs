//! Partially signed Bitcoin transactions: PSBT version 0 (BIP-174, BIP-371).
//!
//! Inputs that a single key can satisfy are signed, and the signatures are added. A PSBT is never finalized.
//! Everything else is preserved byte for byte.

mod claim;
mod error;
mod maps;
mod part;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use bitcoin::psbt::Psbt;
use bitcoin::secp256k1::ecdsa;
use bitcoin::{Network, OutPoint, TxOut};
use quorate_policy::Value;

use self::maps::Map;
use super::{Signer, Slot};
use crate::address::network_and_script_type;
use crate::curve::{PublicKey, Signature};

pub use error::BitcoinError;
pub use part::{Holder, Input, LockTime, Output, Part};

/// Maximum number of inputs: as many as can be signed within a tenth of a second.
pub const MAX_INPUTS: usize = 250;
/// Maximum number of bytes that are hashed for inputs without a witness. Each such input hashes the whole
/// transaction again.
const MAX_HASHED_BYTES: usize = 4 * 1024 * 1024;
/// Maximum supply in satoshis.
const MAX_MONEY: u64 = 21_000_000 * 100_000_000;

/// A PSBT: a transaction with the data that signers need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    psbt: Psbt,
    /// Original maps: the global map, those of the inputs, those of the outputs.
    maps: Vec<Map>,
    /// Output that each input spends, if the PSBT states it.
    spent: Vec<Option<Spent>>,
}

/// An output that an input spends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spent {
    output: TxOut,
    /// Whether the PSBT contains the transaction that created the output. Otherwise its value is only a claim
    /// of the proposer.
    is_proven: bool,
}

impl Transaction {
    /// Decodes a PSBT. The library must write the same keys and values, in any order, since each library uses
    /// its own order.
    ///
    /// # Errors
    /// The [`BitcoinError`] that applies first.
    pub fn decode(bytes: &[u8]) -> Result<Self, BitcoinError> {
        let psbt = Psbt::deserialize(bytes).map_err(|error| BitcoinError::of(&error))?;
        if psbt.inputs.len() > MAX_INPUTS {
            return Err(BitcoinError::Inputs);
        }
        if psbt.outputs.is_empty() {
            return Err(BitcoinError::Outputs);
        }
        let maps = maps::read(bytes).ok_or(BitcoinError::NotCanonical)?;
        check_canonical(&psbt, maps.clone())?;
        let spent = spent(&psbt)?;
        let transaction = Self { psbt, maps, spent };
        transaction.check_amounts()?;
        Ok(transaction)
    }

    /// Returns the signature slots of the key, with the messages to sign.
    pub(super) fn slots(&self, signer: &Signer<'_>) -> Result<Vec<Slot>, BitcoinError> {
        claim::slots(self, signer)
    }

    /// Returns the PSBT with these signatures. An earlier signature of the key is replaced.
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

    /// Returns the facts that policies can query. The fee is missing if an input does not state the output
    /// that it spends.
    pub(super) fn facts(&self, signer: &Signer<'_>) -> Value {
        let format = signer.format.and_then(network_and_script_type);
        let network = format.map_or(Network::Bitcoin, |(network, _)| network);
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

    /// Returns the fee in satoshis, if every input states the output that it spends.
    pub fn fee(&self) -> Option<u64> {
        self.input_value()?.checked_sub(self.output_value()?)
    }

    /// Returns the total value of the inputs in satoshis, if every input states it.
    fn input_value(&self) -> Option<u64> {
        let values = self.spent.iter().map(|spent| Some(spent.as_ref()?.output.value.to_sat()));
        values.sum::<Option<u64>>()
    }

    /// Returns the total value of the outputs in satoshis.
    fn output_value(&self) -> Option<u64> {
        let mut values = self.psbt.unsigned_tx.output.iter().map(|output| output.value.to_sat());
        values.try_fold(0_u64, u64::checked_add)
    }

    fn check_amounts(&self) -> Result<(), BitcoinError> {
        let mut known = 0_u64;
        for value in self.spent.iter().flatten().map(|spent| spent.output.value.to_sat()) {
            known = known.checked_add(value).filter(|sum| *sum <= MAX_MONEY).ok_or(BitcoinError::Amounts)?;
        }
        let total_output =
            self.output_value().filter(|sum| *sum <= MAX_MONEY).ok_or(BitcoinError::Amounts)?;
        let is_all_known = self.spent.iter().all(Option::is_some);
        if is_all_known && total_output > known { Err(BitcoinError::Amounts) } else { Ok(()) }
    }

    fn spent_by(&self, input: usize) -> Option<&Spent> {
        self.spent.get(input)?.as_ref()
    }
}

/// Checks that the library writes the same keys and values.
///
/// Two keys are ignored, because the library writes them differently and neither is signed. It omits version
/// 0, and it lists the scripts of a Taproot output in reverse order (BIP-371).
fn check_canonical(psbt: &Psbt, mut maps: Vec<Map>) -> Result<(), BitcoinError> {
    const VERSION: &[u8] = &[0xfb];
    const TAP_TREE: &[u8] = &[0x06];
    let mut rewritten = maps::read(&psbt.serialize()).ok_or(BitcoinError::NotCanonical)?;
    if let Some(global) = maps.first_mut() {
        global.remove(VERSION);
    }
    for side in [&mut maps, &mut rewritten] {
        let outputs = side.iter_mut().skip(psbt.inputs.len().saturating_add(1));
        outputs.for_each(|output| output.remove(TAP_TREE));
    }
    if maps::have_same_entries(&maps, &rewritten) { Ok(()) } else { Err(BitcoinError::NotCanonical) }
}

/// Returns the outputs that the inputs spend. A contained previous transaction proves its output, because the
/// input names it by its hash.
fn spent(psbt: &Psbt) -> Result<Vec<Option<Spent>>, BitcoinError> {
    let mut known: BTreeSet<OutPoint> = BTreeSet::new();
    let mut all = Vec::with_capacity(psbt.inputs.len());
    for (index, (input, spending)) in psbt.inputs.iter().zip(&psbt.unsigned_tx.input).enumerate() {
        let from = spending.previous_output;
        if !known.insert(from) {
            return Err(BitcoinError::DuplicateInput(index));
        }
        let mut spent = input.witness_utxo.clone().map(|output| Spent { output, is_proven: false });
        if let Some(previous) = &input.non_witness_utxo {
            let output = usize::try_from(from.vout).ok().and_then(|vout| previous.output.get(vout));
            let output = output.filter(|_| previous.compute_txid() == from.txid);
            let output = output.ok_or(BitcoinError::Previous(index))?.clone();
            if spent.is_some_and(|stated| stated.output != output) {
                return Err(BitcoinError::Utxo(index));
            }
            spent = Some(Spent { output, is_proven: true });
        }
        all.push(spent);
    }
    Ok(all)
}
