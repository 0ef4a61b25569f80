//! The form that proposes an activity of any kind: pick the kind, fill in its parameters, review the draft. It covers
//! the screen, and stays open below the review of its draft until the draft is proposed.

mod choosing;
mod drawing;
mod filling;

use std::collections::BTreeSet;

use quorate_common::console::AccountPage;
use quorate_common::ids::WalletId;
use quorate_common::wire::WalletAccount;
use ratatui::layout::Rect;

use self::choosing::Choosing;
use self::filling::{Done, Filling};
use crate::canvas::{Canvas, Line};
use crate::forms::Known;
use crate::keymap::Key;
use crate::link::{Answer, Order, Subject};
use crate::policies::{Body, ResolvedNames};
use crate::screens::overlay::Overlay;
use crate::screens::request::Request;
use crate::screens::shared::Shared;

/// Maximum number of accounts that are read for their names.
const ACCOUNT_LIMIT: usize = 1_000;
/// Maximum number of wallets whose accounts are read for their names.
const WALLET_LIMIT: usize = 50;

/// What a key did.
pub(crate) enum Pressed {
    Requests(Vec<Request>),
    /// The form is closed.
    Close,
}

pub(crate) struct State {
    choosing: Choosing,
    /// The form of the chosen kind.
    filling: Option<Filling>,
    accounts: Vec<WalletAccount>,
    /// Whether accounts were requested.
    reads_accounts: bool,
    /// Whether the organization has accounts that are not read.
    has_more_accounts: bool,
    /// Accounts, keys and contracts that drafts named, as far as the daemon knows them.
    signers: ResolvedNames,
    /// Names of signers that the daemon does not know.
    unknown: BTreeSet<String>,
    /// Names whose answers the review of the draft waits for.
    awaited: BTreeSet<String>,
    /// Whether the user must confirm that what was typed is discarded.
    is_leaving: bool,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            choosing: Choosing::default(),
            filling: None,
            accounts: Vec::new(),
            reads_accounts: false,
            has_more_accounts: false,
            signers: ResolvedNames::new(),
            unknown: BTreeSet::new(),
            awaited: BTreeSet::new(),
            is_leaving: false,
        }
    }

    /// Returns the text of the key bar.
    pub(crate) fn keys(&self) -> &'static str {
        match (&self.filling, self.is_leaving) {
            (_, true) => "y Discard  Esc Keep",
            (None, _) => "Enter Choose  Up Down Select  Esc Close",
            (Some(_), _) => "Enter Next  Ctrl-R Review  PgDn Choose  Ctrl-D Remove  Esc Back  F1 Keys",
        }
    }

    /// Handles a key; `area` is where the form is drawn.
    pub(crate) fn press(&mut self, shared: &Shared, key: Key, area: Rect) -> Pressed {
        // A key cancels the review that waits for signers.
        self.awaited.clear();
        if self.is_leaving {
            self.is_leaving = false;
            if key == Key::Char('y') {
                self.filling = None;
            }
            return Pressed::Requests(Vec::new());
        }
        if key == Key::Help {
            return Pressed::Requests(vec![Request::Overlay(help())]);
        }
        let Some(filling) = &mut self.filling else {
            if key == Key::Esc {
                return Pressed::Close;
            }
            let chosen = self.choosing.press(key, area);
            return Pressed::Requests(match chosen {
                Some(Ok(entry)) => {
                    self.filling = Some(Filling::new(entry));
                    self.read_accounts(shared)
                }
                Some(Err(why)) => vec![Request::Notice(why)],
                None => Vec::new(),
            });
        };
        if key == Key::Esc {
            self.is_leaving = filling.form.is_touched();
            if !self.is_leaving {
                self.filling = None;
            }
            return Pressed::Requests(Vec::new());
        }
        let Some(organization) = &shared.organization else {
            return Pressed::Requests(vec![Request::Notice("the organization is not loaded yet".to_owned())]);
        };
        let known = Known {
            organization,
            accounts: &self.accounts,
            has_more_accounts: self.has_more_accounts,
            book: &shared.book,
        };
        let mut requests = match filling.press(&known, key, area) {
            Done::Nothing => Vec::new(),
            Done::Notice(text) => vec![Request::Notice(text)],
            Done::Review => self.review(shared),
        };
        requests.extend(self.read_accounts(shared));
        Pressed::Requests(requests)
    }

    /// Opens the review of the draft, or first requests the accounts, keys and contracts that it names.
    fn review(&mut self, shared: &Shared) -> Vec<Request> {
        let (Some(filling), Some(id)) = (&self.filling, shared.organization_id) else { return Vec::new() };
        let request = filling.form.request(filling.form.value());
        let names = Body::of(request.activity_type, &request.parameters).names().into_iter();
        self.awaited =
            names.filter(|name| !self.signers.contains_key(name) && !self.unknown.contains(name)).collect();
        if self.awaited.is_empty() {
            return match shared.review_draft(&request, &self.signers) {
                Ok(review) => vec![Request::Notice(String::new()), Request::Review(Box::new(review))],
                Err(error) => vec![Request::Notice(error)],
            };
        }
        let orders = self.awaited.iter().map(|name| Order::Signer(id, name.clone()).into());
        orders.chain([Request::Notice("looking up what the draft names".to_owned())]).collect()
    }

    /// Inserts pasted text into the field. Returns whether it did.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        self.awaited.clear();
        match &mut self.filling {
            _ if self.is_leaving => return false,
            Some(filling) => return filling.paste(text),
            None => self.choosing.paste(text),
        }
        true
    }

    /// Requests the accounts once the form has a field that takes one.
    fn read_accounts(&mut self, shared: &Shared) -> Vec<Request> {
        let needs = self.filling.as_ref().is_some_and(Filling::needs_accounts);
        let Some(organization) = shared.organization.as_ref().filter(|_| needs && !self.reads_accounts)
        else {
            return Vec::new();
        };
        self.reads_accounts = true;
        let id = organization.head.organization_id;
        self.has_more_accounts = organization.wallets.len() > WALLET_LIMIT;
        let wallets = organization.wallets.iter().take(WALLET_LIMIT);
        wallets.map(|wallet| Order::Accounts(id, wallet.wallet_id, None).into()).collect()
    }

    /// Takes accounts and signers out of an answer. Returns requests for more, or the review that waited for them.
    pub(crate) fn apply(&mut self, shared: &Shared, answer: &Answer) -> Vec<Request> {
        match answer {
            Answer::Accounts(wallet, _, page) if self.reads_accounts => {
                self.add_accounts(shared, *wallet, page)
            }
            Answer::Signer(name, signer) if self.awaited.remove(name) => {
                match signer {
                    Some(signer) => drop(self.signers.insert(name.clone(), (**signer).clone())),
                    None => drop(self.unknown.insert(name.clone())),
                }
                if self.awaited.is_empty() { self.review(shared) } else { Vec::new() }
            }
            Answer::Failed(Subject::Signer, error) if !self.awaited.is_empty() => {
                self.awaited.clear();
                vec![Request::Notice(format!("[!] the draft cannot be reviewed: {error}"))]
            }
            _ => Vec::new(),
        }
    }

    /// Adds a page of accounts, and requests the next one.
    fn add_accounts(&mut self, shared: &Shared, wallet: WalletId, page: &AccountPage) -> Vec<Request> {
        for account in &page.accounts {
            let is_new =
                self.accounts.iter().all(|known| known.wallet_account_id != account.wallet_account_id);
            if is_new && self.accounts.len() < ACCOUNT_LIMIT {
                self.accounts.push(account.clone());
            }
        }
        let Some(next) = page.next else { return Vec::new() };
        if self.accounts.len() >= ACCOUNT_LIMIT {
            self.has_more_accounts = true;
            return Vec::new();
        }
        let id = shared.organization_id;
        id.map(|id| Order::Accounts(id, wallet, Some(next)).into()).into_iter().collect()
    }

    pub(crate) fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        canvas.clear(area);
        match &self.filling {
            None => self.choosing.draw(canvas, area),
            Some(filling) => {
                let Some(organization) = &shared.organization else {
                    return canvas.lines(area, &[Line::plain("Loading the organization.")], 0);
                };
                let known = Known {
                    organization,
                    accounts: &self.accounts,
                    has_more_accounts: self.has_more_accounts,
                    book: &shared.book,
                };
                filling.draw(&known, self.is_leaving, canvas, area);
            }
        }
    }
}

fn help() -> Overlay {
    let lines = [
        "Enter     Take the first or the marked suggestion and go to the next field; add an item or an object",
        "Tab Down  Go to the next field",
        "Up        Go to the previous field",
        "PgDn PgUp Mark the next or the previous suggestion",
        "Ctrl-D    Remove the item or the optional object around the field",
        "Ctrl-U    Empty the field",
        "Ctrl-R    Review the draft; nothing is sent before you sign it",
        "Esc       Go back; what you typed is kept unless you discard it",
    ];
    Overlay::text("Keys of the form", lines.map(str::to_owned).to_vec())
}
