//! Applies the daemon's answers to the state. Old data stays on screen until new data arrives.

use quorate_common::activity::Status;
use quorate_common::console::{
    ActivityRow, Change, DaemonStatus, OrganizationDetail, OrganizationHead, OrganizationPage, ReviewRecord,
};
use quorate_common::ids::OrganizationId;

use super::{Effect, LinkState, Model, Screen};
use crate::clock::CLOCK_DIFFERENCE_MILLIS;
use crate::link::{Answer, InboxPage, LinkError, Order};
use crate::proof::{Evidence, Review, Siblings, status_word};
use crate::screens::{activities, approvals, decide, organizations, policies, review};
use crate::text::{clock, duration};

/// Subjects of read failures.
const APPROVALS: &str = "approvals";
const ACTIVITY: &str = "the activity";
const PINNED: &str = "the pinned organization";
const CLOCKS: &str = "the clocks";

/// Applies one answer.
pub(super) fn apply(model: &mut Model, answer: Answer) -> Vec<Effect> {
    if !matches!(answer, Answer::Lost(..) | Answer::Failed(..)) {
        model.last_contact = model.now;
    }
    if let Some(subject) = subject(&answer) {
        model.failures.remove(subject);
    }
    match answer {
        Answer::Connected(status) => connected(model, status),
        Answer::Alive => Vec::new(),
        Answer::Status(status) => {
            model.daemon = Some(status);
            Vec::new()
        }
        Answer::Changed(change) => changed(model, &change),
        Answer::Lost(error, pause) => lost(model, error, pause),
        Answer::Inbox(page) => {
            inbox(model, page);
            Vec::new()
        }
        Answer::Rows(requested, rows) => {
            let reviews = examine_rows(model, rows);
            let notice = model.approvals.inbox.rows_read(&requested, reviews.into_iter(), model.now);
            announce(model, notice);
            Vec::new()
        }
        Answer::Head(head) => {
            organizations::refresh(&mut model.organizations, &head);
            Vec::new()
        }
        Answer::Record(reference, record) => apply_record(model, &reference, &record),
        Answer::Preflight(result) => decide::preflight(model, &result),
        Answer::Activities(after, page) => {
            activities::apply_page(&mut model.activities, after, page);
            Vec::new()
        }
        Answer::Organizations(parent, after, page) => apply_organizations(model, parent, after, page),
        Answer::Organization(detail) => organization(model, *detail),
        Answer::Recent(rows, resolved) => {
            review::replay(model, &rows, &resolved);
            Vec::new()
        }
        Answer::PolicyHistory(rows, resolved, changes) => {
            policies::apply_history(model, &rows, &resolved, changes);
            Vec::new()
        }
        Answer::Signer(name, signer) => {
            policies::apply_signer(&mut model.policies, name, signer.map(|signer| *signer));
            Vec::new()
        }
        Answer::Accounts(wallet, after, page) => {
            organizations::apply_accounts(&mut model.organizations, wallet, after, page);
            Vec::new()
        }
        Answer::Cast(result) => decide::apply_answer(model, result),
        Answer::Failed(what, error) => {
            failed(model, what, &error);
            Vec::new()
        }
    }
}

/// Applies a page of organizations. If no organization is pinned and only one exists, it is shown.
fn apply_organizations(
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
                effects.push(model.approvals.inbox.start_reading(id, model.now));
            }
            _ => {
                let text = "several organizations exist: pin one with --organization ID";
                model.failures.insert(PINNED, text.to_owned());
            }
        }
    }
    organizations::apply_page(&mut model.organizations, parent, after, page);
    effects
}

/// Returns the subject of an answer, as read failures name it.
const fn subject(answer: &Answer) -> Option<&'static str> {
    Some(match answer {
        Answer::Inbox(_) | Answer::Rows(..) => APPROVALS,
        Answer::Record(..) => ACTIVITY,
        Answer::Activities(..) => "activities",
        Answer::Organizations(..) => "organizations",
        Answer::Organization(_) => "the organization",
        Answer::Accounts(..) => "accounts",
        Answer::Recent(..) => "recent activities",
        Answer::PolicyHistory(..) => "the policy history",
        Answer::Signer(..) => "a signer",
        _ => return None,
    })
}

fn failed(model: &mut Model, what: &'static str, error: &LinkError) {
    match what {
        "the policy history" => policies::finish_history(model),
        ACTIVITY => model.opening = None,
        APPROVALS => {
            model.approvals.inbox.abort_reading(model.now);
            if let Some(id) = model.organization_id.filter(|_| error.is_missing()) {
                model.approvals.inbox.clear();
                organizations::forget(&mut model.organizations, id);
            }
        }
        _ => {}
    }
    let now = clock(model.now);
    let text = if model.organizations.is_missing && error.is_missing() {
        format!("{now} organization not found: it was deleted or never existed on this daemon")
    } else {
        format!("{now} cannot read {what}: {error}; the data on screen is unchanged")
    };
    model.failures.insert(what, text);
}

fn announce(model: &mut Model, notice: Option<String>) {
    if let Some(notice) = notice {
        model.notice = format!("{} {notice}", clock(model.now));
    }
}

fn connected(model: &mut Model, status: DaemonStatus) -> Vec<Effect> {
    if let Some(error) = model.identity.daemon_error(&status) {
        model.link = LinkState::Refused(error);
        return Vec::new();
    }
    let is_reconnect = matches!(model.link, LinkState::Lost { .. });
    let difference = status.now_millis.abs_diff(model.now);
    model.link = LinkState::Live;
    model.organizations.quorum_key.clone_from(&status.quorum_public_key);
    model.daemon = Some(status);
    model.failures.clear();
    if is_reconnect {
        model.notice = format!("{} reconnected", clock(model.now));
    }
    if difference > CLOCK_DIFFERENCE_MILLIS {
        let text = format!(
            "[!] the clocks of this host and the daemon differ by {}; requests may be refused",
            duration(difference)
        );
        model.failures.insert(CLOCKS, text);
    }
    reload_all(model)
}

/// Reloads everything on screen.
pub(super) fn reload_all(model: &mut Model) -> Vec<Effect> {
    let mut effects = vec![Effect::Order(Order::Organizations(None, None))];
    if let Some(id) = model.organization_id {
        effects.push(model.approvals.inbox.start_reading(id, model.now));
        if matches!(model.screen, Screen::Activities | Screen::Policies) {
            effects.push(Effect::Order(Order::Activities(id, None)));
        }
        if model.screen == Screen::Policies {
            effects.extend(policies::read_history(model));
        }
        effects.push(Effect::Order(Order::Organizations(Some(id), None)));
        // The pinned organization is loaded together with its inbox.
        let shown = model.organizations.detail.as_ref().map(|detail| detail.head.organization_id);
        effects.extend(shown.filter(|shown| *shown != id).map(|id| Effect::Order(Order::Organization(id))));
    }
    effects.extend(review::reread(model));
    effects
}

fn changed(model: &mut Model, change: &Change) -> Vec<Effect> {
    match change {
        Change::Reset => reload_all(model),
        Change::Activity { organization_id, activity_id, status } => {
            let mut effects = Vec::new();
            if model.organization_id == Some(*organization_id) {
                if *status == Status::ConsensusNeeded {
                    model.approvals.inbox.mark_changed(*activity_id);
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

fn lost(model: &mut Model, error: LinkError, pause: u64) -> Vec<Effect> {
    let since = match &model.link {
        LinkState::Lost { since, .. } => *since,
        _ => model.now,
    };
    model.approvals.inbox.abort_reading(model.now);
    model.failures.clear();
    model.link = match error {
        LinkError::Protocol { .. } => LinkState::Refused(error.to_string()),
        error => {
            LinkState::Lost { error, since, retry: model.now.saturating_add(pause.saturating_mul(1000)) }
        }
    };
    Vec::new()
}

/// Pins new keys, names and quorums of an organization.
fn pin_known_keys(model: &mut Model, organization: &OrganizationDetail) -> Vec<Effect> {
    if model.known_keys.pin_new(organization, model.now) {
        vec![Effect::SaveKnownKeys(Box::new(model.known_keys.clone()))]
    } else {
        Vec::new()
    }
}

/// Applies an organization. If the pinned organization changed in more than its version, the inbox is loaded
/// again, because the users who may vote can differ.
fn organization(model: &mut Model, detail: OrganizationDetail) -> Vec<Effect> {
    let mut effects = pin_known_keys(model, &detail);
    organizations::refresh(&mut model.organizations, &detail.head);
    if model.organization_id == Some(detail.head.organization_id) {
        model.viewer = model.identity.viewer_in(&detail);
        model.mismatch = model.identity.mismatch(&detail).map(|failure| failure.message().to_owned());
        if model.organization.as_ref().is_some_and(|known| !is_same_authority(known, &detail)) {
            model.approvals.inbox.request_reading();
        }
        model.organization = Some(detail.clone());
        effects.extend(review::refresh_draft(model));
    }
    organizations::show(&mut model.organizations, detail);
    effects
}

/// Returns whether two states of an organization differ only in what every vote changes.
fn is_same_authority(known: &OrganizationDetail, fresh: &OrganizationDetail) -> bool {
    let (version, updated_at) = (known.head.version, known.head.updated_at.clone());
    let head = OrganizationHead { version, updated_at, ..fresh.head.clone() };
    *known == OrganizationDetail { head, ..fresh.clone() }
}

fn inbox(model: &mut Model, page: InboxPage) {
    let InboxPage { reading, is_last, waiting, rows } = page;
    let reviews = examine_rows(model, rows);
    let notice = model.approvals.inbox.page((reading, is_last), waiting, reviews.into_iter(), model.now);
    announce(model, notice);
}

/// Examines rows of the inbox, without the flags that depend on other rows.
fn examine_rows(model: &Model, rows: Vec<ActivityRow>) -> Vec<(Review, ActivityRow)> {
    let Some(organization) = &model.organization else { return Vec::new() };
    let (viewer, none) = (model.identity.viewer_in(organization), Siblings::default());
    let mut reviews = Vec::with_capacity(rows.len());
    let mut organization = organization.clone();
    for row in rows {
        let record = ReviewRecord { row, organization, grounds: None };
        let review = Review::of(&Evidence {
            record: &record,
            siblings: &none,
            known_keys: &model.known_keys,
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

/// Applies the record of the open review. A record that an earlier review requested is ignored.
fn apply_record(model: &mut Model, reference: &str, record: &ReviewRecord) -> Vec<Effect> {
    let mut effects = pin_known_keys(model, &record.organization);
    if model.opening.as_ref().is_some_and(|opening| opening.reference == reference) {
        let fresh = model.examine(record, Some(reference));
        effects.extend(review::replay_order(&fresh));
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
    let is_replaced = open.wants_fresh;
    let was_open = super::is_open(open.review.activity.status);
    if let Some(open) = &mut model.review {
        if is_replaced {
            effects.extend(review::replay_order(&fresh));
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
