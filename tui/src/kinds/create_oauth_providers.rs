//! Gives a user more identities to sign in with.

use super::credential::given;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct CreateOauthProviders;

impl Kind for CreateOauthProviders {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
            intent: "createOauthProvidersIntentV2",
            shape: "userId oauthProviders[]:Provider2",
        }]
    }

    fn title(&self) -> &'static str {
        "Add OAuth providers"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let mut story = given(parameters, "oauthProviders", "providerName", "OAuth provider", scene)?;
        for provider in parameters.list("oauthProviders")? {
            if let Some(claims) = provider.object("oidcClaims")? {
                let told = ["iss", "sub", "aud"].map(|name| claims.text(name).map(clean));
                let [issuer, subject, audience] = told;
                story.fact("identity", format!("{} at {} for {}", subject?, issuer?, audience?));
            }
        }
        Ok(story)
    }
}
