//! Inputs and outputs of a transaction, for people and policies.

use bitcoin::address::{Address, AddressType, NetworkUnchecked};
use bitcoin::script::Instruction;
use bitcoin::transaction::{InputWeightPrediction, predict_weight};
use bitcoin::{Network, Script, ScriptBuf, TxOut};

use super::claim::{Claim, KeyScripts};
use super::{BitcoinError, Spent, Transaction};
use crate::curve::{Curve, PublicKey};
use crate::transaction::Signer;

/// An input with the output that it spends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Id of the previous transaction, in the usual (reversed) byte order.
    pub tx_id: String,
    /// Index of the output of the previous transaction.
    pub vout: u32,
    /// Sequence number (BIP-68, BIP-125).
    pub sequence: u32,
    /// Value in satoshis, if the PSBT states it.
    pub value: Option<u64>,
    /// Whether the previous transaction is included and proves the value.
    pub is_proven: bool,
    /// Role of the named signer for this input.
    pub part: Part,
}

/// Role of the named signer for an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The signer signs the input.
    Signs,
    /// The signer signs the input if the script contains the key, which cannot be determined from an address.
    MaySign,
    /// The input does not belong to the signer.
    Others,
    /// The role cannot be determined from the name of the signer.
    Unknown,
}

/// An output of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Value in satoshis.
    pub value: u64,
    /// Output script.
    pub script: Vec<u8>,
    /// Address of the output script, if it has one.
    pub address: Option<String>,
    /// `P2PKH`, `P2SH`, `P2WPKH`, `P2WSH`, `P2TR`, or empty for all others.
    pub address_type: &'static str,
    /// Whether the output pays back to the named signer.
    pub is_returned: bool,
}

/// Earliest point at which a transaction can be mined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockTime {
    /// After the block with this height; 0 means no lock.
    Block(u32),
    /// After this time, in seconds since 1970.
    Second(u32),
}

impl Output {
    pub(super) fn of(output: &TxOut, network: Network, holder: Option<&Holder>) -> Self {
        let script = &output.script_pubkey;
        let address = Address::from_script(script, network).ok();
        let address_type = match address.as_ref().and_then(Address::address_type) {
            Some(AddressType::P2pkh) => "P2PKH",
            Some(AddressType::P2sh) => "P2SH",
            Some(AddressType::P2wpkh) => "P2WPKH",
            Some(AddressType::P2wsh) => "P2WSH",
            Some(AddressType::P2tr) => "P2TR",
            _ => "",
        };
        Self {
            value: output.value.to_sat(),
            address: address.map(|address| address.to_string()),
            address_type,
            is_returned: holder.is_some_and(|holder| holder.owns(script)),
            script: script.to_bytes(),
        }
    }

    /// Returns the data of an unspendable `OP_RETURN` output: the pushed bytes, or the rest of the script if
    /// it does more than push bytes.
    ///
    /// Returns `None` for any other output.
    pub fn op_return_data(&self) -> Option<Vec<u8>> {
        let script = Script::from_bytes(&self.script);
        let rest = script.is_op_return().then(|| self.script.get(1..).unwrap_or_default())?;
        let mut data = Vec::new();
        for one in Script::from_bytes(rest).instructions() {
            match one {
                Ok(Instruction::PushBytes(bytes)) => data.extend(bytes.as_bytes()),
                _ => return Some(rest.to_vec()),
            }
        }
        Some(data)
    }
}

/// The signer that a request names by an address or a public key.
#[derive(Clone, Debug)]
pub struct Holder {
    network: Network,
    named: Named,
}

#[derive(Clone, Debug)]
enum Named {
    Address(ScriptBuf),
    Key(PublicKey, Box<KeyScripts>),
}

impl Holder {
    /// Parses a Bitcoin address, or a public key in hexadecimal digits. For a public key, mainnet is assumed.
    pub fn read(text: &str) -> Option<Self> {
        if let Ok(key) = PublicKey::from_hex(Curve::Secp256k1, text) {
            let key_scripts = Box::new(KeyScripts::new(&key)?);
            return Some(Self { network: Network::Bitcoin, named: Named::Key(key, key_scripts) });
        }
        let address: Address<NetworkUnchecked> = text.parse().ok()?;
        let networks = [Network::Bitcoin, Network::Testnet, Network::Regtest];
        let network = networks.into_iter().find(|network| address.is_valid_for_network(*network))?;
        let script = address.assume_checked().script_pubkey();
        Some(Self { network, named: Named::Address(script) })
    }

    /// Returns the name of the network: that of the address, or mainnet for a public key.
    pub fn network(&self) -> &'static str {
        match self.network {
            Network::Bitcoin => "mainnet",
            Network::Testnet | Network::Testnet4 | Network::Signet => "testnet",
            Network::Regtest => "regtest",
        }
    }

    /// Returns whether the signer alone can spend an output with this script.
    fn owns(&self, script: &Script) -> bool {
        match &self.named {
            Named::Address(own) => own.as_script() == script,
            Named::Key(_, key_scripts) => key_scripts.scripts().any(|own| own.as_script() == script),
        }
    }

    fn part(&self, input: &bitcoin::psbt::Input, spent: &Script) -> Part {
        match &self.named {
            _ if self.owns(spent) => Part::Signs,
            Named::Address(own) if own.is_p2sh() && spent.is_p2sh() && input.redeem_script.is_some() => {
                Part::MaySign
            }
            Named::Address(own) if own.is_p2wsh() && spent.is_p2wsh() && input.witness_script.is_some() => {
                Part::MaySign
            }
            Named::Address(_) => Part::Others,
            Named::Key(_, key_scripts) => match key_scripts.claim(input, spent) {
                Some(Claim::Signable(_) | Claim::Unsupported(_)) => Part::Signs,
                None => Part::Others,
            },
        }
    }
}

impl Transaction {
    /// Returns the inputs, with the role of `holder` for each.
    pub fn inputs(&self, holder: Option<&Holder>) -> Vec<Input> {
        let inputs = self.psbt.unsigned_tx.input.iter().zip(&self.psbt.inputs).zip(&self.spent);
        let inputs = inputs.map(|((spending, input), spent)| Input {
            tx_id: spending.previous_output.txid.to_string(),
            vout: spending.previous_output.vout,
            sequence: spending.sequence.0,
            value: spent.as_ref().map(|spent| spent.output.value.to_sat()),
            is_proven: spent.as_ref().is_some_and(|spent| spent.is_proven),
            part: match (holder, spent) {
                (Some(holder), Some(spent)) => holder.part(input, &spent.output.script_pubkey),
                (Some(_), None) => Part::Others,
                (None, _) => Part::Unknown,
            },
        });
        inputs.collect()
    }

    /// Returns the outputs, with addresses of the network of `holder`, or of mainnet.
    pub fn outputs(&self, holder: Option<&Holder>) -> Vec<Output> {
        let network = holder.map_or(Network::Bitcoin, |holder| holder.network);
        let outputs = self.psbt.unsigned_tx.output.iter();
        outputs.map(|output| Output::of(output, network, holder)).collect()
    }

    /// Returns the id of the unsigned transaction. Signatures in a witness do not change it (BIP-141).
    pub fn tx_id(&self) -> String {
        self.psbt.unsigned_tx.compute_txid().to_string()
    }

    /// Returns the virtual size of the signed transaction (BIP-141), with signatures of maximum length.
    ///
    /// Returns `None` if the script of an input is not known, or does not determine its signatures.
    pub fn estimated_vsize(&self) -> Option<u64> {
        let signed = |spent: &Option<Spent>| {
            let script = &spent.as_ref()?.output.script_pubkey;
            if script.is_p2wpkh() {
                Some(InputWeightPrediction::P2WPKH_MAX)
            } else if script.is_p2pkh() {
                Some(InputWeightPrediction::P2PKH_COMPRESSED_MAX)
            } else if script.is_p2tr() {
                Some(InputWeightPrediction::P2TR_KEY_DEFAULT_SIGHASH)
            } else {
                None
            }
        };
        let inputs = self.spent.iter().map(signed).collect::<Option<Vec<_>>>()?;
        let outputs = self.psbt.unsigned_tx.output.iter().map(|output| output.script_pubkey.len());
        Some(predict_weight(inputs, outputs).to_vbytes_ceil())
    }

    /// Returns the lock time. It only has an effect if [`Transaction::is_locked`].
    pub fn lock_time(&self) -> LockTime {
        match self.psbt.unsigned_tx.lock_time {
            bitcoin::absolute::LockTime::Blocks(height) => LockTime::Block(height.to_consensus_u32()),
            bitcoin::absolute::LockTime::Seconds(time) => LockTime::Second(time.to_consensus_u32()),
        }
    }

    /// Returns whether the lock time has an effect: it is not zero, and not every input is final.
    pub fn is_locked(&self) -> bool {
        let mut inputs = self.psbt.unsigned_tx.input.iter();
        self.psbt.unsigned_tx.lock_time.to_consensus_u32() > 0
            && inputs.any(|input| !input.sequence.is_final())
    }

    /// Returns whether the transaction signals that it can be replaced (BIP-125).
    pub fn is_replaceable(&self) -> bool {
        self.psbt.unsigned_tx.input.iter().any(|input| input.sequence.is_rbf())
    }

    /// Returns the number of inputs whose stated value may be wrong while the signatures of `holder` stay
    /// valid.
    ///
    /// A Taproot signature covers the values of all inputs (BIP-341). A signature for a version 0 witness
    /// covers only the value of its own input (BIP-143). Two requests with different false values can then
    /// yield signatures for one transaction with a higher fee.
    pub fn unproven(&self, holder: Option<&Holder>) -> usize {
        let is_signed = |input: &bitcoin::psbt::Input, spent: &Spent| {
            holder.is_some_and(|holder| holder.part(input, &spent.output.script_pubkey) == Part::Signs)
        };
        let mut doubtful = 0_usize;
        let mut is_covered = true;
        for (input, spent) in self.psbt.inputs.iter().zip(&self.spent) {
            let Some(spent) = spent else {
                doubtful = doubtful.saturating_add(1);
                is_covered = false;
                continue;
            };
            let (script, is_own) = (&spent.output.script_pubkey, is_signed(input, spent));
            if is_own && script.is_p2tr() {
                return 0;
            }
            if !spent.is_proven {
                doubtful = doubtful.saturating_add(1);
                is_covered = is_own && (script.is_p2wpkh() || script.is_p2wsh());
            }
        }
        if doubtful == 1 && is_covered { 0 } else { doubtful }
    }

    /// Returns the reason why the key of `holder` cannot sign the transaction, if the key is known.
    pub fn signing_error(&self, holder: &Holder) -> Option<BitcoinError> {
        match &holder.named {
            Named::Address(_) => None,
            Named::Key(key, _) => self.slots(&Signer { key, format: None }).err(),
        }
    }
}
