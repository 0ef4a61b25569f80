//! Sections for users, wallets, keys, the root quorum, policies and tags.

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::UserId;
use quorate_common::wire::{ApiKey, Policy, PrivateKey, Tag, User, Wallet};

use super::item::{Item, Shown, cells};
use crate::kinds::{Scene, count};
use crate::text::{clean, date_time, pad, quoted};

pub(super) fn users(shown: &Shown<'_>) -> Vec<Item> {
    shown.detail.users.iter().map(|one| user(shown.detail, one)).collect()
}

fn user(detail: &OrganizationDetail, user: &User) -> Item {
    let role = if detail.head.root_quorum.user_ids.contains(&user.user_id) { "root" } else { "-" };
    let mut credentials = Vec::new();
    for (number, noun) in [
        (user.authenticators.len(), "passkey"),
        (user.api_keys.len(), "API key"),
        (user.oauth_providers.len(), "OAuth login"),
    ] {
        if number > 0 {
            credentials.push(count(number, noun));
        }
    }
    let credentials = if credentials.is_empty() { "none [!]".to_owned() } else { credentials.join(", ") };
    let row = cells([(&user.user_name, 18), (role, 5)], &credentials);
    let mut lines =
        vec![format!("user      {}  created {}", user.user_id, date_time(user.created_at.millis()))];
    let text = |value: &Option<String>| value.as_deref().map_or_else(|| "none".to_owned(), clean);
    lines.push(format!("e-mail    {}   phone {}", text(&user.user_email), text(&user.user_phone_number)));
    lines.extend(user.api_keys.iter().map(api_key));
    for passkey in &user.authenticators {
        lines.push(format!(
            "passkey   {} {}  {}",
            quoted(&passkey.authenticator_name),
            passkey.authenticator_id,
            clean(&passkey.credential_id)
        ));
    }
    for provider in &user.oauth_providers {
        lines.push(format!(
            "OAuth     {} {} {}",
            quoted(&provider.provider_name),
            clean(&provider.issuer),
            clean(&provider.subject)
        ));
    }
    for tag in &user.user_tags {
        lines.push(format!("tag       {}", Scene::of(detail).tag_named(&tag.to_string())));
    }
    Item::new(&user.user_name, row, lines)
}

fn api_key(key: &ApiKey) -> String {
    let created = key.created_at.millis();
    let life = match key.expiration_seconds.as_deref().map(str::parse::<u64>) {
        None => "no expiry".to_owned(),
        Some(Ok(seconds)) => {
            format!("expires {}", date_time(created.saturating_add(seconds.saturating_mul(1000))))
        }
        Some(Err(_)) => "invalid expiry".to_owned(),
    };
    let curve = clean(key.credential.credential_type.trim_start_matches("CREDENTIAL_TYPE_"));
    format!(
        "API key   {} {curve} {}  {life}, added {}  {}",
        quoted(&key.api_key_name),
        clean(&key.credential.public_key),
        date_time(created),
        key.api_key_id
    )
}

pub(super) fn wallets(shown: &Shown<'_>) -> Vec<Item> {
    let item = |wallet: &Wallet| {
        let mut lines = vec![format!(
            "wallet    {}  created {}",
            wallet.wallet_id,
            date_time(wallet.created_at.millis())
        )];
        lines.push(format!("exported  {}   imported {}", wallet.exported, wallet.imported));
        if shown.of == Some(wallet.wallet_id) {
            for account in shown.accounts {
                let name =
                    account.name.as_deref().map_or_else(String::new, |name| format!(" {}", quoted(name)));
                lines.push(format!(
                    "account   {}{name}  {} {}",
                    clean(&account.address),
                    clean(&account.path),
                    clean(account.address_format.trim_start_matches("ADDRESS_FORMAT_"))
                ));
            }
            lines.push(if shown.more {
                "          Enter loads more accounts".to_owned()
            } else {
                format!("          {}, complete", count(shown.accounts.len(), "account"))
            });
        } else {
            lines.push("          Enter loads its accounts".to_owned());
        }
        let exported = if wallet.exported { "exported [!]" } else { "never exported" };
        let row = format!("{} {} {exported}", pad(&clean(&wallet.wallet_name), 24), wallet.wallet_id);
        Item { wallet: Some(wallet.wallet_id), ..Item::new(&wallet.wallet_name, row, lines) }
    };
    shown.detail.wallets.iter().map(item).collect()
}

pub(super) fn private_keys(shown: &Shown<'_>) -> Vec<Item> {
    let item = |key: &PrivateKey| {
        let mut lines = vec![
            format!("key       {}  created {}", key.private_key_id, date_time(key.created_at.millis())),
            format!("public    {}", clean(&key.public_key)),
            format!("exported  {}   imported {}", key.exported, key.imported),
        ];
        lines.extend(
            key.addresses
                .iter()
                .map(|address| format!("address   {} {}", clean(&address.address), clean(&address.format))),
        );
        let exported = if key.exported { "exported [!]" } else { "never exported" };
        let curve = key.curve.trim_start_matches("CURVE_");
        let row = cells([(&key.private_key_name, 24), (curve, 10)], exported);
        Item::new(&key.private_key_name, row, lines)
    };
    shown.detail.private_keys.iter().map(item).collect()
}

pub(super) fn quorum(shown: &Shown<'_>) -> Vec<Item> {
    let detail = shown.detail;
    let quorum = &detail.head.root_quorum;
    let rule = format!(
        "{} of {} must approve, organization version {}",
        quorum.threshold,
        quorum.user_ids.len(),
        detail.head.version
    );
    let care = if usize::try_from(quorum.threshold).is_ok_and(|threshold| threshold >= quorum.user_ids.len())
    {
        "[!] all must approve: one lost credential locks the organization"
    } else {
        ""
    };
    let scene = Scene::of(detail);
    let member = |id: &UserId| {
        Item::new(
            "Root quorum",
            format!("root      {}", scene.user_named(&id.to_string())),
            vec![rule.clone(), care.to_owned()],
        )
    };
    quorum.user_ids.iter().map(member).collect()
}

pub(super) fn policies(shown: &Shown<'_>) -> Vec<Item> {
    let or_none = |text: &str, none: &str| if text.trim().is_empty() { none.to_owned() } else { clean(text) };
    let item = |policy: &Policy| {
        let effect = clean(policy.effect.trim_start_matches("EFFECT_"));
        let lines = vec![
            format!("policy    {}  changed {}", policy.policy_id, date_time(policy.updated_at.millis())),
            format!("condition {}", or_none(&policy.condition, "none: any activity")),
            format!("consensus {}", or_none(&policy.consensus, "none: the proposer alone")),
            format!("notes     {}", or_none(&policy.notes, "none")),
        ];
        Item::new(&policy.policy_name, cells([(&effect, 6)], &policy.policy_name), lines)
    };
    shown.detail.policies.iter().map(item).collect()
}

pub(super) fn tags(shown: &Shown<'_>) -> Vec<Item> {
    let detail = shown.detail;
    let item = |tag: &Tag| {
        let kind = clean(tag.tag_type.trim_start_matches("TAG_TYPE_"));
        let users: Vec<String> = detail
            .users
            .iter()
            .filter(|user| user.user_tags.contains(&tag.tag_id))
            .map(|user| clean(&user.user_name))
            .collect();
        let keys: Vec<String> = detail
            .private_keys
            .iter()
            .filter(|key| key.private_key_tags.contains(&tag.tag_id))
            .map(|key| clean(&key.private_key_name))
            .collect();
        let held: Vec<String> = users.into_iter().chain(keys).collect();
        let on = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
        Item::new(
            &tag.tag_name,
            format!("{} {} on {on}", pad(&clean(&tag.tag_name), 24), pad(&kind, 12)),
            vec![format!("tag       {}", tag.tag_id), format!("on        {on}")],
        )
    };
    detail.tags.iter().map(item).collect()
}
