//! Lists what happened to mails to an address, page by page.
//!
//! - `{"email": "plain@house.example"}` is answered.
//! - `{"email": "PLAIN@house.example", "eventType": "Send", "paginationOptions": {"limit": "1"}}` is answered.
//! - `{"email": "nobody@house.example", "eventType": ""}` is answered.
//! - `{"email": "nobody"}` is refused with 400: invalid email address
//! - `{"email": "nobody@house.example", "eventType": "Open"}` is refused with 400: invalid request body: `eventType`: unknown name

use quorate_common::bounded::Email;
use quorate_common::ids::MessageEventId;

use crate::message_events;
use crate::queries::prelude::*;
use crate::world::Order;

/// Types of events. Nobody reports complaints to this service, so they do not occur.
const TYPES: [&str; 5] = ["Send", "Delivery", "DeliveryDelay", "Bounce", "Complaint"];
/// Number of events that are read at once if they are filtered.
const CHUNK: usize = 100;
/// Maximum length of the name of a type.
const TYPE_LIMIT: usize = 32;

/// Returns a page of what happened to mails to an address in the last 30 days, newest first. The parent keeps the
/// events of its sub-organizations.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListEmailEvents {
    /// Address of the receiver.
    email: Email,
    /// `Send`, `Delivery`, `DeliveryDelay`, `Bounce` or `Complaint`. An empty text means all.
    #[schemars(length(max = TYPE_LIMIT))]
    event_type: Option<String>,
    pagination_options: Option<Pagination>,
}

impl Query for ListEmailEvents {
    type Answer = Vec<wire::EmailEvent>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::EmailEvent>, RequestError> {
        if context.organization.head.parent.is_some() {
            return Err(Intent::ClosedToChildren("list email events").into());
        }
        let wanted = self.event_type.filter(|name| !name.is_empty());
        if wanted.as_ref().is_some_and(|wanted| !TYPES.contains(&wanted.as_str())) {
            return Err(Intent::Text("invalid request body: `eventType`: unknown name").into());
        }
        let pagination = self.pagination_options.unwrap_or_default();
        let limit = pagination.limit()?;
        let (mut cursor, is_before) =
            pagination.cursor(|text| Ok(text.parse::<MessageEventId>().map_err(|_| Intent::Cursor)?))?;
        let order = if is_before { Order::Ascending } else { Order::Descending };
        let (records, index) = (context.world.records(), context.world.index());
        // A filter passes over some events, so more of them are read at once.
        let chunk = if wanted.is_some() { CHUNK } else { limit };
        let mut found = Vec::new();
        while found.len() < limit {
            let place = (cursor, order);
            let page =
                message_events::of_contact(records, index, context.id(), self.email.as_str(), place, chunk)?;
            let is_last = page.len() < chunk;
            cursor = page.last().map(|(id, _)| *id).or(cursor);
            let is_wanted =
                |event: &wire::EmailEvent| wanted.as_ref().is_none_or(|name| *name == event.event_type);
            found.extend(page.into_iter().map(|(id, event)| event.email(id)).filter(is_wanted));
            if is_last {
                break;
            }
        }
        found.truncate(limit);
        if is_before {
            found.reverse();
        }
        Ok(found)
    }
}
