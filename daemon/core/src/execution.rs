//! The context in which a kind is executed, and the effects that the execution collects. Kinds add effects;
//! only the pipeline reads them.

use std::ops::Deref;

use quorate_common::ids::{OrganizationId, OtpId, ProviderId, UserId, WalletId};

use crate::mail::Mail;
use crate::model::change::NewOrganization;
use crate::model::last_use::Credential;
use crate::model::layout::SecretOf;
use crate::model::one_time_code::{Claim, OneTimeCode};
use crate::model::{Change, Millis, User, Wallet, WalletAccount};
use crate::secret::SecretBytes;
use crate::sms::Sms;
use crate::view::View;
use crate::world::Runtime;

/// Read access to one organization, and a collector of the effects of one execution.
pub struct Execution<'a> {
    view: View<'a>,
    runtime: Runtime<'a>,
    effects: Effects,
}

/// The effects of an execution.
#[derive(Default)]
pub struct Effects {
    /// Changes of the organization acted upon.
    pub changes: Vec<Change>,
    /// Sub-organizations to create.
    pub organizations: Vec<NewOrganization>,
    /// Mails to send.
    pub mails: Vec<Mail>,
    /// One-time codes to add or to remove.
    pub codes: Vec<CodeChange>,
    /// Claims, and the times at which they end.
    pub claims: Vec<(Claim, Millis)>,
    /// SMS to send.
    pub texts: Vec<Sms>,
    /// Credentials that were used, besides that of the caller, with their users.
    pub used: Vec<(UserId, Credential)>,
}

/// A change of the one-time codes of the organization.
pub enum CodeChange {
    /// Adds a code.
    Put(OtpId, OneTimeCode),
    /// Removes a code.
    Remove(OtpId),
}

impl Effects {
    /// Returns the effects that last even if the execution fails.
    #[must_use]
    pub fn of_failure(self) -> Self {
        Self { claims: self.claims, ..Self::default() }
    }
}

impl<'a> Execution<'a> {
    /// Creates a context without effects.
    pub fn new(view: View<'a>, runtime: Runtime<'a>) -> Self {
        Self { view, runtime, effects: Effects::default() }
    }

    /// Returns the collected effects.
    pub fn finish(self) -> Effects {
        self.effects
    }

    /// Returns the view of the organization acted upon.
    pub const fn view(&self) -> View<'a> {
        self.view
    }

    /// Returns the time of the request.
    pub const fn now(&self) -> Millis {
        self.view.now
    }

    /// Returns fresh random bytes, for example for an id.
    pub fn random<const N: usize>(&mut self) -> [u8; N] {
        self.runtime.random()
    }

    /// Returns the source of randomness for keys.
    pub fn entropy(&mut self) -> &mut dyn FnMut(&mut [u8]) {
        &mut *self.runtime.entropy
    }

    /// Adds a change of the organization acted upon.
    pub fn change(&mut self, change: Change) {
        self.effects.changes.push(change);
    }

    /// Adds several changes of the organization acted upon.
    pub fn change_all(&mut self, changes: impl IntoIterator<Item = Change>) {
        self.effects.changes.extend(changes);
    }

    /// Adds a changed user, with the time of the change.
    pub fn update_user(&mut self, user: User) {
        self.change(Change::PutUser(User { updated: self.now(), ..user }));
    }

    /// Adds a sub-organization to create.
    pub fn create_organization(&mut self, new_organization: NewOrganization) {
        self.effects.organizations.push(new_organization);
    }

    /// Adds a mail, which is sent once the activity is durable.
    pub fn send(&mut self, mail: Mail) {
        self.effects.mails.push(mail);
    }

    /// Adds a one-time code, which is valid as soon as the activity is durable.
    pub fn put_code(&mut self, id: OtpId, code: OneTimeCode) {
        self.effects.codes.push(CodeChange::Put(id, code));
    }

    /// Removes a one-time code.
    pub fn remove_code(&mut self, id: OtpId) {
        self.effects.codes.push(CodeChange::Remove(id));
    }

    /// Makes a claim, which lasts until `end` even if the execution fails.
    pub fn claim(&mut self, claim: Claim, end: Millis) {
        self.effects.claims.push((claim, end));
    }

    /// Adds an SMS, which is sent once the activity is durable.
    pub fn text(&mut self, sms: Sms) {
        self.effects.texts.push(sms);
    }

    /// Records that a user signed in with an OAuth identity.
    pub fn used_identity(&mut self, user: UserId, identity: ProviderId) {
        self.effects.used.push((user, Credential::Identity(identity)));
    }

    /// Returns a fresh random id for an organization.
    pub fn organization_id(&mut self) -> OrganizationId {
        OrganizationId::random(self.random())
    }
}

impl<'a> Deref for Execution<'a> {
    type Target = View<'a>;

    fn deref(&self) -> &View<'a> {
        &self.view
    }
}

/// A wallet to create, with its secret and its first accounts.
pub struct NewWallet {
    /// The wallet without its secret.
    pub wallet: Wallet,
    /// Seed, and the mnemonic that it is derived from.
    pub secret: SecretBytes,
    /// First accounts, in the requested order.
    pub accounts: Vec<WalletAccount>,
}

impl NewWallet {
    /// Returns the id of the wallet.
    pub const fn id(&self) -> WalletId {
        self.wallet.id
    }

    /// Returns the addresses of the accounts, in order.
    pub fn addresses(&self) -> Vec<String> {
        self.accounts.iter().map(|account| account.address.clone()).collect()
    }

    /// Returns the changes that add the wallet to an organization.
    pub fn changes(self) -> Vec<Change> {
        let id = self.wallet.id;
        let mut changes =
            vec![Change::put(self.wallet), Change::AddSecret(SecretOf::Wallet(id), self.secret)];
        changes.extend(self.accounts.into_iter().map(Change::AddAccount));
        changes
    }
}
