//! Who gets something, as the user's own address book knows it.

use std::fmt::Write as _;

use quorate_chain::address::Chain;

use super::Key;
use crate::kinds::{Level, Scene, Story};
use crate::text::{date, grouped, quoted};

/// Those who get something by one transaction.
pub(in crate::kinds) struct Recipients<'a> {
    chain: Chain,
    scene: &'a Scene<'a>,
    /// Address of the key that would sign, if it is known by one.
    own: Option<String>,
    /// Addresses that are not in the book.
    strangers: Vec<String>,
    /// Of them, those that the daemon calls the organization's own.
    stated: Vec<String>,
    /// Addresses that look like one in the book, with its name.
    look_alikes: Vec<(String, String)>,
}

impl<'a> Recipients<'a> {
    /// Of a transaction by this key.
    pub(in crate::kinds) fn new(chain: Chain, key: &Key<'_>, scene: &'a Scene<'a>) -> Self {
        Self {
            chain,
            scene,
            own: if key.is_stated { None } else { chain.address(key.text).ok() },
            strangers: Vec::new(),
            stated: Vec::new(),
            look_alikes: Vec::new(),
        }
    }

    /// The address as sentences have it: in full, with its name in the book.
    pub(super) fn named(&self, address: &str) -> String {
        self.marked(address).map_or_else(|| address.to_owned(), |name| format!("{address} ({name})"))
    }

    /// What lists have: the name in the book, or the address.
    pub(super) fn short(&self, address: &str) -> String {
        self.marked(address).unwrap_or_else(|| address.to_owned())
    }

    fn marked(&self, address: &str) -> Option<String> {
        self.scene.book.find(self.chain, address).map(crate::book::Entry::marked)
    }

    /// Tells who stands behind an address that gets something, and remembers it for the flags.
    pub(in crate::kinds) fn tell(&mut self, label: &str, address: &str, story: &mut Story) {
        let who = self.who(address, story);
        if who.is_none() && !self.strangers.iter().any(|known| known == address) {
            self.strangers.push(address.to_owned());
        }
        self.write(label, address, who, story);
    }

    /// Tells who stands behind an address that may get nothing, if it is known or looks as if it were.
    pub(in crate::kinds) fn note(&mut self, label: &str, address: &str, story: &mut Story) {
        if let Some(who) = self.who(address, story) {
            self.write(label, address, Some(who), story);
        }
    }

    /// Whether it is the signer's own.
    pub(super) fn is_own(&self, address: &str) -> bool {
        self.own.as_deref() == Some(address)
    }

    /// Whether it is in the book, or the signer's own.
    pub(super) fn knows(&self, address: &str) -> bool {
        self.is_own(address) || self.scene.book.find(self.chain, address).is_some()
    }

    /// The same of a contract that only keeps what others get.
    pub(super) fn tell_keeper(&mut self, label: &str, address: &str, story: &mut Story) {
        let who = self.who(address, story);
        self.write(label, address, who, story);
    }

    fn write(&self, label: &str, address: &str, who: Option<String>, story: &mut Story) {
        let who = who.unwrap_or_else(|| {
            let stated = self.stated_name(address).map_or_else(String::new, |name| {
                format!(", an address of the private key {name} as the daemon states [s]")
            });
            format!("not in my address book{stated}")
        });
        story.fact(label, format!("{}, {who}", in_groups(address)));
        let held = self.scene.book.look_alike(self.chain, address);
        let known = held.filter(|_| self.look_alikes.iter().any(|(alike, _)| alike == address));
        if let Some(held) = known {
            story.fact(&format!("{}, in full", held.marked()), in_groups(&held.address));
        }
    }

    /// In words, unless it is a stranger.
    fn who(&mut self, address: &str, story: &mut Story) -> Option<String> {
        let book = self.scene.book;
        if let Some(entry) = book.find(self.chain, address) {
            return Some(format!("{}, added {}", entry.marked(), date(entry.added_millis)));
        }
        if self.own.as_deref() == Some(address) {
            return Some("the signer's own".to_owned());
        }
        if let Some(alike) = book.look_alike(self.chain, address) {
            if !self.look_alikes.iter().any(|(known, _)| known == address) {
                self.look_alikes.push((address.to_owned(), alike.marked()));
            }
            story.danger("the word LOOK-ALIKE", "LOOK-ALIKE");
            return Some(format!("[!] NOT {}, whose address it looks like", alike.marked()));
        }
        if self.stated_name(address).is_some() && !self.stated.iter().any(|known| known == address) {
            self.stated.push(address.to_owned());
        }
        None
    }

    /// The private key of the organization that has the address, by the daemon's word.
    fn stated_name(&self, address: &str) -> Option<String> {
        let mut keys = self.scene.organization.private_keys.iter();
        let has = |text: &str| self.chain.address(text).is_ok_and(|written| written == address);
        let key = keys.find(|key| key.addresses.iter().any(|held| has(&held.address)))?;
        Some(quoted(&key.private_key_name))
    }

    /// Flags strangers and what looks like a known address.
    pub(in crate::kinds) fn finish(self, story: &mut Story) {
        if let [(address, name), rest @ ..] = self.look_alikes.as_slice() {
            let mut text = format!(
                "{address} begins and ends like the address of {name}, but is another one: such addresses are made to be \
                 mistaken"
            );
            if !rest.is_empty() {
                let _ = write!(text, "; {} more do too", rest.len());
            }
            story.flag(Level::High, "look-alike", text);
        }
        let (stated, unknown): (Vec<&String>, Vec<&String>) =
            self.strangers.iter().partition(|stranger| self.stated.contains(stranger));
        match unknown.as_slice() {
            [] => {}
            [only] => {
                let text = format!("first use of a recipient: {only} is not in my address book");
                story.flag(Level::Med, "new-recipient", text);
            }
            [first, rest @ ..] => {
                let text = format!(
                    "first use of recipients: {first} and {} more are not in my address book",
                    rest.len()
                );
                story.flag(Level::Med, "new-recipient", text);
            }
        }
        if let [first, rest @ ..] = stated.as_slice() {
            let more = if rest.is_empty() { String::new() } else { format!(" (and of {} more)", rest.len()) };
            let text = format!("only the daemon says of {first}{more} that the organization holds its key");
            story.flag(Level::Low, "stated-recipient", text);
        }
    }
}

fn in_groups(address: &str) -> String {
    grouped(address.trim_start_matches("0x"))
}
