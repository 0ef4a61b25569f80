//! What happened to messages, for operators.

use quorate_common::console::{MessageEvent, MessagePage, PAGE_LIMIT};
use quorate_common::ids::{MessageEventId, OrganizationId};

use super::load_organization;
use crate::error::RequestError;
use crate::message_events;
use crate::model::message_event::ServerAnswer;
use crate::world::World;

/// Returns a page of the events of the messages of an organization, newest first. Those of its sub-organizations
/// belong to it.
///
/// # Errors
/// If there is no such organization, or the store cannot be read.
pub fn messages(
    world: &dyn World,
    organization: OrganizationId,
    after: Option<MessageEventId>,
    limit: usize,
) -> Result<MessagePage, RequestError> {
    let parent = load_organization(world, organization)?.head.parent;
    let keeper = parent.unwrap_or(organization);
    let limit = limit.clamp(1, PAGE_LIMIT);
    let (events, next) = message_events::of_organization(world.records(), keeper, after, limit)?;
    let own = events.into_iter().filter(|(_, event)| parent.is_none() || event.organization == organization);
    let events = own.map(|(id, event)| MessageEvent {
        id,
        organization_id: event.organization,
        activity_id: event.activity,
        message_id: event.message_id(),
        to_address: event.to.as_str().to_owned(),
        from_address: event.from.as_ref().map(ToString::to_string),
        event_type: event.step.operator_name().to_owned(),
        answer: event.step.answer().map(ServerAnswer::line),
        at_millis: event.at,
    });
    Ok(MessagePage { events: events.collect(), next })
}
