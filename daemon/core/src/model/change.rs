//! Changes of an organization as data. They are applied to a snapshot and turned into writes.

mod apply;
mod entries;

pub use apply::{Applied, apply, create};
pub use entries::account_removal;

use quorate_common::bounded::Label;
use quorate_common::ids::{ActivityId, PolicyId, UserId};

use super::contents::RecordDigest;
use super::layout::{Key, SecretOf};
use super::organization::{Head, RootQuorum};
use super::{
    AnyRecord, FeatureName, ImportTarget, InterfaceText, IpAllowlist, PaymentMethod, Policy, PrivateKey,
    RecordId, SmartContractInterface, SnapshotRecord, User, WalletAccount,
};
use crate::secret::SecretBytes;

/// A change of an organization.
pub enum Change {
    /// Adds or replaces a user.
    PutUser(User),
    /// Removes a user.
    RemoveUser(UserId),
    /// Adds or replaces a record. The public key and the addresses of a private key must be unchanged.
    Put(Box<dyn AnyRecord>),
    /// Removes a record with everything that belongs to it, such as its secret. The accounts of a wallet, whose
    /// number is not limited, are removed in the background.
    Remove(RecordId),
    /// Adds an account.
    AddAccount(WalletAccount),
    /// Adds a private key.
    AddPrivateKey(PrivateKey),
    /// Renames an account, given as it was before.
    RenameAccount(WalletAccount, Label),
    /// Removes an account.
    RemoveAccount(WalletAccount),
    /// Adds or replaces a policy.
    PutPolicy(Policy),
    /// Removes a policy.
    RemovePolicy(PolicyId),
    /// Adds a user in whose name the authentication proxy stamps requests, with the secret API key.
    AddAuthProxy(User, SecretBytes),
    /// Adds the secret of a wallet or private key, or the value of an imported secret.
    AddSecret(SecretOf, SecretBytes),
    /// Marks an account, given as it was before, as exported.
    ExportAccount(WalletAccount),
    /// Adds an import key of a user.
    AddImportTarget(ImportTarget),
    /// Removes an import key, by its key in the store.
    RemoveImportTarget(Key),
    /// Renames the organization.
    SetName(Label),
    /// Replaces the root quorum.
    SetQuorum(RootQuorum),
    /// Turns a feature on, with this value.
    SetFeature(FeatureName, Option<String>),
    /// Turns a feature off.
    RemoveFeature(FeatureName),
    /// Adds a smart contract interface and its text.
    AddSmartContractInterface(SmartContractInterface, InterfaceText),
    /// Sets the IP allowlist; `None` admits every address.
    SetIpAllowlist(Option<IpAllowlist>),
    /// Sets or removes the payment method.
    SetPaymentMethod(Option<PaymentMethod>),
    /// Sets the product of the active billing tier.
    SetBillingTier(String),
    /// Sets the digest of the record of a waiting activity. The record and its index entry are written
    /// separately.
    PutWaiting(ActivityId, RecordDigest),
    /// Removes the digest of an activity that no longer waits.
    RemoveWaiting(ActivityId),
    /// Deletes the organization with everything in it. Accounts, whose number is not limited, are removed in
    /// the background; the records of activities are kept.
    Delete,
}

impl Change {
    /// Adds or replaces a record.
    pub fn put(record: impl SnapshotRecord) -> Self {
        Self::Put(Box::new(record))
    }

    /// Removes a record with everything that belongs to it.
    pub fn remove<T: SnapshotRecord>(id: T::Id) -> Self {
        Self::Remove(RecordId::of::<T>(id))
    }
}

/// An organization to create.
pub struct NewOrganization {
    /// Head of the organization.
    pub head: Head,
    /// Changes that add its initial records.
    pub changes: Vec<Change>,
}
