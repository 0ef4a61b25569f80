//! Deletes API keys of a user.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_API_KEYS", "Delete API keys", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("userId")?;
    let ids = parameters.texts("apiKeyIds")?;
    let user = context.user(id);
    let key = |key_id: &&str| {
        let held = user.and_then(|user| {
            user.api_keys.iter().find(|key| key.api_key_id.to_string().eq_ignore_ascii_case(key_id))
        });
        match held {
            Some(key) => format!(
                "{} ({}, public key {})",
                stated(&key.api_key_name),
                clean(key_id),
                clean(&key.credential.public_key)
            ),
            None => format!("{} (not known here)", clean(key_id)),
        }
    };
    let (those, holder) = (count(ids.len(), "API key"), context.user_named(id));
    let named = listed(ids.iter().map(key));
    let sentence = format!("Delete {those} of {holder}: {named}.");
    let mut description =
        Description::new(format!("{} of {}", count(ids.len(), "key"), context.user_short(id)), sentence);
    let held = user.map_or(0, |user| user.api_keys.len());
    let left = held.saturating_sub(ids.len());
    description.change_removed("API keys of this user", held, ids.len());
    description.flag_medium("access-removed", "People and programs that use the deleted keys lose access.");
    if user.is_some_and(|user| left == 0 && user.authenticators.is_empty() && user.oauth_providers.is_empty())
    {
        description.flag_medium("last-credential", "Locks the user out: no credential is left.");
    }
    Ok(description)
}
