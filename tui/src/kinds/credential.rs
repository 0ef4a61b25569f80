//! Descriptions of credentials that are added to or deleted from a user, other than API keys.

use super::scene::{Scene, count, listed};
use super::{Description, Level, Reader, Undecodable};
use crate::text::quoted;

/// Describes the credentials that a user gets, each named by one of its members.
pub(super) fn describe_added(
    parameters: &Reader<'_>,
    list: &str,
    member: &str,
    noun: &str,
    scene: &Scene<'_>,
) -> Result<Description, Undecodable> {
    let id = parameters.text("userId")?;
    let user = scene.user_named(id);
    let new = parameters.list(list)?;
    let names = new.iter().map(|one| one.text(member).map(quoted)).collect::<Result<Vec<_>, _>>()?;
    let mut description = Description::new(
        format!("{} for {}", count(new.len(), noun), scene.user_short(id)),
        format!(
            "Add {} for {user}: {}. This does not sign anybody in yet.",
            count(new.len(), &format!("more {noun}")),
            listed(names)
        ),
    );
    if scene.is_root(id) {
        description.flag(
            Level::High,
            "credential-for-root-user",
            format!("Adds a credential for a member of the root quorum: {user}."),
        );
    }
    if scene.proposer.is_some_and(|proposer| !proposer.to_string().eq_ignore_ascii_case(id)) {
        description.flag(
            Level::High,
            "credential-by-other",
            format!("Somebody else may gain access as {user}, who did not propose this."),
        );
    }
    description.danger("the NAME of the user who gets the credential", &scene.user_name(id));
    flag_unknown_user(&mut description, id, scene);
    Ok(description)
}

/// Describes the credentials that a user loses.
pub(super) fn describe_deleted(
    parameters: &Reader<'_>,
    list: &str,
    noun: &str,
    named: impl Fn(&str) -> String,
    keeps_credential: impl Fn(usize) -> bool,
    scene: &Scene<'_>,
) -> Result<Description, Undecodable> {
    let id = parameters.text("userId")?;
    let ids = parameters.texts(list)?;
    let deleted = listed(ids.iter().map(|one| named(one)));
    let mut description = Description::new(
        format!("{} of {}", count(ids.len(), noun), scene.user_short(id)),
        format!("Delete {} of {}: {deleted}.", count(ids.len(), noun), scene.user_named(id)),
    );
    description.flag(
        Level::Med,
        "access-removed",
        "People and programs that use the deleted credentials lose access.",
    );
    if !keeps_credential(ids.len()) {
        description.flag(Level::Med, "last-credential", "Locks the user out: no credential is left.");
    }
    flag_unknown_user(&mut description, id, scene);
    Ok(description)
}

fn flag_unknown_user(description: &mut Description, id: &str, scene: &Scene<'_>) {
    if scene.user(id).is_none() {
        let text = format!("{} does not exist in this organization now.", scene.user_named(id));
        description.flag(Level::Med, "unknown-user", text);
    }
}
