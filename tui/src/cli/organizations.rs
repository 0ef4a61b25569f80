//! `quorate org ls|get`.

use std::fmt::Write as _;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;
use serde_json::json;

use super::Answer;
use super::arguments::OrgCommand;
use crate::failure::Failure;
use crate::session::{Session, remember};
use crate::text::{clean, quoted};

pub(super) async fn run(session: &Session, command: &OrgCommand) -> Result<Answer, Failure> {
    session.greet().await?;
    match command {
        OrgCommand::Ls { parent } => list(session, *parent).await,
        OrgCommand::Get { id } => {
            let id = match id {
                Some(id) => *id,
                None => session.organization_id().await?,
            };
            let organization = session.client.organization(id).await?;
            remember(&session.folders, &organization)?;
            Ok(Answer::one(json!(organization), text(&organization)))
        }
    }
}

async fn list(session: &Session, parent: Option<OrganizationId>) -> Result<Answer, Failure> {
    let mut heads = Vec::new();
    let mut after = None;
    loop {
        let page = session.client.organizations(parent, after).await?;
        heads.extend(page.organizations);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut text = String::new();
    for head in &heads {
        let quorum = &head.root_quorum;
        let name = clean(&head.organization_name);
        let _ = writeln!(
            text,
            "{}  root {}/{}  {name}",
            head.organization_id,
            quorum.threshold,
            quorum.user_ids.len()
        );
    }
    Ok(Answer::list(
        heads.iter().map(|head| json!(head)).collect(),
        if text.is_empty() { "No organizations.\n".to_owned() } else { text },
    ))
}

fn text(organization: &OrganizationDetail) -> String {
    let head = &organization.head;
    let mut out = format!(
        "{} {}\nroot quorum {} of {}, version {}\n",
        clean(&head.organization_name),
        head.organization_id,
        head.root_quorum.threshold,
        head.root_quorum.user_ids.len(),
        head.version
    );
    for user in &organization.users {
        let role = if head.root_quorum.user_ids.contains(&user.user_id) { "root" } else { "-" };
        let _ = writeln!(
            out,
            "user    {role:<4} {} {}: {} API keys, {} passkeys",
            user.user_id,
            quoted(&user.user_name),
            user.api_keys.len(),
            user.authenticators.len()
        );
    }
    for wallet in &organization.wallets {
        let _ = writeln!(out, "wallet  {} {}", wallet.wallet_id, quoted(&wallet.wallet_name));
    }
    for key in &organization.private_keys {
        let _ = writeln!(
            out,
            "key     {} {} {}",
            key.private_key_id,
            quoted(&key.private_key_name),
            clean(&key.curve)
        );
    }
    for policy in &organization.policies {
        let _ = writeln!(
            out,
            "policy  {} {} {}",
            policy.policy_id,
            clean(policy.effect.trim_start_matches("EFFECT_")),
            quoted(&policy.policy_name)
        );
    }
    for tag in &organization.tags {
        let _ = writeln!(out, "tag     {} {}", tag.tag_id, quoted(&tag.tag_name));
    }
    for feature in &organization.features {
        let _ = writeln!(
            out,
            "feature {} {}",
            clean(&feature.name),
            feature.value.as_deref().map_or_else(|| "on".to_owned(), clean)
        );
    }
    out
}
