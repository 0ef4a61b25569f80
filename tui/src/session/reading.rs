//! Reads what a review needs: the record, the other waiting activities, the known keys and the address book.

use std::sync::Arc;

use quorate_common::activity::{Activity, Status};
use quorate_common::console::{ActivityRow, OrganizationDetail, OrganizationInbox, ReviewRecord};
use quorate_common::ids::{ActivityId, OrganizationId};

use super::context::Session;
use crate::book::Book;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::journal;
use crate::known_keys::KnownKeys;
use crate::link::{EarlierTransfers, InboxEnd, earlier_transfers};
use crate::proof::{BURST, BURST_MILLIS, Evidence, Past, Record, Review, Sibling, Siblings, overriding_type};

/// An organization and the activities that wait in it.
pub(crate) type Waiting = (Arc<OrganizationDetail>, Vec<ActivityRow>);

/// What waits in an organization and in its sub-organizations.
pub(crate) struct Inbox {
    pub(crate) organizations: Vec<Waiting>,
    /// Number of activities in the list.
    pub(crate) count: usize,
    /// Number of activities that the daemon states; absent if there are very many.
    pub(crate) stated: Option<u64>,
    pub(crate) end: InboxEnd,
}

impl Session {
    /// Fetches and examines one activity of the organization or of one of its sub-organizations.
    pub(crate) async fn review(&self, reference: &str) -> Result<Review> {
        let reference = checked_reference(reference)?;
        self.daemon_status().await?;
        let id = self.organization_id().await?;
        let record = self.record(id, &reference).await?;
        self.examine(id, record, &reference).await
    }

    /// Fetches and examines one activity of the organization itself.
    pub(crate) async fn review_in_own(&self, reference: &str) -> Result<Review> {
        let reference = checked_reference(reference)?;
        self.daemon_status().await?;
        let id = self.organization_id().await?;
        let record = of(id, self.client.record(id, &reference).await?)?;
        self.examine(id, record, &reference).await
    }

    /// Examines an activity. `id` is the pinned organization.
    async fn examine(&self, id: OrganizationId, record: ReviewRecord, reference: &str) -> Result<Review> {
        let record = Record::from(record);
        let found = record.organization.head.organization_id;
        if let Some(mismatch) = self.identity.mismatch(&record.organization).filter(|_| found == id) {
            return Err(mismatch);
        }
        let id = found;
        let siblings = self.siblings(id, &record.row.activity).await?;
        let known_keys = pin_keys(&self.folders, &record.organization)?;
        let book = Book::load(&self.folders.book())?;
        let viewer = self.identity.viewer_below(&record.organization);
        let mut review = Review::of(&Evidence {
            record: &record,
            siblings: &siblings,
            known_keys: &known_keys,
            book: &book,
            viewer: &viewer,
            now: now_millis(),
            reference: Some(reference),
        });
        self.compare_with_earlier_transfers(&mut review).await?;
        Ok(review)
    }

    /// Queries an activity of an organization, or of one of its sub-organizations.
    async fn record(&self, id: OrganizationId, reference: &str) -> Result<ReviewRecord> {
        let missing = match self.client.record(id, reference).await {
            Err(error) if error.is_missing() => error,
            Err(error) => return Err(error.into()),
            Ok(record) => return of(id, record),
        };
        let place = match self.client.location(id, reference).await {
            Ok(place) if place != id => place,
            // Daemons of earlier versions do not search.
            Ok(_) => return Err(missing.into()),
            Err(error) if error.is_missing() => return Err(missing.into()),
            Err(error) => return Err(error.into()),
        };
        let record = of(place, self.client.record(place, reference).await?)?;
        if record.organization.head.parent_organization_id == Some(id) {
            Ok(record)
        } else {
            Err(misdirected())
        }
    }

    /// Compares a transaction with earlier transfers to its recipients.
    pub(crate) async fn compare_with_earlier_transfers(&self, review: &mut Review) -> Result<()> {
        if !review.has_past() {
            return Ok(());
        }
        let own = journal::transfers(&self.folders.journal())?;
        let id = review.activity.organization_id;
        let past = match earlier_transfers(&self.client, id, &review.recipients()).await {
            Ok(EarlierTransfers { rows, is_partial, owners }) => {
                Past::of(review, (&rows, is_partial), owners, own)
            }
            Err(error) => Past::unread(review, error.to_string(), own),
        };
        review.compare_with(&past);
        Ok(())
    }

    /// Returns what waits in an organization and in its sub-organizations.
    pub(crate) async fn inbox(&self, id: OrganizationId) -> Result<Inbox> {
        let (mut found, mut stated): (Vec<Waiting>, Option<u64>) = (Vec::new(), None);
        let (mut after, mut count): (Option<String>, usize) = (None, 0);
        loop {
            let (page, bytes) = self.client.inbox(id, after.as_deref()).await?;
            let of_page: usize = page.organizations.iter().map(|one| one.activities.len()).sum();
            count = count.saturating_add(of_page);
            let end = InboxEnd::after(&page, count, bytes);
            stated = stated.or(page.waiting);
            for OrganizationInbox { organization, activities } in page.organizations {
                let id = organization.head.organization_id;
                match found.last_mut().filter(|(last, _)| last.head.organization_id == id) {
                    Some((_, rows)) => rows.extend(activities),
                    None => found.push((Arc::new(organization), activities)),
                }
            }
            if let Some(end) = end {
                return Ok(Inbox { organizations: found, count, stated, end });
            }
            after = page.next;
        }
    }

    /// Returns the other waiting activities that affect the flags of this one. They are few among all that
    /// wait.
    pub(crate) async fn siblings(&self, id: OrganizationId, activity: &Activity) -> Result<Siblings> {
        let mut by_type = Vec::new();
        if let Some(overriding_type) = overriding_type(&activity.activity_type) {
            let types = [overriding_type.to_owned()];
            let page = self.client.activities(id, &Status::WAITING, &types, None, 2).await?;
            by_type.extend(page.activities.iter().filter_map(|row| Sibling::of(&row.activity)));
        }
        let proposer = activity.votes.first().map(|vote| vote.user_id);
        let created = activity.created_at.millis();
        let since = created.saturating_sub(BURST_MILLIS);
        let mut recent: Vec<Sibling> = Vec::new();
        let mut after = None;
        loop {
            let page = self.client.waiting(id, after).await?;
            let siblings = page.activities.iter().filter_map(|row| Sibling::of(&row.activity));
            let all: Vec<Sibling> = siblings.collect();
            let is_old = all.iter().any(|sibling| sibling.created < since);
            // A sibling that was already found by its type would count twice.
            let own = all.into_iter().filter(|sibling| {
                sibling.proposer == proposer && sibling.created.abs_diff(created) <= BURST_MILLIS
            });
            recent.extend(own.map(|sibling| Sibling { overriding_type: None, ..sibling }));
            after = page.next;
            if is_old || after.is_none() || recent.len() > BURST {
                break;
            }
        }
        let by_type = by_type.into_iter().map(|sibling| Sibling { proposer: None, ..sibling });
        Ok(by_type.chain(recent).collect())
    }
}

/// Returns a record that was requested of an organization, unless it is of another one.
fn of(id: OrganizationId, record: ReviewRecord) -> Result<ReviewRecord> {
    if record.organization.head.organization_id == id { Ok(record) } else { Err(misdirected()) }
}

fn misdirected() -> Failure {
    Failure::new(Exit::Verification, "the daemon stated an activity of another organization")
}

/// Pins new keys, names and the quorum of the organization, and returns the known keys.
pub(crate) fn pin_keys(folders: &Folders, organization: &OrganizationDetail) -> Result<KnownKeys> {
    let path = folders.known_keys();
    let mut known_keys = KnownKeys::load(&path)?;
    if known_keys.pin_new(organization, now_millis()) {
        known_keys.save(&path)?;
    }
    Ok(known_keys)
}

/// Validates an activity reference. Accepts only an activity id or a fingerprint, so that it cannot change
/// the request path.
fn checked_reference(reference: &str) -> Result<String> {
    let bare = reference.strip_prefix("sha256:").unwrap_or(reference);
    let is_hash = bare.len() == 64 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        return Ok(format!("sha256:{}", bare.to_ascii_lowercase()));
    }
    match reference.parse::<ActivityId>() {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(Failure::new(
            Exit::Usage,
            "invalid reference: use an activity id or a fingerprint (sha256: and 64 hex digits)",
        )),
    }
}
