//! Finds what a name means. A name that means several things is an error that lists their ids.

use quorate_common::console::OrganizationHead;
use quorate_common::ids::OrganizationId;

use crate::failure::{Exit, Failure, Result};
use crate::link::Client;
use crate::text::quoted;

/// Maximum number of pages of organizations that are searched for a name.
const PAGES: usize = 100;
/// Maximum number of ids that an error lists.
const IDS: usize = 20;

/// Returns the only id of what has a name.
///
/// # Errors
/// Returns an error if there is none, or one that lists the ids if there are several.
pub(crate) fn one_named(noun: &str, plural: &str, name: &str, ids: Vec<String>) -> Result<String> {
    let name = quoted(name);
    match ids.as_slice() {
        [] => Err(Failure::new(Exit::NotFound, format!("{noun} {name} not found"))),
        [_] => Ok(ids.into_iter().next().unwrap_or_default()),
        [first, rest @ ..] => {
            let shown =
                rest.iter().take(IDS.saturating_sub(1)).fold(first.clone(), |all, id| all + ", " + id);
            let more = ids.len().saturating_sub(IDS);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let text = format!("several {plural} are named {name}: use one of the ids {shown}{more}");
            Err(Failure::new(Exit::Usage, text))
        }
    }
}

/// Returns the organization with this id or name. The name of a sub-organization follows that of its parent, as in
/// `treasury/payouts`; alone, it must be the only one.
pub(crate) async fn organization(client: &Client, name: &str) -> Result<OrganizationId> {
    if let Ok(id) = name.parse() {
        return Ok(id);
    }
    match among_children(client, None, name).await {
        Err(failure) if failure.exit == Exit::NotFound && name.contains('/') => {}
        Err(failure) if failure.exit == Exit::NotFound => return below(client, name).await,
        found => return found,
    }
    let mut found = None;
    for part in name.split('/') {
        found = Some(match part.parse() {
            Ok(id) => id,
            Err(_) => among_children(client, found, part).await?,
        });
    }
    found.ok_or_else(|| Failure::new(Exit::NotFound, format!("organization {} not found", quoted(name))))
}

/// Returns the only organization below the top-level ones with this name.
async fn below(client: &Client, name: &str) -> Result<OrganizationId> {
    let (mut found, mut pages): (Vec<(OrganizationId, String)>, usize) = (Vec::new(), 0);
    let mut parents: Vec<(Option<OrganizationId>, String)> = vec![(None, String::new())];
    while let Some((parent, path)) = parents.pop() {
        let mut after = None;
        loop {
            pages = pages.saturating_add(1);
            if pages > PAGES {
                let text = format!(
                    "too many organizations to search them for {}: use the id, or the path from its parent, as in \
                     treasury/payouts",
                    quoted(name)
                );
                return Err(Failure::new(Exit::Usage, text));
            }
            let page = client.organizations(parent, after).await?;
            for head in page.organizations {
                let path = format!("{path}{}", head.organization_name);
                if parent.is_some() && head.organization_name == name {
                    found.push((head.organization_id, path.clone()));
                }
                parents.push((Some(head.organization_id), path + "/"));
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    one_below(name, &found)
}

/// Returns the only one of the organizations that were found with their paths.
fn one_below(name: &str, found: &[(OrganizationId, String)]) -> Result<OrganizationId> {
    match found {
        [(id, _)] => Ok(*id),
        [] => Err(Failure::new(Exit::NotFound, format!("organization {} not found", quoted(name)))),
        several => {
            let shown = several.iter().take(IDS).map(|(id, path)| format!("{} ({id})", quoted(path)));
            let more = several.len().saturating_sub(IDS);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let shown: Vec<String> = shown.collect();
            let text = format!(
                "several sub-organizations are named {}: use one of the paths or ids {}{more}",
                quoted(name),
                shown.join(", ")
            );
            Err(Failure::new(Exit::Usage, text))
        }
    }
}

/// Returns the only top-level organization, or child of `parent`, with this name.
async fn among_children(
    client: &Client,
    parent: Option<OrganizationId>,
    name: &str,
) -> Result<OrganizationId> {
    let is_named = |head: &OrganizationHead| head.organization_name == name;
    let (mut found, mut after) = (Vec::new(), None);
    for _ in 0..PAGES {
        let page = client.organizations(parent, after).await?;
        found.extend(page.organizations.into_iter().filter(is_named).map(|head| head.organization_id));
        after = page.next;
        if after.is_none() {
            let ids = found.iter().map(ToString::to_string).collect();
            let id = one_named("organization", "organizations", name, ids)?;
            return id.parse().map_err(|_| Failure::new(Exit::Failed, "the daemon stated an invalid id"));
        }
    }
    let text = format!("too many organizations to search them for {}: use the id", quoted(name));
    Err(Failure::new(Exit::Usage, text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_name_of_several_things_is_an_error_that_lists_their_ids() {
        let of = |ids: &[&str]| {
            one_named("policy", "policies", "a\u{7}", ids.iter().map(|id| (*id).to_owned()).collect())
        };
        assert_eq!(of(&["1"]).unwrap(), "1");
        assert_eq!(of(&[]).unwrap_err().exit, Exit::NotFound);
        let failure = of(&["1", "2", "3"]).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        let expected = "several policies are named \"a<U+0007>\": use one of the ids 1, 2, 3";
        assert_eq!(failure.message(), expected);
        let many = vec!["9"; IDS + 4];
        assert!(of(&many).unwrap_err().message().ends_with("9, 9 and 4 more"));
    }
}
