//! Settings of the authentication proxy.

use std::str::FromStr;

use http::HeaderValue;
use quorate_common::ids::OrganizationId;
use quorate_common::wire_enum;
use quorate_core::id_token::IdToken;
use serde::Deserialize;
use url::Url;

use super::sms::SmsLimits;
use crate::issuers::OidcSettings;
use crate::oauth2::Oauth2Settings;

/// Issuer of the ID tokens of Google.
const GOOGLE: &str = "https://accounts.google.com";
/// Issuer of the ID tokens of Apple.
const APPLE: &str = "https://appleid.apple.com";
/// Issuers of the ID tokens of Facebook, for browsers and for applications on phones.
const FACEBOOK: [&str; 2] = ["https://facebook.com", "https://www.facebook.com"];
/// The OAuth providers.
pub const OAUTH: [Method; 5] = [Method::Google, Method::Apple, Method::Facebook, Method::X, Method::Discord];

/// Settings of the authentication proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Organization whose clients are served.
    pub organization: OrganizationId,
    /// Path below which the routes are, without a slash at its end.
    pub base_path: String,
    /// Web origins whose pages may call the proxy.
    pub origins: Vec<Origin>,
    /// Ways to sign up and to sign in.
    pub methods: Vec<Method>,
    /// Name of the application in mails; the name of the organization if it is not configured.
    pub app_name: Option<String>,
    /// Number of characters of a code.
    pub code_length: u32,
    /// Whether codes contain letters.
    pub code_letters: bool,
    /// Longest lifetime of a session, in seconds.
    pub session_seconds: u32,
    /// Requests of one client address per minute.
    pub requests_per_address: u32,
    /// Requests about one contact per minute.
    pub requests_per_contact: u32,
    /// Limits of SMS.
    pub sms: SmsLimits,
    /// Whether a lookup by a contact needs a token that proves it.
    pub needs_token_for_contacts: bool,
    /// Issuers whose ID tokens clients may use: those in `[oidc]`, or those of the configured providers if it lists none;
    /// and the daemon itself, if it issues them for one of these providers.
    pub issuers: Vec<String>,
    /// Issuer of the daemon's own ID tokens, if they are accepted.
    pub own_issuer: Option<String>,
    /// Issuers whose ID tokens prove a verified email address, as the claim `iss` states them.
    pub email_issuers: Vec<String>,
    /// Ids of the application at OAuth providers, which clients read.
    pub client_ids: Vec<(Method, String)>,
    /// Where OAuth providers send the browser back, which clients read.
    pub redirect_url: Option<RedirectUrl>,
}

impl Settings {
    /// Returns the defaults for an organization.
    pub fn of(organization: OrganizationId) -> Self {
        Self {
            organization,
            base_path: "/auth".to_owned(),
            origins: Vec::new(),
            methods: vec![Method::Email, Method::Passkey],
            app_name: None,
            code_length: 9,
            code_letters: true,
            session_seconds: 900,
            requests_per_address: 60,
            requests_per_contact: 6,
            sms: SmsLimits::default(),
            needs_token_for_contacts: true,
            issuers: Vec::new(),
            own_issuer: None,
            email_issuers: vec![GOOGLE.to_owned()],
            client_ids: Vec::new(),
            redirect_url: None,
        }
    }

    /// Returns the same settings for the issuers that the daemon accepts.
    #[must_use]
    pub fn within(self, oidc: &OidcSettings) -> Self {
        if oidc.issuers.is_empty() { self } else { Self { issuers: oidc.issuers.clone(), ..self } }
    }

    /// Returns the same settings, which also accept the ID tokens that the daemon issues for users of the providers
    /// that issue none.
    #[must_use]
    pub fn with_own_issuer(mut self, oauth2: Option<&Oauth2Settings>) -> Self {
        let is_used = [Method::X, Method::Discord].iter().any(|method| self.methods.contains(method));
        self.own_issuer = oauth2.filter(|_| is_used).map(|settings| settings.issuer.clone());
        self.issuers.extend(self.own_issuer.clone());
        self
    }

    /// Returns whether an audience is the client id that is configured for an issuer. Every one is, if none is configured
    /// for it. An issuer that is not that of a known provider may have any configured client id. The tokens that the daemon
    /// issues must be for one of `own_clients`: each sub-organization can register applications of its own.
    pub fn has_client(&self, issuer: &str, audience: &str, own_clients: &[String]) -> bool {
        if self.own_issuer.as_deref() == Some(issuer) {
            return own_clients.iter().any(|id| id == audience);
        }
        if self.client_ids.is_empty() {
            return true;
        }
        let mut providers =
            self.methods.iter().filter(|method| method.issuers().contains(&issuer)).peekable();
        let is_known = providers.peek().is_some();
        let providers: Vec<_> = providers.collect();
        let mut ids =
            self.client_ids.iter().filter(|(method, _)| !is_known || providers.contains(&method)).peekable();
        ids.peek().is_none() || ids.any(|(_, id)| id == audience)
    }

    /// Returns whether an ID token has a configured issuer and client, as [`Self::has_client`] does.
    pub fn accepts(&self, token: &IdToken<'_>, own_clients: &[String]) -> bool {
        let issuer = token.issuer();
        self.issuers.iter().any(|one| one == issuer)
            && token.audiences().iter().any(|audience| self.has_client(issuer, audience, own_clients))
    }

    /// Returns the providers whose ID tokens are accepted from every application, because no client id is configured.
    pub fn without_client(&self) -> impl Iterator<Item = Method> + '_ {
        let has_client = |method| self.client_ids.iter().any(|(one, _)| *one == method);
        self.methods
            .iter()
            .copied()
            .filter(move |method| !method.issuers().is_empty() && !has_client(*method))
    }

    /// Returns whether clients may sign in with an OAuth provider.
    pub fn allows_oauth(&self) -> bool {
        OAUTH.iter().any(|method| self.methods.contains(method))
    }
}

impl Method {
    /// Returns the issuers of the ID tokens of a provider. Providers of OAuth 2.0 issue none.
    pub const fn issuers(self) -> &'static [&'static str] {
        match self {
            Self::Google => &[GOOGLE],
            Self::Apple => &[APPLE],
            Self::Facebook => &FACEBOOK,
            Self::Email | Self::Sms | Self::Passkey | Self::Wallet | Self::X | Self::Discord => &[],
        }
    }
}

wire_enum! {
    /// A way to sign up and to sign in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
    pub enum Method {
        /// Codes by mail.
        Email = "email",
        /// Codes by SMS.
        Sms = "sms",
        /// Passkeys.
        Passkey = "passkey",
        /// Keys of other wallets.
        Wallet = "wallet",
        /// Google.
        Google = "google",
        /// Apple.
        Apple = "apple",
        /// Facebook.
        Facebook = "facebook",
        /// X.
        X = "x",
        /// Discord.
        Discord = "discord",
    }
}

impl FromStr for Method {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = "must be one of email, sms, passkey, wallet, google, apple, facebook, x, discord";
        serde_json::from_value(text.into()).map_err(|_| names)
    }
}

/// A web origin, as browsers send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(pub HeaderValue);

impl FromStr for Origin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = r#"must be a web origin, such as "https://app.example.org""#;
        let url = Url::parse(text).map_err(|_| error)?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text;
        let value = HeaderValue::from_str(text).map_err(|_| error)?;
        if is_web { Ok(Self(value)) } else { Err(error) }
    }
}

/// The URL to which OAuth providers send the browser back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectUrl(pub String);

impl FromStr for RedirectUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Apps on phones have schemes of their own.
        let has_host = Url::parse(text).is_ok_and(|url| url.has_host());
        let error = r#"must be a URL, such as "https://app.example.org/callback""#;
        if has_host { Ok(Self(text.to_owned())) } else { Err(error) }
    }
}

/// A path that starts with a slash and does not end with one.
pub struct BasePath(pub String);

impl FromStr for BasePath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_/".contains(letter);
        let is_path =
            text.len() > 1 && text.starts_with('/') && !text.ends_with('/') && text.chars().all(is_letter);
        // The other routes of the daemon come first.
        let is_free = !["/public", "/console", "/pages"].iter().any(|taken| text.starts_with(taken));
        if is_path && is_free { Ok(Self(text.to_owned())) } else { Err(r#"must be a path, such as "/auth""#) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use base64ct::{Base64UrlUnpadded, Encoding};
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_of_other_applications_are_not_accepted() {
        let mut settings = Settings::of(OrganizationId::from_bytes([1; 16]));
        settings.issuers = vec![GOOGLE.to_owned(), "https://own.example".to_owned()];
        settings.own_issuer = Some("https://own.example".to_owned());
        let accepts = |settings: &Settings, issuer: &str, audience: serde_json::Value| {
            let header = json!({"alg": "RS256", "kid": "k"});
            let claims = json!({"iss": issuer, "sub": "s", "aud": audience, "iat": 1, "exp": 2});
            let encoded =
                [header, claims].map(|part| Base64UrlUnpadded::encode_string(part.to_string().as_bytes()));
            let token = format!("{}.{}.AAAA", encoded[0], encoded[1]);
            settings.accepts(&IdToken::read(&token).unwrap(), &["own".to_owned()])
        };
        assert!(accepts(&settings, GOOGLE, json!("any")), "no client id is configured");
        settings.methods = vec![Method::Google, Method::Apple];
        settings.issuers.extend(["https://appleid.apple.com", "https://custom.example"].map(str::to_owned));
        settings.client_ids = vec![(Method::Google, "app".to_owned())];
        for (issuer, audience, expected) in [
            (GOOGLE, json!("app"), true),
            (GOOGLE, json!(["other", "app"]), true),
            (GOOGLE, json!("other"), false),
            ("https://own.example", json!("own"), true),
            ("https://own.example", json!("app"), false),
            ("https://own.example", json!("other"), false),
            ("https://evil.example", json!("app"), false),
            ("https://appleid.apple.com", json!("other"), true),
            ("https://custom.example", json!("app"), true),
            ("https://custom.example", json!("other"), false),
        ] {
            assert_eq!(accepts(&settings, issuer, audience.clone()), expected, "{issuer} {audience}");
        }
        assert!(settings.has_client(GOOGLE, "app", &[]) && !settings.has_client(GOOGLE, "other", &[]));
        assert_eq!(settings.without_client().collect::<Vec<_>>(), [Method::Apple]);
    }
}
