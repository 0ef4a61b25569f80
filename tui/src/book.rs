//! The user's own address book: names for known addresses. It is a local file that no daemon reads or writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quorate_chain::address::{AddressTextError, Chain};
use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};
use crate::text::{clean, has_hidden, is_mixed};

const VERSION: u32 = 1;
/// Maximum number of entries.
const ENTRY_LIMIT: usize = 10_000;
/// Maximum length of a name, in characters.
const NAME_LIMIT: usize = 64;
/// Maximum size of the file, in bytes.
pub(crate) const SIZE_LIMIT: u64 = 8 * 1024 * 1024;
/// Maximum decimals of a token. No amount of 32 bytes has more digits after the first.
const DECIMALS_LIMIT: u8 = 77;
/// Characters at each end of an address that people compare.
const END_LETTERS: usize = 4;

/// A known address and the name that the user gave it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) chain: Chain,
    /// Address in the canonical form of its chain.
    pub(crate) address: String,
    pub(crate) name: String,
    /// Time when the user added the entry, in milliseconds since the Unix epoch.
    pub(crate) added_millis: u64,
    /// For the contract of a token: the decimals of its unit.
    pub(crate) decimals: Option<u8>,
}

impl Entry {
    /// Validates the name and the address that the user typed.
    pub(crate) fn new(
        chain: Chain,
        address: &str,
        name: &str,
        added_millis: u64,
    ) -> Result<Self, EntryError> {
        check_name(name)?;
        let address = chain.address(address)?;
        Ok(Self { chain, address, name: name.to_owned(), added_millis, decimals: None })
    }

    /// Sets the decimals of a token.
    pub(crate) fn with_decimals(self, decimals: Option<u8>) -> Result<Self, EntryError> {
        if decimals.is_some_and(|decimals| decimals > DECIMALS_LIMIT) {
            return Err(EntryError::Decimals);
        }
        Ok(Self { decimals, ..self })
    }

    /// Returns the name with the mark `[book]`, which shows that the name comes from the user's own book.
    pub(crate) fn marked(&self) -> String {
        format!("{} [book]", self.name)
    }
}

/// Address book. Each address occurs once, and no two names look alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Book {
    /// Entries by chain and by the first and last characters of the address.
    by_ends: BTreeMap<(Chain, String), Vec<Entry>>,
    /// Names in the form that [`skeleton`] returns.
    skeletons: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    entries: Vec<Entry>,
}

/// Why an entry is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EntryError {
    /// The name is empty, too long, or contains characters that are not allowed.
    #[error(
        "invalid name: use 1 to {NAME_LIMIT} visible characters, no spaces at either end, and none of [ ] \""
    )]
    Name,
    /// The name mixes scripts, so that letters of one script can imitate those of another.
    #[error("invalid name: one word mixes letters of several scripts")]
    MixedName,
    /// The address is not valid on its chain.
    #[error(transparent)]
    Address(#[from] AddressTextError),
    /// The address is valid but not in canonical form.
    #[error("the address is not in canonical form")]
    NotCanonical,
    /// The address is already in the book under this name.
    #[error("the address is already in the book as {0}")]
    AddressTaken(String),
    /// Another address has this name or one that looks like it.
    #[error("another address already has this name or one that looks like it")]
    NameTaken,
    #[error("invalid decimals: a token has at most {DECIMALS_LIMIT}")]
    Decimals,
    #[error("the address book is full: at most {ENTRY_LIMIT} entries are allowed")]
    Full,
}

impl Book {
    pub(crate) const EMPTY: Self = Self { by_ends: BTreeMap::new(), skeletons: BTreeSet::new() };

    /// Loads the file. The file must not be accessible to other users. Returns an empty book if the file does
    /// not exist.
    pub(crate) fn load(path: &Path) -> Result<Self, FileError> {
        let Some(bytes) = files::read_private(path, SIZE_LIMIT)? else { return Ok(Self::EMPTY) };
        Self::parse(&bytes).map_err(|reason| FileError::Invalid { path: path.to_owned(), reason })
    }

    /// Saves the file, readable by its owner only.
    pub(crate) fn save(&self, path: &Path) -> Result<(), FileError> {
        files::write_private(path, self.text().as_bytes())
    }

    /// Parses the content of a book file. Fails with a description of what is invalid and where.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| clean(&error.to_string()))?;
        if file.version != VERSION {
            return Err(format!("unsupported address book version {}", file.version));
        }
        let mut book = Self::EMPTY;
        for (index, entry) in file.entries.into_iter().enumerate() {
            let located = |error: EntryError| format!("entries[{index}]: {error}");
            let read = Entry::new(entry.chain, &entry.address, &entry.name, entry.added_millis)
                .and_then(|read| read.with_decimals(entry.decimals));
            if read.map_err(located)? != entry {
                return Err(located(EntryError::NotCanonical));
            }
            book.add(entry).map_err(located)?;
        }
        Ok(book)
    }

    /// Returns the content of the file.
    pub(crate) fn text(&self) -> String {
        let file = File { version: VERSION, entries: self.entries().into_iter().cloned().collect() };
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns all entries, sorted by name.
    pub(crate) fn entries(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.by_ends.values().flatten().collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries
    }

    pub(crate) fn add(&mut self, entry: Entry) -> Result<(), EntryError> {
        if let Some(existing) = self.find(entry.chain, &entry.address) {
            return Err(EntryError::AddressTaken(existing.name.clone()));
        }
        if self.skeletons.len() >= ENTRY_LIMIT {
            return Err(EntryError::Full);
        }
        if !self.skeletons.insert(skeleton(&entry.name)) {
            return Err(EntryError::NameTaken);
        }
        let ends = ends(&entry.address);
        self.by_ends.entry((entry.chain, ends)).or_default().push(entry);
        Ok(())
    }

    /// Removes the entry with this name and returns it.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Entry> {
        let similar =
            self.by_ends.values_mut().find(|similar| similar.iter().any(|entry| entry.name == name))?;
        let index = similar.iter().position(|entry| entry.name == name)?;
        let entry = similar.remove(index);
        self.skeletons.remove(&skeleton(&entry.name));
        Some(entry)
    }

    /// Imports the entries of another book with `now` as their added time. Entries that both books have stay
    /// unchanged. Returns how many entries are new. Imports all entries or none.
    pub(crate) fn merge(&mut self, other: &Self, now: u64) -> Result<usize, EntryError> {
        let mut merged = self.clone();
        for entry in other.entries() {
            let existing = self.find(entry.chain, &entry.address);
            if existing.is_none_or(|existing| existing.name != entry.name) {
                merged.add(Entry { added_millis: now, ..entry.clone() })?;
            }
        }
        let count = merged.skeletons.len().saturating_sub(self.skeletons.len());
        *self = merged;
        Ok(count)
    }

    /// Returns the entry of an address, given in canonical form.
    pub(crate) fn find(&self, chain: Chain, address: &str) -> Option<&Entry> {
        self.similar(chain, address).iter().find(|entry| entry.address == address)
    }

    /// Returns an entry with a different address that starts and ends with the same characters, ignoring case
    /// (possible address poisoning). Abbreviated addresses show only these characters.
    pub(crate) fn similar_entry(&self, chain: Chain, address: &str) -> Option<&Entry> {
        self.similar(chain, address).iter().find(|entry| entry.address != address)
    }

    fn similar(&self, chain: Chain, address: &str) -> &[Entry] {
        self.by_ends.get(&(chain, ends(address))).map_or(&[], Vec::as_slice)
    }
}

fn check_name(name: &str) -> Result<(), EntryError> {
    let is_valid = (1..=NAME_LIMIT).contains(&name.chars().count())
        && name.trim() == name
        && !name.contains(['[', ']', '"'])
        && !has_hidden(name);
    if !is_valid {
        return Err(EntryError::Name);
    }
    if is_mixed(name) { Err(EntryError::MixedName) } else { Ok(()) }
}

/// Returns the skeleton of a name: names that look alike have the same skeleton (UTS 39 §4).
fn skeleton(name: &str) -> String {
    unicode_security::skeleton(&name.to_lowercase()).collect()
}

/// Returns the first and last characters of an address in lower case.
fn ends(address: &str) -> String {
    let last = address.chars().count().saturating_sub(END_LETTERS);
    let letters = address.chars().enumerate();
    let kept = letters.filter(|(index, _)| *index < END_LETTERS || *index >= last);
    kept.map(|(_, letter)| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    // From the test cases of ERC-55 and BIP-173.
    const ETHEREUM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const BITCOIN: &str = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

    fn entry(chain: Chain, address: &str, name: &str) -> Result<Entry, EntryError> {
        Entry::new(chain, address, name, 7)
    }

    fn book(entries: &[(Chain, &str, &str)]) -> Book {
        let mut book = Book::EMPTY;
        for (chain, address, name) in entries {
            book.add(entry(*chain, address, name).unwrap()).unwrap();
        }
        book
    }

    #[test]
    fn similar_addresses_share_start_and_end() {
        let book = book(&[(Chain::Ethereum, ETHEREUM, "cold")]);
        let similar = |chain: Chain, address: &str| {
            book.similar_entry(chain, address).map(|existing| existing.name.as_str())
        };
        let with = |first: &str, last: &str| format!("{first}{}{last}", "7".repeat(34));
        for (address, expected) in [
            (with("0x5a", "Aed"), None),
            (with("0x5a", "eAed"), Some("cold")),
            (with("0x5A", "EAED"), Some("cold")),
            (with("0x5b", "eAed"), None),
            (with("0x5a", "eAee"), None),
            (ETHEREUM.to_owned(), None),
            (String::new(), None),
            ("0x5".to_owned(), None),
        ] {
            assert_eq!(similar(Chain::Ethereum, &address), expected, "{address}");
            assert_eq!(similar(Chain::Tron, &address), None);
        }
        assert_eq!(book.find(Chain::Ethereum, ETHEREUM).unwrap().marked(), "cold [book]");
        assert_eq!(book.find(Chain::Tron, ETHEREUM), None);
    }

    #[test]
    fn rejects_duplicate_names_and_addresses() {
        let mut book = book(&[(Chain::Ethereum, &ETHEREUM.to_lowercase(), "cold 1")]);
        let mut add = |chain, address, name| entry(chain, address, name).and_then(|entry| book.add(entry));
        assert_eq!(add(Chain::Ethereum, ETHEREUM, "hot"), Err(EntryError::AddressTaken("cold 1".to_owned())));
        for similar in ["cold 1", "COLD 1", "cold l"] {
            assert_eq!(add(Chain::Bitcoin, BITCOIN, similar), Err(EntryError::NameTaken), "{similar}");
        }
        let wrong = ETHEREUM.replace("5aA", "5aa");
        assert_eq!(add(Chain::Ethereum, &wrong, "x"), Err(EntryError::Address(AddressTextError::Checksum)));
        let long = "x".repeat(NAME_LIMIT + 1);
        for name in ["", " x", "x ", "x [book]", "a\"b", "a\u{202e}b", "a\nb", &long] {
            assert_eq!(add(Chain::Bitcoin, BITCOIN, name), Err(EntryError::Name), "{name}");
        }
        // Contains a Cyrillic letter between Latin letters.
        assert_eq!(add(Chain::Bitcoin, BITCOIN, "c\u{43e}ld"), Err(EntryError::MixedName));
        assert_eq!(add(Chain::Bitcoin, BITCOIN, &"\u{e9}".repeat(NAME_LIMIT)), Ok(()));
        assert_eq!(book.remove("COLD 1"), None);
        assert_eq!(book.remove("cold 1").unwrap().address, ETHEREUM);
        assert_eq!(book.entries().len(), 1);
    }

    #[test]
    fn round_trips_and_rejects_invalid_files() {
        let book = book(&[(Chain::Ethereum, ETHEREUM, "cold"), (Chain::Bitcoin, BITCOIN, "back\\slash")]);
        let text = book.text();
        assert!(!text.contains("decimals"), "entries without decimals stay readable for earlier versions");
        assert_eq!(Book::parse(text.as_bytes()).unwrap(), book);
        let with = text.replacen("\"addedMillis\": 7", "\"addedMillis\": 7, \"decimals\": 77", 1);
        let with = Book::parse(with.as_bytes()).unwrap();
        assert_eq!(with.entries().iter().filter(|entry| entry.decimals == Some(77)).count(), 1);
        assert_eq!(Book::parse(with.text().as_bytes()).unwrap(), with);
        for (from, to, why) in [
            ("\"version\": 1", "\"version\": 2", "version 2"),
            ("\"version\": 1,", "", "missing field"),
            ("\"chain\": \"bitcoin\"", "\"chain\": \"dogecoin\"", "unknown variant"),
            ("\"addedMillis\": 7", "\"addedMillis\": -7", "invalid value"),
            ("\"addedMillis\": 7", "\"addedMillis\": 7, \"addedMillis\": 7", "duplicate field"),
            ("\"addedMillis\": 7", "\"addedMillis\": 7, \"more\": 7", "unknown field"),
            (ETHEREUM, &ETHEREUM.to_lowercase(), "entries[1]: the address is not in canonical form"),
            (BITCOIN, ETHEREUM, "entries[0]: not an address of bitcoin"),
            ("\"addedMillis\": 7", "\"addedMillis\": 7, \"decimals\": 78", "invalid decimals"),
            ("\"cold\"", "\"c\\u200bold\"", "entries[1]: invalid name"),
            ("\"cold\"", "\"BACK\\\\slash\"", "entries[1]: another address already has this name"),
        ] {
            let error = Book::parse(text.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(error.contains(why), "{to}: {error}");
        }
        let (half, deep) = (text.split_at(text.len() / 2).0, "[".repeat(100_000));
        for bytes in [&b""[..], b"[]", b"{}", b"\xff", half.as_bytes(), deep.as_bytes()] {
            assert!(Book::parse(bytes).is_err());
        }
    }

    #[test]
    fn a_full_book_fits_the_size_limit() {
        let longest = "\u{20000}".repeat(NAME_LIMIT - 5);
        let numbered = |number: usize| {
            entry(Chain::Ethereum, &format!("0x{number:040}"), &format!("{longest}{number:05}")).unwrap()
        };
        let mut book = Book::EMPTY;
        for number in 0..ENTRY_LIMIT {
            book.add(numbered(number)).unwrap();
        }
        assert_eq!(book.add(numbered(ENTRY_LIMIT)), Err(EntryError::Full));
        let text = book.text();
        assert!(u64::try_from(text.len()).unwrap() < SIZE_LIMIT);
        assert_eq!(Book::parse(text.as_bytes()).unwrap(), book);
    }

    #[test]
    fn merge_imports_all_entries_or_none() {
        let mut own = book(&[(Chain::Ethereum, ETHEREUM, "cold")]);
        let theirs = book(&[(Chain::Ethereum, ETHEREUM, "cold"), (Chain::Bitcoin, BITCOIN, "hot")]);
        assert_eq!(own.merge(&theirs, 9), Ok(1));
        let added =
            |name: &str| own.entries().iter().find(|existing| existing.name == name).unwrap().added_millis;
        assert_eq!((added("cold"), added("hot")), (7, 9));
        let before = own.clone();
        let renamed = book(&[(Chain::Ethereum, ETHEREUM, "theirs"), (Chain::Tron, TRON, "new")]);
        assert_eq!(own.merge(&renamed, 9), Err(EntryError::AddressTaken("cold".to_owned())));
        assert_eq!(own, before);
    }

    const TRON: &str = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";

    #[test]
    fn the_file_is_private_to_its_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/book.json");
        assert_eq!(Book::load(&path).unwrap(), Book::EMPTY);
        let book = book(&[(Chain::Tron, TRON, "cold")]);
        book.save(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Book::load(&path).unwrap(), book);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Book::load(&path), Err(FileError::Permissions { .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, b"{}").unwrap();
        assert!(matches!(Book::load(&path), Err(FileError::Invalid { .. })));
    }
}
