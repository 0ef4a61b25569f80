//! What the daemon says, taken into the state. Old data stays on screen until new data is there.

use quorate_common::activity::Status;
use quorate_common::console::{
    ActivityRow, Change, DaemonStatus, OrganizationDetail, OrganizationHead, OrganizationPage, ReviewRecord,
};
use quorate_common::ids::OrganizationId;

use super::{Effect, LinkState, Model, Screen};
use crate::clock::CLOCKS_APART_MILLIS;
use crate::link::{Answer, InboxPage, LinkFlaw, Order};
use crate::proof::{Evidence, Review, Siblings, status_word};
use crate::screens::{activities, approvals, decide, organizations, policies, review};
use crate::text::{clock, duration};

/// What failures are about.
const APPROVALS: &str = "approvals";
const ACTIVITY: &str = "the activity";
const PINNED: &str = "the pinned organization";
const CLOCKS: &str = "the clocks";

/// Takes in one answer.
pub(super) fn take(model: &mut Model, answer: Answer) -> Vec<Effect> {
    if !matches!(answer, Answer::Lost(..) | Answer::Failed(..)) {
        model.heard = model.now;
    }
    if let Some(read) = read(&answer) {
        model.failures.remove(read);
    }
    match answer {
        Answer::Connected(status) => connected(model, status),
        Answer::Alive => Vec::new(),
        Answer::Status(status) => {
            model.daemon = Some(status);
            Vec::new()
        }
        Answer::Changed(change) => changed(model, &change),
        Answer::Lost(flaw, pause) => lost(model, flaw, pause),
        Answer::Inbox(page) => {
            inbox(model, page);
            Vec::new()
        }
        Answer::Rows(asked, rows) => {
            let reviews = examined(model, rows);
            let news = model.approvals.inbox.rows_read(&asked, reviews.into_iter(), model.now);
            announce(model, news);
            Vec::new()
        }
        Answer::Head(head) => {
            organizations::refresh(&mut model.organizations, &head);
            Vec::new()
        }
        Answer::Record(reference, record) => opened(model, &reference, &record),
        Answer::Preflight(result) => decide::preflight(model, &result),
        Answer::Activities(after, page) => {
            activities::take(&mut model.activities, after, page);
            Vec::new()
        }
        Answer::Organizations(parent, after, page) => organizations_read(model, parent, after, page),
        Answer::Organization(detail) => organization(model, *detail),
        Answer::Recent(rows, looked) => {
            review::replay(model, &rows, &looked);
            Vec::new()
        }
        Answer::PolicyHistory(rows, looked, changes) => {
            policies::take_history(model, &rows, &looked, changes);
            Vec::new()
        }
        Answer::Signer(name, signer) => {
            policies::take(&mut model.policies, name, signer.map(|signer| *signer));
            Vec::new()
        }
        Answer::Accounts(wallet, after, page) => {
            organizations::take_accounts(&mut model.organizations, wallet, after, page);
            Vec::new()
        }
        Answer::Cast(result) => decide::answered(model, result),
        Answer::Failed(what, flaw) => {
            failed(model, what, &flaw);
            Vec::new()
        }
    }
}

/// Takes a page of organizations. Without a pinned one, the only one there is becomes the one that is shown.
fn organizations_read(
    model: &mut Model,
    parent: Option<OrganizationId>,
    after: Option<OrganizationId>,
    page: OrganizationPage,
) -> Vec<Effect> {
    let mut effects = Vec::new();
    if model.organization_id.is_none() && parent.is_none() {
        match page.organizations.as_slice() {
            [only] if page.next.is_none() => {
                let id = only.organization_id;
                model.organization_id = Some(id);
                model.failures.remove(PINNED);
                effects.push(model.approvals.inbox.begin(id, model.now));
            }
            _ => {
                let text = "several organizations: pin one with --organization ID";
                model.failures.insert(PINNED, text.to_owned());
            }
        }
    }
    organizations::take(&mut model.organizations, parent, after, page);
    effects
}

/// What an answer is the reading of, as failures name it.
const fn read(answer: &Answer) -> Option<&'static str> {
    Some(match answer {
        Answer::Inbox(_) | Answer::Rows(..) => APPROVALS,
        Answer::Record(..) => ACTIVITY,
        Answer::Activities(..) => "activities",
        Answer::Organizations(..) => "organizations",
        Answer::Organization(_) => "the organization",
        Answer::Accounts(..) => "accounts",
        Answer::Recent(..) => "the activities of late",
        Answer::PolicyHistory(..) => "the history of policies",
        Answer::Signer(..) => "what a name stands for",
        _ => return None,
    })
}

fn failed(model: &mut Model, what: &'static str, flaw: &LinkFlaw) {
    match what {
        "the history of policies" => policies::miss_history(model),
        ACTIVITY => model.opening = None,
        APPROVALS => {
            model.approvals.inbox.stop(model.now);
            if let Some(id) = model.organization_id.filter(|_| flaw.is_missing()) {
                model.approvals.inbox.clear();
                organizations::forget(&mut model.organizations, id);
            }
        }
        _ => {}
    }
    let now = clock(model.now);
    let text = if model.organizations.gone && flaw.is_missing() {
        format!("{now} the organization is not there: it was deleted, or never was of this daemon")
    } else {
        format!("{now} cannot read {what}: {flaw}; what is shown stays as it was")
    };
    model.failures.insert(what, text);
}

fn announce(model: &mut Model, news: Option<String>) {
    if let Some(news) = news {
        model.notice = format!("{} {news}", clock(model.now));
    }
}

fn connected(model: &mut Model, status: DaemonStatus) -> Vec<Effect> {
    if let Some(refusal) = model.identity.refusal(&status) {
        model.link = LinkState::Refused(refusal);
        return Vec::new();
    }
    let again = matches!(model.link, LinkState::Lost { .. });
    let apart = status.now_millis.abs_diff(model.now);
    model.link = LinkState::Live;
    model.organizations.quorum_key.clone_from(&status.quorum_public_key);
    model.daemon = Some(status);
    model.failures.clear();
    if again {
        model.notice = format!("{} connected again", clock(model.now));
    }
    if apart > CLOCKS_APART_MILLIS {
        let text =
            format!("[!] this host and the daemon are {} apart; stamps may be refused", duration(apart));
        model.failures.insert(CLOCKS, text);
    }
    everything(model)
}

/// Reads again whatever is on screen.
pub(super) fn everything(model: &mut Model) -> Vec<Effect> {
    let mut effects = vec![Effect::Order(Order::Organizations(None, None))];
    if let Some(id) = model.organization_id {
        effects.push(model.approvals.inbox.begin(id, model.now));
        if matches!(model.screen, Screen::Activities | Screen::Policies) {
            effects.push(Effect::Order(Order::Activities(id, None)));
        }
        if model.screen == Screen::Policies {
            effects.extend(policies::read_history(model));
        }
        effects.push(Effect::Order(Order::Organizations(Some(id), None)));
        // The pinned one is read with what waits in it.
        let shown = model.organizations.detail.as_ref().map(|detail| detail.head.organization_id);
        effects.extend(shown.filter(|shown| *shown != id).map(|id| Effect::Order(Order::Organization(id))));
    }
    effects.extend(review::reread(model));
    effects
}

fn changed(model: &mut Model, change: &Change) -> Vec<Effect> {
    match change {
        Change::Reset => everything(model),
        Change::Activity { organization_id, activity_id, status } => {
            let mut effects = Vec::new();
            if model.organization_id == Some(*organization_id) {
                if *status == Status::ConsensusNeeded {
                    model.approvals.inbox.note(*activity_id);
                } else if model.approvals.inbox.close(*activity_id) {
                    announce(model, Some(approvals::closed(1)));
                }
                if matches!(model.screen, Screen::Activities | Screen::Policies) {
                    effects.push(Effect::Order(Order::Activities(*organization_id, None)));
                }
            }
            if model.review.as_ref().is_some_and(|open| open.review.activity.id == *activity_id) {
                effects.extend(review::reread(model));
            }
            effects
        }
        Change::Organization { organization_id, .. } => {
            let id = *organization_id;
            let shown = model.organizations.detail.as_ref().map(|detail| detail.head.organization_id);
            let order = if model.organization_id == Some(id) || shown == Some(id) {
                Order::Organization(id)
            } else if organizations::is_known(&model.organizations, id) {
                Order::Head(id)
            } else {
                return Vec::new();
            };
            let mut effects = vec![Effect::Order(order)];
            if model.review.as_ref().is_some_and(|open| open.review.activity.organization_id == id) {
                effects.extend(review::reread(model));
            }
            effects
        }
    }
}

fn lost(model: &mut Model, flaw: LinkFlaw, pause: u64) -> Vec<Effect> {
    let since = match &model.link {
        LinkState::Lost { since, .. } => *since,
        _ => model.now,
    };
    model.approvals.inbox.stop(model.now);
    model.failures.clear();
    model.link = match flaw {
        LinkFlaw::Protocol { .. } => LinkState::Refused(flaw.to_string()),
        flaw => LinkState::Lost { flaw, since, retry: model.now.saturating_add(pause.saturating_mul(1000)) },
    };
    Vec::new()
}

/// Adds what is new of an organization to the known keys.
fn see(model: &mut Model, organization: &OrganizationDetail) -> Vec<Effect> {
    if model.roster.see(organization, model.now) {
        vec![Effect::SaveRoster(Box::new(model.roster.clone()))]
    } else {
        Vec::new()
    }
}

/// Takes an organization. When the pinned one differs in more than its version, all that waits is read again: who may
/// vote may have changed.
fn organization(model: &mut Model, detail: OrganizationDetail) -> Vec<Effect> {
    let mut effects = see(model, &detail);
    organizations::refresh(&mut model.organizations, &detail.head);
    if model.organization_id == Some(detail.head.organization_id) {
        model.viewer = model.identity.viewer_in(&detail);
        model.misfit = model.identity.misfit(&detail).map(|failure| failure.message().to_owned());
        if model.organization.as_ref().is_some_and(|known| !is_same_authority(known, &detail)) {
            model.approvals.inbox.want();
        }
        model.organization = Some(detail.clone());
        effects.extend(review::rethink(model));
    }
    organizations::show(&mut model.organizations, detail);
    effects
}

/// Whether two states of an organization differ in nothing but what each vote changes.
fn is_same_authority(known: &OrganizationDetail, fresh: &OrganizationDetail) -> bool {
    let (version, updated_at) = (known.head.version, known.head.updated_at.clone());
    let head = OrganizationHead { version, updated_at, ..fresh.head.clone() };
    *known == OrganizationDetail { head, ..fresh.clone() }
}

fn inbox(model: &mut Model, page: InboxPage) {
    let InboxPage { reading, is_last, waiting, rows } = page;
    let reviews = examined(model, rows);
    let news = model.approvals.inbox.page((reading, is_last), waiting, reviews.into_iter(), model.now);
    announce(model, news);
}

/// Examines rows of the list, without what depends on the others of them.
fn examined(model: &Model, rows: Vec<ActivityRow>) -> Vec<(Review, ActivityRow)> {
    let Some(organization) = &model.organization else { return Vec::new() };
    let (viewer, none) = (model.identity.viewer_in(organization), Siblings::default());
    let mut reviews = Vec::with_capacity(rows.len());
    let mut organization = organization.clone();
    for row in rows {
        let record = ReviewRecord { row, organization, grounds: None };
        let review = Review::of(&Evidence {
            record: &record,
            siblings: &none,
            roster: &model.roster,
            book: &model.book,
            viewer: &viewer,
            now: model.now,
            reference: None,
        });
        organization = record.organization;
        reviews.push((review, record.row));
    }
    reviews
}

/// Takes the record of the open review. One that was asked for by an earlier review says nothing about this one.
fn opened(model: &mut Model, reference: &str, record: &ReviewRecord) -> Vec<Effect> {
    let mut effects = see(model, &record.organization);
    if model.opening.as_ref().is_some_and(|opening| opening.reference == reference) {
        let fresh = model.examine(record, Some(reference));
        effects.extend(review::wants_replay(&fresh));
        model.opening = None;
        model.review = Some(review::State::fresh(fresh));
        return effects;
    }
    let Some(open) = &model.review else { return effects };
    if open.review.draft.is_some() || reference != open.review.activity.id.to_string() {
        return effects;
    }
    let fresh = model.examine(record, Some(reference));
    let state = fresh.activity.status;
    let take_in = open.wants_fresh;
    let was_open = super::is_open(open.review.activity.status);
    if let Some(open) = &mut model.review {
        if take_in {
            effects.extend(review::wants_replay(&fresh));
            open.replace(fresh);
        } else {
            open.changed = review::difference(&open.review, &fresh);
        }
        if was_open && !super::is_open(state) {
            open.closed = Some(format!("CLOSED at {}: {}", clock(model.now), status_word(state)));
        }
    }
    effects
}
