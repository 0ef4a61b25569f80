//! Finding the key that a request names, and signing with it.

use std::sync::{Arc, OnceLock};

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::{Curve, Message, PublicKey, Scheme, Signature};
use quorate_chain::payload::{HashFunction, Payload, PayloadEncoding};
use quorate_chain::transaction::{Signable, Signer as SigningKey, TransactionType, Unsigned, UnsignedFlaw};
use quorate_common::ids::PrivateKeyId;

use crate::model::layout::{self, Key};
use crate::model::{PrivateKey, WalletAccount};
use crate::policy::Facts;
use crate::records;
use crate::refusal::{Corrupt, Intent, Missing, Refusal};
use crate::view::View;

/// How many holders of one address or public key are looked at in one page.
const HOLDERS: usize = 16;

/// A key that can sign, and whose it is.
#[derive(Debug, Clone)]
pub struct Signer {
    place: Key,
    curve: Curve,
    /// How it signs: the address that it was named by says so.
    scheme: Scheme,
    /// The format of that address, if it was named by one.
    format: Option<AddressFormat>,
    holder: Holder,
    /// The public half of the key, once it was asked for.
    public_key: OnceLock<PublicKey>,
}

#[derive(Debug, Clone)]
enum Holder {
    Account(Box<WalletAccount>),
    PrivateKey(Box<PrivateKey>),
}

/// Resolves `signWith`: the id of a private key, an address, or a public key; exact, case-sensitive. Where
/// several things have it, accounts come before private keys and older before newer.
pub fn resolve(view: &View<'_>, sign_with: &str) -> Result<Arc<Signer>, Refusal> {
    if sign_with.is_empty() {
        return Err(Intent::Empty("signWith").into());
    }
    if let Ok(id) = sign_with.parse() {
        return private_key(view, id);
    }
    view.signer(sign_with, &mut || look_up(view, sign_with))
}

fn look_up(view: &View<'_>, sign_with: &str) -> Result<Signer, Refusal> {
    let Oldest { account, key } = Oldest::of(view, sign_with)?;
    if let Some((account, place)) = account {
        let (curve, scheme) = (account.curve, account.format.scheme());
        let format = (account.address == sign_with).then_some(account.format);
        return Ok(Signer {
            place,
            curve,
            scheme,
            format,
            holder: Holder::Account(Box::new(account)),
            public_key: OnceLock::new(),
        });
    }
    let key = key.ok_or(Missing::SigningResource)?;
    let named = key.addresses.iter().find(|address| address.address == sign_with);
    let format = named.and_then(|address| AddressFormat::from_name(&address.format));
    of_private_key(view, key, format)
}

/// Of all that have one name the account, with its place, and the private key that come first.
#[derive(Default)]
struct Oldest {
    account: Option<(WalletAccount, Key)>,
    key: Option<PrivateKey>,
}

impl Oldest {
    /// Looks at every holder, as their order in the store says nothing of their age.
    fn of(view: &View<'_>, name: &str) -> Result<Self, Refusal> {
        let mut oldest = Self::default();
        let mut after: Option<Key> = None;
        loop {
            let rows = view.records().signers(name, after.as_ref(), HOLDERS)?;
            let is_last = rows.len() < HOLDERS;
            for (at, place) in rows {
                oldest.look_at(view, name, place)?;
                after = Some(at);
            }
            if is_last {
                return Ok(oldest);
            }
        }
    }

    fn look_at(&mut self, view: &View<'_>, name: &str, place: Key) -> Result<(), Refusal> {
        if layout::entity_class(&place) == Some(b'k') && place.first() == Some(&b'e') {
            let known = view.organization.private_keys();
            let found = known.filter(|key| records::private_key_place(view.organization.id(), key) == place);
            let keys = self.key.take().into_iter().chain(found.cloned());
            self.key = keys.min_by_key(|key| (key.disabled, key.created));
            return Ok(());
        }
        // Accounts of a wallet that is gone are removed by and by.
        let is_live = |account: &WalletAccount| {
            (account.address == name || account.public_key == name)
                && view.organization.wallet(account.wallet).is_some()
        };
        let found = view.records().account_at(&place)?.filter(is_live);
        let accounts = self.account.take().into_iter().chain(found.map(|account| (account, place)));
        self.account = accounts.min_by_key(|(account, _)| {
            (account.public_key == name && account.address != name, account.created, account.ordinal)
        });
        Ok(())
    }
}

/// The wallet account with this address; of several, the oldest.
pub fn account(view: &View<'_>, address: &str) -> Result<WalletAccount, Refusal> {
    let missing = || Missing::WalletAccount(format!("address: {address}"));
    let signer = resolve(view, address).map_err(|refusal| match refusal {
        Refusal::Missing(_) => missing().into(),
        other => other,
    })?;
    let found = signer.account().filter(|account| account.address == address);
    Ok(found.cloned().ok_or_else(missing)?)
}

/// The private key of this id as a signer.
pub fn private_key(view: &View<'_>, id: PrivateKeyId) -> Result<Arc<Signer>, Refusal> {
    let key = view.organization.private_key(id).ok_or(Missing::SigningResource)?;
    of_private_key(view, key.clone(), None).map(Arc::new)
}

fn of_private_key(
    view: &View<'_>,
    key: PrivateKey,
    format: Option<AddressFormat>,
) -> Result<Signer, Refusal> {
    if key.disabled {
        return Err(Intent::Text("private key is disabled").into());
    }
    let place = records::private_key_place(view.organization.id(), &key);
    Ok(Signer {
        place,
        curve: key.curve,
        scheme: format.map_or(Scheme::Usual, AddressFormat::scheme),
        format,
        holder: Holder::PrivateKey(Box::new(key)),
        public_key: OnceLock::new(),
    })
}

fn unsignable(flaw: &UnsignedFlaw) -> Refusal {
    let told = flaw.to_string();
    match flaw {
        UnsignedFlaw::Type(_) => Intent::TransactionType(told).into(),
        _ => Intent::Transaction(told).into(),
    }
}

impl Signer {
    /// Reads a transaction that this key is to sign.
    pub fn transaction(&self, kind: TransactionType, text: &str) -> Result<Signable, Refusal> {
        let transaction = Unsigned::read(kind, text).map_err(|flaw| unsignable(&flaw))?;
        let signer = SigningKey { key: self.public_key()?, format: self.format };
        transaction.for_signer(&signer).map_err(|flaw| unsignable(&flaw))
    }

    /// The public half of the key.
    fn public_key(&self) -> Result<&PublicKey, Corrupt> {
        if let Some(known) = self.public_key.get() {
            return Ok(known);
        }
        let text = match &self.holder {
            Holder::Account(account) => &account.public_key,
            Holder::PrivateKey(key) => &key.public_key,
        };
        let key = PublicKey::from_hex(self.curve, text);
        let key = key.map_err(|_| Corrupt::Invariant("a public key is of its curve"))?;
        Ok(self.public_key.get_or_init(|| key))
    }

    /// What a policy may ask about signing with this key.
    pub fn facts(&self, view: &View<'_>) -> Facts {
        match &self.holder {
            Holder::Account(account) => Facts::of_account(account, view.organization.wallet(account.wallet)),
            Holder::PrivateKey(key) => Facts::of_private_key(key),
        }
    }

    /// The wallet account, if it is one.
    pub fn account(&self) -> Option<&WalletAccount> {
        match &self.holder {
            Holder::Account(account) => Some(account),
            Holder::PrivateKey(_) => None,
        }
    }

    /// The private key, if it is one.
    pub fn private_key(&self) -> Option<&PrivateKey> {
        match &self.holder {
            Holder::Account(_) => None,
            Holder::PrivateKey(key) => Some(key),
        }
    }

    /// Reads a payload that this key is to sign.
    pub fn payload(
        &self,
        encoding: PayloadEncoding,
        hash: HashFunction,
        text: &str,
    ) -> Result<Payload, Refusal> {
        let read = Payload::read(self.curve, encoding, hash, text);
        let mut payload = read.map_err(|flaw| Intent::Detail(flaw.to_string()))?;
        payload.message = payload.message.under(self.scheme);
        Ok(payload)
    }

    /// Signs. The signature has been checked by a second implementation.
    pub fn sign(&self, view: &View<'_>, message: &Message) -> Result<Signature, Refusal> {
        let mut load = || match &self.holder {
            Holder::Account(account) => Ok(view.records().account_secret(account)?),
            Holder::PrivateKey(key) => Ok(view.records().private_key_secret(key)?),
        };
        view.sign(&self.place, &mut load, message)
    }
}
