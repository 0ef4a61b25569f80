//! Recent activities and the signers that their requests name, for evaluating them again.

use quorate_common::console::ActivityRow;
use quorate_common::ids::OrganizationId;

use super::client::Client;
use super::error::{LinkError, Result};
use crate::policies::{Body, RECENT, ResolvedNames, changing, signed};

/// Returns the last activities of an organization, newest first, and the signers that they name.
pub(crate) async fn recent(client: &Client, id: OrganizationId) -> Result<(Vec<ActivityRow>, ResolvedNames)> {
    let rows = client.newest(id, &[], &[], RECENT).await?;
    let mut resolved = ResolvedNames::new();
    let mut missing = std::collections::BTreeSet::new();
    for (body, _) in rows.iter().filter_map(signed) {
        look_up(client, id, &body, &mut resolved, &mut missing).await?;
    }
    Ok((rows, resolved))
}

/// Returns the last activities that created or changed policies, newest first.
pub(crate) async fn policy_changes(client: &Client, id: OrganizationId) -> Result<Vec<ActivityRow>> {
    client.newest(id, &[], &changing(), RECENT).await
}

/// Looks up the signers that a request names. Missing ones are reported when the request is evaluated.
pub(crate) async fn look_up(
    client: &Client,
    id: OrganizationId,
    body: &Body,
    resolved: &mut ResolvedNames,
    missing: &mut std::collections::BTreeSet<String>,
) -> Result<()> {
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
