//! Mail that waits to be sent. Written in the same batch as the activity that sends it, sent later.

use quorate_common::bounded::Email;
use serde::{Deserialize, Serialize};

use crate::model::Millis;
use crate::model::record::Record;

/// A mail. It may hold a secret, so it is sealed like every record and gone once it is sent.
#[derive(Clone, Serialize, Deserialize)]
pub struct Mail {
    /// Who gets it.
    pub to: Email,
    /// Subject, one line.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// How often it was tried.
    pub attempts: u32,
    /// Not before this instant.
    pub due: Millis,
}

impl Record for Mail {
    const NOUN: &'static str = "mail";
}
