//! Typed reads of records, of snapshots and of the records that are not part of one.

mod activities;

pub use activities::{
    ProcessedBody, SentBody, activity, activity_by_fingerprint, activity_locator, organization_of_body,
    organization_that_waited, processed_body,
};

use quorate_common::activity::Status;
use quorate_common::ids::{OrganizationId, SmartContractInterfaceId, WalletAccountId, WalletId};

use crate::error::Corrupt;
use crate::model::layout::{self, Class, Key};
use crate::model::organization::Head;
use crate::model::record::Record;
use crate::model::write::Write;
use crate::model::{InterfaceText, Organization, Policy, RECORDS, RecordDigest, User, WalletAccount};
use crate::world::{Page, Records};

/// How many records of a snapshot are read at once.
const CHUNK: usize = 256;

/// Reads the head of an organization, even of a deleted one.
///
/// # Errors
/// If the store cannot be read, or the head is damaged.
pub fn head(records: &dyn Records, id: OrganizationId) -> Result<Option<Head>, Corrupt> {
    read(records, &layout::organization(id))
}

fn read<R: Record>(records: &dyn Records, key: &[u8]) -> Result<Option<R>, Corrupt> {
    records.read(key)?.map(|bytes| R::decode(&bytes)).transpose()
}

/// Reads all rows under a prefix, a few at a time.
fn each_row(
    records: &dyn Records,
    prefix: &[u8],
    mut take: impl FnMut(&Key, &[u8]) -> Result<(), Corrupt>,
) -> Result<(), Corrupt> {
    let mut after: Option<Key> = None;
    loop {
        let rows = records.page(Page { after: after.as_deref(), ..Page::first(prefix, CHUNK) })?;
        rows.iter().try_for_each(|(key, bytes)| take(key, bytes))?;
        if rows.len() < CHUNK {
            return Ok(());
        }
        after = rows.into_iter().next_back().map(|(key, _)| key);
    }
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
    each_row(records, &layout::entities(id), |key, bytes| {
        organization.contents.put(key, RecordDigest::of(bytes));
        put(&mut organization, key, bytes)
    })?;
    read_waiting(records, &mut organization)?;
    Ok(Some(organization))
}

/// Reads the digests of the activities that wait for votes from their index entries.
fn read_waiting(records: &dyn Records, organization: &mut Organization) -> Result<(), Corrupt> {
    Status::WAITING.into_iter().try_for_each(|status| read_waiting_with(records, organization, status))
}

/// Reads the digests of the activities with one status. Version 0.1 wrote no digests to the index entries; they are
/// computed from the records.
fn read_waiting_with(
    records: &dyn Records,
    organization: &mut Organization,
    status: Status,
) -> Result<(), Corrupt> {
    let id = organization.id();
    let prefix = layout::activities_of_status(id, status);
    each_row(records, &prefix, |key, entry| {
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
        Ok(())
    })
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

/// Adds a stored record to its organization.
fn put(organization: &mut Organization, key: &[u8], bytes: &[u8]) -> Result<(), Corrupt> {
    if Class::USER.is_of(key) {
        organization.put_user(User::decode(bytes)?);
    } else if Class::POLICY.is_of(key) {
        organization.put_policy(Policy::decode(bytes)?)?;
    } else {
        let class = RECORDS.iter().find(|one| one.class.is_of(key)).ok_or(Corrupt::Record("organization"))?;
        (class.decode)(bytes)?.put_into(&mut organization.records);
    }
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
    read(records, &layout::interface_text(organization, id))
}

/// Reads the account at a key of the store. Returns `None` if it was removed since the key was read.
///
/// # Errors
/// If the store cannot be read, or the record is damaged.
pub fn account_at(records: &dyn Records, key: &[u8]) -> Result<Option<WalletAccount>, Corrupt> {
    read(records, key)
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
