//! What the kinds on credentials of OAuth 2.0 providers share.

use quorate_common::wire::{Oauth2Credential, Oauth2Provider};

use crate::kinds::prelude::*;

/// Returns the name of a provider for people, as its name on the wire states it.
pub(super) fn provider(name: &str) -> String {
    let known = [Oauth2Provider::X, Oauth2Provider::Discord].into_iter().find(|one| one.name() == name);
    known.map_or_else(|| clean(name), |one| one.label().to_owned())
}

/// Returns the credential with this id, as the daemon states it.
pub(super) fn credential<'a>(id: &str, context: &ReviewContext<'a>) -> Option<&'a Oauth2Credential> {
    let mut all = context.organization.oauth2_credentials.iter();
    all.find(|one| one.oauth2_credential_id.to_string().eq_ignore_ascii_case(id))
}

/// Returns a phrase for a credential: its application and its id.
pub(super) fn named(id: &str, context: &ReviewContext<'_>) -> String {
    credential(id, context).map_or_else(
        || clean(id),
        |one| format!("of {} at {} ({})", quoted(&one.client_id), one.provider.label(), clean(id)),
    )
}

/// Flags what follows if an application gets a credential.
pub(super) fn flag_application(provider: &str, client_id: &str, description: &mut Description) {
    description.flag_medium(
        "oauth2-application",
        format!(
            "The operators of the application {} at {provider} receive the codes with which its users sign in here.",
            quoted(client_id)
        ),
    );
    description.flag_low(
        "hidden-client-secret",
        "The console cannot read the client secret: it is encrypted to the daemon.",
    );
}

/// Returns what is shown in place of an encrypted client secret.
pub(super) fn hidden_secret(text: &str) -> String {
    format!("(encrypted to the daemon, {} characters)", text.len())
}
