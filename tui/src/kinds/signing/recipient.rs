//! Recipients of a transaction, named by the user's own address book.

use std::fmt::Write as _;

use quorate_chain::address::Chain;

use super::key::Key;
use crate::kinds::prelude::*;
use crate::kinds::transfer::{Amount, Asset, Payer, Payment, Right, UNKNOWN_RECIPIENT, of_organization};
use crate::text::{date, grouped};

/// The recipients of one transaction.
pub(in crate::kinds) struct Recipients<'a> {
    chain: Chain,
    context: &'a ReviewContext<'a>,
    /// Address of the key that would sign, if it is in the signed bytes.
    own: Option<String>,
    /// Addresses that are not in the book.
    unknown: Vec<String>,
    /// Those of them that belong to the organization, as the daemon states.
    stated: Vec<String>,
    /// Addresses that are similar to one in the book, with the name of that one.
    similar: Vec<(String, String)>,
}

impl<'a> Recipients<'a> {
    /// Creates an empty list for a transaction of this key.
    pub(in crate::kinds) fn new(chain: Chain, key: &Key<'_>, context: &'a ReviewContext<'a>) -> Self {
        Self {
            chain,
            context,
            own: if key.is_stated { None } else { chain.address(key.text).ok() },
            unknown: Vec::new(),
            stated: Vec::new(),
            similar: Vec::new(),
        }
    }

    /// Returns the address for sentences: in full, with its name in the book.
    pub(super) fn named(&self, address: &str) -> String {
        self.marked(address).map_or_else(|| address.to_owned(), |name| format!("{address} ({name})"))
    }

    /// Returns the address for lists: its name in the book, or the address itself.
    pub(super) fn short(&self, address: &str) -> String {
        self.marked(address).unwrap_or_else(|| address.to_owned())
    }

    fn marked(&self, address: &str) -> Option<String> {
        self.context.book.find(self.chain, address).map(crate::book::Entry::marked)
    }

    /// Adds a fact with the owner of a receiving address, and remembers an unknown one for the flags.
    pub(in crate::kinds) fn add(&mut self, label: &str, address: &str, description: &mut Description) {
        let who = self.who(address, description);
        if who.is_none() && !self.unknown.iter().any(|known| known == address) {
            self.unknown.push(address.to_owned());
        }
        self.write(label, address, who, description);
    }

    /// Adds a fact with the owner of an address that may receive nothing, if it is known or similar to a
    /// known one.
    pub(in crate::kinds) fn add_if_known(
        &mut self,
        label: &str,
        address: &str,
        description: &mut Description,
    ) {
        if let Some(who) = self.who(address, description) {
            self.write(label, address, Some(who), description);
        }
    }

    /// Returns the payment of an amount to an address.
    pub(super) fn payment(&self, address: &str, asset: Asset, amount: Amount) -> Payment {
        let (who, is_known) = (self.in_words(address), self.knows(address));
        Payment { right: Right::Amount, asset, amount, who, is_known, address: address.to_owned() }
    }

    /// Returns the unit of a token and its decimals, if the book contains them for the contract.
    pub(super) fn token_unit(&self, contract: &str) -> Option<(String, u8)> {
        let entry = self.context.book.find(self.chain, contract)?;
        Some((entry.marked(), entry.decimals?))
    }

    /// Returns the account that pays, by its name in the request or in the bytes. Without an address on this chain, the
    /// key itself is shown.
    pub(super) fn payer(&self, name: &str, key: &str) -> Payer {
        let stated = self.context.account_named(name);
        let words = stated.unwrap_or_else(|| "an account whose wallet is not known here".to_owned());
        let mut names = vec![clean(name)];
        names.extend(self.context.names_of_signer(name));
        let address = |name: &String| self.chain.address(name).ok();
        let from = names.iter().find_map(address).unwrap_or_else(|| clean(key));
        names.push(from.clone());
        Payer { words, from, names }
    }

    /// Returns the owner of a receiving address in words: its name in the user's book before what the daemon
    /// states.
    fn in_words(&self, address: &str) -> String {
        let book = self.context.book;
        if let Some(entry) = book.find(self.chain, address) {
            return format!("{}, added {}", entry.marked(), date(entry.added_millis));
        }
        if self.is_own(address) {
            return "the signer itself".to_owned();
        }
        if let Some(similar) = book.similar_entry(self.chain, address) {
            return format!("[!] NOT {}, only a similar address", similar.marked());
        }
        match self.context.account_named(address) {
            Some(held) => of_organization(&held),
            None => UNKNOWN_RECIPIENT.to_owned(),
        }
    }

    /// Returns whether the address is the signer's own.
    pub(super) fn is_own(&self, address: &str) -> bool {
        self.own.as_deref() == Some(address)
    }

    /// Returns whether the address is in the book or the signer's own.
    pub(super) fn knows(&self, address: &str) -> bool {
        self.is_own(address) || self.context.book.find(self.chain, address).is_some()
    }

    /// Adds a fact with the owner of a token contract, which does not itself receive the tokens.
    pub(super) fn add_contract(&mut self, label: &str, address: &str, description: &mut Description) {
        let who = self.who(address, description);
        self.write(label, address, who, description);
    }

    fn write(&self, label: &str, address: &str, who: Option<String>, description: &mut Description) {
        let who = who.unwrap_or_else(|| {
            let stated = self.stated_name(address).map_or_else(String::new, |name| {
                format!(", an address of the private key {name} as the daemon states [s]")
            });
            format!("not in your address book{stated}")
        });
        description.fact(label, format!("{}, {who}", in_groups(address)));
        let held = self.context.book.similar_entry(self.chain, address);
        let known = held.filter(|_| self.similar.iter().any(|(similar, _)| similar == address));
        if let Some(held) = known {
            description.fact(&format!("{}, in full", held.marked()), in_groups(&held.address));
        }
    }

    /// Returns the owner of the address as text, or `None` if it is unknown.
    fn who(&mut self, address: &str, description: &mut Description) -> Option<String> {
        let book = self.context.book;
        if let Some(entry) = book.find(self.chain, address) {
            return Some(format!("{}, added {}", entry.marked(), date(entry.added_millis)));
        }
        if self.own.as_deref() == Some(address) {
            return Some("the signer's own".to_owned());
        }
        if let Some(known_entry) = book.similar_entry(self.chain, address) {
            if !self.similar.iter().any(|(known, _)| known == address) {
                self.similar.push((address.to_owned(), known_entry.marked()));
            }
            description.danger("the word SIMILAR", "SIMILAR");
            return Some(format!("[!] NOT {}, only a similar address", known_entry.marked()));
        }
        if self.stated_name(address).is_some() && !self.stated.iter().any(|known| known == address) {
            self.stated.push(address.to_owned());
        }
        None
    }

    /// Returns the name of the organization's private key with this address, as the daemon states it.
    fn stated_name(&self, address: &str) -> Option<String> {
        let mut keys = self.context.organization.private_keys.iter();
        let has = |text: &str| self.chain.address(text).is_ok_and(|written| written == address);
        let key = keys.find(|key| key.addresses.iter().any(|held| has(&held.address)))?;
        Some(quoted(&key.private_key_name))
    }

    /// Adds the flags for unknown recipients and for addresses similar to known ones.
    pub(in crate::kinds) fn finish(self, description: &mut Description) {
        if let [(address, name), rest @ ..] = self.similar.as_slice() {
            let mut text = format!(
                "Funds may go to an attacker: {address} begins and ends like the address of {name} but is \
                 another one (possible address poisoning)"
            );
            if !rest.is_empty() {
                let _ = write!(text, "; {} more addresses like this", rest.len());
            }
            text.push('.');
            description.flag_high("similar-address", text);
        }
        let (stated, unknown): (Vec<&String>, Vec<&String>) =
            self.unknown.iter().partition(|address| self.stated.contains(address));
        match unknown.as_slice() {
            [] => {}
            [only] => {
                let text = format!("Unknown recipient: {only} is not in your address book.");
                description.flag_medium("new-recipient", text);
            }
            [first, rest @ ..] => {
                let text = format!(
                    "Unknown recipients: {first} and {} more are not in your address book.",
                    rest.len()
                );
                description.flag_medium("new-recipient", text);
            }
        }
        if let [first, rest @ ..] = stated.as_slice() {
            let more = if rest.is_empty() { String::new() } else { format!(" and of {} more", rest.len()) };
            let text =
                format!("Only the daemon states [s] that the organization holds the key of {first}{more}.");
            description.flag_low("stated-recipient", text);
        }
    }
}

fn in_groups(address: &str) -> String {
    grouped(address.trim_start_matches("0x"))
}
