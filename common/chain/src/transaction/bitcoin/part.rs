//! What a transaction takes in and pays out, for people and policies to read.

use bitcoin::address::{Address, AddressType, NetworkUnchecked};
use bitcoin::script::Instruction;
use bitcoin::{Script, ScriptBuf, TxOut};

use super::claim::{Claim, Claimant};
use super::{Flaw, Spent, Transaction};
use crate::address::Network;
use crate::curve::{Curve, PublicKey};
use crate::transaction::Signer;

/// What an input spends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The transaction that it spends from, in the order of digits that people see.
    pub tx_id: String,
    /// The number of the output of that transaction.
    pub vout: u32,
    /// Its sequence number (BIP-68, BIP-125).
    pub sequence: u32,
    /// In satoshis, if it says so.
    pub value: Option<u64>,
    /// Whether the transaction that it spends from is there and proves the value.
    pub is_proven: bool,
    /// Whose it is.
    pub part: Part,
}

/// What an input asks of whoever is named as the signer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A signature.
    Signs,
    /// One if its script has the key, which an address does not tell.
    MaySign,
    /// Nothing.
    Foreign,
    /// Not known: the name of the signer does not tell.
    Unknown,
}

/// What an output pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// In satoshis.
    pub value: u64,
    /// The script that it pays to.
    pub script: Vec<u8>,
    /// The same as an address, if it has one.
    pub address: Option<String>,
    /// `P2PKH`, `P2SH`, `P2WPKH`, `P2WSH`, `P2TR`, or nothing for all others.
    pub address_type: &'static str,
    /// Whether it pays to whoever is named as the signer.
    pub is_returned: bool,
}

/// When a transaction may be mined at the earliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockTime {
    /// After this block; after block 0 is always.
    Block(u32),
    /// After this moment, in seconds since 1970.
    Second(u32),
}

impl Output {
    pub(super) fn of(output: &TxOut, network: Network, holder: Option<&Holder>) -> Self {
        let script = &output.script_pubkey;
        let address = Address::from_script(script, on(network)).ok();
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

    /// What it says to whoever reads the chain, if nobody can ever spend it (`OP_RETURN`): what it pushes, or the rest of
    /// the script where that is no pushing.
    pub fn said(&self) -> Option<Vec<u8>> {
        let script = Script::from_bytes(&self.script);
        let rest = script.is_op_return().then(|| self.script.get(1..).unwrap_or_default())?;
        let mut said = Vec::new();
        for one in Script::from_bytes(rest).instructions() {
            match one {
                Ok(Instruction::PushBytes(bytes)) => said.extend(bytes.as_bytes()),
                _ => return Some(rest.to_vec()),
            }
        }
        Some(said)
    }
}

fn on(network: Network) -> bitcoin::Network {
    match network {
        Network::Mainnet => bitcoin::Network::Bitcoin,
        Network::Testnet => bitcoin::Network::Testnet,
        Network::Signet => bitcoin::Network::Signet,
        Network::Regtest => bitcoin::Network::Regtest,
    }
}

/// Who is named as the signer, as far as the name tells by itself.
#[derive(Clone, Debug)]
pub struct Holder {
    network: Network,
    named: Named,
}

#[derive(Clone, Debug)]
enum Named {
    Address(ScriptBuf),
    Key(PublicKey, Box<Claimant>),
}

impl Holder {
    /// Reads an address of Bitcoin, or a public key in hexadecimal digits. Keys have addresses on mainnet.
    pub fn read(text: &str) -> Option<Self> {
        if let Ok(key) = PublicKey::from_hex(Curve::Secp256k1, text) {
            let claimant = Box::new(Claimant::new(&key)?);
            return Some(Self { network: Network::Mainnet, named: Named::Key(key, claimant) });
        }
        let address: Address<NetworkUnchecked> = text.parse().ok()?;
        let networks = [Network::Mainnet, Network::Testnet, Network::Regtest];
        let network = networks.into_iter().find(|network| address.is_valid_for_network(on(*network)))?;
        let script = address.assume_checked().script_pubkey();
        Some(Self { network, named: Named::Address(script) })
    }

    /// The network whose addresses are shown; where the name tells none, mainnet.
    pub fn network(&self) -> &'static str {
        match self.network {
            Network::Mainnet => "mainnet",
            Network::Testnet | Network::Signet => "testnet",
            Network::Regtest => "regtest",
        }
    }

    /// Whether it alone can spend what pays to this script.
    fn owns(&self, script: &Script) -> bool {
        match &self.named {
            Named::Address(own) => own.as_script() == script,
            Named::Key(_, claimant) => claimant.scripts().any(|own| own.as_script() == script),
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
            Named::Address(_) => Part::Foreign,
            Named::Key(_, claimant) => match claimant.claim(input, spent) {
                Some(Claim::Of(_) | Claim::Unsupported(_)) => Part::Signs,
                None => Part::Foreign,
            },
        }
    }
}

impl Transaction {
    /// Its inputs, and what they ask of `holder`.
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
                (Some(_), None) => Part::Foreign,
                (None, _) => Part::Unknown,
            },
        });
        inputs.collect()
    }

    /// Its outputs, with addresses of the network of `holder`, or of mainnet.
    pub fn outputs(&self, holder: Option<&Holder>) -> Vec<Output> {
        let network = holder.map_or(Network::Mainnet, |holder| holder.network);
        let outputs = self.psbt.unsigned_tx.output.iter();
        outputs.map(|output| Output::of(output, network, holder)).collect()
    }

    /// Its id before it has signatures. Those in a witness do not change it (BIP-141).
    pub fn tx_id(&self) -> String {
        self.psbt.unsigned_tx.compute_txid().to_string()
    }

    /// When it may be mined at the earliest, see [`Transaction::is_locked`].
    pub fn lock_time(&self) -> LockTime {
        match self.psbt.unsigned_tx.lock_time {
            bitcoin::absolute::LockTime::Blocks(height) => LockTime::Block(height.to_consensus_u32()),
            bitcoin::absolute::LockTime::Seconds(time) => LockTime::Second(time.to_consensus_u32()),
        }
    }

    /// Whether its lock time counts: not if every input is final.
    pub fn is_locked(&self) -> bool {
        let mut inputs = self.psbt.unsigned_tx.input.iter();
        self.psbt.unsigned_tx.lock_time.to_consensus_u32() > 0
            && inputs.any(|input| !input.sequence.is_final())
    }

    /// Whether it says that another may take its place (BIP-125).
    pub fn is_replaceable(&self) -> bool {
        self.psbt.unsigned_tx.input.iter().any(|input| input.sequence.is_rbf())
    }

    /// How many inputs may be worth something else than they say, without the signatures of `holder` becoming void. What a
    /// signature of Taproot covers is the value of every input (BIP-341); one for a witness of version 0 covers that of its
    /// own (BIP-143), so that asking twice can make two false values true.
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

    /// Why the key of `holder` would not sign it, if the name tells the key.
    pub fn refused(&self, holder: &Holder) -> Option<Flaw> {
        match &holder.named {
            Named::Address(_) => None,
            Named::Key(key, _) => self.slots(&Signer { key, format: None }).err(),
        }
    }
}
