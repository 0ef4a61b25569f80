//! IDL of Anchor: which instructions a program of Solana takes, and what their data says.
//!
//! Both forms of the JSON are read, that of Anchor before 0.30 and that since. The data is Borsh; whatever Borsh would write
//! in another way is refused. A type that is not read here spoils only the instructions that have it.

mod borsh;
mod kind;

use quorate_policy::Value;
use sha2::{Digest, Sha256};

use self::borsh::Reader;
use self::kind::{Field, Kinds};
use super::argument::{self, Argument, Lines};
use super::{Flaw, is_name, json};
use crate::json::Json;

/// Longest data of an instruction, in bytes: no transaction is longer.
pub const MAX_INSTRUCTION_BYTES: usize = 1232;
/// How many bytes of SHA-256 an instruction has in front, unless the interface gives others.
const DISCRIMINATOR: usize = 8;
/// How deep groups of accounts may nest.
const MAX_GROUPS: usize = 4;

/// What a program can be asked to do.
#[derive(Debug, PartialEq)]
pub struct Idl {
    instructions: Vec<Known>,
    kinds: Kinds,
}

/// An instruction that the interface has.
#[derive(Debug, PartialEq)]
struct Known {
    name: String,
    discriminator: Vec<u8>,
    /// Names of the accounts; those in groups have the names of their groups in front.
    accounts: Vec<String>,
    arguments: Vec<Field>,
}

/// An instruction as the interface reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Its name.
    pub name: String,
    /// The bytes at the front of its data, by which it was found.
    pub discriminator: Vec<u8>,
    /// The accounts that the interface names, with their addresses, in its order.
    pub accounts: Vec<(String, String)>,
    arguments: Vec<(String, Argument)>,
}

impl Idl {
    /// Reads the JSON of an IDL.
    ///
    /// # Errors
    /// The [`Flaw`] that applies first.
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        let whole = json::parse(text)?;
        let instructions = json::list(&whole, "instructions").ok_or(Flaw::NoList("instructions"))?;
        let kinds = json::list(&whole, "types").ok_or(Flaw::NoList("types"))?;
        let kinds = Kinds::parse(kinds)?;
        let instructions = numbered("instruction", instructions, |entry| Known::parse(entry, &kinds))?;
        Ok(Self { instructions, kinds })
    }

    /// What the data of an instruction asks for: by the first instruction of the interface whose discriminator it begins
    /// with. `accounts` are the addresses that it comes with, in their order; more than the interface names may come.
    ///
    /// # Errors
    /// The [`Flaw`] that applies first.
    pub fn instruction(&self, data: &[u8], accounts: &[&str]) -> Result<Instruction, Flaw> {
        if data.len() > MAX_INSTRUCTION_BYTES {
            return Err(Flaw::TooLongInstruction);
        }
        let mut found = self.instructions.iter();
        let known = found.find(|known| data.starts_with(&known.discriminator));
        let known = known.ok_or(Flaw::UnknownInstruction)?;
        if accounts.len() < known.accounts.len() {
            return Err(Flaw::TooFewAccounts);
        }
        let rest = data.get(known.discriminator.len()..).unwrap_or_default();
        let arguments = Reader::new(rest, &self.kinds).all(&known.arguments).map_err(Flaw::Arguments)?;
        let accounts = known.accounts.iter().zip(accounts);
        Ok(Instruction {
            name: known.name.clone(),
            discriminator: known.discriminator.clone(),
            accounts: accounts.map(|(name, account)| (name.clone(), (*account).to_owned())).collect(),
            arguments,
        })
    }
}

impl Instruction {
    /// What policies may ask about the arguments, by their names.
    pub fn arguments(&self) -> Value {
        argument::values(&self.arguments)
    }

    /// The arguments for people.
    pub fn lines(&self) -> Lines {
        Lines::of(&self.arguments)
    }

    /// What policies may ask about it.
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

impl Known {
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

/// The first bytes of SHA-256 of `global:` and the name in snake case, as Anchor has it.
fn default_discriminator(name: &str) -> Vec<u8> {
    let mut snake = String::from("global:");
    for (place, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && place > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    Sha256::digest(snake).iter().take(DISCRIMINATOR).copied().collect()
}

/// Adds the names of accounts, with `front` before each.
fn name_accounts(
    listed: &[Json<'_>],
    front: &str,
    depth: usize,
    names: &mut Vec<String>,
) -> Result<(), &'static str> {
    for entry in listed {
        let name = format!("{front}{}", name(entry)?);
        if let Some(group) = json::list(entry, "accounts") {
            let depth = depth.checked_sub(1).ok_or("its accounts are grouped too deep")?;
            name_accounts(group, &format!("{name}."), depth, names)?;
        } else if names.contains(&name) {
            return Err("two of its accounts have one name");
        } else if names.len() >= MAX_INSTRUCTION_BYTES {
            return Err("it has more accounts than a transaction has room for");
        } else {
            names.push(name);
        }
    }
    Ok(())
}

fn name(entry: &Json<'_>) -> Result<String, &'static str> {
    let name = json::text(entry, "name").filter(|name| is_name(name));
    name.map(str::to_owned).ok_or("a name is none that code can have")
}

/// Each entry of a list, read; a broken rule is told with its place.
fn numbered<T>(
    noun: &'static str,
    list: &[Json<'_>],
    mut read: impl FnMut(&Json<'_>) -> Result<T, &'static str>,
) -> Result<Vec<T>, Flaw> {
    let entries = list.iter().enumerate();
    let read = entries.map(|(place, entry)| {
        read(entry).map_err(|rule| Flaw::Entry { noun, number: place.saturating_add(1), rule })
    });
    read.collect()
}

#[cfg(test)]
mod tests;
