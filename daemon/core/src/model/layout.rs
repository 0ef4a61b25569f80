//! The keys of all records in the store. Keys contain ids, times and keyed digests, and no names or secrets.
//! The first byte is a letter for the kind of record; numerous records are ordered by time.
//!
//! ARCHITECTURE.md lists all letters and classes. No other module knows them.

mod activities;
mod index;
pub mod log;
pub mod outbox;
pub mod sign_in;

pub use activities::{
    BODY_SPAN, activities, activities_listed, activities_of_status, activity, activity_id, activity_listed,
    activity_submitted, body, denials, denied, displaced_denial, displaced_denials, fingerprint, is_of_body,
    listed_activity,
};
pub use index::{
    IndexKey, Lookup, account_name, account_names, account_path, identity, is_waiting, lookup_child,
    lookup_entries, lookup_entry, named_account, signer, signers, waiting, waiting_activity,
    waiting_is_complete, waiting_of,
};

use quorate_common::ids::{
    ActivityId, EndpointId, OrganizationId, PrivateKeyId, SecretId, SmartContractInterfaceId, UserId,
    WalletAccountId, WalletId,
};

use super::Millis;
use super::purpose::Purpose;
use crate::page::Order;

/// A key of the store.
pub type Key = Vec<u8>;

/// The parent id under which top-level organizations are listed.
pub const NO_PARENT: OrganizationId = OrganizationId::from_bytes([0; 16]);

/// The first byte of a key: the kind of the record.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Letter {
    Activity = b'a',
    AccountName = b'b',
    Child = b'c',
    Denied = b'd',
    Entity = b'e',
    Fingerprint = b'f',
    DeletedUser = b'g',
    Body = b'h',
    InterfaceText = b'i',
    AccountIndex = b'j',
    SignIn = b'k',
    LookupEntry = b'l',
    Account = b'n',
    Organization = b'o',
    Outbox = b'p',
    AccountPath = b'q',
    ImportTarget = b'r',
    Secret = b's',
    ActivityListed = b't',
    DisplacedDenial = b'u',
    Version = b'v',
    Signer = b'w',
    LegacyDelivery = b'x',
    Mail = b'y',
    Tombstone = b'z',
}

/// What the records of each letter are, for operators.
const NOUNS: [(Letter, &str); 25] = [
    (Letter::Activity, "activities"),
    (Letter::AccountName, "names of wallet accounts"),
    (Letter::Child, "lists of sub-organizations"),
    (Letter::Denied, "denied activities of a credential"),
    (Letter::Entity, "users, wallets, policies and other objects"),
    (Letter::Fingerprint, "waiting activities by fingerprint"),
    (Letter::DeletedUser, "deleted users"),
    (Letter::Body, "processed requests"),
    (Letter::InterfaceText, "contract interfaces"),
    (Letter::AccountIndex, "wallet accounts by number"),
    (Letter::SignIn, "sign-in and messages"),
    (Letter::LookupEntry, "sub-organizations by user"),
    (Letter::Account, "wallet accounts"),
    (Letter::Organization, "organizations"),
    (Letter::Outbox, "webhook deliveries"),
    (Letter::AccountPath, "wallet accounts by path"),
    (Letter::ImportTarget, "keys for imports"),
    (Letter::Secret, "private keys and seeds"),
    (Letter::ActivityListed, "lists of activities"),
    (Letter::DisplacedDenial, "denied activities to remove"),
    (Letter::Version, "versions of organizations"),
    (Letter::Signer, "wallet accounts by address"),
    (Letter::LegacyDelivery, "webhook deliveries of earlier versions"),
    (Letter::Mail, "mail"),
    (Letter::Tombstone, "deleted wallets"),
];

/// Returns what the records are whose keys start with a byte, if the layout knows it.
pub fn noun(first: u8) -> Option<&'static str> {
    NOUNS.iter().find(|(letter, _)| *letter as u8 == first).map(|(_, noun)| *noun)
}

impl Letter {
    /// Returns whether a key starts with this letter.
    pub(crate) fn starts(self, key: &[u8]) -> bool {
        key.first() == Some(&(self as u8))
    }
}

/// The class of a record of the snapshot: a letter that follows the organization in its key. The classes without
/// a name here are in the table of `daemon/core/src/model/mod.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class(pub u8);

impl Class {
    /// Users.
    pub const USER: Self = Self(b'u');
    /// Policies.
    pub const POLICY: Self = Self(b'p');
    /// Wallets.
    pub const WALLET: Self = Self(b'w');
    /// Private keys.
    pub const PRIVATE_KEY: Self = Self(b'k');
    /// Imported secrets, without their values.
    pub const SECRET: Self = Self(b'v');

    /// Returns whether a key of [`entity`] has this class.
    pub fn is_of(self, key: &[u8]) -> bool {
        Letter::Entity.starts(key) && key.get(17) == Some(&self.0)
    }
}

fn key(letter: Letter, parts: &[&[u8]]) -> Key {
    let length = parts.iter().map(|part| part.len()).sum::<usize>().saturating_add(1);
    let mut key = Vec::with_capacity(length);
    key.push(letter as u8);
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

/// Returns the key below a prefix that ends in an id or a number.
fn below(mut prefix: Key, rest: &[u8]) -> Key {
    prefix.extend_from_slice(rest);
    prefix
}

/// Parses the id at the end of a key.
fn last_id(key: &[u8]) -> Option<[u8; 16]> {
    key.last_chunk().copied()
}

/// First byte of the registers that contain the versions of organizations.
pub const VERSIONS: u8 = Letter::Version as u8;

/// First bytes of the keys of queues, whose records are replaced and removed often.
pub const QUEUES: [u8; 3] = [Letter::LegacyDelivery as u8, Letter::Mail as u8, Letter::Tombstone as u8];

/// Returns the key of the register with the version of an organization.
pub fn version(id: OrganizationId) -> Key {
    key(Letter::Version, &[id.as_bytes()])
}

/// Returns the keys of the two registers of a lease: who has it, and a number that its holder raises while it lives. They are
/// longer than those of organizations.
pub fn lease(name: &str) -> [Key; 2] {
    ["holder", "life"]
        .map(|register| key(Letter::Version, &[b"lease/", name.as_bytes(), b"/", register.as_bytes()]))
}

/// Returns the key of the register with the newest term of the sealing keys.
pub fn newest_term() -> Key {
    key(Letter::Version, &[b"term/newest"])
}

/// Returns the key of the register with the number of values that were sealed in a term, in blocks that were counted ahead.
pub fn sealings(term: u32) -> Key {
    key(Letter::Version, &[b"term/sealings/", &term.to_be_bytes()])
}

/// Returns the key of the register with the number of the newest frame in the journal of a daemon.
pub fn journal(daemon: &[u8]) -> Key {
    key(Letter::Version, &[b"journal/", daemon])
}

/// Returns whether a key is one of [`version`]. All other registers have keys of other lengths.
pub fn is_version(key: &[u8]) -> bool {
    Letter::Version.starts(key) && key.len() == 17
}

/// Prefix of the keys of [`journal`].
pub const JOURNALS: &[u8] = b"vjournal/";

/// Returns the key of the head of the organization with this version register; `None` for other registers.
pub fn organization_of_version(key: &[u8]) -> Option<Key> {
    let id = key.get(1..).filter(|_| is_version(key))?;
    Some(organization(OrganizationId::from_bytes(id.try_into().ok()?)))
}

/// Prefix of the heads of all organizations.
pub const ORGANIZATIONS: &[u8] = &[Letter::Organization as u8];

/// Returns the key of the head of an organization.
pub fn organization(id: OrganizationId) -> Key {
    key(Letter::Organization, &[id.as_bytes()])
}

/// Returns the key of a record of the snapshot, by its class and id.
pub fn entity(organization: OrganizationId, class: Class, id: &[u8; 16]) -> Key {
    key(Letter::Entity, &[organization.as_bytes(), &[class.0], id])
}

/// Returns the prefix of all records of the snapshot of an organization.
pub fn entities(organization: OrganizationId) -> Key {
    key(Letter::Entity, &[organization.as_bytes()])
}

/// Returns whether a key is one of [`account`].
pub fn is_account(key: &[u8]) -> bool {
    Letter::Account.starts(key)
}

/// Returns whether a key of [`entity`] or [`account`] belongs to this organization.
pub fn is_of(key: &[u8], organization: OrganizationId) -> bool {
    (Letter::Entity.starts(key) || is_account(key))
        && key.get(1..17) == Some(organization.as_bytes().as_slice())
}

/// The owner of a secret record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretOf {
    /// Seed of a wallet.
    Wallet(WalletId),
    /// Scalar of a private key.
    PrivateKey(PrivateKeyId),
    /// Value of an imported secret.
    Secret(SecretId),
    /// API key of the user of the authentication proxy.
    AuthProxy(UserId),
}

/// Returns the key of a secret record.
pub fn secret(organization: OrganizationId, of: SecretOf) -> Key {
    let (class, id) = match &of {
        SecretOf::Wallet(id) => (Class::WALLET, id.as_bytes()),
        SecretOf::PrivateKey(id) => (Class::PRIVATE_KEY, id.as_bytes()),
        SecretOf::Secret(id) => (Class::SECRET, id.as_bytes()),
        SecretOf::AuthProxy(id) => (Class::USER, id.as_bytes()),
    };
    key(Letter::Secret, &[organization.as_bytes(), &[class.0], id])
}

/// Returns whether the record at this key can exceed the maximum length of one value of the store. Other
/// records are much shorter.
pub fn may_be_long(key: &[u8]) -> bool {
    use Letter::{Activity, Entity, InterfaceText, LegacyDelivery, Mail, Organization, Secret};
    // Of secrets, seeds and scalars are short; values of imported secrets may be long.
    [Activity, Entity, InterfaceText, LegacyDelivery, Mail, Organization].iter().any(|one| one.starts(key))
        || outbox::is_body(key)
        || (Secret.starts(key) && key.get(17) == Some(&Class::SECRET.0))
}

/// Returns the key of the text of a smart contract interface.
pub fn interface_text(organization: OrganizationId, id: SmartContractInterfaceId) -> Key {
    key(Letter::InterfaceText, &[organization.as_bytes(), id.as_bytes()])
}

/// Returns the key of an account, by its ordinal in the wallet.
pub fn account(organization: OrganizationId, wallet: WalletId, ordinal: u32) -> Key {
    key(Letter::Account, &[organization.as_bytes(), wallet.as_bytes(), &ordinal.to_be_bytes()])
}

/// Returns the prefix of the accounts of an organization, or of one of its wallets.
pub fn accounts(organization: OrganizationId, wallet: Option<WalletId>) -> Key {
    let wallet = wallet.as_ref().map_or([].as_slice(), |wallet| wallet.as_bytes());
    key(Letter::Account, &[organization.as_bytes(), wallet])
}

/// Returns the key after which a page continues past all accounts of a wallet.
pub fn beyond_accounts(organization: OrganizationId, wallet: WalletId, order: Order) -> Key {
    let mut key = accounts(organization, Some(wallet));
    if order == Order::Ascending {
        // One byte longer than the greatest ordinal.
        key.extend_from_slice(&[0xff; 5]);
    }
    key
}

/// Returns the key of the index entry of an account by its id. The value is the key of the account.
pub fn account_index(organization: OrganizationId, account: WalletAccountId) -> Key {
    key(Letter::AccountIndex, &[organization.as_bytes(), account.as_bytes()])
}

/// Returns the key of the list entry of a sub-organization, ordered by creation.
pub fn child(parent: OrganizationId, created: Millis, id: OrganizationId) -> Key {
    key(Letter::Child, &[parent.as_bytes(), &created.to_be_bytes(), id.as_bytes()])
}

/// Returns the prefix of the sub-organizations of an organization, oldest first.
pub fn children(parent: OrganizationId) -> Key {
    key(Letter::Child, &[parent.as_bytes()])
}

/// Parses the organization id at the end of a key.
pub fn organization_id(key: &[u8]) -> Option<OrganizationId> {
    last_id(key).map(OrganizationId::from_bytes)
}

/// Returns the key of a queued delivery in stores of earlier versions. Its digest is the id of the event, in
/// every version.
pub fn event_key(
    receiver: OrganizationId,
    endpoint: Option<EndpointId>,
    activity: ActivityId,
    votes: u32,
) -> Key {
    let endpoint = endpoint.as_ref().map_or([].as_slice(), |endpoint| endpoint.as_bytes());
    key(Letter::LegacyDelivery, &[activity.as_bytes(), &votes.to_be_bytes(), receiver.as_bytes(), endpoint])
}

/// Parses the number of votes in a key of [`event_key`].
pub fn event_votes(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(17..21)?.try_into().ok()?))
}

/// Prefix of the queued deliveries in stores of earlier versions.
pub const LEGACY_DELIVERIES: &[u8] = &[Letter::LegacyDelivery as u8];

/// Returns the key of the tombstone of a deleted user, whose id is never reused.
pub fn deleted_user(organization: OrganizationId, user: UserId) -> Key {
    key(Letter::DeletedUser, &[organization.as_bytes(), user.as_bytes()])
}

/// Returns the key of a queued mail, by the activity that sends it.
pub fn mail(activity: ActivityId, number: u32) -> Key {
    key(Letter::Mail, &[activity.as_bytes(), &number.to_be_bytes()])
}

/// Parses the activity and the number in a key of [`mail`] or of [`outbox::sms`].
pub fn of_message(key: &[u8]) -> Option<(ActivityId, u32)> {
    let (rest, number) = key.split_last_chunk::<4>()?;
    Some((activity_id(rest)?, u32::from_be_bytes(*number)))
}

/// Prefix of all queued mails.
pub const MAILS: &[u8] = &[Letter::Mail as u8];

/// Returns the prefix of the import keys of a user, oldest first.
pub fn import_targets(organization: OrganizationId, user: UserId, purpose: Purpose) -> Key {
    key(Letter::ImportTarget, &[organization.as_bytes(), user.as_bytes(), &[purpose as u8]])
}

/// Prefix of the import keys of all users.
pub const IMPORT_TARGETS: &[u8] = &[Letter::ImportTarget as u8];

/// Parses the time of creation in a key under [`import_targets`].
pub fn import_target_created(key: &[u8]) -> Option<Millis> {
    Some(Millis::from_be_bytes(key.get(34..42)?.try_into().ok()?))
}

/// Returns the key of the tombstone of a deleted wallet, whose accounts are still to be removed.
pub fn tombstone(organization: OrganizationId, wallet: WalletId) -> Key {
    key(Letter::Tombstone, &[organization.as_bytes(), wallet.as_bytes()])
}

/// Prefix of the tombstones of deleted wallets.
pub const TOMBSTONES: &[u8] = &[Letter::Tombstone as u8];

/// Parses the organization and the wallet of a key under [`TOMBSTONES`].
pub fn tombstone_wallet(key: &[u8]) -> Option<(OrganizationId, WalletId)> {
    let (organization, wallet) = key.get(1..33)?.split_at_checked(16)?;
    let organization = OrganizationId::from_bytes(organization.try_into().ok()?);
    Some((organization, WalletId::from_bytes(wallet.try_into().ok()?)))
}
