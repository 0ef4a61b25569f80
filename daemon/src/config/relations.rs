//! Checks settings that concern several sections. What can never work is a problem; what may be intended is a warning.

use super::Config;
use super::section::Document;
use crate::auth_proxy::settings::{Method, Settings};
use crate::issuers::OidcSettings;
use crate::oauth2::Oauth2Settings;
use crate::outgoing::OutgoingUrl;

/// What other sections need.
pub(super) struct Relations<'a> {
    pub(super) sends_mail: bool,
    pub(super) sends_sms: bool,
    pub(super) oidc: &'a OidcSettings,
    pub(super) oauth2: Option<&'a Oauth2Settings>,
    pub(super) auth_proxy: Option<&'a Settings>,
}

impl Relations<'_> {
    /// Reports what can never work, unless sections have problems of their own.
    pub(super) fn check(&self, document: &mut Document<'_>) {
        if !document.is_valid() {
            return;
        }
        if self.oidc.issuers.iter().any(|issuer| !self.is_reachable(issuer)) {
            document.report("oidc", "issuers", UNREACHABLE);
        }
        let Some(proxy) = self.auth_proxy else { return };
        for method in &proxy.methods {
            if let Some(needs) = self.lacks(*method) {
                document.report("auth_proxy", "methods", &format!("{} needs {needs}", method.name()));
            }
        }
        let is_default = *proxy.email_issuers == *Settings::of(proxy.organization).email_issuers;
        if !is_default && proxy.email_issuers.iter().any(|issuer| !self.is_reachable(issuer)) {
            document.report("auth_proxy", "email_issuers", UNREACHABLE);
        }
    }

    /// Returns what a method of the authentication proxy needs and does not have.
    fn lacks(&self, method: Method) -> Option<&'static str> {
        match method {
            Method::Email if !self.sends_mail => Some("the section [mail]"),
            Method::Sms if !self.sends_sms => Some("the section [sms]"),
            Method::X | Method::Discord if self.oauth2.is_none() => {
                Some("enabled = true in the section [oauth2]")
            }
            Method::Google | Method::Apple | Method::Facebook | Method::X | Method::Discord
                if self.oidc.disabled =>
            {
                Some("ID tokens, which disabled = true in the section [oidc] rejects")
            }
            _ => None,
        }
    }

    /// Returns whether the keys of an issuer can be fetched, or need not be.
    fn is_reachable(&self, issuer: &str) -> bool {
        self.oauth2.is_some_and(|own| own.issuer == issuer)
            || OutgoingUrl::check(issuer, &self.oidc.receivers).is_ok()
    }
}

/// Number of digits of a code that is easily guessed.
const SHORT: u32 = 6;

const UNREACHABLE: &str = "each issuer must be an https URL with a public host, unless allow_http and allow_networks of \
                           the section [oidc] allow others";

/// Returns the warnings about a valid configuration, for the log and for `quorate doctor`.
pub(super) fn warnings(config: &Config) -> Vec<String> {
    let mut warnings = Vec::new();
    if config.mail.as_ref().is_some_and(|mail| mail.server.is_exposed()) {
        let text = "mail with keys and codes is sent to another machine without TLS: allow_plain in [mail]";
        warnings.push(text.to_owned());
    }
    let has_tls = config.http.as_ref().is_some_and(|http| http.tls.is_some());
    if has_tls && config.pages.as_ref().is_some_and(|pages| pages.url.starts_with("http:")) {
        let text = "url in [pages] begins with http, but tls_certificate in [http] makes the listener use https: links in mail do \
                    not work";
        warnings.push(text.to_owned());
    }
    let proxy = config.auth_proxy.as_ref();
    let sends_sms = proxy.is_some_and(|proxy| proxy.methods.contains(&Method::Sms));
    if sends_sms && config.sms.as_ref().is_some_and(|sms| sms.prefixes.is_empty()) {
        let text = "the method sms in [auth_proxy] lets anybody have SMS sent to every country, at your cost: set prefixes in [sms]";
        warnings.push(text.to_owned());
    }
    if proxy.is_some_and(|proxy| proxy.sends_codes() && proxy.code_length == SHORT && !proxy.code_letters) {
        let text =
            "codes of 6 digits in [auth_proxy] are short: set code_length to 9, or code_letters to true";
        warnings.push(text.to_owned());
    }
    let methods = config.auth_proxy.iter().flat_map(|proxy| &proxy.methods);
    let listed = &config.oidc.issuers;
    for method in methods.filter(|method| !method.issuers().is_empty() && !listed.is_empty()) {
        if !method.issuers().iter().any(|issuer| listed.iter().any(|one| one == issuer)) {
            warnings.push(format!(
                "issuers in [oidc] does not list {}, so the method {} in [auth_proxy] accepts no ID token of this provider",
                method.issuers().join(" or "),
                method.name()
            ));
        }
    }
    warnings
}
