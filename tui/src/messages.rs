//! The states of messages: the newest event of each mail and SMS, and the words for it.

use std::collections::BTreeSet;

use quorate_common::console::{MessageEvent, MessagePage};
use quorate_common::ids::MessageEventId;

use quorate_common::wire::InvitationMail;

use crate::text::{ago, clean, date_time};

/// The state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DeliveryState {
    Queued,
    Delayed,
    Delivered,
    Bounced,
    Expired,
    Displaced,
}

impl DeliveryState {
    const ALL: [Self; 6] =
        [Self::Queued, Self::Delayed, Self::Delivered, Self::Bounced, Self::Expired, Self::Displaced];

    /// Returns the type of the newest event of a message in this state, and the word for the state.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Queued => ("Send", "queued"),
            Self::Delayed => ("DeliveryDelay", "delayed"),
            Self::Delivered => ("Delivery", "delivered"),
            Self::Bounced => ("Bounce", "bounced"),
            Self::Expired => ("Expired", "expired"),
            Self::Displaced => ("Displaced", "displaced"),
        }
    }

    pub(crate) fn is_of(self, event: &MessageEvent) -> bool {
        event.event_type == self.names().0
    }
}

/// Returns the state of a message after an event.
pub(crate) fn state(event: &MessageEvent) -> String {
    state_after(&event.event_type)
}

fn state_after(event_type: &str) -> String {
    let known =
        DeliveryState::ALL.into_iter().map(DeliveryState::names).find(|(name, _)| *name == event_type);
    known.map_or_else(|| clean(event_type), |(_, word)| word.to_owned())
}

/// Returns whether a message was given up after an event of this type, so that nobody received it.
pub(crate) fn is_lost(event_type: &str) -> bool {
    let lost = [DeliveryState::Bounced, DeliveryState::Expired, DeliveryState::Displaced];
    lost.iter().any(|state| state.names().0 == event_type)
}

/// Returns the state of the mail with an invitation, since when, and the answer of the server.
pub(crate) fn mail_text(mail: &InvitationMail, now: Option<u64>) -> String {
    let age = now.map(|now| format!(" ({})", ago(mail.at_millis, now))).unwrap_or_default();
    let answer = mail.answer.as_deref().map(|answer| format!(": {}", clean(answer))).unwrap_or_default();
    format!("{} {}{age}{answer}", state_after(&mail.event_type), date_time(mail.at_millis))
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
        self.next = page.next;
        self.is_loaded = true;
    }
}
