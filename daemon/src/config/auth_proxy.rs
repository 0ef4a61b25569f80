//! Section `[auth_proxy]`: sign-up and sign-in for clients that have no credential yet.

use quorate_common::ids::OrganizationId;

use super::section::Section;
use crate::auth_proxy::settings::{BasePath, Method, OAUTH, Origin, Settings};

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Settings> {
    let organization = section.parsed::<OrganizationId>("organization");
    let mut settings = Settings::of(organization.unwrap_or(OrganizationId::from_bytes([0; 16])));
    if let Some(BasePath(path)) = section.parsed("base_path") {
        settings.base_path = path;
    }
    settings.origins = section.parsed_list::<Origin>("allowed_origins").unwrap_or_default();
    settings.methods = section.parsed_list::<Method>("methods").unwrap_or(settings.methods);
    settings.app_name = section.text("app_name").filter(|name| !name.is_empty());
    settings.code_length = section.number("code_length", 6..=9).unwrap_or(settings.code_length);
    settings.code_letters = section.flag("code_letters").unwrap_or(settings.code_letters);
    settings.session_seconds =
        section.number("session_seconds", 60..=86_400).unwrap_or(settings.session_seconds);
    settings.requests_per_address =
        section.number("requests_per_address", 1..=1_000_000).unwrap_or(settings.requests_per_address);
    settings.requests_per_contact =
        section.number("requests_per_contact", 1..=1_000_000).unwrap_or(settings.requests_per_contact);
    settings.waiting_codes_per_address = section
        .number("waiting_codes_per_address", 1..=1_000_000)
        .unwrap_or(settings.waiting_codes_per_address);
    settings.sign_ups_per_address =
        section.number("sign_ups_per_address", 1..=1_000_000).unwrap_or(settings.sign_ups_per_address);
    settings.sms.per_hour = section.number("sms_per_hour", 1..=1_000_000).unwrap_or(settings.sms.per_hour);
    settings.sms.per_hour_and_address = section
        .number("sms_per_hour_and_address", 1..=1_000_000)
        .unwrap_or(settings.sms.per_hour_and_address);
    settings.needs_token_for_contacts = section
        .flag("verification_token_required_for_account_pii")
        .unwrap_or(settings.needs_token_for_contacts);
    settings.email_issuers = section.parsed_list::<String>("email_issuers").unwrap_or(settings.email_issuers);
    for method in OAUTH {
        let id = section.text(&format!("{}_client_id", method.name())).filter(|id| !id.is_empty());
        settings.client_ids.extend(id.map(|id| (method, id)));
    }
    settings.issuers =
        settings.methods.iter().flat_map(|method| method.issuers()).map(|one| (*one).to_owned()).collect();
    settings.redirect_url = section.parsed("oauth_redirect_url");
    organization.map(|_| settings)
}
