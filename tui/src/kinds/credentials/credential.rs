//! Descriptions of credentials that are added to or deleted from a user, other than API keys.

use quorate_common::wire::User;

use super::loss;
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

/// Removes the credentials whose ids meet a condition from a user.
type Removal = fn(&mut User, &dyn Fn(&str) -> bool);

/// Credentials of one type.
pub(super) struct CredentialType {
    pub(super) noun: &'static str,
    /// Returns id and name of each that a user has.
    pub(super) names: fn(&User) -> Vec<(String, &str)>,
    pub(super) remove: Removal,
}

/// Describes the credentials that a user loses.
pub(super) fn describe_deleted(
    parameters: &Reader<'_>,
    list: &str,
    of: &CredentialType,
    context: &ReviewContext<'_>,
) -> Result<Description> {
    let id = parameters.text("userId")?;
    let ids = parameters.texts(list)?;
    let user = context.user(id);
    let held = user.map(of.names).unwrap_or_default();
    let noun = of.noun;
    let named = |id: &&str| match held.iter().find(|(known, _)| known.eq_ignore_ascii_case(id)) {
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
    if let Some(user) = user {
        let mut after = user.clone();
        (of.remove)(&mut after, &|id| ids.iter().any(|one| one.eq_ignore_ascii_case(id)));
        loss::flag(user, &after, context, &mut description);
    }
    description.flag_if_missing("unknown-user", user.is_some(), &context.user_named(id));
    Ok(description)
}
