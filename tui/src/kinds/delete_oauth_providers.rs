//! Deletes OAuth providers of a user.

use super::credential::describe_deleted;
use super::scene::stated;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteOauthProviders;

impl Kind for DeleteOauthProviders {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS",
            intent: "deleteOauthProvidersIntent",
            schema: "userId providerIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete OAuth providers"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
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
        let keeps_credential = |deleted: usize| {
            user.is_none_or(|user| {
                !user.api_keys.is_empty()
                    || !user.authenticators.is_empty()
                    || user.oauth_providers.len() > deleted
            })
        };
        describe_deleted(parameters, "providerIds", "OAuth provider", named, keeps_credential, scene)
    }
}
