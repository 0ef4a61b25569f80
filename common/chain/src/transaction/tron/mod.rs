//! Transactions of Tron before they are signed: `Transaction.raw` with one contract, of the types that policies know.
//!
//! Protocol buffers can be written in many ways, and readers skip what they do not know. Here everything is refused that
//! would be written in another way, so that what is shown and judged is what is signed.

mod contract;
mod facts;
mod flaw;
mod permission;
mod proto;
#[cfg(test)]
mod tests;

use prost::Message as _;
use sha2::{Digest, Sha256};

use super::{Signer, Slot};
use crate::address::{AddressFormat, address, of_tron_account};
use crate::curve::{Message, Signature};

pub use contract::{Contract, Resource};
pub use flaw::Flaw;
pub use permission::{Permission, PermissionKind};

use self::contract::{Account, exactly, number};

/// The lowest number of an active permission; those of the owner and the witness are 0 and 1.
const FIRST_ACTIVE: u64 = 2;

/// A transaction that nobody has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// What it was read from.
    bytes: Vec<u8>,
    /// SHA-256 of that.
    digest: [u8; 32],
    ref_block_bytes: Vec<u8>,
    ref_block_hash: Vec<u8>,
    expiration: u64,
    timestamp: u64,
    fee_limit: u64,
    memo: Vec<u8>,
    permission_id: u64,
    owner: Account,
    contract: Contract,
}

impl Transaction {
    /// Reads a protocol buffer of the type `protocol.Transaction.raw`.
    ///
    /// # Errors
    /// The [`Flaw`] that applies first.
    pub fn decode(bytes: &[u8]) -> Result<Self, Flaw> {
        let raw: proto::Raw = exactly(bytes)?;
        let [contract] = raw.contract.as_slice() else { return Err(Flaw::Contracts(raw.contract.len())) };
        let permission_id = number(contract.permission_id.into(), "Permission_id")?;
        let (owner, contract) = Contract::read(contract)?;
        Ok(Self {
            bytes: bytes.to_vec(),
            digest: Sha256::digest(bytes).into(),
            expiration: number(raw.expiration, "expiration")?,
            timestamp: number(raw.timestamp, "timestamp")?,
            fee_limit: number(raw.fee_limit, "fee_limit")?,
            ref_block_bytes: raw.ref_block_bytes,
            ref_block_hash: raw.ref_block_hash,
            memo: raw.data,
            permission_id,
            owner,
            contract,
        })
    }

    /// SHA-256 of the unsigned bytes, which is also the id of the transaction.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The one place for a signature. Under an active permission others sign for an account; the bytes do not tell who, so
    /// that any key is taken there. Otherwise the account must be that of the key.
    ///
    /// # Errors
    /// [`Flaw::Owner`] if it is not.
    pub(super) fn slots(&self, signer: &Signer<'_>) -> Result<Vec<Slot>, Flaw> {
        let own = address(AddressFormat::Tron, signer.key).ok();
        if self.permission_id < FIRST_ACTIVE && own != Some(of_tron_account(&self.owner)) {
            return Err(Flaw::Owner);
        }
        Ok(vec![Slot { message: Message::Digest(self.digest), place: 0 }])
    }

    /// The transaction with its signatures, as the network takes it: r ‖ s ‖ recovery id.
    pub(super) fn signed(&self, signatures: &[(usize, Signature)]) -> Vec<u8> {
        let joined = signatures
            .iter()
            .map(|(_, signature)| [signature.r.as_slice(), signature.s.as_slice(), &[signature.v]].concat());
        proto::Signed { raw_data: self.bytes.clone(), signature: joined.collect() }.encode_to_vec()
    }

    /// The account that it is about, which pays for it.
    pub fn owner(&self) -> [u8; 20] {
        self.owner
    }

    /// Under which permission of the account it is signed: 0 for that of the owner, 2 and more for active ones.
    pub fn permission_id(&self) -> u64 {
        self.permission_id
    }

    /// What it does.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The note that goes with it.
    pub fn memo(&self) -> &[u8] {
        &self.memo
    }

    /// Some bytes of the number and of the hash of a block that must come before it.
    pub fn reference(&self) -> (&[u8], &[u8]) {
        (&self.ref_block_bytes, &self.ref_block_hash)
    }

    /// When it was made, by its maker, in milliseconds since 1970.
    pub fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// When it ends, in milliseconds since 1970.
    pub fn expiration(&self) -> u64 {
        self.expiration
    }

    /// How much the call of a smart contract burns at most, in sun.
    pub fn fee_limit(&self) -> u64 {
        self.fee_limit
    }
}
