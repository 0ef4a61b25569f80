//! Adds API keys to a user.

use crate::kinds::prelude::*;
use crate::kinds::shared::new_user::{api_key, registered_keys};

pub(super) const KIND: Kind = Kind::new("CREATE_API_KEYS", "Add API keys", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("userId")?;
    let keys = parameters.list("apiKeys")?;
    let named = keys.iter().map(api_key).collect::<Result<Vec<_>, _>>()?;
    let user = context.user_named(id);
    let (number, named) = (count(keys.len(), "more API key"), listed(named));
    let sentence = format!("Add {number} for {user}: {named}. The holder of a key can act as this user.");
    let mut description =
        Description::new(format!("{} for {}", count(keys.len(), "key"), context.user_short(id)), sentence);
    let held = context.user(id).map_or(0, |user| user.api_keys.len());
    description.change_added("API keys of this user", held, keys.len());
    if context.is_root(id) {
        description.flag_high(
            "credential-for-root-user",
            format!("The new key can vote in the root quorum as {user}."),
        );
    }
    if context.is_proposed_by_other(id) {
        description.flag_high(
            "credential-by-other",
            format!("The holder of the new key can act as {user}, who did not propose this."),
        );
    }
    description.danger("the NAME of the user who gets the key", &context.user_name(id));
    description.flag_if_missing("unknown-user", context.user(id).is_some(), &user);
    registered_keys(parameters, context, &mut description)?;
    Ok(description)
}
