//! Activities of late, with what their requests name: enough to judge them again.

use quorate_common::console::{ActivityRow, PAGE_LIMIT};
use quorate_common::ids::OrganizationId;

use super::{Client, LinkFlaw};
use crate::policies::{Body, Looked, RECENT, changing, signed};

/// The last activities of an organization, newest first, and what they name.
pub(crate) async fn recent(
    client: &Client,
    id: OrganizationId,
) -> Result<(Vec<ActivityRow>, Looked), LinkFlaw> {
    let rows = last(client, id, &[]).await?;
    let mut looked = Looked::new();
    let mut missing = std::collections::BTreeSet::new();
    for (body, _) in rows.iter().filter_map(signed) {
        look_up(client, id, &body, &mut looked, &mut missing).await?;
    }
    Ok((rows, looked))
}

/// The last activities that made or changed policies, newest first.
pub(crate) async fn policy_changes(
    client: &Client,
    id: OrganizationId,
) -> Result<Vec<ActivityRow>, LinkFlaw> {
    last(client, id, &changing()).await
}

/// The last activities of these types, of any if none is named.
async fn last(client: &Client, id: OrganizationId, types: &[String]) -> Result<Vec<ActivityRow>, LinkFlaw> {
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

/// Looks up what a request names. What is not there is told when the request is judged.
pub(crate) async fn look_up(
    client: &Client,
    id: OrganizationId,
    body: &Body,
    looked: &mut Looked,
    missing: &mut std::collections::BTreeSet<String>,
) -> Result<(), LinkFlaw> {
    for name in body.names() {
        if looked.contains_key(&name) || missing.contains(&name) {
            continue;
        }
        match client.signer(id, &name).await {
            Ok(signer) => drop(looked.insert(name, signer)),
            Err(LinkFlaw::Refused(_)) => drop(missing.insert(name)),
            Err(flaw) => return Err(flaw),
        }
    }
    Ok(())
}
