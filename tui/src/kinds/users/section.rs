//! Users with their credentials.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::{ApiKey, User};

use crate::kinds::section::{Item, Listed, Row, SectionData, cells};
use crate::kinds::{ReviewContext, count, mfa_policies};
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
                "passkey   {} {}  {}  added {}",
                quoted(&passkey.authenticator_name),
                passkey.authenticator_id,
                clean(&passkey.credential_id),
                date_time(passkey.created_at.millis())
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
        if !self.api_keys.is_empty() {
            lines.push(
                "revoke    DELETE_API_KEYS with its id ends an API key or a session at once".to_owned(),
            );
        }
        lines.extend(mfa_policies::lines(self, &ReviewContext::of(detail)));
        for tag in &self.user_tags {
            lines.push(format!("tag       {}", ReviewContext::of(detail).tag_named(&tag.to_string())));
        }
        Item::new(&self.user_name, row, lines)
    }

    fn line(&self, organization: &OrganizationDetail) -> Row {
        let role = if organization.head.root_quorum.user_ids.contains(&self.user_id) { "root" } else { "-" };
        let mfa = match self.mfa_policies.len() {
            0 => String::new(),
            1 => ", 1 MFA policy".to_owned(),
            policies => format!(", {policies} MFA policies"),
        };
        let description = format!(
            "{role:<4} {} {}: {}, {}{mfa}",
            self.user_id,
            quoted(&self.user_name),
            count(self.api_keys.len(), "API key"),
            count(self.authenticators.len(), "passkey")
        );
        ("user", description)
    }

    fn more_lines(&self) -> Vec<Row> {
        let keys = self.api_keys.iter().map(|key| {
            let (kind, end, added) = (kind(key), end(key), date_time(key.created_at.millis()));
            format!("     {} {kind} {}, added {added}, {end}", key.api_key_id, quoted(&key.api_key_name))
        });
        let passkeys = self.authenticators.iter().map(|one| {
            let added = date_time(one.created_at.millis());
            format!(
                "     {} passkey {}, added {added}",
                one.authenticator_id,
                quoted(&one.authenticator_name)
            )
        });
        let providers = self.oauth_providers.iter().map(|one| {
            let added = date_time(one.created_at.millis());
            format!("     {} OAuth login {}, added {added}", one.provider_id, quoted(&one.provider_name))
        });
        keys.chain(passkeys).chain(providers).map(|line| ("", line)).collect()
    }
}

/// Returns the kind of an API key: how it was created, which decides what it can do and whether it ends.
fn kind(key: &ApiKey) -> String {
    let name = key.credential.credential_type.trim_start_matches("CREDENTIAL_TYPE_");
    let known = match name {
        "LOGIN" => "session by login",
        "READ_WRITE_SESSION_KEY_P256" => "read-write session",
        "OTP_AUTH_KEY_P256" => "session by code",
        "EMAIL_AUTH_KEY_P256" => "session by mail",
        "OAUTH_KEY_P256" => "session by OAuth",
        "RECOVER_USER_KEY_P256" => "recovery key",
        _ => return clean(&name.replace("API_KEY_", "API key ")),
    };
    known.to_owned()
}

/// Returns when an API key ends.
fn end(key: &ApiKey) -> String {
    let created = key.created_at.millis();
    match key.expiration_seconds.as_deref().map(str::parse::<u64>) {
        None => "no expiry".to_owned(),
        Some(Ok(seconds)) => {
            format!("expires {}", date_time(created.saturating_add(seconds.saturating_mul(1000))))
        }
        Some(Err(_)) => "invalid expiry".to_owned(),
    }
}

fn api_key(key: &ApiKey) -> String {
    format!(
        "API key   {} {} {}  {}, added {}  {}",
        quoted(&key.api_key_name),
        kind(key),
        clean(&key.credential.public_key),
        end(key),
        date_time(key.created_at.millis()),
        key.api_key_id
    )
}
