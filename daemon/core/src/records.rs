//! Typed reads of records that belong to no snapshot.

use quorate_common::bounded::Label;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, SmartContractInterfaceId, WalletAccountId, WalletId};

use crate::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS};
use crate::model::layout::{self, Entity, Key};
use crate::model::organization::Head;
use crate::model::record::Record;
use crate::model::{
    ActivityRecord, InterfaceText, Invitation, Millis, Organization, Policy, PrivateKey, Secret,
    SessionProfile, Shelved, SmartContractInterface, Tag, User, Wallet, WalletAccount, WebhookEndpoint,
};
use crate::refusal::Corrupt;
use crate::world::{Page, Records};

/// How many records of a snapshot are read at once.
const CHUNK: usize = 256;

/// The head of an organization, also of one that was deleted.
pub fn head(records: &dyn Records, id: OrganizationId) -> Result<Option<Head>, Corrupt> {
    records.read(&layout::organization(id))?.map(|bytes| Head::decode(&bytes)).transpose()
}

/// Reads an organization with all that its snapshot holds, unless it was deleted.
pub fn organization(records: &dyn Records, id: OrganizationId) -> Result<Option<Organization>, Corrupt> {
    let Some(head) = head(records, id)?.filter(|head| head.deleted.is_none()) else { return Ok(None) };
    let mut organization = Organization::empty(head);
    let prefix = layout::entities(id);
    let mut after: Option<Key> = None;
    loop {
        let page = Page { after: after.as_deref(), ..Page::first(&prefix, CHUNK) };
        let rows = records.page(page)?;
        for (key, bytes) in &rows {
            organization.contents.put(key, bytes);
            match layout::entity_class(key) {
                Some(b'u') => organization.put_user(User::decode(bytes)?),
                Some(b'w') => shelve::<Wallet>(&mut organization, bytes)?,
                Some(b'k') => shelve::<PrivateKey>(&mut organization, bytes)?,
                Some(b't') => shelve::<Tag>(&mut organization, bytes)?,
                Some(b'i') => shelve::<Invitation>(&mut organization, bytes)?,
                Some(b'h') => shelve::<WebhookEndpoint>(&mut organization, bytes)?,
                Some(b'v') => shelve::<Secret>(&mut organization, bytes)?,
                Some(b's') => shelve::<SessionProfile>(&mut organization, bytes)?,
                Some(b'c') => shelve::<SmartContractInterface>(&mut organization, bytes)?,
                Some(b'p') => organization.put_policy(Policy::decode(bytes)?)?,
                _ => return Err(Corrupt::Record("organization")),
            }
        }
        if rows.len() < CHUNK {
            let sealed = organization.head.contents;
            let unchanged = sealed.is_none_or(|sealed| sealed == organization.contents.digest());
            return if unchanged { Ok(Some(organization)) } else { Err(Corrupt::Altered(id)) };
        }
        after = rows.into_iter().next_back().map(|(key, _)| key);
    }
}

fn shelve<T: Shelved>(organization: &mut Organization, bytes: &[u8]) -> Result<(), Corrupt> {
    T::shelf_mut(organization).put(T::decode(bytes)?);
    Ok(())
}

/// The text of a smart contract interface, unless it was deleted since the snapshot was taken.
pub fn interface_text(
    records: &dyn Records,
    organization: OrganizationId,
    id: SmartContractInterfaceId,
) -> Result<Option<InterfaceText>, Corrupt> {
    let bytes = records.read(&layout::interface_text(organization, id))?;
    bytes.map(|bytes| InterfaceText::decode(&bytes)).transpose()
}

/// The activity of this id in this organization.
pub fn activity(
    records: &dyn Records,
    organization: OrganizationId,
    id: ActivityId,
) -> Result<Option<ActivityRecord>, Corrupt> {
    let bytes = records.read(&layout::activity(organization, id))?;
    bytes.map(|bytes| ActivityRecord::decode(&bytes)).transpose()
}

/// What became of a body that was taken.
#[derive(Debug)]
pub enum Taken {
    /// This activity.
    Activity(Box<ActivityRecord>),
    /// It was denied, and newer denials took the place of the activity.
    Denied,
}

/// What became of a body that bears this time, in whichever organization. Nothing for one that was never taken.
pub fn taken_body(
    records: &dyn Records,
    stamped: Millis,
    fingerprint: &Fingerprint,
) -> Result<Option<Taken>, Corrupt> {
    let known = match records.read(&layout::body(stamped, fingerprint))? {
        Some(place) => match activity_at(records, &place, fingerprint)? {
            Some(known) => Some(known),
            None => return Ok(Some(Taken::Denied)),
        },
        // Stores of earlier versions have each body by its fingerprint alone.
        None => activity_that_waited(records, fingerprint)?,
    };
    Ok(known.map(|known| Taken::Activity(Box::new(known))))
}

/// The activity with this fingerprint, in whichever organization: one that waited for votes at any time, or one
/// whose body is young enough to be taken now.
pub fn activity_by_fingerprint(
    records: &dyn Records,
    fingerprint: &Fingerprint,
    now: Millis,
) -> Result<Option<ActivityRecord>, Corrupt> {
    if let Some(waited) = activity_that_waited(records, fingerprint)? {
        return Ok(Some(waited));
    }
    let span = |at: Millis| at / layout::BODY_SPAN;
    let spans = span(now.saturating_sub(BODY_AGE_MILLIS))..=span(now.saturating_add(BODY_AHEAD_MILLIS));
    for span in spans.rev() {
        let body = layout::body(span.saturating_mul(layout::BODY_SPAN), fingerprint);
        if let Some(place) = records.read(&body)? {
            return activity_at(records, &place, fingerprint);
        }
    }
    Ok(None)
}

fn activity_that_waited(
    records: &dyn Records,
    fingerprint: &Fingerprint,
) -> Result<Option<ActivityRecord>, Corrupt> {
    match records.read(&layout::fingerprint(fingerprint))? {
        Some(place) => activity_at(records, &place, fingerprint),
        None => Ok(None),
    }
}

/// The activity at a place that [`activity_place`] made.
fn activity_at(
    records: &dyn Records,
    place: &[u8],
    fingerprint: &Fingerprint,
) -> Result<Option<ActivityRecord>, Corrupt> {
    let flaw = Corrupt::Record("fingerprint");
    let (organization, id) = place.split_first_chunk::<16>().ok_or(flaw.clone())?;
    let id: [u8; 16] = id.try_into().map_err(|_| flaw.clone())?;
    let found = activity(records, OrganizationId::from_bytes(*organization), ActivityId::from_bytes(id))?;
    // The record may be gone when it was a denied attempt that newer ones displaced.
    match found {
        Some(record) if record.fingerprint == *fingerprint => Ok(Some(record)),
        Some(_) => Err(flaw),
        None => Ok(None),
    }
}

/// Where an activity stands, as its body and its fingerprint lead to it.
pub fn activity_place(organization: OrganizationId, id: ActivityId) -> [u8; 32] {
    let mut value = [0; 32];
    let (first, second) = value.split_at_mut(16);
    first.copy_from_slice(organization.as_bytes());
    second.copy_from_slice(id.as_bytes());
    value
}

/// The account at a key of the store, unless it was removed since that key was read.
pub fn account_at(records: &dyn Records, key: &[u8]) -> Result<Option<WalletAccount>, Corrupt> {
    records.read(key)?.map(|bytes| WalletAccount::decode(&bytes)).transpose()
}

/// The key of the store of an account.
pub fn account_place(
    records: &dyn Records,
    organization: OrganizationId,
    account: WalletAccountId,
) -> Result<Option<Key>, Corrupt> {
    records.read(&layout::account_place(organization, account))
}

/// The account of this id in this organization.
pub fn account(
    records: &dyn Records,
    organization: OrganizationId,
    account: WalletAccountId,
) -> Result<Option<WalletAccount>, Corrupt> {
    match account_place(records, organization, account)? {
        Some(place) => account_at(records, &place),
        None => Ok(None),
    }
}

/// Up to `limit` accounts of an organization, or of one of its wallets, in order of creation.
pub fn accounts(
    records: &dyn Records,
    organization: OrganizationId,
    wallet: Option<WalletId>,
    after: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<WalletAccount>, Corrupt> {
    let prefix = layout::accounts(organization, wallet);
    let rows = records.page(Page { after, ..Page::first(&prefix, limit) })?;
    rows.iter().map(|(_, bytes)| WalletAccount::decode(bytes)).collect()
}

/// Where a private key of the snapshot stands in the store.
pub fn private_key_place(organization: OrganizationId, key: &PrivateKey) -> Key {
    layout::entity(organization, Entity::PrivateKey(key.id))
}

/// A label that the service itself gives.
pub fn own_label(text: &str) -> Result<Label, Corrupt> {
    Label::parse(text.to_owned()).map_err(|_| Corrupt::Invariant("an own label is a label"))
}
