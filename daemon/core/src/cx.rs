//! What an execution may leave behind. Kinds put changes in; only the shell takes them out.

use std::ops::Deref;

use quorate_common::ids::{OrganizationId, WalletId};

use crate::mail::Mail;
use crate::model::change::Founding;
use crate::model::layout::SecretOf;
use crate::model::{Change, Millis, Wallet, WalletAccount};
use crate::secret::SecretBytes;
use crate::view::View;
use crate::world::Moment;

/// The context of one execution.
pub struct Cx<'a, 'm> {
    view: View<'a>,
    moment: &'m mut Moment<'a>,
    changes: Vec<Change>,
    founded: Vec<Founding>,
    mails: Vec<Mail>,
}

/// What an execution left behind.
#[derive(Default)]
pub struct Left {
    /// Changes of the organization acted upon.
    pub changes: Vec<Change>,
    /// New sub-organizations.
    pub founded: Vec<Founding>,
    /// Mail to be sent.
    pub mails: Vec<Mail>,
}

impl<'a, 'm> Cx<'a, 'm> {
    /// A context over this view.
    pub fn new(view: View<'a>, moment: &'m mut Moment<'a>) -> Self {
        Self { view, moment, changes: Vec::new(), founded: Vec::new(), mails: Vec::new() }
    }

    /// Ends the execution.
    pub fn finish(self) -> Left {
        Left { changes: self.changes, founded: self.founded, mails: self.mails }
    }

    /// What can be read.
    pub const fn view(&self) -> View<'a> {
        self.view
    }

    /// Now.
    pub const fn now(&self) -> Millis {
        self.view.now
    }

    /// Fresh random bytes, for example for an id.
    pub fn random<const N: usize>(&mut self) -> [u8; N] {
        self.moment.random()
    }

    /// The source of randomness for keys.
    pub fn entropy(&mut self) -> &mut dyn FnMut(&mut [u8]) {
        &mut *self.moment.entropy
    }

    /// Leaves a change of the organization acted upon.
    pub fn change(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Leaves several changes.
    pub fn change_all(&mut self, changes: impl IntoIterator<Item = Change>) {
        self.changes.extend(changes);
    }

    /// Founds a sub-organization.
    pub fn found(&mut self, founding: Founding) {
        self.founded.push(founding);
    }

    /// Sends a mail, once this is durable.
    pub fn send(&mut self, mail: Mail) {
        self.mails.push(mail);
    }

    /// A new wallet with its secret and accounts.
    pub fn add_wallet(&mut self, wallet: NewWallet) {
        self.changes.extend(wallet.changes());
    }

    /// A fresh id for an organization.
    pub fn organization_id(&mut self) -> OrganizationId {
        OrganizationId::random(self.random())
    }
}

impl<'a> Deref for Cx<'a, '_> {
    type Target = View<'a>;

    fn deref(&self) -> &View<'a> {
        &self.view
    }
}

/// A wallet as it is made: the record, the secret and the first accounts.
pub struct NewWallet {
    /// The record.
    pub wallet: Wallet,
    /// The seed.
    pub secret: SecretBytes,
    /// First accounts.
    pub accounts: Vec<WalletAccount>,
}

impl NewWallet {
    /// Id of the wallet.
    pub const fn id(&self) -> WalletId {
        self.wallet.id
    }

    /// Addresses of the accounts, in order.
    pub fn addresses(&self) -> Vec<String> {
        self.accounts.iter().map(|account| account.address.clone()).collect()
    }

    /// The changes that add it to an organization.
    pub fn changes(self) -> Vec<Change> {
        let id = self.wallet.id;
        let mut changes =
            vec![Change::PutWallet(self.wallet), Change::AddSecret(SecretOf::Wallet(id), self.secret)];
        changes.extend(self.accounts.into_iter().map(Change::AddAccount));
        changes
    }
}
