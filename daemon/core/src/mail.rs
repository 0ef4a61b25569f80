//! Queued mail. It is stored in the same batch as the activity that sends it, and sent later.

use quorate_common::bounded::Email;
use serde::{Deserialize, Serialize};
use zeroize::ZeroizeOnDrop;

use crate::model::Millis;
use crate::model::message_event::{MessageOrigin, ServerAnswer};
use crate::model::one_time_code::{Contact, ascii_domain};
use crate::model::queued_message::{Channel, Purpose, StoredMessage, queue_state};
use crate::model::record::Record;

/// A queued mail. It may contain a secret: it is sealed like every record, removed once it is sent, and wiped
/// from memory.
#[serde_with::skip_serializing_none]
#[derive(Clone, Serialize, Deserialize, ZeroizeOnDrop)]
pub struct Mail {
    /// Recipient.
    #[zeroize(skip)]
    pub to: Email,
    /// Subject, on one line.
    #[zeroize(skip)]
    pub subject: String,
    /// Body, in plain text.
    pub text: String,
    /// The same body, in HTML.
    pub html: Option<String>,
    /// The secret in the body: a code, a bundle or a key; `None` for a mail that an earlier version queued.
    pub secret: Option<String>,
    /// Name of the sender, on one line; `None` if it is the one in the configuration.
    #[zeroize(skip)]
    pub sender_name: Option<String>,
    /// Address of the sender; `None` if it is the one in the configuration.
    #[zeroize(skip)]
    pub from: Option<Email>,
    /// Address for replies; `None` if it is the address of the sender.
    #[zeroize(skip)]
    pub reply_to: Option<Email>,
    /// Where it comes from; `None` for a mail that an earlier version queued. No events are recorded for it.
    #[zeroize(skip)]
    pub origin: Option<MessageOrigin>,
    /// Time from which the secret in it has expired, so that it is not sent any more.
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

impl Mail {
    /// Creates a mail in plain text from the sender in the configuration, to be sent at once. `secret` is the secret in
    /// the text.
    pub const fn new(to: Email, subject: String, text: String, secret: String, now: Millis) -> Self {
        Self {
            to,
            subject,
            text,
            html: None,
            secret: Some(secret),
            sender_name: None,
            from: None,
            reply_to: None,
            origin: None,
            expires: None,
            purpose: None,
            attempts: 0,
            delayed: None,
            due: now,
        }
    }

    /// Returns the answer of a server to this mail, which may quote it, without its secret. If the secret is not known,
    /// every word that could be one is removed.
    pub fn answer(&self, code: Option<u16>, text: &str) -> ServerAnswer {
        match &self.secret {
            Some(secret) => ServerAnswer::new(code, text, &[secret]),
            None => ServerAnswer::new(code, text, &[&self.text, self.html.as_deref().unwrap_or_default()]),
        }
    }
}

impl Record for Mail {
    const NOUN: &'static str = "mail";
}

impl StoredMessage for Mail {
    const CHANNEL: Channel = Channel::Mail;

    queue_state!();

    fn receiver(&self) -> String {
        ascii_domain(&self.to)
    }

    fn contact(&self) -> Contact {
        Contact::Email(self.to.clone())
    }
}
