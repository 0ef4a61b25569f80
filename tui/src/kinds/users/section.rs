//! Users with their credentials.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::User;

use crate::credentials::{self, Actor, Credential};
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
        for one in credentials::of_user(self, detail, data.actor, data.now) {
            lines.push(format!("key       {}", one.line(Some(data.now))));
            lines.push(format!("          {} {}", one.id, one.material));
            lines.extend(one.warning().map(|text| format!("          {text}")));
            lines.push(format!("          revoke: {}", one.revocation_text()));
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

    fn more_lines(&self, organization: &OrganizationDetail) -> Vec<Row> {
        let lines = |one: &Credential| {
            let warning = one.warning().map(|text| format!("       {text}"));
            [Some(format!("     {} {}", one.id, one.line(None))), warning].into_iter().flatten()
        };
        let all = credentials::of_user(self, organization, Actor::Member, 0);
        all.iter().flat_map(lines).map(|line| ("", line)).collect()
    }
}
