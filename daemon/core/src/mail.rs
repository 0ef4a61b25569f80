//! Queued mail. It is stored in the same batch as the activity that sends it, and sent later.

use quorate_common::bounded::Email;
use serde::{Deserialize, Serialize};
use zeroize::ZeroizeOnDrop;

use crate::model::Millis;
use crate::model::record::Record;

/// A queued mail. It may contain a secret: it is sealed like every record, removed once it is sent, and wiped
/// from memory.
#[derive(Serialize, Deserialize, ZeroizeOnDrop)]
pub struct Mail {
    /// Recipient.
    #[zeroize(skip)]
    pub to: Email,
    /// Subject, on one line.
    #[zeroize(skip)]
    pub subject: String,
    /// Body, in plain text.
    pub text: String,
    /// Number of attempts so far.
    #[zeroize(skip)]
    pub attempts: u32,
    /// Earliest time of the next attempt.
    #[zeroize(skip)]
    pub due: Millis,
}

impl Record for Mail {
    const NOUN: &'static str = "mail";
}
