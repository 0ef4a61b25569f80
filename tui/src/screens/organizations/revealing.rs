//! Shows what the palette found in the screen Organizations, and offers what the screen has loaded.

use quorate_common::console::{OrganizationDetail, Signer};
use quorate_common::ids::{OrganizationId, PrivateKeyId, WalletId};

use super::state::{Pane, State};
use crate::kinds::SECTIONS;
use crate::link::Order;
use crate::screens::overlay::{Entry, Overlay, Piece, Place, Target};
use crate::screens::request::Request;
use crate::screens::shared::Shared;
use crate::text::clean;

/// Minimum length of a word of the details that can be copied: ids, keys, addresses and URLs are longer.
const COPIED: usize = 20;

impl State {
    /// Returns the organizations of the tree and the accounts of the open wallet.
    pub(super) fn loaded(&self) -> Vec<Entry> {
        let organization = |id: OrganizationId, name: &str| {
            let (target, id) = (Target::Place(Place::Organization(id)), id.to_string());
            Entry::new("organization", (name, &id), &[&id], target).cli(format!("quorate org get {id}"))
        };
        let heads =
            self.tree.heads.iter().map(|head| organization(head.organization_id, &head.organization_name));
        let accounts = self.accounts.iter().map(|account| {
            let target = Target::Place(Place::Address(account.address.clone()));
            Entry::new("address", (&account.address, &account.path), &[&account.address], target)
        });
        heads.chain(accounts).collect()
    }

    /// Shows a place, if it is one of this screen.
    pub(super) fn show_place(&mut self, shared: &Shared, place: &Place) -> Option<Vec<Request>> {
        match place {
            Place::Organization(id) => {
                (self.pane, self.wanted) = (Pane::List, Some(*id));
                Some(vec![Order::Organization(*id).into(), Order::Organizations(Some(*id), None).into()])
            }
            Place::User(id) => {
                self.show_record(shared, "Users", |one| one.users.iter().position(|user| user.user_id == *id))
            }
            Place::Wallet(id) => self.show_wallet(shared, *id),
            Place::PrivateKey(id) => self.show_key(shared, *id),
            Place::Address(address) => {
                self.sought = Some(address.clone());
                Some(vec![Order::Signer(shared.organization_id?, address.clone()).into()])
            }
            Place::Policy(_) | Place::Webhook(_) => None,
        }
    }

    fn show_wallet(&mut self, shared: &Shared, id: WalletId) -> Option<Vec<Request>> {
        self.show_record(shared, "Wallets", |one| {
            one.wallets.iter().position(|wallet| wallet.wallet_id == id)
        })
    }

    fn show_key(&mut self, shared: &Shared, id: PrivateKeyId) -> Option<Vec<Request>> {
        let position =
            |one: &OrganizationDetail| one.private_keys.iter().position(|key| key.private_key_id == id);
        self.show_record(shared, "Keys", position)
    }

    /// Selects a record of the pinned organization in a section.
    fn show_record(
        &mut self,
        shared: &Shared,
        section: &str,
        position: impl Fn(&OrganizationDetail) -> Option<usize>,
    ) -> Option<Vec<Request>> {
        let organization = shared.organization.as_ref()?;
        let selected = position(organization)?;
        self.section = SECTIONS.iter().position(|known| known.name == section)?;
        self.filter.clear();
        self.wanted = shared.organization_id;
        self.show(organization);
        (self.pane, self.selected, self.scroll) = (Pane::List, selected, 0);
        Some(Vec::new())
    }

    /// Shows what the daemon found for an address.
    pub(super) fn found(&mut self, shared: &Shared, name: &str, signer: Option<&Signer>) -> Vec<Request> {
        if self.sought.as_deref() != Some(name) {
            return Vec::new();
        }
        self.sought = None;
        let shown = clean(name);
        let account = signer.and_then(|signer| signer.wallet_account.as_ref());
        if let Some(account) = account {
            let mut requests = self.show_wallet(shared, account.wallet_id).unwrap_or_default();
            // The address is last, because it may be cut.
            let text = format!("account {} of this wallet: {shown}", clean(&account.path));
            requests.push(Request::Notice(text));
            return requests;
        }
        if let Some(key) = signer.and_then(|signer| signer.private_key.as_ref()) {
            return self.show_key(shared, key.private_key_id).unwrap_or_default();
        }
        let text = if signer.is_some_and(|signer| signer.contract.is_some()) {
            format!("{shown} is a contract whose interface was uploaded; see the section Contracts")
        } else {
            format!("no account, key or contract of this organization has the address {shown}")
        };
        vec![Request::Notice(text)]
    }

    /// Returns the ids, keys, addresses and URLs of the selected record.
    pub(super) fn copies(&self, shared: &Shared) -> Option<Overlay> {
        if self.pane == Pane::Tree {
            let head = self.tree.chosen()?;
            return Some(Overlay::Copy(Piece::numbered([(
                "organization id",
                head.organization_id.to_string(),
            )])));
        }
        let items = self.items(shared);
        let words = items.get(self.selected)?.detail.iter().flat_map(|line| line.split_whitespace());
        let mut texts: Vec<String> = Vec::new();
        for word in words {
            let word = word.trim_matches([',', ';', '(', ')', '"']);
            if word.len() >= COPIED && !texts.iter().any(|known| known == word) {
                texts.push(word.to_owned());
            }
        }
        let named = texts.into_iter().map(|text| (name_of(&text), text));
        let organization =
            self.detail.as_ref().map(|one| ("organization id", one.head.organization_id.to_string()));
        Some(Overlay::Copy(Piece::numbered(named.chain(organization))))
    }
}

/// Returns what a word is, as far as its form shows.
fn name_of(word: &str) -> &'static str {
    if word.parse::<OrganizationId>().is_ok() {
        "id"
    } else if word.contains("://") {
        "URL"
    } else if word.len() >= 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        "key"
    } else {
        "address or text"
    }
}
