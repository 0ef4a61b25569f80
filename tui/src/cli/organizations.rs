//! `quorate org ls|get`.

use std::fmt::Write as _;

use quorate_common::console::{OrganizationDetail, OrganizationHead};
use quorate_common::ids::OrganizationId;
use serde_json::json;

use super::arguments::OrgCommand;
use crate::failure::Failure;
use crate::kinds::{Scene, count};
use crate::output::Answer;
use crate::session::{Session, pin_keys};
use crate::text::{clean, quoted};

pub(super) async fn run(session: &Session, command: &OrgCommand) -> Result<Answer, Failure> {
    session.daemon_status().await?;
    match command {
        OrgCommand::Ls { parent } => {
            // Without a pinned organization, the user cannot be checked.
            if session.identity.viewer.organization.is_some() {
                session.organization().await?;
            }
            list(session, *parent).await
        }
        OrgCommand::Get { id } => {
            let organization = match id {
                Some(id) => session.client.organization(*id).await?,
                None => session.organization().await?,
            };
            pin_keys(&session.folders, &organization)?;
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
    let row = |head: &OrganizationHead| {
        let (quorum, name) = (&head.root_quorum, clean(&head.organization_name));
        let root = format!("root {}/{}", quorum.threshold, quorum.user_ids.len());
        (json!(head), format!("{}  {root}  {name}\n", head.organization_id))
    };
    Ok(Answer::rows(heads.iter().map(row), "No organizations."))
}

/// Formats an organization as lines: the kind of record, its id and its name.
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
    let lines = members(organization)
        .into_iter()
        .chain(keys_and_policies(organization))
        .chain(settings(organization));
    for (what, description) in lines {
        let _ = writeln!(out, "{what:<9} {description}");
    }
    out
}

/// The kind of a record and its description.
type Row = (&'static str, String);

fn members(organization: &OrganizationDetail) -> Vec<Row> {
    let mut lines = Vec::new();
    for user in &organization.users {
        let role = if organization.head.root_quorum.user_ids.contains(&user.user_id) { "root" } else { "-" };
        let description = format!(
            "{role:<4} {} {}: {}, {}",
            user.user_id,
            quoted(&user.user_name),
            count(user.api_keys.len(), "API key"),
            count(user.authenticators.len(), "passkey")
        );
        lines.push(("user", description));
    }
    for invitation in &organization.invitations {
        let description = format!(
            "{} {} {} {}",
            invitation.invitation_id,
            clean(invitation.status.trim_start_matches("INVITATION_STATUS_")),
            quoted(&invitation.receiver_user_name),
            clean(&invitation.receiver_email)
        );
        lines.push(("invited", description));
    }
    lines
}

fn keys_and_policies(organization: &OrganizationDetail) -> Vec<Row> {
    let mut lines = Vec::new();
    for wallet in &organization.wallets {
        lines.push(("wallet", format!("{} {}", wallet.wallet_id, quoted(&wallet.wallet_name))));
    }
    for key in &organization.private_keys {
        let description =
            format!("{} {} {}", key.private_key_id, quoted(&key.private_key_name), clean(&key.curve));
        lines.push(("key", description));
    }
    for secret in &organization.secrets {
        let name = secret.name.as_deref().map_or_else(|| "unnamed".to_owned(), quoted);
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
        let state = if endpoint.is_active { "active" } else { "inactive" };
        let description =
            format!("{} {state} {} {}", endpoint.endpoint_id, quoted(&endpoint.name), clean(&endpoint.url));
        lines.push(("webhook", description));
    }
    for profile in &organization.session_profiles {
        let (name, scope) = (quoted(&profile.session_profile_name), quoted(&profile.scope));
        lines.push(("profile", format!("{} {name}: {scope}", profile.session_profile_id)));
    }
    for interface in &organization.smart_contract_interfaces {
        let description = format!(
            "{} {} {}",
            interface.smart_contract_interface_id,
            quoted(&interface.label),
            clean(&interface.smart_contract_address)
        );
        lines.push(("contract", description));
    }
    lines
}

fn settings(organization: &OrganizationDetail) -> Vec<Row> {
    let mut lines = Vec::new();
    for feature in &organization.features {
        let value = feature.value.as_deref().map_or_else(|| "on".to_owned(), clean);
        lines.push(("feature", format!("{} {value}", clean(&feature.name))));
    }
    let scene = Scene::of(organization);
    for list in &organization.ip_allowlists {
        let whose =
            list.public_key.as_deref().map_or_else(|| "all users".to_owned(), |key| scene.key_named(key));
        let state = if list.enabled == Some(false) { "off" } else { "on" };
        let blocks: Vec<String> = list.rules.iter().map(|rule| clean(&rule.cidr)).collect();
        let blocks = if blocks.is_empty() { "no blocks".to_owned() } else { blocks.join(", ") };
        let unknown =
            if list.on_evaluation_error == "ALLOW" { "; unknown addresses are allowed" } else { "" };
        let state = if list.public_key.is_some() { String::new() } else { format!("{state}, ") };
        lines.push(("addresses", format!("{whose}: {state}{blocks}{unknown}")));
    }
    if let Some(method) = &organization.payment_method {
        let card = if method.last_four.is_empty() {
            String::new()
        } else {
            format!(" a card ending in {}", clean(&method.last_four))
        };
        let description =
            format!("{}{card} of {}", clean(&method.payment_method_id), quoted(&method.card_holder_name));
        lines.push(("payment", description));
    }
    lines.extend(organization.billing_tier.as_deref().map(|product| ("tier", clean(product))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fixture;

    #[test]
    fn text_lists_every_record() {
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!("organization", text(&Fixture::new(3, 2).with_all_records()));
        });
    }
}
