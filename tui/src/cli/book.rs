//! `quorate book ls|add|rm|export|import`: the user's own address book.

use std::path::Path;

use quorate_chain::address::Chain;
use serde_json::{Value, json};

use super::arguments::BookCommand;
use super::{Answer, given};
use crate::book::{Book, Entry, EntryFlaw, SIZE_LIMIT};
use crate::clock::now_millis;
use crate::failure::{Exit, Failure};
use crate::place::Folders;
use crate::text::{date, pad};

/// The flag that has to be named to take in an address that looks like a known one.
const LOOK_ALIKE: &str = "look-alike";

pub(super) fn run(folders: &Folders, command: &BookCommand) -> Result<Answer, Failure> {
    let path = folders.book();
    let mut book = Book::load(&path)?;
    match command {
        BookCommand::Ls => Ok(list(&book)),
        BookCommand::Export => {
            let text = book.text();
            let data = serde_json::from_str(&text).unwrap_or_default();
            Ok(Answer::one(data, text))
        }
        BookCommand::Add { chain, address, name, allow_flag } => {
            let entry = Entry::new(*chain, address, name, now_millis())?;
            alone(&book, &entry, allow_flag)?;
            let (data, text) = (line(&entry), told(&entry));
            book.add(entry)?;
            book.save(&path)?;
            Ok(Answer::one(data, text))
        }
        BookCommand::Rm { name } => {
            let missing = || Failure::new(Exit::NotFound, "the address book has no entry of that name");
            let entry = book.remove(name).ok_or_else(missing)?;
            book.save(&path)?;
            Ok(Answer::one(line(&entry), told(&entry)))
        }
        BookCommand::Import { file, allow_flag } => import(&mut book, &path, file, allow_flag),
    }
}

fn import(book: &mut Book, path: &Path, file: &Path, allowed: &[String]) -> Result<Answer, Failure> {
    let theirs =
        Book::parse(&given(file, SIZE_LIMIT)?).map_err(|reason| Failure::new(Exit::Failed, reason))?;
    for entry in theirs.entries() {
        alone(book, entry, allowed)?;
        alone(&theirs, entry, allowed)?;
    }
    let added = book.merge(&theirs, now_millis())?;
    book.save(path)?;
    let known = theirs.entries().len().saturating_sub(added);
    Ok(Answer::one(
        json!({"added": added, "known": known}),
        format!("{added} added, {known} known already\n"),
    ))
}

/// Refuses an address that looks like a known one, unless the flag is named.
fn alone(book: &Book, entry: &Entry, allowed: &[String]) -> Result<(), Failure> {
    let Some(alike) = book.look_alike(entry.chain, &entry.address) else { return Ok(()) };
    if allowed.iter().any(|flag| flag == LOOK_ALIKE) {
        return Ok(());
    }
    let message = format!(
        "{} begins and ends like the address of {}, which is {}; if both are right, name it: --allow-flag {LOOK_ALIKE}",
        entry.address,
        alike.marked(),
        alike.address
    );
    Err(Failure::new(Exit::Verification, message).with(json!({"flag": LOOK_ALIKE, "known": line(alike)})))
}

fn list(book: &Book) -> Answer {
    let entries = book.entries();
    let text: String = entries.iter().map(|entry| told(entry)).collect();
    let none = "No addresses. quorate book add CHAIN ADDRESS NAME adds one.\n".to_owned();
    Answer::list(entries.into_iter().map(line).collect(), if text.is_empty() { none } else { text })
}

fn told(entry: &Entry) -> String {
    let Entry { chain, address, name, added_millis } = entry;
    format!("{}  {}  {address}  added {}\n", pad(name, 24), pad(chain.name(), 8), date(*added_millis))
}

fn line(entry: &Entry) -> Value {
    json!(entry)
}

impl From<EntryFlaw> for Failure {
    fn from(flaw: EntryFlaw) -> Self {
        let exit = match &flaw {
            EntryFlaw::Name | EntryFlaw::MixedName | EntryFlaw::Address(_) | EntryFlaw::Spelling => {
                Exit::Usage
            }
            EntryFlaw::AddressTaken(_) | EntryFlaw::NameTaken | EntryFlaw::Full => Exit::Failed,
        };
        Self::new(exit, flaw.to_string())
    }
}

/// A chain by name.
pub(super) fn chain(text: &str) -> Result<Chain, String> {
    text.parse::<Chain>().map_err(|flaw| flaw.to_string())
}
