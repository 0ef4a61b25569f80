//! What to compare after a restore: what was added shortly before the backup is most likely to have been removed since.

use quorate_core::error::Corrupt;
use quorate_core::model::layout;
use quorate_core::model::{Millis, Organization};
use quorate_core::records;
use quorate_core::world::{Page, Records};

use crate::barrier::Barrier;
use crate::clock;

/// Age below which something is listed, in milliseconds: 30 days.
const RECENT: Millis = 30 * 24 * 60 * 60 * 1000;
/// Maximum number of lines.
const MOST: usize = 1000;
/// Number of organizations that are read at once.
const PAGE: usize = 256;

/// Returns the keys, authenticators, users and policies of all organizations that were added less than 30 days before `until`, and
/// whether there are more than can be listed. An organization that cannot be read is listed as such.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub(super) fn recent(barrier: &Barrier, until: Millis) -> Result<(Vec<String>, bool), Corrupt> {
    let since = until.saturating_sub(RECENT);
    let mut found = Vec::new();
    let mut after: Option<Vec<u8>> = None;
    loop {
        let page = Page { after: after.as_deref(), ..Page::first(layout::ORGANIZATIONS, PAGE) };
        let keys = barrier.keys(page)?;
        let Some(last) = keys.last() else { return Ok((found, false)) };
        after = Some(last.clone());
        for id in keys.iter().filter_map(|key| layout::organization_id(key)) {
            match records::organization(barrier, id) {
                Ok(Some(organization)) if organization.head.deleted.is_none() => {
                    found.extend(of_organization(&organization, since));
                }
                Ok(_) => {}
                Err(error) => found.push(format!("organization {id}: {error}")),
            }
            if found.len() > MOST {
                found.truncate(MOST);
                return Ok((found, true));
            }
        }
    }
}

fn of_organization(organization: &Organization, since: Millis) -> Vec<String> {
    let (id, name) = (organization.id(), quoted(&organization.head.name));
    let mut found = Vec::new();
    let mut add = |created: Millis, what: String| {
        if created >= since {
            found.push(format!("organization {name} ({id}): {what}, added {}", clock::text(created)));
        }
    };
    for user in organization.users() {
        let named = format!("user {} ({})", quoted(&user.name), user.id);
        add(user.created, named.clone());
        for key in user.api_keys.iter().filter(|key| key.expiration_seconds.is_none()) {
            add(key.created, format!("API key {} ({}) of {named}", quoted(&key.name), key.id));
        }
        for authenticator in &user.authenticators {
            add(
                authenticator.created,
                format!("authenticator {} ({}) of {named}", quoted(&authenticator.name), authenticator.id),
            );
        }
    }
    for policy in organization.policies() {
        add(policy.policy.created, format!("policy {} ({})", quoted(&policy.policy.name), policy.policy.id));
    }
    found
}

/// Returns a name in quotation marks, with control characters as escapes.
fn quoted(name: &impl std::fmt::Display) -> String {
    format!("{:?}", name.to_string())
}
