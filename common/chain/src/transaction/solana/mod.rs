//! Transactions of Solana: the legacy form and version 0, as they travel, with a place for each signature.
//!
//! The libraries of the network read and write them; what validators refuse is refused here as well. Nothing is loaded:
//! accounts that stand in a lookup table have no key here.

mod act;
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
pub use system::System;
pub use token::{Token, TokenTransfer};

/// Longest transaction, in bytes: what an IPv6 packet of the least size carries (`PACKET_DATA_SIZE`).
const MAX_BYTES: usize = 1_232;
/// Bytes of a signature.
const SIGNATURE_BYTES: usize = 64;
/// Most accounts: an instruction names one in a byte.
const MAX_ACCOUNTS: usize = 256;
/// First bit of a message that has a version; the others are the version.
const VERSION_MARK: u8 = 0x80;
/// Most bytes that a list may take in memory. Lists that fit into a transaction take less.
const MAX_LIST_BYTES: usize = 32 * 1024;

/// How the libraries read, with the limit on memory.
type Reading = Configuration<true, MAX_LIST_BYTES>;

/// What stands for the key of an account that a lookup table holds.
pub const LOOKED_UP: &str = "ADDRESS_TABLE_LOOKUP";

/// A transaction, whoever has signed it already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    bytes: Vec<u8>,
    /// Where the message begins, behind the signatures.
    start: usize,
    message: VersionedMessage,
    /// The static keys in base58.
    keys: Vec<String>,
    tables: Vec<LookupTable>,
    /// The accounts behind the static ones, in the order in which instructions count them.
    lookups: Vec<Lookup>,
}

/// A table on the chain that holds keys of accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupTable {
    /// Its own key, in base58.
    pub key: String,
    /// Where it holds the accounts that may be written.
    pub writable: Vec<u8>,
    /// Where it holds the accounts that are only read.
    pub readonly: Vec<u8>,
}

/// An account that a lookup table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lookup {
    /// Which of the tables.
    table: usize,
    /// Where in the table.
    index: u8,
    writable: bool,
}

/// Why bytes are no transaction that this key signs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// They are more than travel in one packet.
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The message has a version that is not read here. Holds the version.
    #[error("version {0} of its message is not known")]
    Version(u8),
    /// They end before the message does.
    #[error("it ends too early")]
    Ended,
    /// They cannot be read. Holds where the reading ended.
    #[error("{0}")]
    Malformed(String),
    /// Bytes follow the message.
    #[error("bytes follow its end")]
    Trailing,
    /// They can be read, and would be written in another way.
    #[error("it is not written the one way there is")]
    NotCanonical,
    /// The places for signatures are not as many as the message asks for.
    #[error("it has {places} places for signatures, and its message asks for {signers}")]
    Places {
        /// How many places there are.
        places: usize,
        /// How many signatures the message asks for.
        signers: usize,
    },
    /// The header counts more accounts than there are.
    #[error("its header counts more accounts than it has")]
    Header,
    /// Nobody who may be written to signs, so that nobody pays.
    #[error("it has no fee payer")]
    FeePayer,
    /// A static account stands there twice. Holds the later place.
    #[error("account_keys[{0}] stands there twice")]
    DuplicateKey(usize),
    /// A lookup table stands there twice. Holds the later place.
    #[error("address_table_lookups[{0}] names a table for the second time")]
    DuplicateTable(usize),
    /// A lookup table is not looked into. Holds its place.
    #[error("address_table_lookups[{0}] looks up nothing")]
    EmptyTable(usize),
    /// There are more accounts than instructions can name.
    #[error("it has more than {MAX_ACCOUNTS} accounts")]
    Accounts,
    /// An instruction names an account that is not there. Holds the place of the instruction.
    #[error("instructions[{0}] names an account that is not there")]
    Account(usize),
    /// An instruction calls a program that is not among the static accounts. Holds its place.
    #[error("instructions[{0}] calls a program that is not among the static accounts")]
    Program(usize),
    /// An instruction calls who pays the fee. Holds its place.
    #[error("instructions[{0}] calls the fee payer")]
    CallsFeePayer(usize),
    /// An instruction of the System program, or a transfer of tokens, is none. Holds its place.
    #[error("instructions[{0}] cannot be read as one of its program, or names too few accounts")]
    Instruction(usize),
    /// The key is none of those that the transaction asks for.
    #[error("the key is none of its signers")]
    Signer,
}

impl Transaction {
    /// Reads a whole transaction: the number of signatures, their places, the message.
    ///
    /// # Errors
    /// The [`Flaw`] that applies first.
    pub fn decode(bytes: &[u8]) -> Result<Self, Flaw> {
        if bytes.len() > MAX_BYTES {
            return Err(Flaw::TooLong);
        }
        let start = message_start(bytes)?;
        let read: VersionedTransaction =
            deserialize_exact(bytes, Reading::new()).map_err(|flaw| match flaw {
                ReadError::Io(_) => Flaw::Ended,
                ReadError::TrailingBytes => Flaw::Trailing,
                flaw => Flaw::Malformed(flaw.to_string()),
            })?;
        if wincode::serialize(&read).ok().as_deref() != Some(bytes) {
            return Err(Flaw::NotCanonical);
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
        let unread = transaction.instructions().position(|instruction| instruction.read().is_none());
        unread.map_or(Ok(transaction), |place| Err(Flaw::Instruction(place)))
    }

    /// What is signed: all that follows the signatures.
    pub fn message(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// The version of the message; the legacy form has none.
    pub fn version(&self) -> Option<u8> {
        matches!(self.message, VersionedMessage::V0(_)).then_some(0)
    }

    /// The interfaces of the programs that it calls, each looked up once.
    pub fn interfaces(&self, from: &dyn Interfaces) -> ProgramInterfaces {
        let called: BTreeSet<u8> =
            self.message.instructions().iter().map(|one| one.program_id_index).collect();
        let known = called.into_iter().filter_map(|place| {
            let program = self.keys.get(usize::from(place))?;
            Some((place, from.idl(program)?))
        });
        ProgramInterfaces(known.collect())
    }

    /// The programs that it calls, each once.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        let called = self.message.instructions();
        let is_called =
            move |place: usize| called.iter().any(|one| usize::from(one.program_id_index) == place);
        self.keys.iter().enumerate().filter(move |(place, _)| is_called(*place)).map(|(_, key)| key.as_str())
    }

    /// The static accounts, in base58. The first one pays the fee.
    pub fn account_keys(&self) -> &[String] {
        &self.keys
    }

    /// Those who sign, and whether their place is filled.
    pub fn signers(&self) -> impl Iterator<Item = (&str, bool)> {
        let places = self.bytes.get(..self.start).unwrap_or_default().rchunks_exact(SIGNATURE_BYTES).rev();
        let is_filled = |place: &[u8]| place.iter().any(|byte| *byte != 0);
        self.keys.iter().map(String::as_str).zip(places.map(is_filled))
    }

    /// The block that it follows, or the nonce that it uses up, in base58.
    pub fn recent_blockhash(&self) -> String {
        self.message.recent_blockhash().to_string()
    }

    /// The tables in which it looks up accounts.
    pub fn tables(&self) -> &[LookupTable] {
        &self.tables
    }

    /// What it does, in order.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'_>> {
        let compiled = self.message.instructions().iter();
        compiled.map(|compiled| Instruction { transaction: self, compiled })
    }

    /// Whether it uses up a nonce, so that it stays valid until it is sent or the nonce is used by another.
    pub fn uses_durable_nonce(&self) -> bool {
        let first = self.instructions().next().map(|instruction| instruction.act());
        matches!(first, Some(Act::System(System::AdvanceNonceAccount { .. })))
    }

    /// The place of the key among those who sign.
    pub(super) fn slots(&self, signer: &Signer<'_>) -> Result<Vec<Slot>, Flaw> {
        let signers = self.message.static_account_keys().iter().take(self.required());
        let mut signers = signers.map(|key| key.as_ref() == signer.key.compressed());
        let place = signers.position(|is_signer| is_signer).ok_or(Flaw::Signer)?;
        Ok(vec![Slot { message: Message::Bytes(self.message().to_vec()), place }])
    }

    /// The transaction with these signatures in their places, and all others as they were.
    pub(super) fn signed(&self, signatures: &[(usize, Signature)]) -> Vec<u8> {
        let (places, message) = self.bytes.split_at_checked(self.start).unwrap_or_default();
        let mut places = places.to_vec();
        for (place, signature) in signatures {
            let mut slots = places.rchunks_exact_mut(SIGNATURE_BYTES).rev();
            if let Some(slot) = slots.nth(*place) {
                slot.copy_from_slice(&[signature.r, signature.s].concat());
            }
        }
        places.extend_from_slice(message);
        places
    }

    fn required(&self) -> usize {
        self.message.header().num_required_signatures.into()
    }

    /// Whether the static account may be written to (the first ones of those who sign, and of those who do not).
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

/// One step of a transaction: a program, the accounts that it is given, and data.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    transaction: &'a Transaction,
    compiled: &'a CompiledInstruction,
}

/// Interfaces of programs that a transaction calls, by the places of their keys.
#[derive(Debug)]
pub struct ProgramInterfaces(BTreeMap<u8, Arc<Idl>>);

impl<'a> Instruction<'a> {
    /// The program, in base58.
    pub fn program(&self) -> &'a str {
        let keys = &self.transaction.keys;
        keys.get(usize::from(self.compiled.program_id_index)).map(String::as_str).unwrap_or_default()
    }

    /// What the program is given besides accounts.
    pub fn data(&self) -> &'a [u8] {
        &self.compiled.data
    }

    /// The accounts in the order in which the program takes them: base58, or [`LOOKED_UP`].
    pub fn accounts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.all().map(|account| match account {
            Account::Static(key, _) => key,
            Account::LookedUp(_) => LOOKED_UP,
        })
    }

    /// What it asks for in the words of the interface of its program, if there is one that reads it.
    pub fn by_interface(&self, known: &ProgramInterfaces) -> Option<contract::Instruction> {
        let idl = known.0.get(&self.compiled.program_id_index)?;
        let accounts: Vec<&str> = self.accounts().collect();
        idl.instruction(self.data(), &accounts).ok()
    }

    fn all(&self) -> impl Iterator<Item = Account<'a>> + use<'a> {
        let transaction = self.transaction;
        self.compiled.accounts.iter().filter_map(move |account| {
            let account = usize::from(*account);
            let key = transaction.keys.get(account).map(|key| Account::Static(key, account));
            let behind = || transaction.lookups.get(account.checked_sub(transaction.keys.len())?);
            key.or_else(|| behind().map(Account::LookedUp))
        })
    }

    /// The account at a place, as in [`Self::accounts`].
    fn account(&self, place: usize) -> Option<&'a str> {
        self.accounts().nth(place)
    }
}

/// Where the message begins, if it is of a form that is read here.
fn message_start(bytes: &[u8]) -> Result<usize, Flaw> {
    let places = *bytes.first().ok_or(Flaw::Ended)?;
    // Later versions put their number first. So many signatures would not fit in any case.
    if places & VERSION_MARK != 0 {
        return Err(Flaw::Version(places & !VERSION_MARK));
    }
    let start = usize::from(places).saturating_mul(SIGNATURE_BYTES).saturating_add(1);
    let first = *bytes.get(start).ok_or(Flaw::Ended)?;
    if first > VERSION_MARK { Err(Flaw::Version(first & !VERSION_MARK)) } else { Ok(start) }
}

fn check_accounts(message: &VersionedMessage, places: usize) -> Result<(), Flaw> {
    let (header, keys) = (message.header(), message.static_account_keys());
    let signers = usize::from(header.num_required_signatures);
    if signers != places {
        return Err(Flaw::Places { places, signers });
    }
    if signers.saturating_add(header.num_readonly_unsigned_accounts.into()) > keys.len() {
        return Err(Flaw::Header);
    }
    if header.num_readonly_signed_accounts >= header.num_required_signatures {
        return Err(Flaw::FeePayer);
    }
    let twice =
        keys.iter().enumerate().position(|(place, key)| keys.iter().take(place).any(|one| one == key));
    twice.map_or(Ok(()), |place| Err(Flaw::DuplicateKey(place)))
}

fn check_tables(message: &VersionedMessage) -> Result<(), Flaw> {
    let tables = message.address_table_lookups().unwrap_or_default();
    let mut accounts = message.static_account_keys().len();
    for (place, table) in tables.iter().enumerate() {
        if tables.iter().take(place).any(|one| one.account_key == table.account_key) {
            return Err(Flaw::DuplicateTable(place));
        }
        let looked_up = looked_up(table);
        if looked_up == 0 {
            return Err(Flaw::EmptyTable(place));
        }
        accounts = accounts.saturating_add(looked_up);
    }
    if accounts > MAX_ACCOUNTS { Err(Flaw::Accounts) } else { Ok(()) }
}

fn looked_up(table: &MessageAddressTableLookup) -> usize {
    table.writable_indexes.len().saturating_add(table.readonly_indexes.len())
}

fn check_instructions(message: &VersionedMessage) -> Result<(), Flaw> {
    let keys = message.static_account_keys().len();
    let tables = message.address_table_lookups().unwrap_or_default();
    let accounts = tables.iter().map(looked_up).fold(keys, usize::saturating_add);
    for (place, instruction) in message.instructions().iter().enumerate() {
        match usize::from(instruction.program_id_index) {
            0 => return Err(Flaw::CallsFeePayer(place)),
            program if program >= keys => return Err(Flaw::Program(place)),
            _ => {}
        }
        if instruction.accounts.iter().any(|account| usize::from(*account) >= accounts) {
            return Err(Flaw::Account(place));
        }
    }
    Ok(())
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

/// First those of every table that may be written to, then those of every table that are only read.
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
