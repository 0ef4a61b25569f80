//! Users with their credentials.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::{ApiKey, User};

use crate::kinds::section::{Item, Row, Section, SectionData, cells};
use crate::kinds::{ReviewContext, count};
use crate::text::{clean, date_time, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Users", count: |detail| detail.users.len(), items: users };

fn users(data: &SectionData<'_>) -> Vec<Item> {
    data.detail.users.iter().map(|one| user(data.detail, one)).collect()
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
        lines.push(format!("tag       {}", ReviewContext::of(detail).tag_named(&tag.to_string())));
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

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |user: &User| {
        let role = if organization.head.root_quorum.user_ids.contains(&user.user_id) { "root" } else { "-" };
        let description = format!(
            "{role:<4} {} {}: {}, {}",
            user.user_id,
            quoted(&user.user_name),
            count(user.api_keys.len(), "API key"),
            count(user.authenticators.len(), "passkey")
        );
        ("user", description)
    };
    organization.users.iter().map(line).collect()
}
