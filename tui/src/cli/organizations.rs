//! `quorate org ls|get`.

use std::fmt::Write as _;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;
use serde_json::json;

use super::Answer;
use super::arguments::OrgCommand;
use crate::failure::Failure;
use crate::kinds::Scene;
use crate::session::{Session, remember};
use crate::text::{clean, quoted};

pub(super) async fn run(session: &Session, command: &OrgCommand) -> Result<Answer, Failure> {
    session.greet().await?;
    match command {
        OrgCommand::Ls { parent } => {
            // Without a pinned organization there is none yet that the user could be in.
            if session.viewer.organization.is_some() {
                session.organization().await?;
            }
            list(session, *parent).await
        }
        OrgCommand::Get { id } => {
            let organization = match id {
                Some(id) => session.client.organization(*id).await?,
                None => session.organization().await?,
            };
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

/// An organization as plain lines: a word for what it is, its id, its name.
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
    let lines =
        people(organization).into_iter().chain(keys_and_rules(organization)).chain(settings(organization));
    for (what, told) in lines {
        let _ = writeln!(out, "{what:<9} {told}");
    }
    out
}

/// A word and what is told of it.
type Told = (&'static str, String);

fn people(organization: &OrganizationDetail) -> Vec<Told> {
    let mut lines = Vec::new();
    for user in &organization.users {
        let role = if organization.head.root_quorum.user_ids.contains(&user.user_id) { "root" } else { "-" };
        let told = format!(
            "{role:<4} {} {}: {} API keys, {} passkeys",
            user.user_id,
            quoted(&user.user_name),
            user.api_keys.len(),
            user.authenticators.len()
        );
        lines.push(("user", told));
    }
    for invitation in &organization.invitations {
        let told = format!(
            "{} {} {} {}",
            invitation.invitation_id,
            clean(invitation.status.trim_start_matches("INVITATION_STATUS_")),
            quoted(&invitation.receiver_user_name),
            clean(&invitation.receiver_email)
        );
        lines.push(("invited", told));
    }
    lines
}

fn keys_and_rules(organization: &OrganizationDetail) -> Vec<Told> {
    let mut lines = Vec::new();
    for wallet in &organization.wallets {
        lines.push(("wallet", format!("{} {}", wallet.wallet_id, quoted(&wallet.wallet_name))));
    }
    for key in &organization.private_keys {
        let told = format!("{} {} {}", key.private_key_id, quoted(&key.private_key_name), clean(&key.curve));
        lines.push(("key", told));
    }
    for secret in &organization.secrets {
        let name = secret.name.as_deref().map_or_else(|| "without a name".to_owned(), quoted);
        lines.push(("secret", format!("{} {name}", secret.secret_id)));
    }
    for policy in &organization.policies {
        let effect = clean(policy.effect.trim_start_matches("EFFECT_"));
        lines.push(("policy", format!("{} {effect} {}", policy.policy_id, quoted(&policy.policy_name))));
    }
    for tag in &organization.tags {
        lines.push(("tag", format!("{} {}", tag.tag_id, quoted(&tag.tag_name))));
    }
    for endpoint in &organization.webhook_endpoints {
        let state = if endpoint.is_active { "active" } else { "silent" };
        let told =
            format!("{} {state} {} {}", endpoint.endpoint_id, quoted(&endpoint.name), clean(&endpoint.url));
        lines.push(("webhook", told));
    }
    for profile in &organization.session_profiles {
        let (name, scope) = (quoted(&profile.session_profile_name), quoted(&profile.scope));
        lines.push(("profile", format!("{} {name}: {scope}", profile.session_profile_id)));
    }
    for interface in &organization.smart_contract_interfaces {
        let told = format!(
            "{} {} {}",
            interface.smart_contract_interface_id,
            quoted(&interface.label),
            clean(&interface.smart_contract_address)
        );
        lines.push(("contract", told));
    }
    lines
}

fn settings(organization: &OrganizationDetail) -> Vec<Told> {
    let mut lines = Vec::new();
    for feature in &organization.features {
        let value = feature.value.as_deref().map_or_else(|| "on".to_owned(), clean);
        lines.push(("feature", format!("{} {value}", clean(&feature.name))));
    }
    let scene = Scene::of(organization);
    for list in &organization.ip_allowlists {
        let whose =
            list.public_key.as_deref().map_or_else(|| "everybody".to_owned(), |key| scene.key_named(key));
        let state = if list.enabled == Some(false) { "off" } else { "on" };
        let blocks: Vec<String> = list.rules.iter().map(|rule| clean(&rule.cidr)).collect();
        let blocks = if blocks.is_empty() { "no block".to_owned() } else { blocks.join(", ") };
        let unknown = if list.on_evaluation_error == "ALLOW" { "; unknown addresses are taken" } else { "" };
        let state = if list.public_key.is_some() { String::new() } else { format!("{state}, ") };
        lines.push(("addresses", format!("{whose}: {state}{blocks}{unknown}")));
    }
    if let Some(method) = &organization.payment_method {
        let card = if method.last_four.is_empty() {
            String::new()
        } else {
            format!(" a card ending in {}", clean(&method.last_four))
        };
        let told =
            format!("{}{card} of {}", clean(&method.payment_method_id), quoted(&method.card_holder_name));
        lines.push(("payment", told));
    }
    lines.extend(organization.billing_tier.as_deref().map(|product| ("tier", clean(product))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stage;

    #[test]
    fn every_record_has_its_line() {
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!("organization", text(&Stage::new(3, 2).furnished()));
        });
    }
}
