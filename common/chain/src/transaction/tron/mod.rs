//! Unsigned Tron transactions: `Transaction.raw` with one contract of a type that policies support.
//!
//! Protocol buffers have many encodings for the same message, and decoders skip unknown fields. Non-canonical
//! encodings are rejected here, so that the displayed and evaluated data is the signed data.

mod contract;
mod error;
mod facts;
mod field;
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
pub use error::TronError;
pub use permission::{Permission, PermissionKind};

use self::contract::exactly;
use self::field::{Account, number};

/// Lowest id of an active permission. The ids of the owner and witness permissions are 0 and 1.
const FIRST_ACTIVE: u64 = 2;

/// An unsigned transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Original bytes.
    bytes: Vec<u8>,
    /// SHA-256 of `bytes`.
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
    /// Decodes a protocol buffer of type `protocol.Transaction.raw`.
    ///
    /// # Errors
    /// The [`TronError`] that applies first.
    pub fn decode(bytes: &[u8]) -> Result<Self, TronError> {
        let raw: proto::Raw = exactly(bytes)?;
        let [contract] = raw.contract.as_slice() else {
            return Err(TronError::Contracts(raw.contract.len()));
        };
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

    /// Returns SHA-256 of the unsigned bytes, which is also the id of the transaction.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Returns the only signature slot.
    ///
    /// Under an active permission, other keys sign for the account. The bytes do not contain these keys, so
    /// that any key is accepted. Otherwise the account must belong to the key.
    ///
    /// # Errors
    /// [`TronError::Owner`] if the account does not belong to the key.
    pub(super) fn slots(&self, signer: &Signer<'_>) -> Result<Vec<Slot>, TronError> {
        let own = address(AddressFormat::Tron, signer.key).ok();
        if self.permission_id < FIRST_ACTIVE && own != Some(of_tron_account(&self.owner)) {
            return Err(TronError::Owner);
        }
        Ok(vec![Slot { message: Message::Digest(self.digest), index: 0 }])
    }

    /// Returns the signed transaction in network encoding. A signature is r ‖ s ‖ recovery id.
    pub(super) fn signed(&self, signatures: &[(usize, Signature)]) -> Vec<u8> {
        let joined = signatures
            .iter()
            .map(|(_, signature)| [signature.r.as_slice(), signature.s.as_slice(), &[signature.v]].concat());
        proto::Signed { raw_data: self.bytes.clone(), signature: joined.collect() }.encode_to_vec()
    }

    /// Returns the account that the transaction acts for. It pays the fees.
    pub fn owner(&self) -> [u8; 20] {
        self.owner
    }

    /// Returns the id of the permission under which the transaction is signed: 0 for the owner permission, 2
    /// and above for active permissions.
    pub fn permission_id(&self) -> u64 {
        self.permission_id
    }

    /// Returns the contract.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// Returns the memo.
    pub fn memo(&self) -> &[u8] {
        &self.memo
    }

    /// Returns parts of the number and of the hash of a block that must precede the transaction.
    pub fn reference(&self) -> (&[u8], &[u8]) {
        (&self.ref_block_bytes, &self.ref_block_hash)
    }

    /// Returns the creation time that the proposer states, in milliseconds since 1970.
    pub fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// Returns the expiration time in milliseconds since 1970.
    pub fn expiration(&self) -> u64 {
        self.expiration
    }

    /// Returns the maximum fee of a smart contract call, in sun.
    pub fn fee_limit(&self) -> u64 {
        self.fee_limit
    }
}
