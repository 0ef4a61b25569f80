//! Recent activities and the signers that their requests name, for evaluating them again.

use quorate_common::console::{ActivityRow, PAGE_LIMIT};
use quorate_common::ids::OrganizationId;

use super::{Client, LinkError};
use crate::policies::{Body, RECENT, ResolvedNames, changing, signed};

/// Returns the last activities of an organization, newest first, and the signers that they name.
pub(crate) async fn recent(
    client: &Client,
    id: OrganizationId,
) -> Result<(Vec<ActivityRow>, ResolvedNames), LinkError> {
    let rows = last(client, id, &[]).await?;
    let mut resolved = ResolvedNames::new();
    let mut missing = std::collections::BTreeSet::new();
    for (body, _) in rows.iter().filter_map(signed) {
        look_up(client, id, &body, &mut resolved, &mut missing).await?;
    }
    Ok((rows, resolved))
}

/// Returns the last activities that created or changed policies, newest first.
pub(crate) async fn policy_changes(
    client: &Client,
    id: OrganizationId,
) -> Result<Vec<ActivityRow>, LinkError> {
    last(client, id, &changing()).await
}

/// Returns the last activities of these types, or of all types if none is given.
async fn last(client: &Client, id: OrganizationId, types: &[String]) -> Result<Vec<ActivityRow>, LinkError> {
    let mut rows: Vec<ActivityRow> = Vec::new();
    let mut after = None;
    while rows.len() < RECENT {
        let wanted = RECENT.saturating_sub(rows.len()).min(PAGE_LIMIT);
        let page = client.activities(id, &[], types, after, wanted).await?;
        rows.extend(page.activities);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(rows)
}

/// Looks up the signers that a request names. Missing ones are reported when the request is evaluated.
pub(crate) async fn look_up(
    client: &Client,
    id: OrganizationId,
    body: &Body,
    resolved: &mut ResolvedNames,
    missing: &mut std::collections::BTreeSet<String>,
) -> Result<(), LinkError> {
    for name in body.names() {
        if resolved.contains_key(&name) || missing.contains(&name) {
            continue;
        }
        match client.signer(id, &name).await {
            Ok(signer) => drop(resolved.insert(name, signer)),
            Err(LinkError::Api(_)) => drop(missing.insert(name)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
