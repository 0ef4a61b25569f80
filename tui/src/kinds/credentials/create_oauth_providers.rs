//! Adds OAuth identities to a user.

use super::credential::describe_added;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind {
    hidden: Some((&["ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS"], "the daemon hides the ID tokens")),
    ..Kind::new("CREATE_OAUTH_PROVIDERS", "Add OAuth providers", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let mut description =
        describe_added(parameters, "oauthProviders", "providerName", "OAuth provider", context)?;
    for provider in parameters.list("oauthProviders")? {
        if let Some(claims) = provider.object("oidcClaims")? {
            let values = ["iss", "sub", "aud"].map(|name| claims.text(name).map(clean));
            let [issuer, subject, audience] = values;
            description.fact("identity", format!("{} at {} for {}", subject?, issuer?, audience?));
        } else {
            description.fact("identity", "that of an ID token, which only the daemon reads".to_owned());
        }
    }
    Ok(description)
}
