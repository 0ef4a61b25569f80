//! Queued SMS. It is stored in the same batch as the activity that sends it, and sent later.

use quorate_common::bounded::Phone;
use serde::{Deserialize, Serialize};
use zeroize::ZeroizeOnDrop;

use crate::model::Millis;
use crate::model::message_event::MessageOrigin;
use crate::model::one_time_code::Contact;
use crate::model::queued_message::{Channel, Purpose, StoredMessage, queue_state};
use crate::model::record::Record;

/// A queued SMS. It may contain a secret: it is sealed like every record, removed once it is sent, and wiped
/// from memory.
#[serde_with::skip_serializing_none]
#[derive(Clone, Serialize, Deserialize, ZeroizeOnDrop)]
pub struct Sms {
    /// Recipient.
    #[zeroize(skip)]
    pub to: Phone,
    /// Text.
    pub text: String,
    /// Where it comes from; `None` for an SMS that an earlier version queued. No events are recorded for it.
    #[zeroize(skip)]
    pub origin: Option<MessageOrigin>,
    /// Time from which the code in it has expired, so that it is not sent any more.
    #[zeroize(skip)]
    pub expires: Option<Millis>,
    /// What it is for, without which it is useless; `None` for a message that an earlier version queued.
    #[zeroize(skip)]
    pub purpose: Option<Purpose>,
    /// Number of attempts so far.
    #[zeroize(skip)]
    pub attempts: u32,
    /// Time at which an attempt first failed because of the receiver; `None` if none did.
    #[zeroize(skip)]
    pub delayed: Option<Millis>,
    /// Earliest time of the next attempt.
    #[zeroize(skip)]
    pub due: Millis,
}

impl Sms {
    /// Creates an SMS, to be sent at once.
    pub const fn new(to: Phone, text: String, now: Millis) -> Self {
        Self { to, text, origin: None, expires: None, purpose: None, attempts: 0, delayed: None, due: now }
    }
}

impl Record for Sms {
    const NOUN: &'static str = "SMS";
}

impl StoredMessage for Sms {
    const CHANNEL: Channel = Channel::Sms;

    queue_state!();

    fn receiver(&self) -> String {
        self.to.to_string()
    }

    fn contact(&self) -> Contact {
        Contact::Phone(self.to.clone())
    }
}
