//! Descriptions of credentials that are added to or deleted from a user, other than API keys.

use quorate_common::wire::User;

use crate::kinds::prelude::*;

/// Describes the credentials that a user gets, each named by one of its members.
pub(super) fn describe_added(
    parameters: &Reader<'_>,
    list: &str,
    member: &str,
    noun: &str,
    context: &ReviewContext<'_>,
) -> Result<Description> {
    let id = parameters.text("userId")?;
    let user = context.user_named(id);
    let new = parameters.list(list)?;
    let names = new.iter().map(|one| one.text(member).map(quoted)).collect::<Result<Vec<_>, _>>()?;
    let (number, listed) = (count(new.len(), &format!("more {noun}")), listed(names));
    let mut description = Description::new(
        format!("{} for {}", count(new.len(), noun), context.user_short(id)),
        format!("Add {number} for {user}: {listed}. This does not start a session."),
    );
    if context.is_root(id) {
        description.flag_high(
            "credential-for-root-user",
            format!("Adds a credential for a member of the root quorum: {user}."),
        );
    }
    if context.is_proposed_by_other(id) {
        description.flag_high(
            "credential-by-other",
            format!("Somebody else may gain access as {user}, who did not propose this."),
        );
    }
    description.danger("the NAME of the user who gets the credential", &context.user_name(id));
    description.flag_if_missing("unknown-user", context.user(id).is_some(), &user);
    Ok(description)
}

/// The credentials of one type that a user has.
#[derive(Default)]
pub(super) struct UserCredentials<'a> {
    /// Id and name of each.
    pub(super) names: Vec<(String, &'a str)>,
    /// Whether the user also has credentials of other types.
    pub(super) has_others: bool,
}

/// Describes the credentials that a user loses.
pub(super) fn describe_deleted(
    parameters: &Reader<'_>,
    list: &str,
    noun: &str,
    credentials: fn(&User) -> UserCredentials<'_>,
    context: &ReviewContext<'_>,
) -> Result<Description> {
    let id = parameters.text("userId")?;
    let ids = parameters.texts(list)?;
    let user = context.user(id);
    let credentials = user.map(credentials).unwrap_or_default();
    let named = |id: &&str| match credentials.names.iter().find(|(known, _)| known.eq_ignore_ascii_case(id)) {
        Some((_, name)) => format!("{} ({})", stated(name), clean(id)),
        None => format!("{} (not known here)", clean(id)),
    };
    let deleted = listed(ids.iter().map(named));
    let mut description = Description::new(
        format!("{} of {}", count(ids.len(), noun), context.user_short(id)),
        format!("Delete {} of {}: {deleted}.", count(ids.len(), noun), context.user_named(id)),
    );
    description
        .flag_medium("access-removed", "People and programs that use the deleted credentials lose access.");
    if user.is_some() && !credentials.has_others && credentials.names.len() <= ids.len() {
        description.flag_medium("last-credential", "Locks the user out: no credential is left.");
    }
    description.flag_if_missing("unknown-user", user.is_some(), &context.user_named(id));
    Ok(description)
}
