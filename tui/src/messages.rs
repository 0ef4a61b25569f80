//! The states of messages: the newest event of each mail and SMS, and the words for it.

use std::collections::BTreeSet;

use quorate_common::console::{MessageEvent, MessagePage};
use quorate_common::ids::MessageEventId;

use crate::text::clean;

/// The state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DeliveryState {
    Queued,
    Delayed,
    Delivered,
    Bounced,
    Expired,
}

impl DeliveryState {
    const ALL: [Self; 5] = [Self::Queued, Self::Delayed, Self::Delivered, Self::Bounced, Self::Expired];

    /// Returns the type of the newest event of a message in this state, and the word for the state.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Queued => ("Send", "queued"),
            Self::Delayed => ("DeliveryDelay", "delayed"),
            Self::Delivered => ("Delivery", "delivered"),
            Self::Bounced => ("Bounce", "bounced"),
            Self::Expired => ("Expired", "expired"),
        }
    }

    pub(crate) fn is_of(self, event: &MessageEvent) -> bool {
        event.event_type == self.names().0
    }
}

/// Returns the state of a message after an event.
pub(crate) fn state(event: &MessageEvent) -> String {
    let known = DeliveryState::ALL.into_iter().find(|state| state.is_of(event));
    known.map_or_else(|| clean(&event.event_type), |state| state.names().1.to_owned())
}

/// The newest event of each message, newest first, read page by page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newest {
    pub(crate) events: Vec<MessageEvent>,
    known: BTreeSet<String>,
    /// Cursor of the next page.
    pub(crate) next: Option<MessageEventId>,
    pub(crate) is_loaded: bool,
}

impl Newest {
    /// Adds a page. The first page replaces everything.
    pub(crate) fn add(&mut self, after: Option<MessageEventId>, page: &MessagePage) {
        if after.is_none() {
            *self = Self::default();
        } else if after != self.next {
            // The answer to an earlier request for the same page.
            return;
        }
        let fresh = page.events.iter().filter(|event| self.known.insert(event.message_id.clone()));
        self.events.extend(fresh.cloned());
        // A cursor that stays the same would never end.
        self.next = page.next.filter(|next| Some(*next) != after);
        self.is_loaded = true;
    }

    /// Returns the newest event of a message to an address that was queued at this time or later.
    pub(crate) fn to(&self, address: &str, since: u64) -> Option<&MessageEvent> {
        let mut events = self.events.iter().filter(|event| event.at_millis >= since);
        events.find(|event| event.to_address.eq_ignore_ascii_case(address))
    }
}
