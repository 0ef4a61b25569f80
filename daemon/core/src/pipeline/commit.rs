//! The atomic batch of an activity: its record, its index entries, the changes it made, new snapshots, and
//! its outbox events.

use quorate_common::activity::{Selection, Status};
use quorate_common::api_error::ApiError;
use quorate_common::console;
use quorate_common::ids::{ActivityId, OrganizationId, VoteId};
use serde_json::value::RawValue;

use super::{Submission, is_denial, is_too_old};
use crate::activity_log;
use crate::auth_proxy;
use crate::error::{Conflict, Corrupt, Limit, RequestError};
use crate::execution::{CodeChange, Effects};
use crate::kind::{Entry, Executed, empty_object};
use crate::limits::{BODY_AHEAD_MILLIS, DISPLACED_FACTOR};
use crate::mail::Mail;
use crate::message_events::Message;
use crate::model::change::{self, Applied, Change};
use crate::model::last_use::CredentialUse;
use crate::model::layout::{self, Key, sign_in};
use crate::model::message_event::{DeliveryStep, MessageOrigin, SenderGroup};
use crate::model::one_time_code::{Claim, Contact};
use crate::model::queued_message::{Channel, MessageId, MessageUsage, QueuedMessage, StoredMessage};
use crate::model::write::{Effect, Write};
use crate::model::{ActivityRecord, Millis, Organization, RecordDigest, VoteRecord};
use crate::records;
use crate::sms::Sms;
use crate::webhooks;
use crate::world::{Page, Runtime};

/// How many denied attempts beyond a limit are removed with each new one.
const DENIALS_AT_ONCE: usize = 8;

/// Writes that become durable atomically, and their conditions.
#[derive(Default)]
pub struct Commit {
    /// Organizations that must still be at these versions.
    pub expect: Vec<(OrganizationId, u64)>,
    /// Keys that must not exist yet.
    pub must_not_exist: Vec<Key>,
    /// Prefixes that no existing key may have.
    pub must_be_empty: Vec<Key>,
    /// Writes to the store.
    pub writes: Vec<Write>,
    /// Snapshots that replace the current ones.
    pub after: Vec<Organization>,
    /// Versions to set of ids that have no snapshot, such as the list of top-level organizations.
    pub set: Vec<(OrganizationId, u64)>,
    /// Events for the change feed.
    pub change_events: Vec<console::Change>,
    /// Credentials that the execution used, besides that of the caller.
    pub used: Vec<CredentialUse>,
}

impl Commit {
    /// Adds applied changes and their event, and returns the snapshot after them.
    pub(super) fn add(&mut self, applied: Applied) -> Organization {
        let Applied { after, writes, must_not_exist, must_be_empty } = applied;
        self.writes.extend(writes);
        self.must_not_exist.extend(must_not_exist);
        self.must_be_empty.extend(must_be_empty);
        self.change_events
            .push(console::Change::Organization { organization_id: after.id(), version: after.head.version });
        after
    }
}

/// The transition of an activity to its next status.
pub(super) enum Transition {
    /// It was executed.
    Completed(Executed, Effects),
    /// It failed, or was denied. Claims that the execution made last.
    Failed(ApiError, Effects),
    /// A voter rejected it.
    Rejected,
    /// It waits for votes, with this status.
    Waiting(Status),
}

impl Transition {
    /// Returns the transition of an activity that fails before its execution, or is denied.
    pub(super) fn failed(error: &RequestError) -> Self {
        Self::Failed(error.api_error(), Effects::default())
    }

    /// Takes the result that only the answer to the proposer shows, if there is one.
    pub(super) fn shown_once(&mut self) -> Option<Box<RawValue>> {
        match self {
            Self::Completed(executed, _) => executed.shown_once.take(),
            _ => None,
        }
    }

    pub(super) fn status(&self) -> Status {
        match self {
            Self::Completed(..) => Status::Completed,
            Self::Failed(error, _) if is_denial(error) => Status::Rejected,
            Self::Failed(..) => Status::Failed,
            Self::Rejected => Status::Rejected,
            Self::Waiting(status) => *status,
        }
    }
}

impl Submission<'_> {
    /// Returns the vote that this request casts.
    pub(super) fn vote_record(
        &self,
        selection: Selection,
        runtime: &mut Runtime<'_>,
    ) -> Result<VoteRecord, Corrupt> {
        let message = match &self.kept {
            Some(kept) => kept.clone(),
            None => String::from_utf8(self.body.to_vec())
                .map_err(|_| Corrupt::Invariant("a parsed JSON body is not UTF-8"))?,
        };
        Ok(VoteRecord {
            id: VoteId::random(runtime.random()),
            user: self.caller.user,
            user_name: self.home.user(self.caller.user).map(|user| user.name.to_string()).unwrap_or_default(),
            selection,
            message,
            public_key: self.caller.stamp.public_key.clone(),
            scheme: self.caller.stamp.scheme,
            signature: self.caller.stamp.signature.clone(),
            attestation: self.caller.attestation.as_ref().map(|attestation| attestation.proof.clone()),
            created: self.now,
            evaluations: Vec::new(),
        })
    }

    /// Creates the activity of this request. [`Self::apply`] sets its outcome.
    pub(super) fn new_activity(
        &self,
        entry: &Entry,
        intent: &RawValue,
        runtime: &mut Runtime<'_>,
    ) -> Result<ActivityRecord, Corrupt> {
        Ok(ActivityRecord {
            id: ActivityId::timed(self.now, runtime.ordered()),
            organization: self.target.id(),
            number: entry.number,
            status: Status::Pending,
            intent: intent.to_owned(),
            result: empty_object(),
            proposer: self.caller.user,
            votes: vec![self.vote_record(Selection::Approved, runtime)?],
            fingerprint: self.sent.fingerprint,
            failure: None,
            created: self.now,
            updated: self.now,
        })
    }

    /// Creates an empty commit on the condition that the organization, and so the basis of the decision, is
    /// unchanged. This includes the parent, if it decides.
    pub(super) fn commit(&self) -> Commit {
        let expect = |organization: &Organization| (organization.id(), organization.head.version);
        let parent = (self.home.id() != self.target.id()).then(|| expect(&self.home));
        Commit { expect: std::iter::once(expect(&self.target)).chain(parent).collect(), ..Commit::default() }
    }

    /// Applies a transition to a new activity, and adds the activity with its index entries to the commit.
    pub(super) fn record(
        &self,
        activity: &mut ActivityRecord,
        transition: Transition,
        commit: &mut Commit,
    ) -> Result<(), RequestError> {
        let body = self.sent.key();
        let locator = records::activity_locator(activity.organization, activity.id);
        commit.must_not_exist.push(body.clone());
        commit.writes.push(Write::mark_new(body.clone(), &locator));
        if transition.status().waits() {
            let key = layout::fingerprint(&activity.fingerprint);
            // Votes name an activity by its fingerprint, so no other caller may have sent equal bytes.
            if self.sent.digest != self.sent.fingerprint {
                if self.world.records().read(&key)?.is_some() {
                    return Err(Conflict::Body.into());
                }
                commit.must_not_exist.push(key.clone());
            }
            commit.writes.push(Write::mark(key, &locator));
        }
        // What anonymous clients fail at must not fill the store either.
        let is_bounded =
            |status| status == Status::Rejected || status == Status::Failed && self.is_of_proxy();
        if is_bounded(transition.status()) {
            self.keep_denial(activity, &body, commit)?;
        }
        self.apply(activity, transition, commit)
    }

    /// Applies a transition to an activity, and adds the activity and its effects to the commit.
    ///
    /// The organization gets its next version if the activity starts to wait, stops waiting, or waits with
    /// other votes. So two proposals never rely on the same number of waiting activities, nor two votes on
    /// the same prior state.
    pub(super) fn apply(
        &self,
        activity: &mut ActivityRecord,
        transition: Transition,
        commit: &mut Commit,
    ) -> Result<(), RequestError> {
        let before = std::mem::replace(&mut activity.status, transition.status());
        activity.updated = self.now.max(activity.updated);
        let mut changes = Vec::new();
        match transition {
            Transition::Completed(executed, effects) => {
                activity.result = executed.result;
                changes = self.apply_effects(effects, activity.id, commit)?;
            }
            Transition::Failed(error, effects) => {
                activity.failure = Some(error);
                changes = self.apply_effects(effects, activity.id, commit)?;
            }
            Transition::Rejected | Transition::Waiting(_) => {}
        }
        changes.extend(store(activity, before, commit)?);
        if !changes.is_empty() {
            self.advance(changes, commit)?;
        }
        commit.change_events.push(console::Change::Activity {
            organization_id: activity.organization,
            activity_id: activity.id,
            status: activity.status,
            parent_organization_id: self.target.head.parent,
        });
        let deliveries = webhooks::deliveries(self.world, self.shown(commit), activity)?;
        commit.writes.extend(deliveries);
        Ok(())
    }

    /// Returns the organization with which an activity is shown: as the commit leaves it, unless it is
    /// deleted.
    pub(super) fn shown<'s>(&'s self, commit: &'s Commit) -> &'s Organization {
        let after = commit.after.first();
        let after = after.filter(|after| after.id() == self.target.id() && after.head.deleted.is_none());
        after.unwrap_or(&self.target)
    }

    /// Adds or removes a one-time code.
    fn apply_code(&self, change: CodeChange, commit: &mut Commit) -> Result<(), Corrupt> {
        let organization = self.target.id();
        match change {
            CodeChange::Put(id, code) => {
                let key = sign_in::code(organization, id);
                commit.writes.push(Write::mark(sign_in::due(code.expires, &key), &[]));
                commit.writes.push(Write::put_new(key, &code)?);
            }
            CodeChange::Remove(id) => commit.writes.push(Write::remove(sign_in::code(organization, id))),
        }
        Ok(())
    }

    /// Adds a claim, on the condition that no other request made it.
    pub(super) fn apply_claim(&self, claim: &Claim, end: Millis, commit: &mut Commit) -> Result<(), Corrupt> {
        let key = claim.key(self.target.id(), self.world.index());
        commit.must_not_exist.push(key.clone());
        commit.writes.push(Write::mark(sign_in::due(end, &key), &[]));
        commit.writes.push(match claim {
            Claim::Sent(_, _, sent) | Claim::SentByChildren(_, _, _, sent) => Write::put_new(key, sent)?,
            Claim::Attempt(..) | Claim::TokenUse(..) => Write::mark_new(key, &[]),
        });
        Ok(())
    }

    /// Queues messages, and records that they are queued.
    ///
    /// # Errors
    /// [`Limit::WaitingMessages`] or [`Limit::WaitingMessageBytes`] if too many would wait, so that the request changes nothing.
    fn queue_messages(
        &self,
        mails: Vec<Mail>,
        texts: Vec<Sms>,
        activity: ActivityId,
        commit: &mut Commit,
    ) -> Result<(), RequestError> {
        let organization = self.target.id();
        let keeper = self.target.head.tenant();
        let group = if organization != keeper && self.home.id() == organization {
            Some(SenderGroup::Children)
        } else {
            self.is_of_proxy().then_some(SenderGroup::Proxy)
        };
        let origin = MessageOrigin { organization, keeper, group, queued: self.now };
        let mut record = |message: &Message| -> Result<(), Corrupt> {
            commit.writes.extend(message.record(DeliveryStep::Queued, 0, self.now, self.world.index())?);
            Ok(())
        };
        // Mails and SMS are numbered together, so that each event has an id of its own.
        let (mut queued, mut number) = (Vec::new(), 0..);
        for (mut mail, number) in mails.into_iter().zip(number.by_ref()) {
            let from = mail.from.as_ref().or(self.world.mail_sender()).cloned();
            record(&Message { origin, activity, number, to: Contact::Email(mail.to.clone()), from })?;
            mail.origin = Some(origin);
            queued.push(self.queued(&mail, MessageId { activity, number })?);
        }
        for (mut sms, number) in texts.into_iter().zip(number) {
            record(&Message { origin, activity, number, to: Contact::Phone(sms.to.clone()), from: None })?;
            sms.origin = Some(origin);
            queued.push(self.queued(&sms, MessageId { activity, number })?);
        }
        self.check_waiting_messages(&queued)?;
        commit.writes.extend(queued.into_iter().map(|(write, message)| write.with(Effect::Message(message))));
        Ok(())
    }

    /// Returns the write that queues a message.
    fn queued<M: StoredMessage>(
        &self,
        message: &M,
        id: MessageId,
    ) -> Result<(Write, QueuedMessage), Corrupt> {
        let write = Write::put_new(id.key(M::CHANNEL), message)?;
        let length = write.value.as_ref().map_or(0, |record| record.len());
        let queued = QueuedMessage::of(id, message, length, self.world.index());
        Ok((write, queued))
    }

    /// Checks that these messages, which have the same source, may wait beside those that already do. A sub-organization
    /// may use a part of the share of its tenant, and so may each group of senders. Delayed messages do not count: new ones
    /// displace them. Until their removal is recorded, the share may be exceeded by as much again.
    fn check_waiting_messages(&self, queued: &[(Write, QueuedMessage)]) -> Result<(), RequestError> {
        let share = self.world.limits().message_share();
        for (channel, noun) in [(Channel::Mail, "mails"), (Channel::Sms, "SMS")] {
            let own = queued.iter().map(|(_, message)| message).filter(|message| message.channel == channel);
            let Some(source) = own.clone().next().map(QueuedMessage::source) else { continue };
            let mut more = MessageUsage::default();
            own.for_each(|message| more.add(message.size));
            let usage = self.world.waiting_messages(channel, &source);
            for (usage, most) in usage.into_iter().zip(source.shares(share)) {
                let (counted, all) = (usage.counted().with(more), usage.all.with(more));
                let is_over = |counted: usize, all: usize, most: usize| {
                    counted > most || all > most.saturating_mul(DISPLACED_FACTOR)
                };
                if is_over(counted.messages, all.messages, most.messages) {
                    return Err(Limit::WaitingMessages(most.messages, noun).into());
                }
                if is_over(counted.bytes, all.bytes, most.bytes) {
                    return Err(Limit::WaitingMessageBytes(most.bytes, noun).into());
                }
            }
        }
        Ok(())
    }

    /// Adds the messages, codes, claims and new organizations of an execution to the commit. Returns the changes of the
    /// organization itself.
    fn apply_effects(
        &self,
        effects: Effects,
        activity: ActivityId,
        commit: &mut Commit,
    ) -> Result<Vec<Change>, RequestError> {
        self.queue_messages(effects.mails, effects.texts, activity, commit)?;
        for change in effects.codes {
            self.apply_code(change, commit)?;
        }
        for (claim, end) in effects.claims {
            self.apply_claim(&claim, end, commit)?;
        }
        let organization = self.target.id();
        commit.used.extend(effects.used.into_iter().map(|(user, credential)| CredentialUse {
            organization,
            user,
            credential,
            at: self.now,
            counter: None,
        }));
        for new_organization in effects.organizations {
            let created = commit.add(change::create(new_organization, self.now, self.world.index())?);
            commit.after.push(created);
        }
        Ok(effects.changes)
    }

    /// Adds the next version of the organization, with these changes, to the commit.
    fn advance(&self, changes: Vec<Change>, commit: &mut Commit) -> Result<(), RequestError> {
        auth_proxy::check_changes(&self.target, &changes)?;
        let applied = change::apply(&self.target, changes, self.now, self.world.index())?;
        let limit = self.world.limits().snapshot_bytes;
        let bytes = applied.after.bytes();
        // An organization above the limit can still be made smaller.
        if bytes > limit && bytes > self.target.bytes() {
            return Err(
                Limit::Bytes("users, policies and other records in memory", limit, "snapshot_bytes").into()
            );
        }
        if applied.after.head.deleted.is_some() {
            commit.writes.extend(self.unlisted()?);
        }
        let after = commit.add(applied);
        commit.after.insert(0, after);
        Ok(())
    }

    /// Returns the removal of the index entries of all waiting activities of the organization, which is deleted. There
    /// is a limit of these activities.
    fn unlisted(&self) -> Result<impl Iterator<Item = Write>, Corrupt> {
        let head = &self.target.head;
        let prefix = layout::waiting_of(self.world.index(), head.tenant(), Some(head.id));
        Ok(self.world.records().keys(Page::first(&prefix, usize::MAX))?.into_iter().map(Write::remove))
    }

    /// Records a denied attempt, or a failed one of the authentication proxy. The newest such attempts of a credential
    /// keep their activities. Of older ones only the denial is kept, as long as their bodies could be sent again, so
    /// that none of them is ever executed. The proxy makes its bodies itself and sends each once, so nothing of older
    /// ones is kept and there is no limit: a refused code must always count as a try.
    fn keep_denial(
        &self,
        activity: &ActivityRecord,
        body: &Key,
        commit: &mut Commit,
    ) -> Result<(), RequestError> {
        let (organization, credential) = (activity.organization, &self.caller.credential);
        let (records, limits) = (self.world.records(), self.world.limits());
        let displaced = layout::displaced_denials(organization, credential);
        let (known, attempter) = (self.world.denials(), (organization, *credential));
        if !self.is_of_proxy() {
            let limit = limits.denials_per_hour;
            let counted = || records.keys(Page::last(&displaced, limit));
            if !known.has_room(attempter, limit, |denied| self.is_expired(denied), counted)? {
                return Err(Limit::Denials(limit).into());
            }
        }
        let denials = layout::denials(organization, credential);
        let kept = limits.denied_activities;
        let newest = records.page(Page::last(&denials, kept.saturating_add(DENIALS_AT_ONCE)))?;
        let mut displaced_now = 0_usize;
        for (denied, body) in newest.into_iter().skip(kept.saturating_sub(1)) {
            self.displace(&denied, &body, commit)?;
            displaced_now = displaced_now.saturating_add(1);
        }
        known.displace(attempter, displaced_now);
        let oldest = records.page(Page::first(&displaced, DENIALS_AT_ONCE))?;
        for (denied, body) in oldest.into_iter().filter(|(denied, _)| self.is_expired(denied)) {
            commit.writes.extend([Write::remove(denied), Write::remove(body)]);
        }
        commit.writes.push(Write::mark(layout::denied(organization, credential, activity.id), body));
        Ok(())
    }

    /// Returns whether the body of a denied attempt is too old to be sent again.
    fn is_expired(&self, denied: &[u8]) -> bool {
        let submitted = layout::activity_id(denied).map(layout::activity_submitted).unwrap_or_default();
        is_too_old(submitted.saturating_add(BODY_AHEAD_MILLIS), self.now)
    }

    /// Removes the activity of a denied attempt, and keeps the entry that its body was denied.
    fn displace(&self, denied: &[u8], body: &[u8], commit: &mut Commit) -> Result<(), RequestError> {
        let (organization, credential) = (self.target.id(), &self.caller.credential);
        let id = layout::activity_id(denied).ok_or(Corrupt::Record("denied attempt"))?;
        commit.writes.push(Write::remove(denied.to_vec()));
        if let Some(old) = records::activity(self.world, &self.target, id)? {
            let listed = layout::activity_listed(organization, old.status, old.number, id);
            commit.writes.push(Write::remove(listed));
            commit.writes.push(Write::remove(layout::activity(organization, id)));
        }
        // Earlier versions did not store the key of the body; the entry of such a body stays.
        if self.is_of_proxy() {
            commit.writes.extend((!body.is_empty()).then(|| Write::remove(body.to_vec())));
        } else if !body.is_empty() {
            let displaced = layout::displaced_denial(organization, credential, id);
            commit.writes.push(Write::mark(displaced, body));
        }
        Ok(())
    }
}

/// Adds an activity and its index entry to the commit, and removes the index entry of its previous status.
/// Returns the change of the set of waiting activities, if any.
fn store(activity: &ActivityRecord, before: Status, commit: &mut Commit) -> Result<Option<Change>, Corrupt> {
    let ActivityRecord { organization, number, id, status, .. } = *activity;
    let listed = |status| layout::activity_listed(organization, status, number, id);
    // A new activity is in no list.
    let is_new = before == Status::Pending;
    let key = layout::activity(organization, id);
    let record = if is_new { Write::put_new(key, activity)? } else { Write::put(key, activity)? };
    let waiting = record.value.as_ref().filter(|_| status.waits());
    let digest = waiting.map(|record| RecordDigest::of(record));
    let logged = Effect::Log(activity_log::entry(activity).leaf());
    commit.writes.push(record.with(logged));
    if !is_new && before != status {
        commit.writes.push(Write::remove(listed(before)));
    }
    let entry = digest.as_ref().map_or([].as_slice(), |digest| digest.as_bytes());
    let listed = listed(status);
    commit.writes.push(if is_new { Write::mark_new(listed, entry) } else { Write::mark(listed, entry) });
    let removed = before.waits().then_some(Change::RemoveWaiting(id));
    Ok(digest.map(|digest| Change::PutWaiting(id, digest)).or(removed))
}
