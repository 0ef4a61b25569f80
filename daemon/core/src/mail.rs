//! Mail that waits to be sent. Written in the same batch as the activity that sends it, sent later.

use quorate_common::bounded::Email;
use serde::{Deserialize, Serialize};
use zeroize::ZeroizeOnDrop;

use crate::model::Millis;
use crate::model::record::Record;

/// A mail. It may hold a secret, so it is sealed like every record, gone once it is sent, and wiped from memory.
#[derive(Serialize, Deserialize, ZeroizeOnDrop)]
pub struct Mail {
    /// Who gets it.
    #[zeroize(skip)]
    pub to: Email,
    /// Subject, one line.
    #[zeroize(skip)]
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// How often it was tried.
    #[zeroize(skip)]
    pub attempts: u32,
    /// Not before this instant.
    #[zeroize(skip)]
    pub due: Millis,
}

impl Record for Mail {
    const NOUN: &'static str = "mail";
}
