//! Which inputs belong to a key, what they must have for it to sign, and what it signs.

use bitcoin::hashes::Hash;
use bitcoin::opcodes::all::OP_CODESEPARATOR;
use bitcoin::psbt;
use bitcoin::script::Instruction;
use bitcoin::secp256k1::XOnlyPublicKey;
use bitcoin::sighash::{EcdsaSighashType, Prevouts, SighashCache, TapSighashType};
use bitcoin::{Script, ScriptBuf, TxOut, WitnessProgram, WitnessVersion};

use super::{Flaw, MAX_HASHED_BYTES, Transaction};
use crate::address::{AddressFormat, Pays, on_bitcoin, script};
use crate::curve::{Message, PublicKey};
use crate::transaction::{Signer, Slot};

/// What pays to a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claimant {
    key: bitcoin::PublicKey,
    internal: XOnlyPublicKey,
    own: [(Pays, ScriptBuf); 5],
    /// Pays to the hash of a script that is P2WPKH of the key.
    nested: ScriptBuf,
}

/// What an input asks of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// A signature of this kind.
    Of(Pays),
    /// One that is not given here, by an output of this kind.
    Unsupported(Pays),
}

impl Claimant {
    /// Nothing for keys of another curve than secp256k1.
    pub(super) fn new(key: &PublicKey) -> Option<Self> {
        let point = bitcoin::PublicKey::from_slice(key.compressed()).ok()?;
        let compressed = bitcoin::CompressedPublicKey(point.inner);
        let single = ScriptBuf::from_bytes(script(key));
        let taproot = WitnessProgram::new(WitnessVersion::V1, &key.taproot_output()?).ok()?;
        let to_witness = ScriptBuf::new_p2wpkh(&compressed.wpubkey_hash());
        Some(Self {
            key: point,
            internal: point.inner.x_only_public_key().0,
            nested: ScriptBuf::new_p2sh(&to_witness.script_hash()),
            own: [
                (Pays::PublicKeyHash, ScriptBuf::new_p2pkh(&compressed.pubkey_hash())),
                (Pays::ScriptHash, ScriptBuf::new_p2sh(&single.script_hash())),
                (Pays::WitnessPublicKeyHash, to_witness),
                (Pays::WitnessScriptHash, ScriptBuf::new_p2wsh(&single.wscript_hash())),
                (Pays::Taproot, ScriptBuf::new_witness_program(&taproot)),
            ],
        })
    }

    /// The outputs that the key alone can spend.
    pub(super) fn scripts(&self) -> impl Iterator<Item = &ScriptBuf> {
        self.own.iter().map(|(_, script)| script)
    }

    /// What an input that spends from `spent` asks of the key, if anything.
    pub(super) fn claim(&self, input: &psbt::Input, spent: &Script) -> Option<Claim> {
        let own = self.own.iter().find(|(_, script)| script.as_script() == spent).map(|(pays, _)| *pays);
        let in_redeem = input.redeem_script.as_ref().is_some_and(|script| self.is_in(script));
        let in_witness = input.witness_script.as_ref().is_some_and(|script| self.is_in(script));
        if spent.is_p2sh() {
            let is_nested = input.redeem_script.as_ref().is_some_and(|script| script.is_p2wsh());
            if spent == self.nested.as_script() || is_nested && in_witness {
                return Some(Claim::Unsupported(Pays::ScriptHash));
            }
            return (own.is_some() || in_redeem).then_some(Claim::Of(Pays::ScriptHash));
        }
        if spent.is_p2wsh() {
            return (own.is_some() || in_witness).then_some(Claim::Of(Pays::WitnessScriptHash));
        }
        if spent.is_p2tr() && own.is_none() {
            let is_named = input.tap_internal_key == Some(self.internal);
            let mut leaves = input.tap_scripts.values();
            let is_asked = is_named || leaves.any(|(script, _)| self.is_in(script));
            return is_asked.then_some(Claim::Unsupported(Pays::Taproot));
        }
        own.map(Claim::Of)
    }

    /// Whether a script pushes the key, or for Taproot its x coordinate.
    fn is_in(&self, script: &Script) -> bool {
        let (whole, internal) = (self.key.inner.serialize(), self.internal.serialize());
        let mut pushes = script.instructions().flatten().filter_map(|one| match one {
            Instruction::PushBytes(bytes) => Some(bytes.as_bytes()),
            Instruction::Op(_) => None,
        });
        pushes.any(|push| push == whole || push == internal)
    }
}

pub(super) fn slots(transaction: &Transaction, signer: &Signer<'_>) -> Result<Vec<Slot>, Flaw> {
    use AddressFormat::{Compressed, Uncompressed};
    let only = match signer.format {
        None | Some(Compressed | Uncompressed) => None,
        Some(format) => Some(on_bitcoin(format).ok_or(Flaw::NotAsked)?.1),
    };
    let claimant = Claimant::new(signer.key).ok_or(Flaw::NotAsked)?;
    let mut cache = SighashCache::new(&transaction.psbt.unsigned_tx);
    let spent: Option<Vec<&TxOut>> =
        transaction.spent.iter().map(|spent| Some(&spent.as_ref()?.output)).collect();
    let (mut slots, mut hashed) = (Vec::new(), 0_usize);
    let size = transaction.psbt.unsigned_tx.base_size();
    for (place, input) in transaction.psbt.inputs.iter().enumerate() {
        let Some(own) = transaction.spent_by(place).map(|spent| &spent.output) else { continue };
        let pays = match claimant.claim(input, &own.script_pubkey) {
            Some(Claim::Of(pays)) if only.is_none_or(|only| only == pays) => pays,
            Some(Claim::Unsupported(pays)) if only.is_none_or(|only| only == pays) => {
                return Err(Flaw::Unsupported(place));
            }
            _ => continue,
        };
        check(place, input, own, pays, &claimant)?;
        if is_legacy(pays) {
            hashed = hashed.saturating_add(size);
        }
        if hashed > MAX_HASHED_BYTES {
            return Err(Flaw::Hashing);
        }
        let message = message(&mut cache, place, input, own, pays, spent.as_deref())?;
        slots.push(Slot { message, place });
    }
    if slots.is_empty() { Err(Flaw::NotAsked) } else { Ok(slots) }
}

/// Whether its signature stands outside of a witness, and so covers no value.
fn is_legacy(pays: Pays) -> bool {
    matches!(pays, Pays::PublicKeyHash | Pays::ScriptHash)
}

const NON_WITNESS: &str = "non_witness_utxo";
const WITNESS: &str = "witness_utxo";
const REDEEM: &str = "redeem_script";
const WITNESS_SCRIPT: &str = "witness_script";

/// That an input has what its kind needs, and nothing that contradicts it.
fn check(
    place: usize,
    input: &psbt::Input,
    spent: &TxOut,
    pays: Pays,
    claimant: &Claimant,
) -> Result<(), Flaw> {
    let need = |name, is_there: bool| if is_there { Ok(()) } else { Err(Flaw::Missing(place, name)) };
    let avoid = |name, is_there: bool| if is_there { Err(Flaw::Forbidden(place, name)) } else { Ok(()) };
    let (previous, stated) = (input.non_witness_utxo.is_some(), input.witness_utxo.is_some());
    avoid("final_script_sig", input.final_script_sig.is_some())?;
    avoid("final_script_witness", input.final_script_witness.is_some())?;
    let is_legacy = is_legacy(pays);
    need(NON_WITNESS, previous || !is_legacy)?;
    avoid(NON_WITNESS, previous && !is_legacy)?;
    need(WITNESS, stated || is_legacy)?;
    avoid(WITNESS, stated && is_legacy)?;
    let sighash_type = input.sighash_type.map(psbt::PsbtSighashType::to_u32);
    let usual =
        if pays == Pays::Taproot { TapSighashType::Default as u32 } else { EcdsaSighashType::All.to_u32() };
    if sighash_type.is_some_and(|asked| asked != usual) {
        return Err(Flaw::SighashType(place));
    }
    let paid = &spent.script_pubkey;
    match pays {
        Pays::PublicKeyHash | Pays::WitnessPublicKeyHash => {}
        Pays::ScriptHash => {
            let script = input.redeem_script.as_ref().ok_or(Flaw::Missing(place, REDEEM))?;
            let is_fit = ScriptBuf::new_p2sh(&script.script_hash()) == *paid && is_plain(script);
            is_fit.then_some(()).ok_or(Flaw::Script(place, REDEEM))?;
        }
        Pays::WitnessScriptHash => {
            let script = input.witness_script.as_ref().ok_or(Flaw::Missing(place, WITNESS_SCRIPT))?;
            let is_fit = ScriptBuf::new_p2wsh(&script.wscript_hash()) == *paid && is_plain(script);
            is_fit.then_some(()).ok_or(Flaw::Script(place, WITNESS_SCRIPT))?;
        }
        Pays::Taproot => {
            let is_other = input.tap_internal_key.is_some_and(|key| key != claimant.internal);
            avoid("another tap_internal_key", is_other)?;
            avoid("tap_scripts", !input.tap_scripts.is_empty())?;
            avoid("tap_script_sigs", !input.tap_script_sigs.is_empty())?;
            avoid("tap_merkle_root", input.tap_merkle_root.is_some())?;
        }
    }
    Ok(())
}

/// Whether a signature covers the whole script, which is so unless it has `OP_CODESEPARATOR` (BIP-143), and it can be read.
fn is_plain(script: &Script) -> bool {
    script.instructions().all(|one| one.is_ok_and(|one| one.opcode() != Some(OP_CODESEPARATOR)))
}

/// What the key signs for an input that was checked.
fn message(
    cache: &mut SighashCache<&bitcoin::Transaction>,
    place: usize,
    input: &psbt::Input,
    spent: &TxOut,
    pays: Pays,
    all: Option<&[&TxOut]>,
) -> Result<Message, Flaw> {
    let (paid, value, all_of_it) = (&spent.script_pubkey, spent.value, EcdsaSighashType::All);
    let digest = match pays {
        Pays::PublicKeyHash => legacy(cache, place, paid),
        Pays::ScriptHash => {
            legacy(cache, place, input.redeem_script.as_deref().ok_or(Flaw::Missing(place, REDEEM))?)
        }
        Pays::WitnessPublicKeyHash => {
            cache.p2wpkh_signature_hash(place, paid, value, all_of_it).ok().map(Hash::to_byte_array)
        }
        Pays::WitnessScriptHash => {
            let script = input.witness_script.as_deref().ok_or(Flaw::Missing(place, WITNESS_SCRIPT))?;
            cache.p2wsh_signature_hash(place, script, value, all_of_it).ok().map(Hash::to_byte_array)
        }
        Pays::Taproot => {
            let all = all.ok_or(Flaw::Silent(place))?;
            let hash =
                cache.taproot_key_spend_signature_hash(place, &Prevouts::All(all), TapSighashType::Default);
            let digest = hash.ok().map(Hash::to_byte_array);
            return digest.map(Message::Taproot).ok_or(Flaw::Malformed);
        }
    };
    digest.map(Message::Digest).ok_or(Flaw::Malformed)
}

fn legacy(cache: &SighashCache<&bitcoin::Transaction>, place: usize, script: &Script) -> Option<[u8; 32]> {
    let hash = cache.legacy_signature_hash(place, script, EcdsaSighashType::All.to_u32()).ok()?;
    Some(hash.to_byte_array())
}
