//! Deletes API keys of a user, sessions among them.

use quorate_common::wire::ApiKey;

use super::loss;
use crate::credentials::is_session_key;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_API_KEYS", "Delete API keys", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("userId")?;
    let ids = parameters.texts("apiKeyIds")?;
    let user = context.user(id);
    let held = |key_id: &str| {
        let mut keys = user.iter().flat_map(|user| &user.api_keys);
        keys.find(|key| key.api_key_id.to_string().eq_ignore_ascii_case(key_id))
    };
    let is_session = |key_id: &&&str| held(key_id).is_some_and(is_session_key);
    let (sessions, keys): (Vec<&str>, Vec<&str>) = ids.iter().partition(is_session);
    let named = |those: &[&str]| listed(those.iter().map(|key_id| named(key_id, held(key_id))));
    let holder = context.user_named(id);
    let (these, ended) = (count(keys.len(), "API key"), count(sessions.len(), "session"));
    let (brief, sentence) = match (keys.is_empty(), sessions.is_empty()) {
        (true, false) => (ended.clone(), format!("End {ended} of {holder}: {}.", named(&sessions))),
        (_, true) => (count(keys.len(), "key"), format!("Delete {these} of {holder}: {}.", named(&keys))),
        (false, false) => (
            format!("{} and {ended}", count(keys.len(), "key")),
            format!("Delete {these} of {holder}: {}. End {ended}: {}.", named(&keys), named(&sessions)),
        ),
    };
    let mut description = Description::new(format!("{brief} of {}", context.user_short(id)), sentence);
    let all_keys = user.map(|user| user.api_keys.as_slice()).unwrap_or_default();
    let all_sessions = all_keys.iter().filter(|key| is_session_key(key)).count();
    if !sessions.is_empty() {
        description.change_removed("sessions of this user", all_sessions, sessions.len());
    }
    if !keys.is_empty() || sessions.is_empty() {
        let registered = all_keys.len().saturating_sub(all_sessions);
        description.change_removed("API keys of this user", registered, keys.len());
    }
    let lost = if keys.is_empty() { "sessions" } else { "keys" };
    let text = format!("People and programs that use the deleted {lost} lose access.");
    description.flag_medium("access-removed", text);
    if let Some(user) = user {
        let is_deleted =
            |key: &ApiKey| ids.iter().any(|one| one.eq_ignore_ascii_case(&key.api_key_id.to_string()));
        let mut after = user.clone();
        after.api_keys.retain(|key| !is_deleted(key));
        loss::flag(user, &after, context, &mut description);
    }
    Ok(description)
}

fn named(key_id: &str, held: Option<&ApiKey>) -> String {
    match held {
        Some(key) => format!(
            "{} ({}, public key {})",
            stated(&key.api_key_name),
            clean(key_id),
            clean(&key.credential.public_key)
        ),
        None => format!("{} (not known here)", clean(key_id)),
    }
}
