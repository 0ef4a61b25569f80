//! Finds the inputs that belong to a key, checks their fields, and computes the messages to sign.

use bitcoin::hashes::Hash;
use bitcoin::opcodes::all::OP_CODESEPARATOR;
use bitcoin::psbt;
use bitcoin::script::Instruction;
use bitcoin::secp256k1::XOnlyPublicKey;
use bitcoin::sighash::{EcdsaSighashType, Prevouts, SighashCache, TapSighashType};
use bitcoin::{Script, ScriptBuf, TxOut};

use super::{BitcoinError, MAX_HASHED_BYTES, Transaction};
use crate::address::{AddressFormat, ScriptType, network_and_script_type, output_script};
use crate::curve::{Message, PublicKey};
use crate::transaction::{Signer, Slot};

/// A key with the output scripts that pay to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyScripts {
    key: bitcoin::PublicKey,
    internal: XOnlyPublicKey,
    own: Vec<(ScriptType, ScriptBuf)>,
    /// P2SH output script for P2WPKH of the key (nested witness).
    nested: ScriptBuf,
}

/// How an input belongs to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The key can sign the input, which spends an output of this type.
    Signable(ScriptType),
    /// Signing is not supported for this input, which spends an output of this type.
    Unsupported(ScriptType),
}

impl KeyScripts {
    /// Computes the scripts of a key. Returns `None` for keys of another curve than secp256k1.
    pub(super) fn new(key: &PublicKey) -> Option<Self> {
        let point = bitcoin::PublicKey::from_slice(key.compressed()).ok()?;
        let to_witness = output_script(ScriptType::WitnessPublicKeyHash, key)?;
        let own =
            ScriptType::ALL.iter().map(|script_type| Some((*script_type, output_script(*script_type, key)?)));
        Some(Self {
            key: point,
            internal: point.inner.x_only_public_key().0,
            nested: ScriptBuf::new_p2sh(&to_witness.script_hash()),
            own: own.collect::<Option<_>>()?,
        })
    }

    /// Returns the output scripts that the key alone can spend.
    pub(super) fn scripts(&self) -> impl Iterator<Item = &ScriptBuf> {
        self.own.iter().map(|(_, script)| script)
    }

    /// Returns how an input that spends from script `spent` belongs to the key, if it does.
    pub(super) fn claim(&self, input: &psbt::Input, spent: &Script) -> Option<Claim> {
        let own = self
            .own
            .iter()
            .find(|(_, script)| script.as_script() == spent)
            .map(|(script_type, _)| *script_type);
        let in_redeem = input.redeem_script.as_ref().is_some_and(|script| self.is_in(script));
        let in_witness = input.witness_script.as_ref().is_some_and(|script| self.is_in(script));
        if spent.is_p2sh() {
            let is_nested = input.redeem_script.as_ref().is_some_and(|script| script.is_p2wsh());
            if spent == self.nested.as_script() || is_nested && in_witness {
                return Some(Claim::Unsupported(ScriptType::ScriptHash));
            }
            return (own.is_some() || in_redeem).then_some(Claim::Signable(ScriptType::ScriptHash));
        }
        if spent.is_p2wsh() {
            return (own.is_some() || in_witness).then_some(Claim::Signable(ScriptType::WitnessScriptHash));
        }
        if spent.is_p2tr() && own.is_none() {
            let is_named = input.tap_internal_key == Some(self.internal);
            let mut leaves = input.tap_scripts.values();
            let has_key = is_named || leaves.any(|(script, _)| self.is_in(script));
            return has_key.then_some(Claim::Unsupported(ScriptType::Taproot));
        }
        own.map(Claim::Signable)
    }

    /// Returns whether a script pushes the key or, for Taproot, its x coordinate.
    fn is_in(&self, script: &Script) -> bool {
        let (whole, internal) = (self.key.inner.serialize(), self.internal.serialize());
        let mut pushes = script.instructions().flatten().filter_map(|one| match one {
            Instruction::PushBytes(bytes) => Some(bytes.as_bytes()),
            Instruction::Op(_) => None,
        });
        pushes.any(|push| push == whole || push == internal)
    }
}

pub(super) fn slots(transaction: &Transaction, signer: &Signer<'_>) -> Result<Vec<Slot>, BitcoinError> {
    use AddressFormat::{Compressed, Uncompressed};
    let only = match signer.format {
        None | Some(Compressed | Uncompressed) => None,
        Some(format) => Some(network_and_script_type(format).ok_or(BitcoinError::NoOwnInput)?.1),
    };
    let key_scripts = KeyScripts::new(signer.key).ok_or(BitcoinError::NoOwnInput)?;
    let mut cache = SighashCache::new(&transaction.psbt.unsigned_tx);
    let spent: Option<Vec<&TxOut>> =
        transaction.spent.iter().map(|spent| Some(&spent.as_ref()?.output)).collect();
    let (mut slots, mut hashed) = (Vec::new(), 0_usize);
    let size = transaction.psbt.unsigned_tx.base_size();
    for (index, input) in transaction.psbt.inputs.iter().enumerate() {
        let Some(own) = transaction.spent_by(index).map(|spent| &spent.output) else { continue };
        let script_type = match key_scripts.claim(input, &own.script_pubkey) {
            Some(Claim::Signable(script_type)) if only.is_none_or(|only| only == script_type) => script_type,
            Some(Claim::Unsupported(script_type)) if only.is_none_or(|only| only == script_type) => {
                return Err(BitcoinError::Unsupported(index));
            }
            _ => continue,
        };
        check(index, input, own, script_type, &key_scripts)?;
        if is_legacy(script_type) {
            hashed = hashed.saturating_add(size);
        }
        if hashed > MAX_HASHED_BYTES {
            return Err(BitcoinError::Hashing);
        }
        let message = message(&mut cache, index, input, own, script_type, spent.as_deref())?;
        slots.push(Slot { message, index });
    }
    if slots.is_empty() { Err(BitcoinError::NoOwnInput) } else { Ok(slots) }
}

/// Returns whether the signature is outside of a witness, so that it does not cover the value.
fn is_legacy(script_type: ScriptType) -> bool {
    matches!(script_type, ScriptType::PublicKeyHash | ScriptType::ScriptHash)
}

const NON_WITNESS: &str = "non_witness_utxo";
const WITNESS: &str = "witness_utxo";
const REDEEM: &str = "redeem_script";
const WITNESS_SCRIPT: &str = "witness_script";

/// Checks that an input has the fields that its script type needs, and none that contradicts it.
fn check(
    index: usize,
    input: &psbt::Input,
    spent: &TxOut,
    script_type: ScriptType,
    key_scripts: &KeyScripts,
) -> Result<(), BitcoinError> {
    let require =
        |name, is_present: bool| if is_present { Ok(()) } else { Err(BitcoinError::Missing(index, name)) };
    let forbid =
        |name, is_present: bool| if is_present { Err(BitcoinError::Forbidden(index, name)) } else { Ok(()) };
    let (previous, stated) = (input.non_witness_utxo.is_some(), input.witness_utxo.is_some());
    forbid("final_script_sig", input.final_script_sig.is_some())?;
    forbid("final_script_witness", input.final_script_witness.is_some())?;
    let is_legacy = is_legacy(script_type);
    require(NON_WITNESS, previous || !is_legacy)?;
    forbid(NON_WITNESS, previous && !is_legacy)?;
    require(WITNESS, stated || is_legacy)?;
    forbid(WITNESS, stated && is_legacy)?;
    let sighash_type = input.sighash_type.map(psbt::PsbtSighashType::to_u32);
    let usual = if script_type == ScriptType::Taproot {
        TapSighashType::Default as u32
    } else {
        EcdsaSighashType::All.to_u32()
    };
    if sighash_type.is_some_and(|requested| requested != usual) {
        return Err(BitcoinError::SighashType(index));
    }
    let paid = &spent.script_pubkey;
    match script_type {
        ScriptType::PublicKeyHash | ScriptType::WitnessPublicKeyHash => {}
        ScriptType::ScriptHash => {
            let script = input.redeem_script.as_ref().ok_or(BitcoinError::Missing(index, REDEEM))?;
            let matches = ScriptBuf::new_p2sh(&script.script_hash()) == *paid && is_plain(script);
            matches.then_some(()).ok_or(BitcoinError::Script(index, REDEEM))?;
        }
        ScriptType::WitnessScriptHash => {
            let script = input.witness_script.as_ref().ok_or(BitcoinError::Missing(index, WITNESS_SCRIPT))?;
            let matches = ScriptBuf::new_p2wsh(&script.wscript_hash()) == *paid && is_plain(script);
            matches.then_some(()).ok_or(BitcoinError::Script(index, WITNESS_SCRIPT))?;
        }
        ScriptType::Taproot => {
            let is_other = input.tap_internal_key.is_some_and(|key| key != key_scripts.internal);
            forbid("another tap_internal_key", is_other)?;
            forbid("tap_scripts", !input.tap_scripts.is_empty())?;
            forbid("tap_script_sigs", !input.tap_script_sigs.is_empty())?;
            forbid("tap_merkle_root", input.tap_merkle_root.is_some())?;
        }
    }
    Ok(())
}

/// Returns whether a signature covers the whole script: it can be parsed and has no `OP_CODESEPARATOR`
/// (BIP-143).
fn is_plain(script: &Script) -> bool {
    script.instructions().all(|one| one.is_ok_and(|one| one.opcode() != Some(OP_CODESEPARATOR)))
}

/// Returns the message to sign for an input that was checked.
fn message(
    cache: &mut SighashCache<&bitcoin::Transaction>,
    index: usize,
    input: &psbt::Input,
    spent: &TxOut,
    script_type: ScriptType,
    all: Option<&[&TxOut]>,
) -> Result<Message, BitcoinError> {
    let (paid, value, sighash) = (&spent.script_pubkey, spent.value, EcdsaSighashType::All);
    let digest = match script_type {
        ScriptType::PublicKeyHash => legacy(cache, index, paid),
        ScriptType::ScriptHash => {
            legacy(cache, index, input.redeem_script.as_deref().ok_or(BitcoinError::Missing(index, REDEEM))?)
        }
        ScriptType::WitnessPublicKeyHash => {
            cache.p2wpkh_signature_hash(index, paid, value, sighash).ok().map(Hash::to_byte_array)
        }
        ScriptType::WitnessScriptHash => {
            let script =
                input.witness_script.as_deref().ok_or(BitcoinError::Missing(index, WITNESS_SCRIPT))?;
            cache.p2wsh_signature_hash(index, script, value, sighash).ok().map(Hash::to_byte_array)
        }
        ScriptType::Taproot => {
            let all = all.ok_or(BitcoinError::MissingUtxo(index))?;
            let hash =
                cache.taproot_key_spend_signature_hash(index, &Prevouts::All(all), TapSighashType::Default);
            let digest = hash.ok().map(Hash::to_byte_array);
            return digest.map(Message::Taproot).ok_or(BitcoinError::Malformed);
        }
    };
    digest.map(Message::Digest).ok_or(BitcoinError::Malformed)
}

fn legacy(cache: &SighashCache<&bitcoin::Transaction>, index: usize, script: &Script) -> Option<[u8; 32]> {
    let hash = cache.legacy_signature_hash(index, script, EcdsaSighashType::All.to_u32()).ok()?;
    Some(hash.to_byte_array())
}
