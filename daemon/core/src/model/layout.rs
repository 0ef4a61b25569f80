//! The keys of all records in the store. Keys contain ids, times and keyed digests, and no names or secrets.
//! The first byte is a letter for the kind of record; numerous records are ordered by time.

pub mod outbox;

use hmac::{Hmac, KeyInit, Mac};
use quorate_common::activity::Status;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{
    ActivityId, EndpointId, InvitationId, OrganizationId, PolicyId, PrivateKeyId, SecretId, SessionProfileId,
    SmartContractInterfaceId, TagId, UserId, WalletAccountId, WalletId,
};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::Millis;
use super::import_target::Purpose;
use crate::world::Order;

/// A key of the store.
pub type Key = Vec<u8>;

/// The parent id under which top-level organizations are listed.
pub const NO_PARENT: OrganizationId = OrganizationId::from_bytes([0; 16]);

/// The key of the digests of values that are looked up, so that keys of the store do not reveal these values.
#[derive(Clone)]
pub struct IndexKey(Zeroizing<[u8; 32]>);

impl IndexKey {
    /// Creates a key from its secret bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(Zeroizing::new(secret))
    }

    /// Returns a keyed digest that identifies a seed without revealing it.
    pub fn of_seed(&self, seed: &[u8; 64]) -> [u8; 16] {
        self.digest(&[b"seed", seed])
    }

    fn digest(&self, parts: &[&[u8]]) -> [u8; 16] {
        let mut out = [0; 16];
        // HMAC accepts keys of any length, so this cannot fail; an all-zero digest would only be a useless
        // index.
        if let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(self.0.as_slice()) {
            for part in parts {
                mac.update(&(part.len() as u64).to_be_bytes());
                mac.update(part);
            }
            for (to, from) in out.iter_mut().zip(mac.finalize().into_bytes()) {
                *to = from;
            }
        }
        out
    }
}

/// The values by which sub-organizations can be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Name of the organization.
    Name = 1,
    /// Name of a user.
    Username = 2,
    /// Mail address of a user, lowercase.
    Email = 3,
    /// Telephone number of a user.
    PhoneNumber = 4,
    /// Credential id of an authenticator.
    CredentialId = 5,
    /// Public key of an API key, lowercase.
    PublicKey = 6,
    /// Address of a wallet account.
    WalletAccountAddress = 7,
    /// Verified mail address of a user, lowercase.
    VerifiedEmail = 8,
    /// Verified telephone number of a user.
    VerifiedPhoneNumber = 9,
}

fn key(letter: u8, parts: &[&[u8]]) -> Key {
    let length = parts.iter().map(|part| part.len()).sum::<usize>().saturating_add(1);
    let mut key = Vec::with_capacity(length);
    key.push(letter);
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

/// First byte of the registers that contain the versions of organizations.
pub const VERSIONS: u8 = b'v';

/// Returns the key of the register with the version of an organization.
pub fn version(id: OrganizationId) -> Key {
    key(VERSIONS, &[id.as_bytes()])
}

/// Prefix of the heads of all organizations.
pub const ORGANIZATIONS: &[u8] = b"o";

/// Returns the key of the head of an organization.
pub fn organization(id: OrganizationId) -> Key {
    key(b'o', &[id.as_bytes()])
}

/// The id of a record of the snapshot of an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    /// User.
    User(UserId),
    /// Wallet.
    Wallet(WalletId),
    /// Private key.
    PrivateKey(PrivateKeyId),
    /// Tag.
    Tag(TagId),
    /// Policy.
    Policy(PolicyId),
    /// Invitation.
    Invitation(InvitationId),
    /// Webhook endpoint.
    WebhookEndpoint(EndpointId),
    /// Imported secret, without its value.
    Secret(SecretId),
    /// Session profile.
    SessionProfile(SessionProfileId),
    /// Smart contract interface, without its text.
    SmartContractInterface(SmartContractInterfaceId),
}

/// Returns the key of a record of the snapshot.
pub fn entity(organization: OrganizationId, entity: Entity) -> Key {
    let (class, id) = match &entity {
        Entity::User(id) => (b'u', id.as_bytes()),
        Entity::Wallet(id) => (b'w', id.as_bytes()),
        Entity::PrivateKey(id) => (b'k', id.as_bytes()),
        Entity::Tag(id) => (b't', id.as_bytes()),
        Entity::Policy(id) => (b'p', id.as_bytes()),
        Entity::Invitation(id) => (b'i', id.as_bytes()),
        Entity::WebhookEndpoint(id) => (b'h', id.as_bytes()),
        Entity::Secret(id) => (b'v', id.as_bytes()),
        Entity::SessionProfile(id) => (b's', id.as_bytes()),
        Entity::SmartContractInterface(id) => (b'c', id.as_bytes()),
    };
    key(b'e', &[organization.as_bytes(), &[class], id])
}

/// Returns the prefix of all records of the snapshot of an organization.
pub fn entities(organization: OrganizationId) -> Key {
    key(b'e', &[organization.as_bytes()])
}

/// Returns the class letter of a key under [`entities`].
pub fn entity_class(key: &[u8]) -> Option<u8> {
    key.get(17).copied()
}

/// Returns the prefix of the accounts of the wallet at a key under [`entities`].
pub fn accounts_of_entity(key: &[u8]) -> Option<Key> {
    let organization = OrganizationId::from_bytes(key.get(1..17)?.try_into().ok()?);
    let wallet = WalletId::from_bytes(key.get(18..)?.try_into().ok()?);
    Some(accounts(organization, Some(wallet)))
}

/// Returns whether a key of [`entity`] or [`account`] belongs to this organization.
pub fn is_of(key: &[u8], organization: OrganizationId) -> bool {
    matches!(key.first(), Some(b'e' | b'n')) && key.get(1..17) == Some(organization.as_bytes().as_slice())
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
}

/// Returns the key of a secret record.
pub fn secret(organization: OrganizationId, of: SecretOf) -> Key {
    let (class, id) = match &of {
        SecretOf::Wallet(id) => (b'w', id.as_bytes()),
        SecretOf::PrivateKey(id) => (b'k', id.as_bytes()),
        SecretOf::Secret(id) => (b'v', id.as_bytes()),
    };
    key(b's', &[organization.as_bytes(), &[class], id])
}

/// Returns whether the record at this key can exceed the maximum length of one value of the store. Other
/// records are much shorter.
pub fn may_be_long(key: &[u8]) -> bool {
    match key.first() {
        Some(b'a' | b'e' | b'i' | b'o' | b'x' | b'y') => true,
        Some(&outbox::LETTER) => outbox::is_body(key),
        // Seeds and scalars are short; values of imported secrets may be long.
        Some(b's') => key.get(17) == Some(&b'v'),
        _ => false,
    }
}

/// Returns the key of the text of a smart contract interface.
pub fn interface_text(organization: OrganizationId, id: SmartContractInterfaceId) -> Key {
    key(b'i', &[organization.as_bytes(), id.as_bytes()])
}

/// Returns the key of an account, by its ordinal in the wallet.
pub fn account(organization: OrganizationId, wallet: WalletId, ordinal: u32) -> Key {
    key(b'n', &[organization.as_bytes(), wallet.as_bytes(), &ordinal.to_be_bytes()])
}

/// Returns the prefix of the accounts of an organization, or of one of its wallets.
pub fn accounts(organization: OrganizationId, wallet: Option<WalletId>) -> Key {
    match wallet {
        Some(wallet) => key(b'n', &[organization.as_bytes(), wallet.as_bytes()]),
        None => key(b'n', &[organization.as_bytes()]),
    }
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
    key(b'j', &[organization.as_bytes(), account.as_bytes()])
}

/// Returns the key of the index entry of an account by its curve, path and address format.
pub fn account_path(index: &IndexKey, wallet: WalletId, curve: &str, path: &str, format: &str) -> Key {
    let digest = index.digest(&[curve.as_bytes(), path.as_bytes(), format.as_bytes()]);
    key(b'q', &[wallet.as_bytes(), &digest])
}

/// Returns the prefix of the index entries of the accounts of an organization with a name.
pub fn account_names(index: &IndexKey, organization: OrganizationId, name: &str) -> Key {
    key(b'b', &[organization.as_bytes(), &index.digest(&[name.as_bytes()])])
}

/// Returns the key of the index entry of an account by its name.
pub fn account_name(
    index: &IndexKey,
    organization: OrganizationId,
    name: &str,
    account: WalletAccountId,
) -> Key {
    let mut key = account_names(index, organization, name);
    key.extend_from_slice(account.as_bytes());
    key
}

/// Parses the account id at the end of a key under [`account_names`].
pub fn named_account(key: &[u8]) -> Option<WalletAccountId> {
    let tail = key.len().checked_sub(16).and_then(|start| key.get(start..))?;
    Some(WalletAccountId::from_bytes(tail.try_into().ok()?))
}

/// Returns the prefix of the index entries of the signers with a text (address or public key).
pub fn signers(index: &IndexKey, organization: OrganizationId, text: &str) -> Key {
    key(b'w', &[organization.as_bytes(), &index.digest(&[text.as_bytes()])])
}

/// Returns the key of the index entry of a signer with a text; `id` distinguishes signers with the same text.
pub fn signer(index: &IndexKey, organization: OrganizationId, text: &str, id: &[u8; 16]) -> Key {
    let mut key = signers(index, organization, text);
    key.extend_from_slice(id);
    key
}

/// Returns the key of an activity.
pub fn activity(organization: OrganizationId, id: ActivityId) -> Key {
    key(b'a', &[organization.as_bytes(), id.as_bytes()])
}

/// Returns the prefix of the activities of an organization, oldest first.
pub fn activities(organization: OrganizationId) -> Key {
    key(b'a', &[organization.as_bytes()])
}

/// Returns the key of the index entry of an activity by its status and type.
pub fn activity_listed(organization: OrganizationId, status: Status, number: u16, id: ActivityId) -> Key {
    let mut key = activities_listed(organization, status, number);
    key.extend_from_slice(id.as_bytes());
    key
}

/// Returns the prefix of the index entries of the activities with a status and type, oldest first.
pub fn activities_listed(organization: OrganizationId, status: Status, number: u16) -> Key {
    key(b't', &[organization.as_bytes(), &[status.number()], &number.to_be_bytes()])
}

/// Returns the prefix of the index entries of the activities with a status, by type.
pub fn activities_of_status(organization: OrganizationId, status: Status) -> Key {
    key(b't', &[organization.as_bytes(), &[status.number()]])
}

/// Parses a key of [`activity_listed`]: the organization, the numbers of the status and of the type, and the
/// activity.
pub fn listed_activity(key: &[u8]) -> Option<(OrganizationId, u8, u16, ActivityId)> {
    let (organization, rest) = key.strip_prefix(b"t")?.split_first_chunk::<16>()?;
    let (&[status, high, low], id) = rest.split_first_chunk::<3>()?;
    let id = ActivityId::from_bytes(id.try_into().ok()?);
    Some((OrganizationId::from_bytes(*organization), status, u16::from_be_bytes([high, low]), id))
}

/// Returns the time at which an activity was submitted, which its id contains.
pub fn activity_submitted(id: ActivityId) -> Millis {
    // The first 48 bits of a version 7 UUID (RFC 9562 §5.7) are its time.
    let [time @ .., _, _, _, _, _, _, _, _] = *id.as_bytes();
    Millis::from_be_bytes(time) >> 16
}

/// Parses the activity id at the end of a key.
pub fn activity_id(key: &[u8]) -> Option<ActivityId> {
    let tail = key.len().checked_sub(16).and_then(|start| key.get(start..))?;
    Some(ActivityId::from_bytes(tail.try_into().ok()?))
}

/// Length of the time spans by which bodies are indexed, in milliseconds.
pub const BODY_SPAN: Millis = 4096;

/// Returns the key of the index entry of an activity by its body: the time span of the timestamp, and the
/// fingerprint. Bodies arrive roughly in the order of their timestamps, so that reads and writes stay close
/// together.
pub fn body(stamped: Millis, fingerprint: &Fingerprint) -> Key {
    key(b'h', &[&(stamped / BODY_SPAN).to_be_bytes(), fingerprint.as_bytes()])
}

/// Returns the key of the index entry of an activity that waited for votes, by its fingerprint. A vote names
/// its target by the fingerprint only.
pub fn fingerprint(fingerprint: &Fingerprint) -> Key {
    key(b'f', &[fingerprint.as_bytes()])
}

/// Returns the key of a denied attempt by a credential, whose activity is kept. The value is the key of its
/// body; earlier versions stored no value.
pub fn denied(organization: OrganizationId, credential: &[u8; 16], id: ActivityId) -> Key {
    let mut key = denials(organization, credential);
    key.extend_from_slice(id.as_bytes());
    key
}

/// Returns the prefix of the denied attempts by a credential whose activities are kept, oldest first.
pub fn denials(organization: OrganizationId, credential: &[u8; 16]) -> Key {
    key(b'd', &[organization.as_bytes(), credential])
}

/// Returns the key of a denied attempt by a credential, whose activity was removed. The value is the key of
/// its body.
pub fn displaced_denial(organization: OrganizationId, credential: &[u8; 16], id: ActivityId) -> Key {
    let mut key = displaced_denials(organization, credential);
    key.extend_from_slice(id.as_bytes());
    key
}

/// Returns the prefix of the denied attempts by a credential whose activities were removed, oldest first.
pub fn displaced_denials(organization: OrganizationId, credential: &[u8; 16]) -> Key {
    key(b'u', &[organization.as_bytes(), credential])
}

/// Returns the key of the list entry of a sub-organization, ordered by creation.
pub fn child(parent: OrganizationId, created: Millis, id: OrganizationId) -> Key {
    key(b'c', &[parent.as_bytes(), &created.to_be_bytes(), id.as_bytes()])
}

/// Returns the prefix of the sub-organizations of an organization, oldest first.
pub fn children(parent: OrganizationId) -> Key {
    key(b'c', &[parent.as_bytes()])
}

/// Parses the organization id at the end of a key.
pub fn organization_id(key: &[u8]) -> Option<OrganizationId> {
    let tail = key.len().checked_sub(16).and_then(|start| key.get(start..))?;
    Some(OrganizationId::from_bytes(tail.try_into().ok()?))
}

/// Returns the key of the index entry of a sub-organization by a value; `of` is the id of the object with the
/// value.
pub fn lookup_entry(
    index: &IndexKey,
    parent: OrganizationId,
    lookup: Lookup,
    value: &str,
    child: OrganizationId,
    of: &[u8; 16],
) -> Key {
    let mut key = lookup_entries(index, parent, lookup, value);
    key.extend_from_slice(child.as_bytes());
    key.extend_from_slice(of);
    key
}

/// Returns the prefix of the index entries of the sub-organizations with a value.
pub fn lookup_entries(index: &IndexKey, parent: OrganizationId, lookup: Lookup, value: &str) -> Key {
    let digest = index.digest(&[value.as_bytes()]);
    key(b'l', &[parent.as_bytes(), &[lookup as u8], &digest])
}

/// Parses the id of the sub-organization in a key under [`lookup_entries`].
pub fn lookup_child(key: &[u8]) -> Option<OrganizationId> {
    Some(OrganizationId::from_bytes(key.get(34..50)?.try_into().ok()?))
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
    key(b'x', &[activity.as_bytes(), &votes.to_be_bytes(), receiver.as_bytes(), endpoint])
}

/// Parses the number of votes in a key of [`event_key`].
pub fn event_votes(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(17..21)?.try_into().ok()?))
}

/// Prefix of the queued deliveries in stores of earlier versions.
pub const LEGACY_DELIVERIES: &[u8] = b"x";

/// Returns the key of the tombstone of a deleted user, whose id is never reused.
pub fn deleted_user(organization: OrganizationId, user: UserId) -> Key {
    key(b'g', &[organization.as_bytes(), user.as_bytes()])
}

/// Returns the key of a queued mail, by the activity that sends it.
pub fn mail(activity: ActivityId, number: u32) -> Key {
    key(b'y', &[activity.as_bytes(), &number.to_be_bytes()])
}

/// Prefix of all queued mails.
pub const MAILS: &[u8] = b"y";

/// Returns the prefix of the import keys of a user, oldest first.
pub fn import_targets(organization: OrganizationId, user: UserId, purpose: Purpose) -> Key {
    key(b'r', &[organization.as_bytes(), user.as_bytes(), &[purpose as u8]])
}

/// Parses the time of creation in a key under [`import_targets`].
pub fn import_target_created(key: &[u8]) -> Option<Millis> {
    Some(Millis::from_be_bytes(key.get(34..42)?.try_into().ok()?))
}

/// Returns the key of the tombstone of a deleted wallet, whose accounts are still to be removed.
pub fn tombstone(organization: OrganizationId, wallet: WalletId) -> Key {
    key(b'z', &[organization.as_bytes(), wallet.as_bytes()])
}

/// Prefix of the tombstones of deleted wallets.
pub const TOMBSTONES: &[u8] = b"z";

/// Parses the organization and the wallet of a key under [`TOMBSTONES`].
pub fn tombstone_wallet(key: &[u8]) -> Option<(OrganizationId, WalletId)> {
    let (organization, wallet) = key.get(1..33)?.split_at_checked(16)?;
    let organization = OrganizationId::from_bytes(organization.try_into().ok()?);
    Some((organization, WalletId::from_bytes(wallet.try_into().ok()?)))
}
