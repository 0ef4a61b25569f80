//! Takes OAuth providers from a user.

use super::credential::taken;
use super::scene::stated;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteOauthProviders;

impl Kind for DeleteOauthProviders {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS",
            intent: "deleteOauthProvidersIntent",
            shape: "userId providerIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete OAuth providers"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let user = scene.user(parameters.text("userId")?);
        let named = |id: &str| {
            let held = user.and_then(|user| {
                user.oauth_providers.iter().find(|one| one.provider_id.to_string().eq_ignore_ascii_case(id))
            });
            match held {
                Some(one) => format!("{} ({})", stated(&one.provider_name), clean(id)),
                None => format!("{} (not known here)", clean(id)),
            }
        };
        let left = |gone: usize| {
            user.is_none_or(|user| {
                !user.api_keys.is_empty()
                    || !user.authenticators.is_empty()
                    || user.oauth_providers.len() > gone
            })
        };
        taken(parameters, "providerIds", "OAuth provider", named, left, scene)
    }
}
