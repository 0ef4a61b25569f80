//! Adds OAuth identities to a user.

use super::credential::describe_added;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct CreateOauthProviders;

impl Kind for CreateOauthProviders {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
            intent: "createOauthProvidersIntentV2",
            schema: "userId oauthProviders[]:Provider2",
        }]
    }

    fn title(&self) -> &'static str {
        "Add OAuth providers"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let mut description =
            describe_added(parameters, "oauthProviders", "providerName", "OAuth provider", scene)?;
        for provider in parameters.list("oauthProviders")? {
            if let Some(claims) = provider.object("oidcClaims")? {
                let values = ["iss", "sub", "aud"].map(|name| claims.text(name).map(clean));
                let [issuer, subject, audience] = values;
                description.fact("identity", format!("{} at {} for {}", subject?, issuer?, audience?));
            }
        }
        Ok(description)
    }
}
