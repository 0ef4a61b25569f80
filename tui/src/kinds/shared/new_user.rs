//! Descriptions of users and credentials that activities create.

use std::fmt::Write as _;

use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::read_by_policies::{flag_name, flag_tags};

/// Describes the creation of these users. Users of some kinds can have no credentials except API keys.
pub(in crate::kinds) fn describe_added(
    users: &[Reader<'_>],
    context: &ReviewContext<'_>,
) -> Result<Description> {
    let names = users.iter().map(|user| user.text("userName").map(quoted)).collect::<Result<Vec<_>, _>>()?;
    let mut sentence = format!("Add {}: {}.", count(users.len(), "user"), listed(names.iter().cloned()));
    let mut description = Description::new(listed(names), String::new());
    let mut has_mail_address = false;
    for user in users {
        let name = user.text("userName")?;
        let _ = write!(sentence, " {} gets {}.", quoted(name), credentials(user)?);
        description.flag_same_user(name, context);
        has_mail_address |= user.maybe_text("userEmail")?.is_some();
        let tags = user.texts("userTags")?;
        if !tags.is_empty() {
            let tag_names = listed(tags.iter().map(|tag| context.tag_named(tag)));
            flag_tags(Property::UserTags, &tags, &mut description, context);
            let _ = write!(sentence, " {} is tagged {tag_names}.", quoted(name));
            description.flag_medium(
                "joins-tag",
                format!("{} gets every right that policies give to {tag_names} at once.", quoted(name)),
            );
        }
        registered_keys(user, context, &mut description)?;
    }
    flag_name(Property::UserName, &mut description, context);
    if has_mail_address {
        flag_name(Property::UserEmail, &mut description, context);
    }
    description.change_added("users", context.organization.users.len(), users.len());
    description.sentence = sentence;
    Ok(description)
}

/// Returns the credentials of a new user as text.
pub(in crate::kinds) fn credentials(user: &Reader<'_>) -> Result<String> {
    let mut parts = Vec::new();
    for key in user.list("apiKeys")? {
        parts.push(api_key(&key)?);
    }
    for passkey in user.list("authenticators")? {
        parts.push(format!("a passkey {}", quoted(passkey.text("authenticatorName")?)));
    }
    for provider in user.list("oauthProviders")? {
        parts.push(format!("sign-in through {}", quoted(provider.text("providerName")?)));
    }
    if let Some(email) = user.maybe_text("userEmail")? {
        parts.push(format!("the mail address {}", clean(email)));
    }
    if let Some(phone) = user.maybe_text("userPhoneNumber")? {
        parts.push(format!("the telephone number {}", clean(phone)));
    }
    Ok(if parts.is_empty() { "no credential".to_owned() } else { parts.join(", ") })
}

/// Returns an API key as text, with its full public key.
pub(in crate::kinds) fn api_key(key: &Reader<'_>) -> Result<String> {
    let name = quoted(key.text("apiKeyName")?);
    let public = clean(key.text("publicKey")?);
    let curve = key
        .maybe_text("curveType")?
        .map_or_else(|| "P256".to_owned(), |curve| clean(curve.trim_start_matches("API_KEY_CURVE_")));
    let life = match key.number("expirationSeconds")? {
        0 => "without expiry".to_owned(),
        seconds => format!("for {}", crate::text::duration(seconds.saturating_mul(1000))),
    };
    Ok(format!("an API key {name} ({curve} {public}, {life})"))
}

/// Flags keys that a user already has.
pub(in crate::kinds) fn registered_keys(
    user: &Reader<'_>,
    context: &ReviewContext<'_>,
    description: &mut Description,
) -> Result<()> {
    for key in user.list("apiKeys")? {
        let public = key.text("publicKey")?;
        if let Some((holder, _)) = context.key_holder(public) {
            let (public, holder) = (clean(public), stated(&holder.user_name));
            let text = format!("The key is not new: {public} already belongs to {holder}.");
            description.flag_medium("key-in-use", text);
        }
    }
    Ok(())
}
