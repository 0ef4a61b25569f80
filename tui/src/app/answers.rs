//! What the daemon says, taken into the state. Old data stays on screen until new data is there.

use quorate_common::console::{ActivityRow, Change, OrganizationDetail, ReviewRecord};

use super::{Effect, LinkState, Model, Screen};
use crate::link::{Answer, LinkFlaw, Order};
use crate::proof::status_word;
use crate::screens::{activities, approvals, decide, organizations, policies, review};
use crate::text::{clock, duration};

/// Clocks further apart than this are told.
const CLOCKS_APART_MILLIS: u64 = 60_000;

/// Takes in one answer.
pub(super) fn take(model: &mut Model, answer: Answer) -> Vec<Effect> {
    if !matches!(answer, Answer::Lost(..) | Answer::Failed(..)) {
        model.heard = model.now;
    }
    match answer {
        Answer::Connected(status) => connected(model, status),
        Answer::Alive => Vec::new(),
        Answer::Changed(change) => changed(model, &change),
        Answer::Lost(flaw, pause) => lost(model, flaw, pause),
        Answer::Approvals(organization, rows, more) => {
            model.approvals.more = more;
            list(model, *organization, &rows)
        }
        Answer::Record(reference, record) => opened(model, &reference, &record),
        Answer::Preflight(result) => decide::preflight(model, &result),
        Answer::Activities(after, page) => {
            activities::take(&mut model.activities, after, page);
            Vec::new()
        }
        Answer::Organizations(parent, after, page) => {
            if model.organization_id.is_none() && parent.is_none() {
                match page.organizations.as_slice() {
                    [only] if page.next.is_none() => model.organization_id = Some(only.organization_id),
                    _ => {
                        "several organizations: pin one with --organization ID".clone_into(&mut model.notice);
                    }
                }
            }
            organizations::take(&mut model.organizations, parent, after, page);
            model.read_approvals()
        }
        Answer::Organization(detail) => {
            let effects = see(model, &detail);
            organizations::show(&mut model.organizations, *detail);
            effects
        }
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

fn failed(model: &mut Model, what: &str, flaw: &LinkFlaw) {
    if what == "the history of policies" {
        policies::miss_history(model);
    }
    if what == "approvals" {
        model.reading = (false, false);
        if let Some(id) = model.organization_id.filter(|_| flaw.is_missing()) {
            approvals::take(&mut model.approvals, Vec::new());
            organizations::forget(&mut model.organizations, id);
        }
    }
    let now = clock(model.now);
    model.notice = if model.organizations.gone && flaw.is_missing() {
        format!("{now} the organization is not there: it was deleted, or never was of this daemon")
    } else {
        format!("{now} cannot read {what}: {flaw}; what is shown stays as it was")
    };
}

fn connected(model: &mut Model, status: quorate_common::console::DaemonStatus) -> Vec<Effect> {
    if let Some(refusal) = model.identity.refusal(&status) {
        model.link = LinkState::Refused(refusal);
        return Vec::new();
    }
    let again = matches!(model.link, LinkState::Lost { .. });
    let apart = status.now_millis.abs_diff(model.now);
    model.link = LinkState::Live;
    model.organizations.quorum_key.clone_from(&status.quorum_public_key);
    model.daemon = Some(status);
    if again {
        model.notice = format!("{} connected again", clock(model.now));
    }
    if apart > CLOCKS_APART_MILLIS {
        model.notice =
            format!("[!] this host and the daemon are {} apart; stamps may be refused", duration(apart));
    }
    everything(model)
}

/// Reads again whatever is on screen.
pub(super) fn everything(model: &mut Model) -> Vec<Effect> {
    model.reading = (false, false);
    let mut effects = vec![Effect::Order(Order::Organizations(None, None))];
    effects.extend(model.read_approvals());
    if let Some(id) = model.organization_id {
        if matches!(model.screen, Screen::Activities | Screen::Policies) {
            effects.push(Effect::Order(Order::Activities(id, None)));
        }
        if model.screen == Screen::Policies {
            effects.extend(policies::read_history(model));
        }
        effects.push(Effect::Order(Order::Organizations(Some(id), None)));
        let shown = model.organizations.detail.as_ref().map_or(id, |detail| detail.head.organization_id);
        effects.push(Effect::Order(Order::Organization(shown)));
    }
    effects.extend(review::reread(model));
    effects
}

fn changed(model: &mut Model, change: &Change) -> Vec<Effect> {
    match change {
        Change::Reset => everything(model),
        Change::Activity { organization_id, activity_id, .. } => {
            let mut effects = Vec::new();
            if model.organization_id == Some(*organization_id) {
                effects.extend(model.read_approvals());
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
            let mut effects = Vec::new();
            if model.organization_id == Some(*organization_id) {
                effects.extend(model.read_approvals());
            }
            if model
                .organizations
                .detail
                .as_ref()
                .is_some_and(|detail| detail.head.organization_id == *organization_id)
            {
                effects.push(Effect::Order(Order::Organization(*organization_id)));
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
    model.reading = (false, false);
    model.link = match flaw {
        LinkFlaw::Protocol { .. } => LinkState::Refused(flaw.to_string()),
        flaw => LinkState::Lost { flaw, since, retry: model.now.saturating_add(pause.saturating_mul(1000)) },
    };
    Vec::new()
}

/// Takes the keys of an organization into the roster.
fn see(model: &mut Model, organization: &OrganizationDetail) -> Vec<Effect> {
    if model.roster.see(organization, model.now) {
        vec![Effect::SaveRoster(Box::new(model.roster.clone()))]
    } else {
        Vec::new()
    }
}

fn list(model: &mut Model, organization: OrganizationDetail, rows: &[ActivityRow]) -> Vec<Effect> {
    let mut effects = see(model, &organization);
    model.viewer = model.identity.viewer_in(&organization);
    let again = model.reading.1;
    model.reading = (false, false);
    if again {
        effects.extend(model.read_approvals());
    }
    let reviews = rows
        .iter()
        .map(|row| {
            let record = ReviewRecord { row: row.clone(), organization: organization.clone(), grounds: None };
            model.examine(&record, rows, None)
        })
        .collect();
    if let Some(news) = approvals::take(&mut model.approvals, reviews) {
        model.notice = format!("{} {news}", clock(model.now));
    }
    if model
        .organizations
        .detail
        .as_ref()
        .is_none_or(|shown| shown.head.organization_id == organization.head.organization_id)
    {
        organizations::show(&mut model.organizations, organization.clone());
    }
    model.organization = Some(organization);
    effects.extend(review::rethink(model));
    effects
}

/// Takes the record of the open review. One that was asked for by an earlier review says nothing about this one.
fn opened(model: &mut Model, reference: &str, record: &ReviewRecord) -> Vec<Effect> {
    let mut effects = see(model, &record.organization);
    let siblings: Vec<ActivityRow> = model.approvals.rows.iter().map(approvals::row).collect();
    let Some(open) = &model.review else { return effects };
    if open.review.draft.is_some() || reference != open.review.activity.id.to_string() {
        return effects;
    }
    let fresh = model.examine(record, &siblings, Some(reference));
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
