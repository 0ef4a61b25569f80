//! Messages that the service sent.

use super::prelude::*;

mod list_email_events;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<list_email_events::ListEmailEvents>("list_email_events", "emailEvents")];
