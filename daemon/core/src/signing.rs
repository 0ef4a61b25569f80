//! Resolution of the key that a request names, and signatures with it.

use std::sync::Arc;

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::{Message, Signature};
use quorate_common::ids::PrivateKeyId;

use crate::error::{Intent, Missing, RequestError};
use crate::model::layout::{Class, Key};
use crate::model::{PrivateKey, SnapshotRecord as _, WalletAccount};
use crate::policy::Facts;
use crate::signer::Holder;
pub use crate::signer::Signer;
use crate::view::View;

/// How many holders of one address or public key are read at once.
const HOLDERS: usize = 16;

/// Resolves `signWith`: the id of a private key, an address, or a public key, compared case-sensitively. If
/// several objects match, accounts precede private keys, and older objects precede newer ones.
///
/// # Errors
/// If nothing matches, the private key is disabled, or the store cannot be read.
pub fn resolve(view: &View<'_>, sign_with: &str) -> Result<Arc<Signer>, RequestError> {
    if sign_with.is_empty() {
        return Err(Intent::Empty("signWith").into());
    }
    if let Ok(id) = sign_with.parse() {
        return private_key(view, id);
    }
    view.signer(sign_with, &mut || look_up(view, sign_with))
}

fn look_up(view: &View<'_>, sign_with: &str) -> Result<Signer, RequestError> {
    let Oldest { account, key } = Oldest::of(view, sign_with)?;
    if let Some((account, record_key)) = account {
        let format = (account.address == sign_with).then_some(account.format);
        return Ok(Signer::of_account(account, record_key, format));
    }
    let key = key.ok_or(Missing::SigningResource)?;
    let named = key.addresses.iter().find(|address| address.address == sign_with);
    let format = named.and_then(|address| AddressFormat::from_name(&address.format));
    of_private_key(view, key, format)
}

/// The account, with its key in the store, and the private key that come first among the holders of a name.
#[derive(Default)]
struct Oldest {
    account: Option<(WalletAccount, Key)>,
    key: Option<PrivateKey>,
}

impl Oldest {
    /// Reads every holder, since their order in the store does not depend on their age.
    fn of(view: &View<'_>, name: &str) -> Result<Self, RequestError> {
        let mut oldest = Self::default();
        let mut after: Option<Key> = None;
        loop {
            let rows = view.records().signers(name, after.as_ref(), HOLDERS)?;
            let is_last = rows.len() < HOLDERS;
            for (index_key, record_key) in rows {
                oldest.consider(view, name, record_key)?;
                after = Some(index_key);
            }
            if is_last {
                return Ok(oldest);
            }
        }
    }

    fn consider(&mut self, view: &View<'_>, name: &str, record_key: Key) -> Result<(), RequestError> {
        if Class::PRIVATE_KEY.is_of(&record_key) {
            let known = view.organization.private_keys();
            let found = known.filter(|key| PrivateKey::key(view.organization.id(), key.id) == record_key);
            let keys = self.key.take().into_iter().chain(found.cloned());
            self.key = keys.min_by_key(|key| (key.disabled, key.created));
            return Ok(());
        }
        // Accounts of a deleted wallet are removed in the background.
        let is_live = |account: &WalletAccount| {
            (account.address == name || account.public_key == name)
                && view.organization.wallet(account.wallet).is_some()
        };
        let found = view.records().account_at(&record_key)?.filter(is_live);
        let accounts = self.account.take().into_iter().chain(found.map(|account| (account, record_key)));
        self.account = accounts.min_by_key(|(account, _)| {
            (account.public_key == name && account.address != name, account.created, account.ordinal)
        });
        Ok(())
    }
}

/// Finds the wallet account with this address; if there are several, the oldest.
///
/// # Errors
/// If no such key exists, or the store cannot be read.
pub fn account(view: &View<'_>, address: &str) -> Result<WalletAccount, RequestError> {
    let missing = || Missing::WalletAccount(format!("address: {address}"));
    let signer = resolve(view, address).map_err(|error| match error {
        RequestError::Missing(_) => missing().into(),
        other => other,
    })?;
    let found = signer.account().filter(|account| account.address == address);
    Ok(found.cloned().ok_or_else(missing)?)
}

/// Returns the private key with this id as a signer.
///
/// # Errors
/// If no such key exists, or it is disabled.
pub fn private_key(view: &View<'_>, id: PrivateKeyId) -> Result<Arc<Signer>, RequestError> {
    let key = view.organization.private_key(id).ok_or(Missing::SigningResource)?;
    of_private_key(view, key.clone(), None).map(Arc::new)
}

fn of_private_key(
    view: &View<'_>,
    key: PrivateKey,
    format: Option<AddressFormat>,
) -> Result<Signer, RequestError> {
    if key.disabled {
        return Err(Intent::Text("private key is disabled").into());
    }
    let record_key = PrivateKey::key(view.organization.id(), key.id);
    Ok(Signer::of_private_key(key, record_key, format))
}

impl Signer {
    /// Returns the facts that policies can query about a signature with this key.
    pub fn facts(&self, view: &View<'_>) -> Facts {
        match self.holder() {
            Holder::Account(account) => Facts::of_account(account, view.organization.wallet(account.wallet)),
            Holder::PrivateKey(key) => Facts::of_private_key(key),
        }
    }

    /// Signs a message. A second implementation verifies the signature.
    ///
    /// # Errors
    /// If the secret key cannot be read, or the signature fails verification.
    pub fn sign(&self, view: &View<'_>, message: &Message) -> Result<Signature, RequestError> {
        let mut load = || match self.holder() {
            Holder::Account(account) => Ok(view.records().account_secret(account)?),
            Holder::PrivateKey(key) => Ok(view.records().private_key_secret(key)?),
        };
        view.sign(self.record_key(), &mut load, message)
    }
}
