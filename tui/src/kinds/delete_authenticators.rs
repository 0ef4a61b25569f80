//! Deletes authenticators of a user.

use super::credential::describe_deleted;
use super::scene::stated;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteAuthenticators;

impl Kind for DeleteAuthenticators {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_AUTHENTICATORS",
            intent: "deleteAuthenticatorsIntent",
            schema: "userId authenticatorIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete authenticators"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let user = scene.user(parameters.text("userId")?);
        let named = |id: &str| {
            let held = user.and_then(|user| {
                user.authenticators
                    .iter()
                    .find(|one| one.authenticator_id.to_string().eq_ignore_ascii_case(id))
            });
            match held {
                Some(one) => format!("{} ({})", stated(&one.authenticator_name), clean(id)),
                None => format!("{} (not known here)", clean(id)),
            }
        };
        let keeps_credential = |deleted: usize| {
            user.is_none_or(|user| {
                !user.api_keys.is_empty()
                    || !user.oauth_providers.is_empty()
                    || user.authenticators.len() > deleted
            })
        };
        describe_deleted(parameters, "authenticatorIds", "authenticator", named, keeps_credential, scene)
    }
}
