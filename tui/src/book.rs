//! The user's own address book: whom the user knows by which address. It is pinned in a file of the user's own, which no
//! daemon reads or writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use quorate_chain::address::{AddressTextFlaw, Chain};
use serde::{Deserialize, Serialize};

use crate::place::{self, PlaceFlaw};
use crate::text::{clean, has_hidden, is_mixed};

/// Version of the file.
const VERSION: u32 = 1;
/// Most entries of a book.
const ENTRY_LIMIT: usize = 10_000;
/// Most characters of a name.
const NAME_LIMIT: usize = 64;
/// Largest file that is read.
pub(crate) const SIZE_LIMIT: u64 = 8 * 1024 * 1024;
/// Letters at either end of an address by which people tell addresses apart.
const END_LETTERS: usize = 4;

/// Whom the user knows by an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Entry {
    /// Whose address it is.
    pub(crate) chain: Chain,
    /// As the chain writes it.
    pub(crate) address: String,
    /// What the user calls it.
    pub(crate) name: String,
    /// When the user added it, milliseconds since 1970.
    pub(crate) added_millis: u64,
}

impl Entry {
    /// Reads what the user typed.
    pub(crate) fn new(chain: Chain, address: &str, name: &str, added_millis: u64) -> Result<Self, EntryFlaw> {
        check_name(name)?;
        let address = chain.address(address)?;
        Ok(Self { chain, address, name: name.to_owned(), added_millis })
    }

    /// The name with the mark that tells who vouches for it.
    pub(crate) fn marked(&self) -> String {
        format!("{} [book]", self.name)
    }
}

/// Entries, no two with one address or with names that read alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Book {
    /// By chain and by how addresses begin and end.
    places: BTreeMap<(Chain, String), Vec<Entry>>,
    /// Names as [`reading`] has them.
    readings: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    entries: Vec<Entry>,
}

/// Why a book cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BookFlaw {
    /// The file cannot be read or written.
    #[error(transparent)]
    Place(#[from] PlaceFlaw),
    /// It does not hold a book.
    #[error("{}: {reason}", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong and where.
        reason: String,
    },
}

/// Why an entry is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EntryFlaw {
    /// No such name.
    #[error("a name has 1 to {NAME_LIMIT} characters that show, no blanks around them, and none of []\"")]
    Name,
    /// Letters that only look like those of another script.
    #[error("the name mixes letters of several scripts in one word")]
    MixedName,
    /// No such address.
    #[error(transparent)]
    Address(#[from] AddressTextFlaw),
    /// The same address in other letters.
    #[error("the address is not written as its chain writes it")]
    Spelling,
    /// It is there under a name.
    #[error("the address is in the book already, as {0}")]
    AddressTaken(String),
    /// Another address has that name.
    #[error("another address has that name already, or one that reads like it")]
    NameTaken,
    /// The book is full.
    #[error("a book has {ENTRY_LIMIT} entries at most")]
    Full,
}

impl Book {
    /// A book without entries.
    pub(crate) const EMPTY: Self = Self { places: BTreeMap::new(), readings: BTreeSet::new() };

    /// Reads the file, which only its owner may read or write; one that does not exist is an empty book.
    pub(crate) fn load(path: &Path) -> Result<Self, BookFlaw> {
        let Some(bytes) = place::read_secret(path, SIZE_LIMIT)? else { return Ok(Self::EMPTY) };
        Self::parse(&bytes).map_err(|reason| BookFlaw::Content { path: path.to_owned(), reason })
    }

    /// Writes the file, readable by the user only.
    pub(crate) fn save(&self, path: &Path) -> Result<(), PlaceFlaw> {
        place::write_private(path, self.text().as_bytes())
    }

    /// Reads any bytes. Fails with what is wrong and where.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file: File = serde_json::from_slice(bytes).map_err(|error| clean(&error.to_string()))?;
        if file.version != VERSION {
            return Err(format!("version {} of address books is not known here", file.version));
        }
        let mut book = Self::EMPTY;
        for (place, entry) in file.entries.into_iter().enumerate() {
            let told = |flaw: EntryFlaw| format!("entries[{place}]: {flaw}");
            let read = Entry::new(entry.chain, &entry.address, &entry.name, entry.added_millis);
            if read.map_err(told)? != entry {
                return Err(told(EntryFlaw::Spelling));
            }
            book.add(entry).map_err(told)?;
        }
        Ok(book)
    }

    /// The file's content.
    pub(crate) fn text(&self) -> String {
        let file = File { version: VERSION, entries: self.entries().into_iter().cloned().collect() };
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// All entries, by name.
    pub(crate) fn entries(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.places.values().flatten().collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries
    }

    /// Adds an entry.
    pub(crate) fn add(&mut self, entry: Entry) -> Result<(), EntryFlaw> {
        if let Some(held) = self.find(entry.chain, &entry.address) {
            return Err(EntryFlaw::AddressTaken(held.name.clone()));
        }
        if self.readings.len() >= ENTRY_LIMIT {
            return Err(EntryFlaw::Full);
        }
        if !self.readings.insert(reading(&entry.name)) {
            return Err(EntryFlaw::NameTaken);
        }
        let ends = ends(&entry.address);
        self.places.entry((entry.chain, ends)).or_default().push(entry);
        Ok(())
    }

    /// Takes out the entry with this name.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Entry> {
        let alike = self.places.values_mut().find(|alike| alike.iter().any(|entry| entry.name == name))?;
        let place = alike.iter().position(|entry| entry.name == name)?;
        let entry = alike.remove(place);
        self.readings.remove(&reading(&entry.name));
        Some(entry)
    }

    /// Takes in the entries of another book, as added at `now`; those that are here already stay as they are. Returns how
    /// many are new. Takes all or nothing.
    pub(crate) fn merge(&mut self, other: &Self, now: u64) -> Result<usize, EntryFlaw> {
        let mut merged = self.clone();
        for entry in other.entries() {
            let held = self.find(entry.chain, &entry.address);
            if held.is_none_or(|held| held.name != entry.name) {
                merged.add(Entry { added_millis: now, ..entry.clone() })?;
            }
        }
        let count = merged.readings.len().saturating_sub(self.readings.len());
        *self = merged;
        Ok(count)
    }

    /// The entry of an address, which is written as its chain writes it.
    pub(crate) fn find(&self, chain: Chain, address: &str) -> Option<&Entry> {
        self.alike(chain, address).iter().find(|entry| entry.address == address)
    }

    /// An entry of another address that begins and ends with the same letters, in either case: short forms show no more.
    pub(crate) fn look_alike(&self, chain: Chain, address: &str) -> Option<&Entry> {
        self.alike(chain, address).iter().find(|entry| entry.address != address)
    }

    fn alike(&self, chain: Chain, address: &str) -> &[Entry] {
        self.places.get(&(chain, ends(address))).map_or(&[], Vec::as_slice)
    }
}

fn check_name(name: &str) -> Result<(), EntryFlaw> {
    let is_fit = (1..=NAME_LIMIT).contains(&name.chars().count())
        && name.trim() == name
        && !name.contains(['[', ']', '"'])
        && !has_hidden(name);
    if !is_fit {
        return Err(EntryFlaw::Name);
    }
    if is_mixed(name) { Err(EntryFlaw::MixedName) } else { Ok(()) }
}

/// What names have in common that eyes take for the same (UTS 39 §4).
fn reading(name: &str) -> String {
    unicode_security::skeleton(&name.to_lowercase()).collect()
}

/// The first and the last letters, without their case.
fn ends(address: &str) -> String {
    let last = address.chars().count().saturating_sub(END_LETTERS);
    let letters = address.chars().enumerate();
    let kept = letters.filter(|(place, _)| *place < END_LETTERS || *place >= last);
    kept.map(|(_, letter)| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    // Of the tests of ERC-55 and BIP-173.
    const ETHEREUM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const BITCOIN: &str = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

    fn entry(chain: Chain, address: &str, name: &str) -> Result<Entry, EntryFlaw> {
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
    fn look_alikes_begin_and_end_the_same() {
        let book = book(&[(Chain::Ethereum, ETHEREUM, "cold")]);
        let alike =
            |chain: Chain, address: &str| book.look_alike(chain, address).map(|held| held.name.as_str());
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
            assert_eq!(alike(Chain::Ethereum, &address), expected, "{address}");
            assert_eq!(alike(Chain::Tron, &address), None);
        }
        assert_eq!(book.find(Chain::Ethereum, ETHEREUM).unwrap().marked(), "cold [book]");
        assert_eq!(book.find(Chain::Tron, ETHEREUM), None);
    }

    #[test]
    fn names_and_addresses_are_held_once() {
        let mut book = book(&[(Chain::Ethereum, &ETHEREUM.to_lowercase(), "cold 1")]);
        let mut add = |chain, address, name| entry(chain, address, name).and_then(|entry| book.add(entry));
        assert_eq!(add(Chain::Ethereum, ETHEREUM, "hot"), Err(EntryFlaw::AddressTaken("cold 1".to_owned())));
        for alike in ["cold 1", "COLD 1", "cold l"] {
            assert_eq!(add(Chain::Bitcoin, BITCOIN, alike), Err(EntryFlaw::NameTaken), "{alike}");
        }
        let wrong = ETHEREUM.replace("5aA", "5aa");
        assert_eq!(add(Chain::Ethereum, &wrong, "x"), Err(EntryFlaw::Address(AddressTextFlaw::Checksum)));
        let long = "x".repeat(NAME_LIMIT + 1);
        for name in ["", " x", "x ", "x [book]", "a\"b", "a\u{202e}b", "a\nb", &long] {
            assert_eq!(add(Chain::Bitcoin, BITCOIN, name), Err(EntryFlaw::Name), "{name}");
        }
        // A Cyrillic letter among Latin ones.
        assert_eq!(add(Chain::Bitcoin, BITCOIN, "c\u{43e}ld"), Err(EntryFlaw::MixedName));
        assert_eq!(add(Chain::Bitcoin, BITCOIN, &"\u{e9}".repeat(NAME_LIMIT)), Ok(()));
        assert_eq!(book.remove("COLD 1"), None);
        assert_eq!(book.remove("cold 1").unwrap().address, ETHEREUM);
        assert_eq!(book.entries().len(), 1);
    }

    #[test]
    fn reads_what_it_writes_and_nothing_else() {
        let book = book(&[(Chain::Ethereum, ETHEREUM, "cold"), (Chain::Bitcoin, BITCOIN, "back\\slash")]);
        let text = book.text();
        assert_eq!(Book::parse(text.as_bytes()).unwrap(), book);
        for (from, to, why) in [
            ("\"version\": 1", "\"version\": 2", "version 2"),
            ("\"version\": 1,", "", "missing field"),
            ("\"chain\": \"bitcoin\"", "\"chain\": \"dogecoin\"", "unknown variant"),
            ("\"addedMillis\": 7", "\"addedMillis\": -7", "invalid value"),
            ("\"addedMillis\": 7", "\"addedMillis\": 7, \"addedMillis\": 7", "duplicate field"),
            ("\"addedMillis\": 7", "\"addedMillis\": 7, \"more\": 7", "unknown field"),
            (ETHEREUM, &ETHEREUM.to_lowercase(), "entries[1]: the address is not written"),
            (BITCOIN, ETHEREUM, "entries[0]: not an address of bitcoin"),
            ("\"cold\"", "\"c\\u200bold\"", "entries[1]: a name has"),
            ("\"cold\"", "\"BACK\\\\slash\"", "entries[1]: another address has that name"),
        ] {
            let flaw = Book::parse(text.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(flaw.contains(why), "{to}: {flaw}");
        }
        let (half, deep) = (text.split_at(text.len() / 2).0, "[".repeat(100_000));
        for bytes in [&b""[..], b"[]", b"{}", b"\xff", half.as_bytes(), deep.as_bytes()] {
            assert!(Book::parse(bytes).is_err());
        }
    }

    #[test]
    fn is_never_larger_than_its_limit() {
        let longest = "\u{20000}".repeat(NAME_LIMIT - 5);
        let numbered = |number: usize| {
            entry(Chain::Ethereum, &format!("0x{number:040}"), &format!("{longest}{number:05}")).unwrap()
        };
        let mut book = Book::EMPTY;
        for number in 0..ENTRY_LIMIT {
            book.add(numbered(number)).unwrap();
        }
        assert_eq!(book.add(numbered(ENTRY_LIMIT)), Err(EntryFlaw::Full));
        let text = book.text();
        assert!(u64::try_from(text.len()).unwrap() < SIZE_LIMIT);
        assert_eq!(Book::parse(text.as_bytes()).unwrap(), book);
    }

    #[test]
    fn merging_takes_all_or_nothing() {
        let mut own = book(&[(Chain::Ethereum, ETHEREUM, "cold")]);
        let theirs = book(&[(Chain::Ethereum, ETHEREUM, "cold"), (Chain::Bitcoin, BITCOIN, "hot")]);
        assert_eq!(own.merge(&theirs, 9), Ok(1));
        let added = |name: &str| own.entries().iter().find(|held| held.name == name).unwrap().added_millis;
        assert_eq!((added("cold"), added("hot")), (7, 9));
        let before = own.clone();
        let renamed = book(&[(Chain::Ethereum, ETHEREUM, "theirs"), (Chain::Tron, TRON, "new")]);
        assert_eq!(own.merge(&renamed, 9), Err(EntryFlaw::AddressTaken("cold".to_owned())));
        assert_eq!(own, before);
    }

    const TRON: &str = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";

    #[test]
    fn keeps_a_file_of_its_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/book.json");
        assert_eq!(Book::load(&path).unwrap(), Book::EMPTY);
        let book = book(&[(Chain::Tron, TRON, "cold")]);
        book.save(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Book::load(&path).unwrap(), book);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Book::load(&path), Err(BookFlaw::Place(PlaceFlaw::Wide { .. }))));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, b"{}").unwrap();
        assert!(matches!(Book::load(&path), Err(BookFlaw::Content { .. })));
    }
}
