//! From a settled activity to one atomic batch: the activity, its index entries, the changes it made, new
//! snapshots, and notices of it.

use quorate_common::activity::{Selection, Status};
use quorate_common::console;
use quorate_common::fault::Fault;
use quorate_common::ids::{ActivityId, OrganizationId, VoteId};
use serde_json::value::RawValue;

use super::{Submission, is_denial, stamped_of};
use crate::cx::Left;
use crate::kind::{Entry, nothing};
use crate::model::change::{self, Write};
use crate::model::layout::{self, Key};
use crate::model::{ActivityRecord, Organization, VoteRecord};
use crate::notice;
use crate::records;
use crate::refusal::{Corrupt, Refusal};
use crate::world::{Moment, Page};

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
            id: ActivityId::timed(self.now, moment.random()),
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
        commit.writes.push(Write::mark(body, &place));
        if settled.status() == Status::ConsensusNeeded {
            commit.writes.push(Write::mark(layout::fingerprint(&activity.fingerprint), &place));
            // Two proposals that come to wait never both count on the same number of those that wait.
            self.moved(commit)?;
        }
        if settled.status() == Status::Rejected {
            self.displace_denials(activity, commit)?;
        }
        self.settle(activity, settled, commit)?;
        commit.writes.push(Write::put_new(layout::activity(activity.organization, activity.id), activity)?);
        Ok(())
    }

    /// Fills in how an activity came out, and adds what follows from that to the commit. The caller stores the
    /// activity itself.
    pub(super) fn settle(
        &self,
        activity: &mut ActivityRecord,
        settled: Settled,
        commit: &mut Commit,
    ) -> Result<(), Refusal> {
        activity.status = settled.status();
        activity.updated = self.now.max(activity.updated);
        match settled {
            Settled::Completed(result, left) => {
                activity.result = result;
                self.take(left, activity.id, commit)?;
            }
            Settled::Failed(fault) => activity.failure = Some(fault),
            Settled::Rejected | Settled::Waiting => {}
        }
        let listed =
            layout::activity_listed(activity.organization, activity.status, activity.number, activity.id);
        commit.writes.push(Write::mark(listed, &[]));
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

    /// Turns what an execution left into snapshots and writes.
    fn take(&self, left: Left, activity: ActivityId, commit: &mut Commit) -> Result<(), Refusal> {
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
        if !left.changes.is_empty() {
            self.advance(left.changes, commit)?;
        }
        Ok(())
    }

    /// Gives the organization its next version, unless the commit does so already.
    pub(super) fn moved(&self, commit: &mut Commit) -> Result<(), Refusal> {
        if commit.after.iter().any(|after| after.id() == self.target.id()) {
            return Ok(());
        }
        self.advance(Vec::new(), commit)
    }

    /// Gives the organization its next version, with these changes.
    pub(super) fn advance(&self, changes: Vec<change::Change>, commit: &mut Commit) -> Result<(), Refusal> {
        let applied = change::apply(&self.target, changes, self.now, self.world.index())?;
        commit.absent.extend(applied.absent);
        commit.vacant.extend(applied.vacant);
        commit.writes.extend(applied.writes);
        commit.news.push(news(&applied.after));
        commit.after.insert(0, applied.after);
        Ok(())
    }

    /// Denied attempts are kept, but only so many for each credential: the oldest makes room.
    fn displace_denials(&self, activity: &ActivityRecord, commit: &mut Commit) -> Result<(), Refusal> {
        let (organization, credential) = (activity.organization, &self.caller.credential);
        let limit = self.world.limits().denied_activities;
        let prefix = layout::denials(organization, credential);
        let kept = self.world.records().keys(Page::last(&prefix, limit.saturating_add(8)))?;
        for displaced in kept.iter().skip(limit.saturating_sub(1)) {
            commit.writes.push(Write::remove(displaced.clone()));
            let Some(id) = layout::activity_id(displaced) else { continue };
            let Some(old) = records::activity(self.world.records(), organization, id)? else { continue };
            commit.writes.push(Write::remove(layout::activity(organization, id)));
            commit.writes.push(Write::remove(layout::activity_listed(
                organization,
                old.status,
                old.number,
                id,
            )));
            // A store of an earlier version has it by its fingerprint alone.
            commit.writes.push(Write::remove(layout::fingerprint(&old.fingerprint)));
            if let Some(stamped) = old.proposal().and_then(stamped_of) {
                commit.writes.push(Write::remove(layout::body(stamped, &old.fingerprint)));
            }
        }
        commit.writes.push(Write::mark(layout::denied(organization, credential, activity.id), &[]));
        Ok(())
    }
}

pub(super) fn news(organization: &Organization) -> console::Change {
    console::Change::Organization { organization_id: organization.id(), version: organization.head.version }
}
