//! Users with their credentials.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::{ApiKey, User};

use crate::kinds::section::{Item, Listed, Row, SectionData, cells};
use crate::kinds::{ReviewContext, count};
use crate::text::{clean, date_time, quoted};

impl Listed for User {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.users
    }

    fn item(&self, data: &SectionData<'_>) -> Item {
        let detail = data.detail;
        let role = if detail.head.root_quorum.user_ids.contains(&self.user_id) { "root" } else { "-" };
        let mut credentials = Vec::new();
        for (number, noun) in [
            (self.authenticators.len(), "passkey"),
            (self.api_keys.len(), "API key"),
            (self.oauth_providers.len(), "OAuth login"),
        ] {
            if number > 0 {
                credentials.push(count(number, noun));
            }
        }
        let credentials = if credentials.is_empty() { "none [!]".to_owned() } else { credentials.join(", ") };
        let row = cells([(&self.user_name, 18), (role, 5)], &credentials);
        let mut lines =
            vec![format!("user      {}  created {}", self.user_id, date_time(self.created_at.millis()))];
        let text = |value: &Option<String>| value.as_deref().map_or_else(|| "none".to_owned(), clean);
        lines.push(format!("e-mail    {}   phone {}", text(&self.user_email), text(&self.user_phone_number)));
        lines.extend(self.api_keys.iter().map(api_key));
        for passkey in &self.authenticators {
            lines.push(format!(
                "passkey   {} {}  {}",
                quoted(&passkey.authenticator_name),
                passkey.authenticator_id,
                clean(&passkey.credential_id)
            ));
        }
        for provider in &self.oauth_providers {
            lines.push(format!(
                "OAuth     {} {} {}",
                quoted(&provider.provider_name),
                clean(&provider.issuer),
                clean(&provider.subject)
            ));
        }
        for tag in &self.user_tags {
            lines.push(format!("tag       {}", ReviewContext::of(detail).tag_named(&tag.to_string())));
        }
        Item::new(&self.user_name, row, lines)
    }

    fn line(&self, organization: &OrganizationDetail) -> Row {
        let role = if organization.head.root_quorum.user_ids.contains(&self.user_id) { "root" } else { "-" };
        let description = format!(
            "{role:<4} {} {}: {}, {}",
            self.user_id,
            quoted(&self.user_name),
            count(self.api_keys.len(), "API key"),
            count(self.authenticators.len(), "passkey")
        );
        ("user", description)
    }
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
