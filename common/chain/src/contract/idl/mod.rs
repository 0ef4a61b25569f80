//! Anchor IDL: the instructions of a Solana program, and the decoding of their data.
//!
//! Both versions of the JSON are supported: before and since Anchor 0.30. The data is Borsh, and
//! non-canonical encodings are rejected. An unsupported type only affects the instructions that use it.

mod borsh;
mod kind;

use quorate_policy::Value;
use sha2::{Digest, Sha256};

use self::borsh::Reader;
use self::kind::{Field, Kinds};
use super::argument::{self, Argument, Lines};
use super::{InterfaceError, is_name, json};
use crate::json::Json;

/// Maximum length of instruction data, in bytes: no transaction is longer.
pub const MAX_INSTRUCTION_BYTES: usize = 1232;
/// Length of the default discriminator in bytes: a prefix of a SHA-256 digest.
const DISCRIMINATOR: usize = 8;
/// Maximum nesting depth of account groups.
const MAX_GROUPS: usize = 4;

/// IDL of a program.
#[derive(Debug, PartialEq)]
pub struct Idl {
    instructions: Vec<DeclaredInstruction>,
    kinds: Kinds,
}

/// An instruction that the interface declares.
#[derive(Debug, PartialEq)]
struct DeclaredInstruction {
    name: String,
    discriminator: Vec<u8>,
    /// Names of the accounts. Accounts in groups are prefixed with the group names.
    accounts: Vec<String>,
    arguments: Vec<Field>,
}

/// An instruction decoded with an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Name of the instruction in the interface.
    pub name: String,
    /// First bytes of the data, which identify the instruction.
    pub discriminator: Vec<u8>,
    /// Names of the accounts in the interface, with their addresses.
    pub accounts: Vec<(String, String)>,
    arguments: Vec<(String, Argument)>,
}

impl Idl {
    /// Parses the JSON of an IDL.
    ///
    /// # Errors
    /// The [`InterfaceError`] that applies first.
    pub fn parse(text: &str) -> Result<Self, InterfaceError> {
        let whole = json::parse(text)?;
        let instructions =
            json::list(&whole, "instructions").ok_or(InterfaceError::MissingList("instructions"))?;
        let kinds = json::list(&whole, "types").ok_or(InterfaceError::MissingList("types"))?;
        let kinds = Kinds::parse(kinds)?;
        let instructions =
            numbered("instruction", instructions, |entry| DeclaredInstruction::parse(entry, &kinds))?;
        Ok(Self { instructions, kinds })
    }

    /// Decodes the data of an instruction with the first declared instruction whose discriminator matches.
    ///
    /// `accounts` are the addresses of the instruction's accounts in order. There may be more than the
    /// interface names.
    ///
    /// # Errors
    /// The [`InterfaceError`] that applies first.
    pub fn instruction(&self, data: &[u8], accounts: &[&str]) -> Result<Instruction, InterfaceError> {
        if data.len() > MAX_INSTRUCTION_BYTES {
            return Err(InterfaceError::TooLongInstruction);
        }
        let mut instructions = self.instructions.iter();
        let declared = instructions.find(|declared| data.starts_with(&declared.discriminator));
        let declared = declared.ok_or(InterfaceError::UnknownInstruction)?;
        if accounts.len() < declared.accounts.len() {
            return Err(InterfaceError::TooFewAccounts);
        }
        let rest = data.get(declared.discriminator.len()..).unwrap_or_default();
        let arguments =
            Reader::new(rest, &self.kinds).all(&declared.arguments).map_err(InterfaceError::Arguments)?;
        let accounts = declared.accounts.iter().zip(accounts);
        Ok(Instruction {
            name: declared.name.clone(),
            discriminator: declared.discriminator.clone(),
            accounts: accounts.map(|(name, account)| (name.clone(), (*account).to_owned())).collect(),
            arguments,
        })
    }
}

impl Instruction {
    /// Returns the arguments as facts for policies, by name.
    pub fn arguments(&self) -> Value {
        argument::values(&self.arguments)
    }

    /// Returns the arguments as text for people.
    pub fn lines(&self) -> Lines {
        Lines::of(&self.arguments)
    }

    /// Returns the facts that policies can query.
    pub fn facts(&self) -> Value {
        let accounts =
            self.accounts.iter().map(|(name, address)| (name.as_str(), Value::text(address.clone())));
        Value::record([
            ("instruction_name", Value::text(self.name.clone())),
            ("discriminator", Value::text(const_hex::encode(&self.discriminator))),
            ("named_accounts", Value::map(accounts)),
            ("program_call_args", self.arguments()),
        ])
    }
}

impl DeclaredInstruction {
    fn parse(entry: &Json<'_>, kinds: &Kinds) -> Result<Self, &'static str> {
        let name = name(entry)?;
        let discriminator = match entry.get("discriminator") {
            None | Some(Json::Null) => default_discriminator(&name),
            Some(given) => given_discriminator(given).ok_or("its discriminator is not a list of bytes")?,
        };
        let mut accounts = Vec::new();
        let listed = json::list(entry, "accounts").ok_or("its accounts are not a list")?;
        name_accounts(listed, "", MAX_GROUPS, &mut accounts)?;
        let arguments = json::list(entry, "args").ok_or("its arguments are not a list")?;
        Ok(Self { name, discriminator, accounts, arguments: kinds.fields(arguments)? })
    }
}

fn given_discriminator(given: &Json<'_>) -> Option<Vec<u8>> {
    let byte = |byte: &Json<'_>| byte.as_u64().and_then(|byte| u8::try_from(byte).ok());
    let bytes = given.as_list()?.iter().map(byte).collect::<Option<Vec<_>>>()?;
    (!bytes.is_empty()).then_some(bytes)
}

/// Returns the discriminator of Anchor: the first bytes of SHA-256 of `global:` and the name in snake case.
fn default_discriminator(name: &str) -> Vec<u8> {
    let mut snake = String::from("global:");
    for (index, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    Sha256::digest(snake).iter().take(DISCRIMINATOR).copied().collect()
}

/// Appends the names of accounts, each prefixed with `prefix`.
fn name_accounts(
    listed: &[Json<'_>],
    prefix: &str,
    depth: usize,
    names: &mut Vec<String>,
) -> Result<(), &'static str> {
    for entry in listed {
        let name = format!("{prefix}{}", name(entry)?);
        if let Some(group) = json::list(entry, "accounts") {
            let depth = depth.checked_sub(1).ok_or("its account groups nest too deep")?;
            name_accounts(group, &format!("{name}."), depth, names)?;
        } else if names.contains(&name) {
            return Err("two of its accounts have the same name");
        } else if names.len() >= MAX_INSTRUCTION_BYTES {
            return Err("it has more accounts than a transaction can hold");
        } else {
            names.push(name);
        }
    }
    Ok(())
}

fn name(entry: &Json<'_>) -> Result<String, &'static str> {
    let name = json::text(entry, "name").filter(|name| is_name(name));
    name.map(str::to_owned).ok_or("a name is not a valid identifier")
}

/// Parses each entry of a list. Errors contain the number of the entry.
fn numbered<T>(
    noun: &'static str,
    list: &[Json<'_>],
    mut read: impl FnMut(&Json<'_>) -> Result<T, &'static str>,
) -> Result<Vec<T>, InterfaceError> {
    let entries = list.iter().enumerate();
    let read =
        entries.map(|(index, entry)| read(entry).map_err(|rule| InterfaceError::entry(noun, index, rule)));
    read.collect()
}

#[cfg(test)]
mod tests;
