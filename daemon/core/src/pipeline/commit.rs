//! From a settled activity to one atomic batch: the activity, its index entries, the changes it made, new
//! snapshots, and notices of it.

use quorate_common::activity::{Selection, Status};
use quorate_common::console;
use quorate_common::fault::Fault;
use quorate_common::ids::{ActivityId, OrganizationId, VoteId};
use serde_json::value::RawValue;

use super::{Submission, is_denial, is_too_old};
use crate::cx::Left;
use crate::kind::{Entry, nothing};
use crate::limits::BODY_AHEAD_MILLIS;
use crate::model::change::{self, Change};
use crate::model::layout::{self, Key};
use crate::model::write::Write;
use crate::model::{ActivityRecord, Organization, RecordDigest, VoteRecord};
use crate::notice;
use crate::records;
use crate::refusal::{Corrupt, Limit, Refusal};
use crate::world::{Moment, Page};

/// How many denied attempts beyond a limit make room with a new one.
const DENIALS_AT_ONCE: usize = 8;

/// What must become durable at once, and on what condition.
#[derive(Default)]
pub struct Commit {
    /// Organizations that must still be at these versions.
    pub expect: Vec<(OrganizationId, u64)>,
    /// Keys that must not exist yet.
    pub absent: Vec<Key>,
    /// What no key may begin with.
    pub vacant: Vec<Key>,
    /// What to write.
    pub writes: Vec<Write>,
    /// Snapshots that replace the present ones.
    pub after: Vec<Organization>,
    /// Versions of what is no organization and has no snapshot.
    pub set: Vec<(OrganizationId, u64)>,
    /// What the change feed tells.
    pub news: Vec<console::Change>,
}

/// How an activity came out.
pub(super) enum Settled {
    /// It ran.
    Completed(Box<RawValue>, Left),
    /// It failed, or was denied.
    Failed(Fault),
    /// A voter rejected it.
    Rejected,
    /// It waits for votes.
    Waiting,
}

impl Settled {
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Completed(..) => Status::Completed,
            Self::Failed(fault) if is_denial(fault) => Status::Rejected,
            Self::Failed(_) => Status::Failed,
            Self::Rejected => Status::Rejected,
            Self::Waiting => Status::ConsensusNeeded,
        }
    }
}

impl Submission<'_> {
    /// The vote that this request is.
    pub(super) fn vote_record(
        &self,
        selection: Selection,
        moment: &mut Moment<'_>,
    ) -> Result<VoteRecord, Corrupt> {
        let message = match &self.kept {
            Some(kept) => kept.clone(),
            None => String::from_utf8(self.body.to_vec()).map_err(|_| Corrupt::Invariant("JSON is UTF-8"))?,
        };
        Ok(VoteRecord {
            id: VoteId::random(moment.random()),
            user: self.caller.user,
            user_name: self
                .target
                .user(self.caller.user)
                .map(|user| user.name.to_string())
                .unwrap_or_default(),
            selection,
            message,
            public_key: self.caller.stamp.public_key.clone(),
            scheme: self.caller.stamp.scheme,
            signature: self.caller.stamp.signature.clone(),
            created: self.now,
            evaluations: Vec::new(),
        })
    }

    /// A new activity of this request. Its outcome is filled in by [`Self::settle`].
    pub(super) fn new_activity(
        &self,
        entry: &Entry,
        intent: &RawValue,
        moment: &mut Moment<'_>,
    ) -> Result<ActivityRecord, Corrupt> {
        Ok(ActivityRecord {
            id: ActivityId::timed(self.now, moment.ordered()),
            organization: self.target.id(),
            number: entry.number,
            status: Status::Pending,
            intent: intent.to_owned(),
            result: nothing(),
            proposer: self.caller.user,
            votes: vec![self.vote_record(Selection::Approved, moment)?],
            fingerprint: self.fingerprint,
            failure: None,
            created: self.now,
            updated: self.now,
        })
    }

    /// A commit that depends on the authority it was decided on.
    pub(super) fn commit(&self) -> Commit {
        Commit { expect: vec![(self.target.id(), self.target.head.version)], ..Commit::default() }
    }

    /// Fills in how a new activity came out, and adds all of it to the commit.
    pub(super) fn record(
        &self,
        activity: &mut ActivityRecord,
        settled: Settled,
        commit: &mut Commit,
    ) -> Result<(), Refusal> {
        let body = layout::body(self.stamped, &activity.fingerprint);
        let place = records::activity_place(activity.organization, activity.id);
        commit.absent.push(body.clone());
        commit.writes.push(Write::mark_new(body.clone(), &place));
        if settled.status() == Status::ConsensusNeeded {
            commit.writes.push(Write::mark(layout::fingerprint(&activity.fingerprint), &place));
        }
        if settled.status() == Status::Rejected {
            self.keep_denial(activity, &body, commit)?;
        }
        self.settle(activity, settled, commit)
    }

    /// Fills in how an activity came out, stores it, and adds what follows from that to the commit. What waits, waits no
    /// longer, or waits with other votes gives the organization its next version: two proposals never both count on the
    /// same number of those that wait, nor two votes on the state before.
    pub(super) fn settle(
        &self,
        activity: &mut ActivityRecord,
        settled: Settled,
        commit: &mut Commit,
    ) -> Result<(), Refusal> {
        let before = std::mem::replace(&mut activity.status, settled.status());
        activity.updated = self.now.max(activity.updated);
        let mut changes = Vec::new();
        match settled {
            Settled::Completed(result, left) => {
                activity.result = result;
                changes = self.take(left, activity.id, commit)?;
            }
            Settled::Failed(fault) => activity.failure = Some(fault),
            Settled::Rejected | Settled::Waiting => {}
        }
        changes.extend(store(activity, before, commit)?);
        if !changes.is_empty() {
            self.advance(changes, commit)?;
        }
        commit.news.push(console::Change::Activity {
            organization_id: activity.organization,
            activity_id: activity.id,
            status: activity.status,
        });
        let notices = notice::notices(self.world, self.shown(commit), activity)?;
        commit.writes.extend(notices);
        Ok(())
    }

    /// The organization as an activity is shown with it: as the commit leaves it, unless that is nothing.
    pub(super) fn shown<'s>(&'s self, commit: &'s Commit) -> &'s Organization {
        let after = commit.after.first();
        let after = after.filter(|after| after.id() == self.target.id() && after.head.deleted.is_none());
        after.unwrap_or(&self.target)
    }

    /// Turns what an execution left into snapshots and writes. Returns the changes of the organization itself.
    fn take(&self, left: Left, activity: ActivityId, commit: &mut Commit) -> Result<Vec<Change>, Refusal> {
        for (number, mail) in (0..).zip(left.mails) {
            commit.writes.push(Write::put_new(layout::mail(activity, number), &mail)?);
        }
        for founding in left.founded {
            let founded = change::found(founding, self.now, self.world.index())?;
            commit.absent.extend(founded.absent);
            commit.writes.extend(founded.writes);
            commit.news.push(news(&founded.after));
            commit.after.push(founded.after);
        }
        Ok(left.changes)
    }

    /// Gives the organization its next version, with these changes.
    fn advance(&self, changes: Vec<Change>, commit: &mut Commit) -> Result<(), Refusal> {
        let applied = change::apply(&self.target, changes, self.now, self.world.index())?;
        let limit = self.world.limits().snapshot_bytes;
        let bytes = applied.after.bytes();
        // Whoever has more than fits may still take something away.
        if bytes > limit && bytes > self.target.bytes() {
            return Err(
                Limit::Bytes("users, policies and other records in memory", limit, "snapshot_bytes").into()
            );
        }
        commit.absent.extend(applied.absent);
        commit.vacant.extend(applied.vacant);
        commit.writes.extend(applied.writes);
        commit.news.push(news(&applied.after));
        commit.after.insert(0, applied.after);
        Ok(())
    }

    /// Keeps a denied attempt. Of the newest ones of a credential the activities are kept. Of the others only that they
    /// were denied, as long as their bodies could be sent again, so that none of them ever runs.
    fn keep_denial(&self, activity: &ActivityRecord, body: &Key, commit: &mut Commit) -> Result<(), Refusal> {
        let (organization, credential) = (activity.organization, &self.caller.credential);
        let (records, limits) = (self.world.records(), self.world.limits());
        let displaced = layout::displaced_denials(organization, credential);
        let counted = records.keys(Page::last(&displaced, limits.denials_per_hour))?;
        if counted.get(limits.denials_per_hour.saturating_sub(1)).is_some_and(|denied| !self.is_over(denied))
        {
            return Err(Limit::Denials(limits.denials_per_hour).into());
        }
        let denials = layout::denials(organization, credential);
        let kept = limits.denied_activities;
        let newest = records.page(Page::last(&denials, kept.saturating_add(DENIALS_AT_ONCE)))?;
        for (denied, body) in newest.into_iter().skip(kept.saturating_sub(1)) {
            self.displace(&denied, &body, commit)?;
        }
        let oldest = records.page(Page::first(&displaced, DENIALS_AT_ONCE))?;
        for (denied, body) in oldest.into_iter().filter(|(denied, _)| self.is_over(denied)) {
            commit.writes.extend([Write::remove(denied), Write::remove(body)]);
        }
        commit.writes.push(Write::mark(layout::denied(organization, credential, activity.id), body));
        Ok(())
    }

    /// Whether the body of a denied attempt is too old to be sent again.
    fn is_over(&self, denied: &[u8]) -> bool {
        let submitted = layout::activity_id(denied).map(layout::activity_submitted).unwrap_or_default();
        is_too_old(submitted.saturating_add(BODY_AHEAD_MILLIS), self.now)
    }

    /// Drops the activity of a denied attempt, and keeps that its body was denied.
    fn displace(&self, denied: &[u8], body: &[u8], commit: &mut Commit) -> Result<(), Refusal> {
        let (organization, credential) = (self.target.id(), &self.caller.credential);
        let id = layout::activity_id(denied).ok_or(Corrupt::Record("denied attempt"))?;
        commit.writes.push(Write::remove(denied.to_vec()));
        if let Some(old) = records::activity(self.world, &self.target, id)? {
            let listed = layout::activity_listed(organization, old.status, old.number, id);
            commit.writes.push(Write::remove(listed));
            commit.writes.push(Write::remove(layout::activity(organization, id)));
        }
        // Earlier versions did not store where the body is: there its entry stays.
        if !body.is_empty() {
            let displaced = layout::displaced_denial(organization, credential, id);
            commit.writes.push(Write::mark(displaced, body));
        }
        Ok(())
    }
}

/// Stores an activity and its index entry, in the place of those of its status before. Returns what that changes of the
/// activities that wait.
fn store(activity: &ActivityRecord, before: Status, commit: &mut Commit) -> Result<Option<Change>, Corrupt> {
    let ActivityRecord { organization, number, id, status, .. } = *activity;
    let listed = |status| layout::activity_listed(organization, status, number, id);
    // A new activity is in no list.
    let is_new = before == Status::Pending;
    let place = layout::activity(organization, id);
    let record = if is_new { Write::put_new(place, activity)? } else { Write::put(place, activity)? };
    let waiting = record.value.as_ref().filter(|_| status == Status::ConsensusNeeded);
    let digest = waiting.map(|record| RecordDigest::of(record));
    commit.writes.push(record);
    if !is_new && before != status {
        commit.writes.push(Write::remove(listed(before)));
    }
    let entry = digest.as_ref().map_or([].as_slice(), |digest| digest.as_bytes());
    let listed = listed(status);
    commit.writes.push(if is_new { Write::mark_new(listed, entry) } else { Write::mark(listed, entry) });
    let ended = (before == Status::ConsensusNeeded).then_some(Change::RemoveWaiting(id));
    Ok(digest.map(|digest| Change::PutWaiting(id, digest)).or(ended))
}

pub(super) fn news(organization: &Organization) -> console::Change {
    console::Change::Organization { organization_id: organization.id(), version: organization.head.version }
}
