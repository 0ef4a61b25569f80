//! Section `[webhook]`: receivers that may be reached in addition to public ones over https.

use super::section::Section;
use crate::outgoing::ReceiverPolicy;

pub(super) fn read(section: &mut Section<'_, '_>) -> ReceiverPolicy {
    ReceiverPolicy {
        allow_networks: section.networks("allow_networks").unwrap_or_default(),
        allow_http: section.flag("allow_http").unwrap_or_default(),
    }
}
