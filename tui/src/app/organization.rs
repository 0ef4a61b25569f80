//! The choice of the organization that all screens show.

use quorate_common::console::{OrganizationHead, OrganizationPage};
use quorate_common::ids::OrganizationId;

use super::model::Model;
use crate::link::{Answer, Subject};
use crate::proof::PinnedBy;
use crate::screens::ActivityList;
use crate::screens::overlay::{Choice, Overlay};
use crate::screens::request::Effect;
use crate::text::quoted;

/// Opens the list of organizations.
pub(super) fn choose(model: &mut Model) -> Vec<Effect> {
    let shown = model.shared.organization_id;
    let parent = model.shared.organization.as_ref().and_then(|shown| shown.head.parent_organization_id);
    let (choice, orders) = Choice::new(shown, parent.or(shown));
    model.overlays.push(Overlay::Organizations(choice));
    orders.map(Effect::Order).collect()
}

/// Adds a page of organizations to the open list, if there is one.
pub(super) fn listed(model: &mut Model, answer: &Answer) -> Vec<Effect> {
    let lists = model.overlays.iter_mut().filter_map(|overlay| match overlay {
        Overlay::Organizations(choice) => Some(choice),
        _ => None,
    });
    let orders = lists.filter_map(|choice| match answer {
        Answer::Organizations(parent, after, page) => choice.apply(*parent, *after, page),
        Answer::Failed(Subject::Organizations, _) => {
            choice.fail();
            None
        }
        _ => None,
    });
    orders.map(Effect::Order).collect()
}

/// Shows the organization that was named, or the only one, if none is pinned; otherwise the list of them.
pub(super) fn first_page(model: &mut Model, page: &OrganizationPage) -> Vec<Effect> {
    let name = model.shared.identity.organization_name.clone();
    let is_wanted =
        |head: &&OrganizationHead| name.as_ref().is_none_or(|name| head.organization_name == *name);
    let mut wanted = page.organizations.iter().filter(is_wanted);
    let text = match (wanted.next(), wanted.next(), &name) {
        (Some(only), None, _) if page.next.is_none() => {
            let id = only.organization_id;
            model.shared.organization_id = Some(id);
            model.failures.remove(&Subject::PinnedOrganization);
            return vec![Effect::Order(model.shared.inbox.start_reading(id, model.shared.now))];
        }
        (_, _, Some(name)) => {
            let name = quoted(name);
            format!("no organization, or more than one, is named {name}: o lists the organizations")
        }
        (None, _, None) => "the daemon has no organization yet".to_owned(),
        (Some(_), _, None) => return offer(model, page),
    };
    model.failures.insert(Subject::PinnedOrganization, text);
    Vec::new()
}

/// Opens the list of organizations once, of which the first page was read.
fn offer(model: &mut Model, page: &OrganizationPage) -> Vec<Effect> {
    if model.was_offered {
        return Vec::new();
    }
    model.was_offered = true;
    let (mut choice, _) = Choice::new(None, None);
    let next = choice.apply(None, None, page);
    model.overlays.push(Overlay::Organizations(choice));
    next.map(Effect::Order).into_iter().collect()
}

/// Remembers the organization that is shown, to which Esc leads back from another one.
pub(super) fn leave(model: &mut Model, other: OrganizationId) {
    let Some(shown) = model.shared.organization_id.filter(|shown| *shown != other) else { return };
    let viewer = &model.shared.identity.viewer;
    // An organization that was found by its name is chosen by its name again.
    let pinned_by = if viewer.organization.is_some() { viewer.pinned_by } else { PinnedBy::Name };
    model.before.push((shown, pinned_by));
    let name = model.shared.organization.as_ref().map(|shown| quoted(&shown.head.organization_name));
    model.notice = format!("Esc leads back to {}", name.unwrap_or_else(|| shown.to_string()));
}

/// Shows another organization on all screens, which must then be loaded. Votes are signed for it from now on.
pub(super) fn switch(model: &mut Model, id: OrganizationId, pinned_by: PinnedBy) {
    model.pin(id, pinned_by);
    let shared = &mut model.shared;
    (shared.organization_id, shared.organization, shared.is_missing) = (Some(id), None, false);
    (shared.viewer, shared.mismatch) = (shared.identity.viewer.clone(), None);
    shared.inbox.reset();
    shared.activities = ActivityList::default();
    model.failures.clear();
    model.start_screens();
}
