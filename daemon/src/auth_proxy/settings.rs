//! Settings of the authentication proxy.

use std::str::FromStr;

use http::HeaderValue;
use quorate_common::ids::OrganizationId;
use quorate_common::wire_enum;
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
    /// Codes that clients of one address may have waiting to be sent.
    pub waiting_codes_per_address: u32,
    /// Sub-organizations that clients of one address create per hour.
    pub sign_ups_per_address: u32,
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
            waiting_codes_per_address: 16,
            sign_ups_per_address: 20,
            sms: SmsLimits::default(),
            needs_token_for_contacts: true,
            issuers: Vec::new(),
            own_issuer: None,
            email_issuers: vec![GOOGLE.to_owned()],
            client_ids: Vec::new(),
            redirect_url: None,
        }
    }

    /// Returns the same settings without codes by mail.
    #[must_use]
    pub fn without_mail(mut self) -> Self {
        self.methods.retain(|method| *method != Method::Email);
        self
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
        self.clients(issuer, own_clients).is_none_or(|ids| ids.contains(&audience))
    }

    /// Returns the client ids of which [`Self::has_client`] accepts one, or `None` if it accepts every one.
    pub fn clients<'a>(&'a self, issuer: &str, own_clients: &'a [String]) -> Option<Vec<&'a str>> {
        if self.own_issuer.as_deref() == Some(issuer) {
            return Some(own_clients.iter().map(String::as_str).collect());
        }
        let mut providers =
            self.methods.iter().filter(|method| method.issuers().contains(&issuer)).peekable();
        let is_known = providers.peek().is_some();
        let providers: Vec<_> = providers.collect();
        let ids = self.client_ids.iter().filter(|(method, _)| !is_known || providers.contains(&method));
        let ids: Vec<&str> = ids.map(|(_, id)| id.as_str()).collect();
        (!ids.is_empty()).then_some(ids)
    }

    /// Returns the providers whose ID tokens are accepted from every application, because no client id is configured.
    pub fn without_client(&self) -> impl Iterator<Item = Method> + '_ {
        let has_client = |method| self.client_ids.iter().any(|(one, _)| *one == method);
        self.methods
            .iter()
            .copied()
            .filter(move |method| !method.issuers().is_empty() && !has_client(*method))
    }

    /// Returns whether clients may sign in with codes.
    pub fn sends_codes(&self) -> bool {
        [Method::Email, Method::Sms].iter().any(|method| self.methods.contains(method))
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
