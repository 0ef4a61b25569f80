//! The form that proposes an activity of any kind: pick the kind, fill in its parameters, review the draft. It covers
//! the screen, and stays open below the review of its draft until the draft is proposed.

mod choosing;
mod drawing;
mod filling;

use quorate_common::wire::WalletAccount;
use ratatui::layout::Rect;

use self::choosing::Choosing;
use self::filling::Filling;
use crate::canvas::Canvas;
use crate::forms::Known;
use crate::keymap::Key;
use crate::link::{Answer, Order};
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
        let known = Known { organization, accounts: &self.accounts, book: &shared.book };
        let mut requests = filling.press(shared, &known, key);
        requests.extend(self.read_accounts(shared));
        Pressed::Requests(requests)
    }

    /// Inserts pasted text into the field.
    pub(crate) fn paste(&mut self, text: &str) {
        match &mut self.filling {
            _ if self.is_leaving => {}
            Some(filling) => filling.paste(text),
            None => self.choosing.paste(text),
        }
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
        let wallets = organization.wallets.iter().take(WALLET_LIMIT);
        wallets.map(|wallet| Order::Accounts(id, wallet.wallet_id, None).into()).collect()
    }

    /// Takes the accounts of an answer, and requests the next page.
    pub(crate) fn apply(&mut self, shared: &Shared, answer: &Answer) -> Vec<Request> {
        let (Answer::Accounts(wallet, _, page), true) = (answer, self.reads_accounts) else {
            return Vec::new();
        };
        for account in &page.accounts {
            let is_new =
                self.accounts.iter().all(|known| known.wallet_account_id != account.wallet_account_id);
            if is_new && self.accounts.len() < ACCOUNT_LIMIT {
                self.accounts.push(account.clone());
            }
        }
        let next = page.next.filter(|_| self.accounts.len() < ACCOUNT_LIMIT).zip(shared.organization_id);
        next.map(|(next, id)| Order::Accounts(id, *wallet, Some(next)).into()).into_iter().collect()
    }

    pub(crate) fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        canvas.clear(area);
        match &self.filling {
            None => self.choosing.draw(canvas, area),
            Some(filling) => filling.draw(shared, &self.accounts, self.is_leaving, canvas, area),
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
