//! Typed reads of records, of snapshots and of the records that are not part of one.

use std::sync::Arc;

use quorate_common::activity::Status;
use quorate_common::bounded::Label;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, SmartContractInterfaceId, WalletAccountId, WalletId};

use crate::error::Corrupt;
use crate::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS};
use crate::model::layout::{self, Entity, Key};
use crate::model::organization::Head;
use crate::model::record::Record;
use crate::model::write::Write;
use crate::model::{
    ActivityRecord, CollectionItem, InterfaceText, Invitation, Millis, Organization, Policy, PrivateKey,
    RecordDigest, Secret, SessionProfile, SmartContractInterface, Tag, User, Wallet, WalletAccount,
    WebhookEndpoint,
};
use crate::world::{Page, Records, World};

/// How many records of a snapshot are read at once.
const CHUNK: usize = 256;
/// How often an activity is read that changes at the same time.
const READ_ATTEMPTS: usize = 4;

/// Reads the head of an organization, even of a deleted one.
///
/// # Errors
/// If the store cannot be read, or the head is damaged.
pub fn head(records: &dyn Records, id: OrganizationId) -> Result<Option<Head>, Corrupt> {
    records.read(&layout::organization(id))?.map(|bytes| Head::decode(&bytes)).transpose()
}

/// Reads an organization with all records of its snapshot. Returns `None` if it was deleted.
///
/// # Errors
/// [`Corrupt::Altered`] if the records do not match the digest in the head, or the error of the store.
pub fn organization(records: &dyn Records, id: OrganizationId) -> Result<Option<Organization>, Corrupt> {
    let Some(organization) = unverified(records, id)? else { return Ok(None) };
    let sealed = organization.head.contents;
    let unchanged = sealed.is_none_or(|sealed| sealed == organization.contents.digest());
    if unchanged { Ok(Some(organization)) } else { Err(Corrupt::Altered(id)) }
}

/// Reads an organization without comparing its records with the digest in its head.
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
                Some(b'w') => put_record::<Wallet>(&mut organization, bytes)?,
                Some(b'k') => put_record::<PrivateKey>(&mut organization, bytes)?,
                Some(b't') => put_record::<Tag>(&mut organization, bytes)?,
                Some(b'i') => put_record::<Invitation>(&mut organization, bytes)?,
                Some(b'h') => put_record::<WebhookEndpoint>(&mut organization, bytes)?,
                Some(b'v') => put_record::<Secret>(&mut organization, bytes)?,
                Some(b's') => put_record::<SessionProfile>(&mut organization, bytes)?,
                Some(b'c') => put_record::<SmartContractInterface>(&mut organization, bytes)?,
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

/// Reads the digests of the activities that wait for votes from their index entries. Version 0.1 wrote no
/// digests there; they are computed from the records.
fn read_waiting(records: &dyn Records, organization: &mut Organization) -> Result<(), Corrupt> {
    let id = organization.id();
    let prefix = layout::activities_of_status(id, Status::ConsensusNeeded);
    let mut after: Option<Key> = None;
    loop {
        let rows = records.page(Page { after: after.as_deref(), ..Page::first(&prefix, CHUNK) })?;
        for (key, entry) in &rows {
            let activity = layout::activity_id(key).ok_or(Corrupt::Record("index entry"))?;
            let record_key = layout::activity(id, activity);
            let digest = match RecordDigest::of_entry(entry) {
                Some(digest) => digest,
                None if entry.is_empty() => {
                    RecordDigest::of(&records.read(&record_key)?.ok_or(Corrupt::Altered(id))?)
                }
                None => return Err(Corrupt::Record("index entry")),
            };
            organization.contents.put(&record_key, digest);
        }
        if rows.len() < CHUNK {
            return Ok(());
        }
        after = rows.into_iter().next_back().map(|(key, _)| key);
    }
}

/// Returns the writes that add a digest to the head of an organization of version 0.1: the head, and the
/// index entries of the waiting activities. Returns none if the head already has a digest.
///
/// # Errors
/// If a record of the organization cannot be read.
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

fn put_record<T: CollectionItem>(organization: &mut Organization, bytes: &[u8]) -> Result<(), Corrupt> {
    T::collection_mut(organization).put(T::decode(bytes)?);
    Ok(())
}

/// Reads the text of a smart contract interface. Returns `None` if it was deleted since the snapshot was
/// read.
///
/// # Errors
/// If the store cannot be read, or the record is damaged.
pub fn interface_text(
    records: &dyn Records,
    organization: OrganizationId,
    id: SmartContractInterfaceId,
) -> Result<Option<InterfaceText>, Corrupt> {
    let bytes = records.read(&layout::interface_text(organization, id))?;
    bytes.map(|bytes| InterfaceText::decode(&bytes)).transpose()
}

/// Reads an activity of an organization. The digest in the head of the organization covers whether the
/// activity waits for votes, and with which votes.
///
/// # Errors
/// [`Corrupt::Altered`] if the record does not match the snapshot. If the activity changed after the snapshot
/// was read, it is compared with a newer snapshot; [`Corrupt::Outdated`] if no newer snapshot exists yet.
pub fn activity(
    world: &dyn World,
    organization: &Organization,
    id: ActivityId,
) -> Result<Option<ActivityRecord>, Corrupt> {
    let key = layout::activity(organization.id(), id);
    let mut newer: Option<Arc<Organization>> = None;
    for _ in 0..READ_ATTEMPTS {
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

/// The outcome of a body that was processed before.
#[derive(Debug)]
pub enum ProcessedBody {
    /// The body created this activity.
    Activity(Box<ActivityRecord>),
    /// The body was denied, and its activity was removed in favor of newer denials.
    Denied,
}

/// Returns the outcome of a body that names this organization and has this timestamp. Returns `None` for a
/// body that was never processed.
///
/// # Errors
/// If the store cannot be read, or its records contradict each other.
pub fn processed_body(
    world: &dyn World,
    organization: &Organization,
    stamped: Millis,
    fingerprint: &Fingerprint,
) -> Result<Option<ProcessedBody>, Corrupt> {
    let known = match world.records().read(&layout::body(stamped, fingerprint))? {
        Some(locator) => {
            if organization_at(&locator)? != organization.id() {
                return Err(Corrupt::Record("fingerprint"));
            }
            match activity_at(world, organization, &locator, fingerprint)? {
                Some(known) => Some(known),
                None => return Ok(Some(ProcessedBody::Denied)),
            }
        }
        // Earlier versions indexed each body by its fingerprint alone.
        None => activity_that_waited(world, organization, fingerprint)?,
    };
    Ok(known.map(|known| ProcessedBody::Activity(Box::new(known))))
}

/// Returns the organization of a processed body that names no organization.
///
/// # Errors
/// If the store cannot be read, or the index entry is damaged.
pub fn organization_of_body(
    records: &dyn Records,
    stamped: Millis,
    fingerprint: &Fingerprint,
) -> Result<Option<OrganizationId>, Corrupt> {
    let locator = match records.read(&layout::body(stamped, fingerprint))? {
        Some(locator) => Some(locator),
        None => records.read(&layout::fingerprint(fingerprint))?,
    };
    locator.map(|locator| organization_at(&locator)).transpose()
}

/// Looks up the activity of an organization by its fingerprint: any activity that has ever waited for votes,
/// and any activity whose body is young enough to be accepted now.
///
/// # Errors
/// If the store cannot be read, or its records contradict each other.
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
        if let Some(locator) = world.records().read(&body)? {
            return activity_at(world, organization, &locator, fingerprint);
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
        Some(locator) => activity_at(world, organization, &locator, fingerprint),
        None => Ok(None),
    }
}

/// Reads the activity at a locator of [`activity_locator`], if it is in this organization.
fn activity_at(
    world: &dyn World,
    organization: &Organization,
    locator: &[u8],
    fingerprint: &Fingerprint,
) -> Result<Option<ActivityRecord>, Corrupt> {
    let error = Corrupt::Record("fingerprint");
    if organization_at(locator)? != organization.id() {
        return Ok(None);
    }
    let id = layout::activity_id(locator).ok_or(error.clone())?;
    // The record of a denied attempt may have been removed in favor of newer ones.
    match activity(world, organization, id)? {
        Some(record) if record.fingerprint == *fingerprint => Ok(Some(record)),
        Some(_) => Err(error),
        None => Ok(None),
    }
}

/// Returns the organization of a locator of [`activity_locator`].
fn organization_at(locator: &[u8]) -> Result<OrganizationId, Corrupt> {
    let (organization, id) = locator.split_first_chunk::<16>().ok_or(Corrupt::Record("fingerprint"))?;
    if id.len() == 16 {
        Ok(OrganizationId::from_bytes(*organization))
    } else {
        Err(Corrupt::Record("fingerprint"))
    }
}

/// Returns the locator of an activity: the value of its index entries by body and by fingerprint.
pub fn activity_locator(organization: OrganizationId, id: ActivityId) -> [u8; 32] {
    let mut value = [0; 32];
    let (first, second) = value.split_at_mut(16);
    first.copy_from_slice(organization.as_bytes());
    second.copy_from_slice(id.as_bytes());
    value
}

/// Reads the account at a key of the store. Returns `None` if it was removed since the key was read.
///
/// # Errors
/// If the store cannot be read, or the record is damaged.
pub fn account_at(records: &dyn Records, key: &[u8]) -> Result<Option<WalletAccount>, Corrupt> {
    records.read(key)?.map(|bytes| WalletAccount::decode(&bytes)).transpose()
}

/// Looks up the key of the store at which an account is stored.
///
/// # Errors
/// If the store cannot be read.
pub fn account_key(
    records: &dyn Records,
    organization: OrganizationId,
    account: WalletAccountId,
) -> Result<Option<Key>, Corrupt> {
    records.read(&layout::account_index(organization, account))
}

/// Reads the account of an organization with this id.
///
/// # Errors
/// If the store cannot be read, or the record is damaged.
pub fn account(
    records: &dyn Records,
    organization: OrganizationId,
    account: WalletAccountId,
) -> Result<Option<WalletAccount>, Corrupt> {
    match account_key(records, organization, account)? {
        Some(key) => account_at(records, &key),
        None => Ok(None),
    }
}

/// Reads up to `limit` accounts of an organization, or of one of its wallets, in order of creation.
///
/// # Errors
/// If the store cannot be read, or a record is damaged.
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

/// Returns the key of the store at which a private key of the snapshot is stored.
pub fn private_key_record(organization: OrganizationId, key: &PrivateKey) -> Key {
    layout::entity(organization, Entity::PrivateKey(key.id))
}

/// Creates a label from a text of the service itself.
///
/// # Errors
/// If the text is not a valid label.
pub fn own_label(text: &str) -> Result<Label, Corrupt> {
    Label::parse(text.to_owned()).map_err(|_| Corrupt::Invariant("a label of the service is not valid"))
}
