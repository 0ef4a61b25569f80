//! Section `[oidc]`: the OpenID Connect issuers whose ID tokens are accepted.

use super::section::Section;
use crate::issuers::OidcSettings;
use crate::outgoing::ReceiverPolicy;

pub(super) fn read(section: &mut Section<'_, '_>) -> OidcSettings {
    OidcSettings {
        disabled: section.flag("disabled").unwrap_or_default(),
        issuers: section.parsed_list::<String>("issuers").unwrap_or_default(),
        receivers: ReceiverPolicy {
            allow_networks: section.networks("allow_networks").unwrap_or_default(),
            allow_http: section.flag("allow_http").unwrap_or_default(),
        },
    }
}
