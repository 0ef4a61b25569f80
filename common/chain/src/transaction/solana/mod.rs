//! Solana transactions in wire format: legacy and version 0, with a slot for each signature.
//!
//! The libraries of the network decode and encode them. Transactions that validators reject are rejected here
//! as well. Lookup tables are not loaded: the keys of accounts in lookup tables are unknown.

mod act;
mod check;
mod error;
mod facts;
mod system;
mod token;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use solana_message::VersionedMessage;
use solana_message::compiled_instruction::CompiledInstruction;
use solana_message::v0::MessageAddressTableLookup;
use solana_transaction::versioned::VersionedTransaction;
use wincode::ReadError;
use wincode::config::{Configuration, deserialize_exact};

use super::{Signer, Slot};
use crate::contract::{self, Idl, Interfaces};
use crate::curve::{Message, Signature};

pub use act::{Act, ComputeBudget};
pub use error::SolanaError;
pub use system::System;
pub use token::{Token, TokenTransfer};

use self::check::{check_accounts, check_instructions, check_tables, message_start};
use self::error::MAX_BYTES;

/// Length of a signature in bytes.
const SIGNATURE_BYTES: usize = 64;
/// Maximum memory of a list, in bytes. Lists that fit into a transaction take less.
const MAX_LIST_BYTES: usize = 32 * 1024;

/// Configuration of the library decoder, with the memory limit.
type Reading = Configuration<true, MAX_LIST_BYTES>;

/// Placeholder for the key of an account in a lookup table.
pub const LOOKED_UP: &str = "ADDRESS_TABLE_LOOKUP";

/// A transaction with any number of existing signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    bytes: Vec<u8>,
    /// Offset of the message, after the signatures.
    start: usize,
    message: VersionedMessage,
    /// Static account keys in base58.
    keys: Vec<String>,
    tables: Vec<LookupTable>,
    /// Accounts after the static ones, in the order in which instructions index them.
    lookups: Vec<Lookup>,
}

/// Address lookup table on the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupTable {
    /// Key of the table in base58.
    pub key: String,
    /// Indexes of the writable accounts in the table.
    pub writable: Vec<u8>,
    /// Indexes of the read-only accounts in the table.
    pub readonly: Vec<u8>,
}

/// An account in a lookup table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lookup {
    /// Index of the table in the transaction.
    table: usize,
    /// Index of the account in the table.
    index: u8,
    writable: bool,
}

impl Transaction {
    /// Decodes a complete transaction: the number of signatures, their slots, and the message.
    ///
    /// # Errors
    /// The [`SolanaError`] that applies first.
    pub fn decode(bytes: &[u8]) -> Result<Self, SolanaError> {
        if bytes.len() > MAX_BYTES {
            return Err(SolanaError::TooLong);
        }
        let start = message_start(bytes)?;
        let read: VersionedTransaction =
            deserialize_exact(bytes, Reading::new()).map_err(|error| match error {
                ReadError::Io(_) => SolanaError::UnexpectedEnd,
                ReadError::TrailingBytes => SolanaError::Trailing,
                error => SolanaError::Malformed(error.to_string()),
            })?;
        if wincode::serialize(&read).ok().as_deref() != Some(bytes) {
            return Err(SolanaError::NotCanonical);
        }
        let VersionedTransaction { signatures, message } = read;
        check_accounts(&message, signatures.len())?;
        check_tables(&message)?;
        check_instructions(&message)?;
        let tables = tables(&message);
        let transaction = Self {
            bytes: bytes.to_vec(),
            start,
            keys: message.static_account_keys().iter().map(ToString::to_string).collect(),
            lookups: lookups(&tables),
            tables,
            message,
        };
        let undecodable = transaction.instructions().position(|instruction| instruction.read().is_none());
        undecodable.map_or(Ok(transaction), |index| Err(SolanaError::Instruction(index)))
    }

    /// Returns the signed bytes: everything after the signatures.
    pub fn message(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Returns the version of the message, or `None` for a legacy message.
    pub fn version(&self) -> Option<u8> {
        matches!(self.message, VersionedMessage::V0(_)).then_some(0)
    }

    /// Returns the interfaces of the called programs. Each is looked up once.
    pub fn interfaces(&self, from: &dyn Interfaces) -> ProgramInterfaces {
        let called: BTreeSet<u8> =
            self.message.instructions().iter().map(|one| one.program_id_index).collect();
        let known = called.into_iter().filter_map(|index| {
            let program = self.keys.get(usize::from(index))?;
            Some((index, from.idl(program)?))
        });
        ProgramInterfaces(known.collect())
    }

    /// Returns the called programs without duplicates.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        let called = self.message.instructions();
        let is_called =
            move |index: usize| called.iter().any(|one| usize::from(one.program_id_index) == index);
        self.keys.iter().enumerate().filter(move |(index, _)| is_called(*index)).map(|(_, key)| key.as_str())
    }

    /// Returns the static accounts in base58. The first one pays the fee.
    pub fn account_keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns the required signers, and whether each has already signed.
    pub fn signers(&self) -> impl Iterator<Item = (&str, bool)> {
        let slots = self.bytes.get(..self.start).unwrap_or_default().rchunks_exact(SIGNATURE_BYTES).rev();
        let is_filled = |slot: &[u8]| slot.iter().any(|byte| *byte != 0);
        self.keys.iter().map(String::as_str).zip(slots.map(is_filled))
    }

    /// Returns the recent blockhash, or the durable nonce that the transaction uses, in base58.
    pub fn recent_blockhash(&self) -> String {
        self.message.recent_blockhash().to_string()
    }

    /// Returns the address lookup tables.
    pub fn tables(&self) -> &[LookupTable] {
        &self.tables
    }

    /// Returns the instructions in order.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'_>> {
        let compiled = self.message.instructions().iter();
        compiled.map(|compiled| Instruction { transaction: self, compiled })
    }

    /// Returns whether the transaction uses a durable nonce. It then stays valid until it is sent or another
    /// transaction uses the nonce.
    pub fn uses_durable_nonce(&self) -> bool {
        let first = self.instructions().next().map(|instruction| instruction.act());
        matches!(first, Some(Act::System(System::AdvanceNonceAccount { .. })))
    }

    /// Returns the signature slot of the key.
    pub(super) fn slots(&self, signer: &Signer<'_>) -> Result<Vec<Slot>, SolanaError> {
        let signers = self.message.static_account_keys().iter().take(self.required());
        let mut signers = signers.map(|key| key.as_ref() == signer.key.compressed());
        let index = signers.position(|is_signer| is_signer).ok_or(SolanaError::Signer)?;
        Ok(vec![Slot { message: Message::Bytes(self.message().to_vec()), index }])
    }

    /// Returns the transaction with these signatures in their slots. Other signatures are preserved.
    pub(super) fn signed(&self, signatures: &[(usize, Signature)]) -> Vec<u8> {
        let (head, message) = self.bytes.split_at_checked(self.start).unwrap_or_default();
        let mut bytes = head.to_vec();
        for (index, signature) in signatures {
            let mut slots = bytes.rchunks_exact_mut(SIGNATURE_BYTES).rev();
            if let Some(slot) = slots.nth(*index) {
                slot.copy_from_slice(&[signature.r, signature.s].concat());
            }
        }
        bytes.extend_from_slice(message);
        bytes
    }

    fn required(&self) -> usize {
        self.message.header().num_required_signatures.into()
    }

    /// Returns whether a static account is writable. Writable accounts come first among the signers, and
    /// first among the others.
    fn is_writable(&self, account: usize) -> bool {
        let header = self.message.header();
        let read_only = if account < self.required() {
            let first = self.required().saturating_sub(header.num_readonly_signed_accounts.into());
            first..self.required()
        } else {
            let first = self.keys.len().saturating_sub(header.num_readonly_unsigned_accounts.into());
            first..self.keys.len()
        };
        !read_only.contains(&account)
    }
}

/// An account of a transaction.
#[derive(Clone, Copy, Debug)]
enum Account<'a> {
    Static(&'a str, usize),
    LookedUp(&'a Lookup),
}

/// An instruction of a transaction: a program, its accounts and its data.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    transaction: &'a Transaction,
    compiled: &'a CompiledInstruction,
}

/// Interfaces of the programs that a transaction calls, by the indexes of their keys.
#[derive(Debug)]
pub struct ProgramInterfaces(BTreeMap<u8, Arc<Idl>>);

impl<'a> Instruction<'a> {
    /// Returns the program in base58.
    pub fn program(&self) -> &'a str {
        let keys = &self.transaction.keys;
        keys.get(usize::from(self.compiled.program_id_index)).map(String::as_str).unwrap_or_default()
    }

    /// Returns the instruction data.
    pub fn data(&self) -> &'a [u8] {
        &self.compiled.data
    }

    /// Returns the accounts in order: base58, or [`LOOKED_UP`].
    pub fn accounts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.all().map(|account| match account {
            Account::Static(key, _) => key,
            Account::LookedUp(_) => LOOKED_UP,
        })
    }

    /// Decodes the instruction with the interface of its program. Returns `None` if there is no interface or
    /// decoding fails.
    pub fn decode_with(&self, known: &ProgramInterfaces) -> Option<contract::Instruction> {
        let idl = known.0.get(&self.compiled.program_id_index)?;
        let accounts: Vec<&str> = self.accounts().collect();
        idl.instruction(self.data(), &accounts).ok()
    }

    fn all(&self) -> impl Iterator<Item = Account<'a>> + use<'a> {
        let transaction = self.transaction;
        self.compiled.accounts.iter().filter_map(move |account| {
            let account = usize::from(*account);
            let key = transaction.keys.get(account).map(|key| Account::Static(key, account));
            let looked_up = || transaction.lookups.get(account.checked_sub(transaction.keys.len())?);
            key.or_else(|| looked_up().map(Account::LookedUp))
        })
    }

    /// Returns the account at an index, as in [`Self::accounts`].
    fn account(&self, index: usize) -> Option<&'a str> {
        self.accounts().nth(index)
    }
}

fn tables(message: &VersionedMessage) -> Vec<LookupTable> {
    let tables = message.address_table_lookups().unwrap_or_default().iter();
    let table = |table: &MessageAddressTableLookup| LookupTable {
        key: table.account_key.to_string(),
        writable: table.writable_indexes.clone(),
        readonly: table.readonly_indexes.clone(),
    };
    tables.map(table).collect()
}

/// Returns the writable accounts of all tables, then the read-only accounts of all tables.
fn lookups(tables: &[LookupTable]) -> Vec<Lookup> {
    let of = |writable: bool| {
        tables.iter().enumerate().flat_map(move |(table, known)| {
            let indexes = if writable { &known.writable } else { &known.readonly };
            indexes.iter().map(move |index| Lookup { table, index: *index, writable })
        })
    };
    of(true).chain(of(false)).collect()
}

#[cfg(test)]
mod tests;
