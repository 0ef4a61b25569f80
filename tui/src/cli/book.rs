//! `quorate book ls|add|rm|export|import`: the user's own address book.

use std::path::Path;

use serde_json::{Value, json};

use super::arguments::BookCommand;
use super::input::given;
use super::table::{self, Table};
use crate::book::{Book, Entry, EntryError, SIZE_LIMIT};
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::output::Answer;
use crate::text::{date, pad};

/// Name of the flag for an address that starts and ends like a known one (possible address poisoning).
const SIMILAR_FLAG: &str = "similar-address";

pub(super) fn run(folders: &Folders, command: &BookCommand) -> Result<Answer> {
    let path = folders.book();
    let mut book = Book::load(&path)?;
    match command {
        BookCommand::Ls => Ok(list(&book)),
        BookCommand::Export => {
            let text = book.text();
            let data = serde_json::from_str(&text).unwrap_or_default();
            Ok(Answer::file(data, text))
        }
        BookCommand::Add { chain, address, name, decimals, allow_flag } => {
            let entry = Entry::new(*chain, address, name, now_millis())?.with_decimals(*decimals)?;
            check_similar(&book, &entry, allow_flag)?;
            let (data, text) = (line(&entry), entry_text(&entry));
            book.add(entry)?;
            book.save(&path)?;
            Ok(Answer::one(data, text))
        }
        BookCommand::Rm { name } => {
            let missing = || Failure::new(Exit::NotFound, "no address book entry has this name");
            let entry = book.remove(name).ok_or_else(missing)?;
            book.save(&path)?;
            Ok(Answer::one(line(&entry), entry_text(&entry)))
        }
        BookCommand::Import { file, allow_flag } => import(&mut book, &path, file, allow_flag),
    }
}

fn import(book: &mut Book, path: &Path, file: &Path, allowed: &[String]) -> Result<Answer> {
    let theirs =
        Book::parse(&given(file, SIZE_LIMIT)?).map_err(|reason| Failure::new(Exit::Failed, reason))?;
    for entry in theirs.entries() {
        check_similar(book, entry, allowed)?;
        check_similar(&theirs, entry, allowed)?;
    }
    let added = book.merge(&theirs, now_millis())?;
    book.save(path)?;
    let known = theirs.entries().len().saturating_sub(added);
    Ok(Answer::one(
        json!({"added": added, "known": known}),
        format!("{} added, {known} already known\n", counted(added)),
    ))
}

/// Fails if the address is similar to a known one and the flag is not accepted by name.
fn check_similar(book: &Book, entry: &Entry, allowed: &[String]) -> Result<()> {
    let Some(similar) = book.similar_entry(entry.chain, &entry.address) else { return Ok(()) };
    if allowed.iter().any(|flag| flag == SIMILAR_FLAG) {
        return Ok(());
    }
    let message = format!(
        "{} starts and ends like the address of {}, {}: possible address poisoning. If both are correct, repeat with --allow-flag {SIMILAR_FLAG}",
        entry.address,
        similar.marked(),
        similar.address
    );
    Err(Failure::new(Exit::Verification, message).with(json!({"flag": SIMILAR_FLAG, "known": line(similar)})))
}

fn counted(addresses: usize) -> String {
    if addresses == 1 { "1 address".to_owned() } else { format!("{addresses} addresses") }
}

fn list(book: &Book) -> Answer {
    let rows = book.entries().into_iter().map(|entry| {
        let Entry { chain, address, name, added_millis, .. } = entry;
        let cells = [name.clone(), chain.name().to_owned(), address.clone(), date(*added_millis)];
        table::row(line(entry), name, cells)
    });
    let none = "No addresses. Add one with `quorate book add CHAIN ADDRESS NAME`.";
    let columns = &["NAME", "CHAIN", "ADDRESS", "ADDED"];
    Table { noun: ("address", "addresses"), columns, wide: &[], rows: rows.collect(), none, more: None }
        .answer()
}

fn entry_text(entry: &Entry) -> String {
    let Entry { chain, address, name, added_millis, decimals } = entry;
    let decimals = decimals.map_or_else(String::new, |decimals| format!(", {decimals} decimals"));
    let (name, chain, added) = (pad(name, 24), pad(chain.name(), 8), date(*added_millis));
    format!("{name}  {chain}  {address}  added {added}{decimals}\n")
}

fn line(entry: &Entry) -> Value {
    let Entry { chain, address, name, added_millis, decimals } = entry;
    let mut line = json!({"chain": chain, "address": address, "name": name, "addedAtMillis": added_millis});
    if let (Some(decimals), Some(members)) = (decimals, line.as_object_mut()) {
        members.insert("decimals".to_owned(), json!(decimals));
    }
    line
}

impl From<EntryError> for Failure {
    fn from(error: EntryError) -> Self {
        let exit = match &error {
            EntryError::Name
            | EntryError::MixedName
            | EntryError::Address(_)
            | EntryError::NotCanonical
            | EntryError::Decimals => Exit::Usage,
            EntryError::AddressTaken(_) | EntryError::NameTaken | EntryError::Full => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}
