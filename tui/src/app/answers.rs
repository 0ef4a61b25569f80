//! Applies the daemon's answers to the state. Old data stays on screen until new data arrives.

use std::sync::Arc;

use quorate_common::console::{ActivityRow, Change, DaemonStatus, OrganizationDetail, OrganizationInbox};

use super::model::Model;
use super::organization::{first_page, listed};
use crate::clock::CLOCK_DIFFERENCE_MILLIS;
use crate::link::{Answer, EarlierTransfers, InboxRead, LinkError, Order, Subject};
use crate::proof::{Evidence, Past, Record, Review, Siblings};
use crate::screens::authority::Authority;
use crate::screens::inbox::{Page, closed};
use crate::screens::request::Effect;
use crate::screens::review;
use crate::screens::shared::LinkState;
use crate::text::{clock, duration};

/// Applies one answer.
pub(super) fn apply(model: &mut Model, answer: Answer) -> Vec<Effect> {
    if !matches!(answer, Answer::Lost(..) | Answer::Failed(..)) {
        model.shared.last_contact = model.shared.now;
    }
    if let Some(subject) = answer.subject() {
        model.failures.remove(&subject);
    }
    let form = model.proposing.as_mut().map(|form| form.apply(&model.shared, &answer)).unwrap_or_default();
    let mut effects = model.fulfil(form);
    effects.extend(model.on_screens(|screen, shared, _| screen.apply(shared, &answer)));
    effects.extend(listed(model, &answer));
    effects.extend(apply_shared(model, answer));
    effects
}

/// Applies an answer to what all screens share, and to the review.
fn apply_shared(model: &mut Model, answer: Answer) -> Vec<Effect> {
    match answer {
        Answer::Connected(status) => return connected(model, status),
        Answer::Status(status) => model.shared.daemon = Some(status),
        Answer::Host(is_same) => model.shared.is_same_host = is_same,
        Answer::Changed(change) => return changed(model, &change),
        Answer::Lost(error, pause) => lost(model, error, pause),
        Answer::Inbox(read) => inbox(model, read),
        Answer::Rows(organization, requested, rows) if is_below(model, &organization) => {
            let (reviews, now) = (examine_rows(model, &organization, rows), model.shared.now);
            model.shared.inbox.learn(&organization);
            let notice = model.shared.inbox.rows_read(&requested, reviews.into_iter(), now);
            announce(model, notice);
        }
        Answer::Below(organization) => model.shared.inbox.learn(&organization),
        Answer::Gone(organization) => {
            let gone = model.shared.inbox.forget(organization);
            announce(model, (gone > 0).then(|| closed(gone)));
        }
        Answer::Record(reference, record) => return apply_record(model, &reference, &Record::from(*record)),
        Answer::Preflight(result) => {
            let effect = model.review.as_mut().and_then(|open| open.preflight(&model.shared, result));
            return effect.into_iter().collect();
        }
        // A late page may be of the organization that was shown before.
        Answer::Activities(after, page) if model.shared.is_shown(&page.activities) => {
            model.shared.activities.apply(after, page);
        }
        Answer::Organizations(None, None, page) if model.shared.organization_id.is_none() => {
            return first_page(model, &page);
        }
        Answer::Organization(detail) => return organization(model, &detail),
        Answer::Recent(rows, resolved) => {
            if let Some(open) = &mut model.review {
                open.replay(&model.shared, &rows, &resolved);
            }
        }
        Answer::Transfers(id, read) => {
            if let Some(open) = model.review.as_mut().filter(|open| open.review.activity.id == id) {
                let EarlierTransfers { rows, is_partial, owners } = *read;
                let own = model.shared.own_transfers.clone();
                open.set_past(Past::of(&open.review, (&rows, is_partial), owners, own));
            }
        }
        Answer::Cast(result) => {
            let is_draft = model.review.as_ref().is_some_and(|open| open.review.draft.is_some());
            if is_draft && result.is_ok() {
                // The draft is an activity now, so its form must not propose it again.
                model.proposing = None;
            }
            let requests = model.review.as_mut().map(|open| open.answered(&model.shared, &result));
            return model.fulfil(requests.unwrap_or_default());
        }
        Answer::Failed(subject, error) => failed(model, subject, &error),
        // Only screens need these.
        Answer::Alive
        | Answer::Rows(..)
        | Answer::Activities(..)
        | Answer::Organizations(..)
        | Answer::Head(_)
        | Answer::Accounts(..)
        | Answer::History(..)
        | Answer::Signer(..)
        | Answer::Messages(..)
        | Answer::Health(..)
        | Answer::Webhooks(..)
        | Answer::Deliveries(..)
        | Answer::Retried(..)
        | Answer::Tested(..)
        | Answer::PolicyHistory(..) => {}
    }
    Vec::new()
}

/// Applies a page of what waits, organization by organization.
fn inbox(model: &mut Model, read: InboxRead) {
    let InboxRead { reading, end, page } = read;
    let of_page = Page { reading, end, waiting: page.waiting };
    let mut reviews = Vec::new();
    if model.shared.inbox.is_current(reading) {
        for OrganizationInbox { organization, activities } in page.organizations {
            // Its keys are pinned when one of its activities is reviewed: anybody may have a sub-organization, and the file
            // of known keys has a limit.
            let organization = Arc::new(organization);
            model.shared.inbox.learn(&organization);
            reviews.extend(examine_rows(model, &organization, activities));
        }
    }
    let now = model.shared.now;
    let notice = model.shared.inbox.page(&of_page, reviews.into_iter(), now);
    announce(model, notice);
}

/// Returns whether an organization is the one that is shown, or a sub-organization of it.
fn is_below(model: &Model, organization: &OrganizationDetail) -> bool {
    let (head, shown) = (&organization.head, model.shared.organization_id);
    shown.is_some() && [Some(head.organization_id), head.parent_organization_id].contains(&shown)
}

fn failed(model: &mut Model, subject: Subject, error: &LinkError) {
    let shared = &mut model.shared;
    if matches!(error, LinkError::Witness(_)) {
        // Nothing that it states is used until it states what follows, after it was started again.
        shared.link = LinkState::Refused(error.to_string());
    }
    match subject {
        Subject::Activity => model.opening = None,
        Subject::Transfers => {
            if let Some(open) = model.review.as_mut().filter(|open| open.read_past().is_some()) {
                let own = shared.own_transfers.clone();
                open.set_past(Past::unread(&open.review, error.to_string(), own));
            }
        }
        Subject::Approvals => {
            shared.inbox.abort_reading(shared.now);
            if shared.organization_id.is_some() && error.is_missing() {
                shared.inbox.clear();
                shared.is_missing = true;
            }
        }
        _ => {}
    }
    let now = clock(shared.now);
    let text = if shared.is_missing && error.is_missing() {
        format!("{now} organization not found: it was deleted or never existed on this daemon")
    } else {
        format!("{now} cannot read {}: {error}; the data on screen is unchanged", subject.name())
    };
    model.failures.insert(subject, text);
}

fn announce(model: &mut Model, notice: Option<String>) {
    if let Some(notice) = notice {
        model.notice = format!("{} {notice}", clock(model.shared.now));
    }
}

fn connected(model: &mut Model, status: DaemonStatus) -> Vec<Effect> {
    let shared = &mut model.shared;
    if let Some(error) = shared.identity.daemon_error(&status) {
        shared.link = LinkState::Refused(error);
        return Vec::new();
    }
    let is_reconnect = matches!(shared.link, LinkState::Lost { .. });
    let difference = status.now_millis.abs_diff(shared.now);
    shared.link = LinkState::Live;
    shared.daemon = Some(status);
    model.failures.clear();
    if is_reconnect {
        model.notice = format!("{} reconnected", clock(shared.now));
    }
    if difference > CLOCK_DIFFERENCE_MILLIS {
        let text = format!(
            "[!] the clocks of this host and the daemon differ by {}; requests may be refused",
            duration(difference)
        );
        model.failures.insert(Subject::Clocks, text);
    }
    reload_all(model)
}

/// Reloads everything on screen.
pub(super) fn reload_all(model: &mut Model) -> Vec<Effect> {
    let shared = &mut model.shared;
    let inbox = shared.organization_id.map(|id| shared.inbox.start_reading(id, shared.now));
    let mut effects: Vec<Effect> = inbox.map(Effect::Order).into_iter().collect();
    effects.extend(model.read_activities());
    effects.extend(model.on_screens(|screen, shared, is_shown| screen.reload(shared, is_shown)));
    effects.extend(reread(model));
    effects
}

fn reread(model: &Model) -> Option<Effect> {
    model.review.as_ref().and_then(review::State::reread).map(Effect::Order)
}

fn changed(model: &mut Model, change: &Change) -> Vec<Effect> {
    let mut effects = Vec::new();
    let is_concerned =
        |of: &dyn Fn(&Review) -> bool| model.review.as_ref().is_some_and(|open| of(&open.review));
    let is_reread = match change {
        Change::Reset => return reload_all(model),
        Change::Activity { activity_id, .. } => is_concerned(&|review| review.activity.id == *activity_id),
        Change::Organization { organization_id, .. } => {
            is_concerned(&|review| review.activity.organization_id == *organization_id)
        }
    };
    let shown = model.shared.organization_id;
    match change {
        Change::Activity { organization_id, activity_id, status, parent_organization_id }
            if shown.is_some() && [Some(*organization_id), *parent_organization_id].contains(&shown) =>
        {
            if status.waits() {
                model.shared.inbox.mark_changed(*organization_id, *activity_id);
            } else if model.shared.inbox.close(*activity_id) {
                announce(model, Some(closed(1)));
            }
            let is_shown = shown == Some(*organization_id);
            effects.extend(model.read_activities().filter(|_| is_shown));
        }
        Change::Organization { organization_id, .. } if shown == Some(*organization_id) => {
            effects.push(Effect::Order(Order::Organization(*organization_id)));
        }
        Change::Organization { organization_id, .. } if model.shared.inbox.contains(*organization_id) => {
            effects.push(Effect::Order(Order::Below(*organization_id)));
        }
        _ => {}
    }
    effects.extend(reread(model).filter(|_| is_reread));
    effects
}

fn lost(model: &mut Model, error: LinkError, pause: u64) {
    let since = match &model.shared.link {
        LinkState::Lost { since, .. } => *since,
        _ => model.shared.now,
    };
    model.shared.inbox.abort_reading(model.shared.now);
    model.failures.clear();
    model.shared.link = match error {
        LinkError::Protocol { .. } | LinkError::Untrusted(_) => LinkState::Refused(error.to_string()),
        error => LinkState::Lost {
            error,
            since,
            retry: model.shared.now.saturating_add(pause.saturating_mul(1000)),
        },
    };
}

/// Pins new keys, names and quorums of an organization.
fn pin_known_keys(model: &mut Model, organization: &OrganizationDetail) -> Option<Effect> {
    let is_new = model.shared.known_keys.pin_new(organization, model.shared.now);
    is_new.then(|| Effect::SaveKnownKeys(Box::new(model.shared.known_keys.clone())))
}

/// Applies an organization. If the pinned organization changed in more than its version, the inbox is loaded
/// again, because the users who may vote can differ.
fn organization(model: &mut Model, detail: &Arc<OrganizationDetail>) -> Vec<Effect> {
    let mut effects: Vec<Effect> = pin_known_keys(model, detail).into_iter().collect();
    let shared = &mut model.shared;
    if shared.organization_id != Some(detail.head.organization_id) {
        return effects;
    }
    shared.is_missing = false;
    shared.viewer = shared.identity.viewer_in(detail);
    shared.mismatch = shared.identity.mismatch(detail).map(|failure| failure.message().to_owned());
    let is_same = |known: &Arc<_>| Authority::of(known) == Authority::of(detail);
    if shared.organization.as_ref().is_some_and(|known| !is_same(known)) {
        shared.inbox.request_reading();
    }
    shared.organization = Some(Arc::clone(detail));
    let request = model.review.as_mut().and_then(|open| open.refresh_draft(&model.shared, detail));
    effects.extend(model.fulfil(request));
    effects
}

/// Examines rows of the inbox, without the flags that depend on other rows.
fn examine_rows(
    model: &Model,
    organization: &Arc<OrganizationDetail>,
    rows: Vec<ActivityRow>,
) -> Vec<(Review, ActivityRow)> {
    let shared = &model.shared;
    let (viewer, none) = (shared.identity.viewer_below(organization), Siblings::default());
    let examined = rows.into_iter().map(|row| {
        let record = Record::of_row(row, organization);
        let review = Review::of(&Evidence {
            record: &record,
            siblings: &none,
            known_keys: &shared.known_keys,
            book: &shared.book,
            viewer: &viewer,
            now: shared.now,
            reference: None,
        });
        (review, record.row)
    });
    examined.collect()
}

/// Applies the record of the open review. A record that an earlier review requested is ignored.
fn apply_record(model: &mut Model, reference: &str, record: &Record) -> Vec<Effect> {
    let mut effects: Vec<Effect> = pin_known_keys(model, &record.organization).into_iter().collect();
    let orders = if model.opening.as_ref().is_some_and(|opening| opening.reference == reference) {
        let open = review::State::new(model.shared.examine(record, Some(reference)), false);
        let orders = open.reads();
        (model.opening, model.review) = (None, Some(open));
        orders
    } else {
        let open = model
            .review
            .as_mut()
            .filter(|open| open.review.draft.is_none() && reference == open.review.activity.id.to_string());
        open.map(|open| open.apply_record(&model.shared, record, reference)).unwrap_or_default()
    };
    effects.extend(orders.into_iter().map(Effect::Order));
    effects
}
