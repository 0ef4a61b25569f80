//! What became of the mails with open invitations, for operators.

use quorate_common::ids::MessageEventId;
use quorate_common::wire::InvitationMail;

use crate::error::Corrupt;
use crate::message_events::{self, Identified};
use crate::model::message_event::{DeliveryStep, MessageEvent, ServerAnswer};
use crate::model::{Invitation, InvitationStatus, Organization};
use crate::world::{Order, World};

/// Maximum number of events that are read from either end of those of one receiver.
const EVENTS_READ: usize = 16;

/// Returns the newest event of the mail with each open invitation, as far as it is recorded. Half of the rows that an
/// answer may read are read at most.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn invitation_mails(
    world: &dyn World,
    organization: &Organization,
) -> Result<Vec<InvitationMail>, Corrupt> {
    let rows = world.limits().rows_per_answer / 2;
    let open = organization.records.invitations.iter();
    let open = open.filter(|one| one.status == InvitationStatus::Created);
    let mut mails = Vec::new();
    for one in open.take(rows / EVENTS_READ / 2) {
        let newest = newest(world, organization, one)?;
        mails.extend(newest.map(|(_, event)| InvitationMail {
            invitation_id: one.id,
            event_type: event.step.operator_name().to_owned(),
            answer: event.step.answer().map(ServerAnswer::line),
            at_millis: event.at,
        }));
    }
    Ok(mails)
}

/// Returns the newest event of the mail that was queued together with an invitation.
fn newest(
    world: &dyn World,
    organization: &Organization,
    invitation: &Invitation,
) -> Result<Option<Identified>, Corrupt> {
    let keeper = organization.head.tenant();
    let (records, index, email) = (world.records(), world.index(), invitation.email.as_str());
    let events = |place| message_events::of_contact(records, index, keeper, email, place, EVENTS_READ);
    let before = MessageEventId::timed(invitation.created.saturating_sub(1), [0xff; 10]);
    let oldest = events((Some(before), Order::Ascending))?;
    let queued = oldest.iter().map(|(_, event)| event).find(|event| {
        let is_queued = event.at == invitation.created && event.step == DeliveryStep::Queued;
        is_queued && event.organization == organization.id()
    });
    let Some(message) = queued.map(MessageEvent::message_id) else { return Ok(None) };
    let is_of_it = |one: &Identified| one.1.message_id() == message;
    let newest = events((None, Order::Descending))?.into_iter().find(is_of_it);
    // If many other messages followed to the same address, only the first events of this one are found.
    Ok(newest.or_else(|| oldest.iter().rfind(|one| is_of_it(one)).cloned()))
}
