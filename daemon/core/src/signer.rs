//! A key that can sign: what it decodes, and under which scheme. Its secret is elsewhere.

use std::sync::OnceLock;

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::{Curve, PublicKey, Scheme};
use quorate_chain::payload::{HashFunction, Payload, PayloadEncoding};
use quorate_chain::transaction::{Signable, Signer as SigningKey, TransactionType, Unsigned, UnsignedError};

use crate::error::{Corrupt, Intent, RequestError};
use crate::model::layout::Key;
use crate::model::{PrivateKey, WalletAccount};

/// A key that can sign, and the wallet account or private key that it belongs to.
#[derive(Debug, Clone)]
pub struct Signer {
    record_key: Key,
    curve: Curve,
    /// Signature scheme, which the address in `signWith` determines.
    scheme: Scheme,
    /// Format of that address, if `signWith` is an address.
    format: Option<AddressFormat>,
    holder: Holder,
    /// Parsed public key, once it was used.
    public_key: OnceLock<PublicKey>,
}

/// The object that a signer belongs to.
#[derive(Debug, Clone)]
pub(crate) enum Holder {
    /// Wallet account.
    Account(Box<WalletAccount>),
    /// Private key.
    PrivateKey(Box<PrivateKey>),
}

fn unsignable(error: &UnsignedError) -> RequestError {
    let message = error.to_string();
    match error {
        UnsignedError::Type(_) => Intent::TransactionType(message).into(),
        _ => Intent::Transaction(message).into(),
    }
}

impl Signer {
    /// Returns the signer of a wallet account.
    pub(crate) fn of_account(account: WalletAccount, record_key: Key, format: Option<AddressFormat>) -> Self {
        Self {
            record_key,
            curve: account.curve,
            scheme: account.format.scheme(),
            format,
            holder: Holder::Account(Box::new(account)),
            public_key: OnceLock::new(),
        }
    }

    /// Returns the signer of a private key.
    pub(crate) fn of_private_key(key: PrivateKey, record_key: Key, format: Option<AddressFormat>) -> Self {
        Self {
            record_key,
            curve: key.curve,
            scheme: format.map_or(Scheme::Default, AddressFormat::scheme),
            format,
            holder: Holder::PrivateKey(Box::new(key)),
            public_key: OnceLock::new(),
        }
    }

    /// Decodes a transaction to sign with this key.
    ///
    /// # Errors
    /// If the transaction cannot be decoded, or cannot be signed with this key.
    pub fn transaction(&self, kind: TransactionType, text: &str) -> Result<Signable, RequestError> {
        let transaction = Unsigned::read(kind, text).map_err(|error| unsignable(&error))?;
        let signer = SigningKey { key: self.public_key()?, format: self.format };
        transaction.for_signer(&signer).map_err(|error| unsignable(&error))
    }

    /// Returns the parsed public key.
    fn public_key(&self) -> Result<&PublicKey, Corrupt> {
        if let Some(known) = self.public_key.get() {
            return Ok(known);
        }
        let text = match &self.holder {
            Holder::Account(account) => &account.public_key,
            Holder::PrivateKey(key) => &key.public_key,
        };
        let key = PublicKey::from_hex(self.curve, text);
        let key = key.map_err(|_| Corrupt::Invariant("a stored public key is not on its curve"))?;
        Ok(self.public_key.get_or_init(|| key))
    }

    /// Returns the key of the record that the signer belongs to.
    pub(crate) fn record_key(&self) -> &Key {
        &self.record_key
    }

    /// Returns the object that the signer belongs to.
    pub(crate) fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Returns the wallet account, if the signer is one.
    pub fn account(&self) -> Option<&WalletAccount> {
        match &self.holder {
            Holder::Account(account) => Some(account),
            Holder::PrivateKey(_) => None,
        }
    }

    /// Returns the private key, if the signer is one.
    pub fn private_key(&self) -> Option<&PrivateKey> {
        match &self.holder {
            Holder::Account(_) => None,
            Holder::PrivateKey(key) => Some(key),
        }
    }

    /// Decodes a payload to sign with this key.
    ///
    /// # Errors
    /// If the payload does not match the encoding, or cannot be signed with this key.
    pub fn payload(
        &self,
        encoding: PayloadEncoding,
        hash: HashFunction,
        text: &str,
    ) -> Result<Payload, RequestError> {
        let read = Payload::read(self.curve, encoding, hash, text);
        let mut payload = read.map_err(|error| Intent::Detail(error.to_string()))?;
        payload.message = payload.message.under(self.scheme);
        Ok(payload)
    }
}
