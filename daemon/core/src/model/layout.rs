//! Where each record stands in the store. Keys hold ids, times and keyed digests, never names or secrets;
//! they begin with a letter for the kind of record and sort by time where there are many.

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

/// The parent under which organizations without parent are listed.
pub const NO_PARENT: OrganizationId = OrganizationId::from_bytes([0; 16]);

/// Makes keyed digests of values that are looked up, so that the store's keys do not tell them.
#[derive(Clone)]
pub struct IndexKey(Zeroizing<[u8; 32]>);

impl IndexKey {
    /// Takes the secret of the digests.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(Zeroizing::new(secret))
    }

    /// Tells seeds apart without telling anything of them.
    pub fn of_seed(&self, seed: &[u8; 64]) -> [u8; 16] {
        self.digest(&[b"seed", seed])
    }

    fn digest(&self, parts: &[&[u8]]) -> [u8; 16] {
        let mut out = [0; 16];
        // HMAC takes keys of any length, so this cannot fail; an all-zero digest would only be a useless index.
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

/// By what sub-organizations can be found.
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
    /// Mail address of a user that was proven to be theirs, lowercase.
    VerifiedEmail = 8,
    /// Telephone number of a user that was proven to be theirs.
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

/// First byte of the registers with the versions of organizations.
pub const VERSIONS: u8 = b'v';

/// The register with the version of an organization.
pub fn version(id: OrganizationId) -> Key {
    key(VERSIONS, &[id.as_bytes()])
}

/// All heads of organizations begin so.
pub const ORGANIZATIONS: &[u8] = b"o";

/// Head of an organization.
pub fn organization(id: OrganizationId) -> Key {
    key(b'o', &[id.as_bytes()])
}

/// A member of the snapshot of an organization.
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
    /// Secret that was brought in, without its value.
    Secret(SecretId),
    /// Session profile.
    SessionProfile(SessionProfileId),
    /// Smart contract interface, without its text.
    SmartContractInterface(SmartContractInterfaceId),
}

/// A record of the snapshot.
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

/// All records of the snapshot of an organization begin so.
pub fn entities(organization: OrganizationId) -> Key {
    key(b'e', &[organization.as_bytes()])
}

/// The class letter of a key under [`entities`].
pub fn entity_class(key: &[u8]) -> Option<u8> {
    key.get(17).copied()
}

/// How the accounts of the wallet at a key under [`entities`] begin.
pub fn accounts_of_entity(key: &[u8]) -> Option<Key> {
    let organization = OrganizationId::from_bytes(key.get(1..17)?.try_into().ok()?);
    let wallet = WalletId::from_bytes(key.get(18..)?.try_into().ok()?);
    Some(accounts(organization, Some(wallet)))
}

/// Whether a key of [`entity`] or [`account`] is one of this organization.
pub fn is_of(key: &[u8], organization: OrganizationId) -> bool {
    matches!(key.first(), Some(b'e' | b'n')) && key.get(1..17) == Some(organization.as_bytes().as_slice())
}

/// Whose secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretOf {
    /// Seed of a wallet.
    Wallet(WalletId),
    /// Scalar of a private key.
    PrivateKey(PrivateKeyId),
    /// Value of a secret that was brought in.
    Secret(SecretId),
}

/// A secret.
pub fn secret(organization: OrganizationId, of: SecretOf) -> Key {
    let (class, id) = match &of {
        SecretOf::Wallet(id) => (b'w', id.as_bytes()),
        SecretOf::PrivateKey(id) => (b'k', id.as_bytes()),
        SecretOf::Secret(id) => (b'v', id.as_bytes()),
    };
    key(b's', &[organization.as_bytes(), &[class], id])
}

/// Whether the record at this key can be longer than the store takes in one piece. The others stay far below.
pub fn may_be_long(key: &[u8]) -> bool {
    match key.first() {
        Some(b'a' | b'e' | b'i' | b'o' | b'x' | b'y') => true,
        Some(&outbox::LETTER) => outbox::is_body(key),
        // Seeds and scalars are short; values of secrets need not be.
        Some(b's') => key.get(17) == Some(&b'v'),
        _ => false,
    }
}

/// The text of a smart contract interface.
pub fn interface_text(organization: OrganizationId, id: SmartContractInterfaceId) -> Key {
    key(b'i', &[organization.as_bytes(), id.as_bytes()])
}

/// An account, by its place in the wallet.
pub fn account(organization: OrganizationId, wallet: WalletId, ordinal: u32) -> Key {
    key(b'n', &[organization.as_bytes(), wallet.as_bytes(), &ordinal.to_be_bytes()])
}

/// All accounts of an organization, or of one of its wallets, begin so.
pub fn accounts(organization: OrganizationId, wallet: Option<WalletId>) -> Key {
    match wallet {
        Some(wallet) => key(b'n', &[organization.as_bytes(), wallet.as_bytes()]),
        None => key(b'n', &[organization.as_bytes()]),
    }
}

/// The key from which a page goes on that is through with all accounts of a wallet.
pub fn beyond_accounts(organization: OrganizationId, wallet: WalletId, order: Order) -> Key {
    let mut key = accounts(organization, Some(wallet));
    if order == Order::Ascending {
        // Behind the greatest ordinal.
        key.extend_from_slice(&[0xff; 5]);
    }
    key
}

/// Where an account stands, by its id.
pub fn account_place(organization: OrganizationId, account: WalletAccountId) -> Key {
    key(b'j', &[organization.as_bytes(), account.as_bytes()])
}

/// That a wallet has an account of this curve, path and format.
pub fn account_path(index: &IndexKey, wallet: WalletId, curve: &str, path: &str, format: &str) -> Key {
    let digest = index.digest(&[curve.as_bytes(), path.as_bytes(), format.as_bytes()]);
    key(b'q', &[wallet.as_bytes(), &digest])
}

/// All accounts of an organization that bear a name begin so.
pub fn account_names(index: &IndexKey, organization: OrganizationId, name: &str) -> Key {
    key(b'b', &[organization.as_bytes(), &index.digest(&[name.as_bytes()])])
}

/// That an account bears a name.
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

/// The account at the end of a key under [`account_names`].
pub fn named_account(key: &[u8]) -> Option<WalletAccountId> {
    let tail = key.len().checked_sub(16).and_then(|start| key.get(start..))?;
    Some(WalletAccountId::from_bytes(tail.try_into().ok()?))
}

/// All that signs under a text (address or public key) begins so.
pub fn signers(index: &IndexKey, organization: OrganizationId, text: &str) -> Key {
    key(b'w', &[organization.as_bytes(), &index.digest(&[text.as_bytes()])])
}

/// One that signs under a text; `id` tells it from others.
pub fn signer(index: &IndexKey, organization: OrganizationId, text: &str, id: &[u8; 16]) -> Key {
    let mut key = signers(index, organization, text);
    key.extend_from_slice(id);
    key
}

/// An activity.
pub fn activity(organization: OrganizationId, id: ActivityId) -> Key {
    key(b'a', &[organization.as_bytes(), id.as_bytes()])
}

/// All activities of an organization begin so, oldest first.
pub fn activities(organization: OrganizationId) -> Key {
    key(b'a', &[organization.as_bytes()])
}

/// An activity among those of its status and type.
pub fn activity_listed(organization: OrganizationId, status: Status, number: u16, id: ActivityId) -> Key {
    let mut key = activities_listed(organization, status, number);
    key.extend_from_slice(id.as_bytes());
    key
}

/// All activities of a status and type begin so, oldest first.
pub fn activities_listed(organization: OrganizationId, status: Status, number: u16) -> Key {
    key(b't', &[organization.as_bytes(), &[status.number()], &number.to_be_bytes()])
}

/// All activities of a status begin so, by type.
pub fn activities_of_status(organization: OrganizationId, status: Status) -> Key {
    key(b't', &[organization.as_bytes(), &[status.number()]])
}

/// The organization, the number of the status, the number of the type and the activity of a key of [`activity_listed`].
pub fn listed_activity(key: &[u8]) -> Option<(OrganizationId, u8, u16, ActivityId)> {
    let (organization, rest) = key.strip_prefix(b"t")?.split_first_chunk::<16>()?;
    let (&[status, high, low], id) = rest.split_first_chunk::<3>()?;
    let id = ActivityId::from_bytes(id.try_into().ok()?);
    Some((OrganizationId::from_bytes(*organization), status, u16::from_be_bytes([high, low]), id))
}

/// When an activity was submitted, as its id says.
pub fn activity_submitted(id: ActivityId) -> Millis {
    // The first 48 bits of a version 7 UUID (RFC 9562 §5.7) are its time.
    let [time @ .., _, _, _, _, _, _, _, _] = *id.as_bytes();
    Millis::from_be_bytes(time) >> 16
}

/// The activity id at the end of a key.
pub fn activity_id(key: &[u8]) -> Option<ActivityId> {
    let tail = key.len().checked_sub(16).and_then(|start| key.get(start..))?;
    Some(ActivityId::from_bytes(tail.try_into().ok()?))
}

/// How long the spans are by which bodies are kept, in milliseconds.
pub const BODY_SPAN: Millis = 4096;

/// The activity of a body, by the span of the time that the body bears. Bodies come nearly in that order, which
/// keeps together what is written and looked up, however many there are.
pub fn body(stamped: Millis, fingerprint: &Fingerprint) -> Key {
    key(b'h', &[&(stamped / BODY_SPAN).to_be_bytes(), fingerprint.as_bytes()])
}

/// The activity of a fingerprint, of those that waited for votes: a ballot names nothing else of its target.
pub fn fingerprint(fingerprint: &Fingerprint) -> Key {
    key(b'f', &[fingerprint.as_bytes()])
}

/// A denied attempt by a credential whose activity is kept. Its value is the key of its body; earlier versions stored none.
pub fn denied(organization: OrganizationId, credential: &[u8; 16], id: ActivityId) -> Key {
    let mut key = denials(organization, credential);
    key.extend_from_slice(id.as_bytes());
    key
}

/// All denied attempts by a credential begin so, oldest first.
pub fn denials(organization: OrganizationId, credential: &[u8; 16]) -> Key {
    key(b'd', &[organization.as_bytes(), credential])
}

/// A denied attempt by a credential whose activity is kept no longer. Its value is the key of its body.
pub fn displaced_denial(organization: OrganizationId, credential: &[u8; 16], id: ActivityId) -> Key {
    let mut key = displaced_denials(organization, credential);
    key.extend_from_slice(id.as_bytes());
    key
}

/// All denied attempts by a credential whose activities are kept no longer begin so, oldest first.
pub fn displaced_denials(organization: OrganizationId, credential: &[u8; 16]) -> Key {
    key(b'u', &[organization.as_bytes(), credential])
}

/// A child of an organization, in order of creation.
pub fn child(parent: OrganizationId, created: Millis, id: OrganizationId) -> Key {
    key(b'c', &[parent.as_bytes(), &created.to_be_bytes(), id.as_bytes()])
}

/// All children of an organization begin so, oldest first.
pub fn children(parent: OrganizationId) -> Key {
    key(b'c', &[parent.as_bytes()])
}

/// The organization id at the end of a key.
pub fn organization_id(key: &[u8]) -> Option<OrganizationId> {
    let tail = key.len().checked_sub(16).and_then(|start| key.get(start..))?;
    Some(OrganizationId::from_bytes(tail.try_into().ok()?))
}

/// That a child has a value that it can be found by; `of` tells values of several things apart.
pub fn found_by(
    index: &IndexKey,
    parent: OrganizationId,
    lookup: Lookup,
    value: &str,
    child: OrganizationId,
    of: &[u8; 16],
) -> Key {
    let mut key = finds(index, parent, lookup, value);
    key.extend_from_slice(child.as_bytes());
    key.extend_from_slice(of);
    key
}

/// All children that have a value begin so.
pub fn finds(index: &IndexKey, parent: OrganizationId, lookup: Lookup, value: &str) -> Key {
    let digest = index.digest(&[value.as_bytes()]);
    key(b'l', &[parent.as_bytes(), &[lookup as u8], &digest])
}

/// The child in a key under [`finds`].
pub fn found_child(key: &[u8]) -> Option<OrganizationId> {
    Some(OrganizationId::from_bytes(key.get(34..50)?.try_into().ok()?))
}

/// A delivery that waits, in stores of earlier versions. Also names an event to its receiver, whatever the version.
pub fn notice(
    receiver: OrganizationId,
    endpoint: Option<EndpointId>,
    activity: ActivityId,
    votes: u32,
) -> Key {
    let endpoint = endpoint.as_ref().map_or([].as_slice(), |endpoint| endpoint.as_bytes());
    key(b'x', &[activity.as_bytes(), &votes.to_be_bytes(), receiver.as_bytes(), endpoint])
}

/// The number of votes in a key of [`notice`].
pub fn notice_votes(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(17..21)?.try_into().ok()?))
}

/// All deliveries in stores of earlier versions begin so.
pub const NOTICES: &[u8] = b"x";

/// That a user of this id was there and is gone: nobody may take the id up again.
pub fn departed(organization: OrganizationId, user: UserId) -> Key {
    key(b'g', &[organization.as_bytes(), user.as_bytes()])
}

/// A mail that waits to be sent, by the activity that sends it.
pub fn mail(activity: ActivityId, number: u32) -> Key {
    key(b'y', &[activity.as_bytes(), &number.to_be_bytes()])
}

/// All mails begin so.
pub const MAILS: &[u8] = b"y";

/// All keys that a user may import something to begin so, oldest first.
pub fn import_targets(organization: OrganizationId, user: UserId, purpose: Purpose) -> Key {
    key(b'r', &[organization.as_bytes(), user.as_bytes(), &[purpose as u8]])
}

/// When the key at a place under [`import_targets`] was made.
pub fn import_target_made(place: &[u8]) -> Option<Millis> {
    Some(Millis::from_be_bytes(place.get(34..42)?.try_into().ok()?))
}

/// That a wallet is gone whose accounts still have to be removed.
pub fn leftover(organization: OrganizationId, wallet: WalletId) -> Key {
    key(b'z', &[organization.as_bytes(), wallet.as_bytes()])
}

/// All leftovers begin so.
pub const LEFTOVERS: &[u8] = b"z";

/// The organization and wallet of a key under [`LEFTOVERS`].
pub fn leftover_wallet(key: &[u8]) -> Option<(OrganizationId, WalletId)> {
    let (organization, wallet) = key.get(1..33)?.split_at_checked(16)?;
    let organization = OrganizationId::from_bytes(organization.try_into().ok()?);
    Some((organization, WalletId::from_bytes(wallet.try_into().ok()?)))
}
