//! Typed reads of records that belong to no snapshot.

use std::sync::Arc;

use quorate_common::activity::Status;
use quorate_common::bounded::Label;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, SmartContractInterfaceId, WalletAccountId, WalletId};

use crate::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS};
use crate::model::layout::{self, Entity, Key};
use crate::model::organization::Head;
use crate::model::record::Record;
use crate::model::write::Write;
use crate::model::{
    ActivityRecord, InterfaceText, Invitation, Millis, Organization, Policy, PrivateKey, RecordDigest,
    Secret, SessionProfile, Shelved, SmartContractInterface, Tag, User, Wallet, WalletAccount,
    WebhookEndpoint,
};
use crate::refusal::Corrupt;
use crate::world::{Page, Records, World};

/// How many records of a snapshot are read at once.
const CHUNK: usize = 256;
/// How often an activity is read again that has moved on since.
const LOOKS: usize = 4;

/// The head of an organization, also of one that was deleted.
pub fn head(records: &dyn Records, id: OrganizationId) -> Result<Option<Head>, Corrupt> {
    records.read(&layout::organization(id))?.map(|bytes| Head::decode(&bytes)).transpose()
}

/// Reads an organization with all that its snapshot holds, unless it was deleted.
///
/// # Errors
/// [`Corrupt::Altered`] if it is not what its head was sealed with.
pub fn organization(records: &dyn Records, id: OrganizationId) -> Result<Option<Organization>, Corrupt> {
    let Some(organization) = unverified(records, id)? else { return Ok(None) };
    let sealed = organization.head.contents;
    let unchanged = sealed.is_none_or(|sealed| sealed == organization.contents.digest());
    if unchanged { Ok(Some(organization)) } else { Err(Corrupt::Altered(id)) }
}

/// Reads an organization without comparing it with what its head was sealed with.
pub(crate) fn unverified(records: &dyn Records, id: OrganizationId) -> Result<Option<Organization>, Corrupt> {
    let Some(head) = head(records, id)?.filter(|head| head.deleted.is_none()) else { return Ok(None) };
    let mut organization = Organization::empty(head);
    let prefix = layout::entities(id);
    let mut after: Option<Key> = None;
    loop {
        let page = Page { after: after.as_deref(), ..Page::first(&prefix, CHUNK) };
        let rows = records.page(page)?;
        for (key, bytes) in &rows {
            organization.contents.put(key, RecordDigest::of(bytes));
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
            break;
        }
        after = rows.into_iter().next_back().map(|(key, _)| key);
    }
    read_waiting(records, &mut organization)?;
    Ok(Some(organization))
}

/// Reads the digests of the activities that wait for votes from their index entries. Version 0.1 wrote none there: those
/// are computed from the records.
fn read_waiting(records: &dyn Records, organization: &mut Organization) -> Result<(), Corrupt> {
    let id = organization.id();
    let prefix = layout::activities_of_status(id, Status::ConsensusNeeded);
    let mut after: Option<Key> = None;
    loop {
        let rows = records.page(Page { after: after.as_deref(), ..Page::first(&prefix, CHUNK) })?;
        for (key, entry) in &rows {
            let activity = layout::activity_id(key).ok_or(Corrupt::Record("index entry"))?;
            let place = layout::activity(id, activity);
            let digest = match RecordDigest::of_entry(entry) {
                Some(digest) => digest,
                None if entry.is_empty() => {
                    RecordDigest::of(&records.read(&place)?.ok_or(Corrupt::Altered(id))?)
                }
                None => return Err(Corrupt::Record("index entry")),
            };
            organization.contents.put(&place, digest);
        }
        if rows.len() < CHUNK {
            return Ok(());
        }
        after = rows.into_iter().next_back().map(|(key, _)| key);
    }
}

/// Returns what seals the head of an organization of version 0.1 with a digest: the head, and the index entries of the
/// activities that wait. Nothing where there is a digest.
///
/// # Errors
/// When a record of the organization cannot be read.
pub fn seal_contents(records: &dyn Records, id: OrganizationId) -> Result<Vec<Write>, Corrupt> {
    let organization = organization(records, id)?.filter(|organization| organization.head.contents.is_none());
    let Some(Organization { mut head, contents, .. }) = organization else { return Ok(Vec::new()) };
    head.contents = Some(contents.digest());
    let mut writes = vec![Write::put(layout::organization(id), &head)?];
    let prefix = layout::activities_of_status(id, Status::ConsensusNeeded);
    for entry in records.keys(Page::first(&prefix, usize::MAX))? {
        let activity = layout::activity_id(&entry).ok_or(Corrupt::Record("index entry"))?;
        let digest = contents.get(&layout::activity(id, activity)).ok_or(Corrupt::Altered(id))?;
        writes.push(Write::mark(entry, digest.as_bytes()));
    }
    Ok(writes)
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

/// The activity of this id in an organization. That it waits for votes, and with which, is what the head of the
/// organization is sealed with.
///
/// # Errors
/// [`Corrupt::Altered`] if its record is not the one that the snapshot has. The activity may also have moved on since the
/// snapshot was read: then a newer one decides, and [`Corrupt::Outdated`] says that there is none yet.
pub fn activity(
    world: &dyn World,
    organization: &Organization,
    id: ActivityId,
) -> Result<Option<ActivityRecord>, Corrupt> {
    let key = layout::activity(organization.id(), id);
    let mut newer: Option<Arc<Organization>> = None;
    for _ in 0..LOOKS {
        let snapshot = newer.as_deref().unwrap_or(organization);
        let bytes = world.records().read(&key)?;
        let record = bytes.as_deref().map(ActivityRecord::decode).transpose()?;
        let waiting = record.as_ref().filter(|record| record.status == Status::ConsensusNeeded);
        let digest = waiting.and(bytes.as_deref()).map(RecordDigest::of);
        if digest == snapshot.contents.get(&key) {
            return Ok(record);
        }
        let (id, version) = (snapshot.id(), snapshot.head.version);
        newer = world.organization(id)?.filter(|newer| newer.head.version > version);
        if newer.is_none() {
            let is_current = world.version(id)? == version;
            return Err(if is_current { Corrupt::Altered(id) } else { Corrupt::Outdated(id, version) });
        }
    }
    Err(Corrupt::Outdated(organization.id(), organization.head.version))
}

/// What became of a body that was taken.
#[derive(Debug)]
pub enum Taken {
    /// This activity.
    Activity(Box<ActivityRecord>),
    /// It was denied, and newer denials took the place of the activity.
    Denied,
}

/// What became of a body that names this organization and bears this time. Nothing for one that was never taken.
pub fn taken_body(
    world: &dyn World,
    organization: &Organization,
    stamped: Millis,
    fingerprint: &Fingerprint,
) -> Result<Option<Taken>, Corrupt> {
    let known = match world.records().read(&layout::body(stamped, fingerprint))? {
        Some(place) => {
            if organization_at(&place)? != organization.id() {
                return Err(Corrupt::Record("fingerprint"));
            }
            match activity_at(world, organization, &place, fingerprint)? {
                Some(known) => Some(known),
                None => return Ok(Some(Taken::Denied)),
            }
        }
        // Stores of earlier versions have each body by its fingerprint alone.
        None => activity_that_waited(world, organization, fingerprint)?,
    };
    Ok(known.map(|known| Taken::Activity(Box::new(known))))
}

/// The organization that a body was about which names none.
pub fn organization_of_body(
    records: &dyn Records,
    stamped: Millis,
    fingerprint: &Fingerprint,
) -> Result<Option<OrganizationId>, Corrupt> {
    let place = match records.read(&layout::body(stamped, fingerprint))? {
        Some(place) => Some(place),
        None => records.read(&layout::fingerprint(fingerprint))?,
    };
    place.map(|place| organization_at(&place)).transpose()
}

/// The activity with this fingerprint in an organization: one that waited for votes at any time, or one whose body is
/// young enough to be taken now.
pub fn activity_by_fingerprint(
    world: &dyn World,
    organization: &Organization,
    fingerprint: &Fingerprint,
    now: Millis,
) -> Result<Option<ActivityRecord>, Corrupt> {
    if let Some(waited) = activity_that_waited(world, organization, fingerprint)? {
        return Ok(Some(waited));
    }
    let span = |at: Millis| at / layout::BODY_SPAN;
    let spans = span(now.saturating_sub(BODY_AGE_MILLIS))..=span(now.saturating_add(BODY_AHEAD_MILLIS));
    for span in spans.rev() {
        let body = layout::body(span.saturating_mul(layout::BODY_SPAN), fingerprint);
        if let Some(place) = world.records().read(&body)? {
            return activity_at(world, organization, &place, fingerprint);
        }
    }
    Ok(None)
}

fn activity_that_waited(
    world: &dyn World,
    organization: &Organization,
    fingerprint: &Fingerprint,
) -> Result<Option<ActivityRecord>, Corrupt> {
    match world.records().read(&layout::fingerprint(fingerprint))? {
        Some(place) => activity_at(world, organization, &place, fingerprint),
        None => Ok(None),
    }
}

/// The activity at a place that [`activity_place`] made, if that is in this organization.
fn activity_at(
    world: &dyn World,
    organization: &Organization,
    place: &[u8],
    fingerprint: &Fingerprint,
) -> Result<Option<ActivityRecord>, Corrupt> {
    let flaw = Corrupt::Record("fingerprint");
    if organization_at(place)? != organization.id() {
        return Ok(None);
    }
    let id = layout::activity_id(place).ok_or(flaw.clone())?;
    // The record may be gone when it was a denied attempt that newer ones displaced.
    match activity(world, organization, id)? {
        Some(record) if record.fingerprint == *fingerprint => Ok(Some(record)),
        Some(_) => Err(flaw),
        None => Ok(None),
    }
}

/// The organization of a place that [`activity_place`] made.
fn organization_at(place: &[u8]) -> Result<OrganizationId, Corrupt> {
    let (organization, id) = place.split_first_chunk::<16>().ok_or(Corrupt::Record("fingerprint"))?;
    if id.len() == 16 {
        Ok(OrganizationId::from_bytes(*organization))
    } else {
        Err(Corrupt::Record("fingerprint"))
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
