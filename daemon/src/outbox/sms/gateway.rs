//! Settings of an SMS gateway: where it is, which fields it expects, and what its answers mean.

use std::str::FromStr;

use http::HeaderName;

use crate::outgoing::{OutgoingUrl, ReceiverPolicy};

/// Status codes with which gateways accept an SMS.
const ACCEPTED: [u16; 3] = [200, 201, 202];
/// Variables of field values.
const VARIABLES: [&str; 5] = ["{to}", "{from}", "{text}", "{username}", "{secret}"];

/// A gateway that sends SMS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    /// Where requests are sent.
    pub url: GatewayUrl,
    /// Method of the requests. The fields of a GET request are in its URL.
    pub method: Method,
    /// Encoding of the fields in a body.
    pub body: BodyFormat,
    /// Fields of a request.
    pub fields: Vec<Field>,
    /// Sender of the SMS.
    pub from: String,
    /// User name at the gateway.
    pub username: String,
    /// Header that contains the secret. Without one, and without a field that contains the secret, user name and
    /// secret are sent with basic authentication (RFC 7617).
    pub secret_header: Option<HeaderName>,
    /// Status codes with which the gateway accepts an SMS.
    pub accepted: Vec<u16>,
}

impl Gateway {
    /// Creates a gateway with the method and the fields of a preset.
    pub fn new(preset: Preset, url: GatewayUrl) -> Self {
        let (method, fields): (_, &[(&str, &str)]) = match preset {
            Preset::Twilio => (Method::Post, &[("To", "{to}"), ("From", "{from}"), ("Body", "{text}")]),
            Preset::Kannel => (
                Method::Get,
                &[
                    ("username", "{username}"),
                    ("password", "{secret}"),
                    ("from", "{from}"),
                    ("to", "{to}"),
                    ("text", "{text}"),
                    ("charset", "UTF-8"),
                ],
            ),
        };
        let field = |(name, value): &(&str, &str)| Field { name: (*name).into(), value: (*value).into() };
        Self {
            url,
            method,
            body: BodyFormat::Form,
            fields: fields.iter().map(field).collect(),
            from: String::new(),
            username: String::new(),
            secret_header: None,
            accepted: ACCEPTED.to_vec(),
        }
    }

    /// Returns whether a field contains this variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.fields.iter().any(|field| field.value.contains(variable))
    }
}

/// A gateway with known settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// The messages resource of Twilio, and services that imitate it.
    Twilio,
    /// The sendsms interface of Kannel.
    Kannel,
}

impl Preset {
    /// Returns the URL at which the gateway is usually found. It may contain the user name as a variable.
    pub const fn url(self) -> &'static str {
        match self {
            Self::Twilio => "https://api.twilio.com/2010-04-01/Accounts/{username}/Messages.json",
            Self::Kannel => "http://127.0.0.1:13013/cgi-bin/sendsms",
        }
    }
}

impl FromStr for Preset {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "twilio" => Ok(Self::Twilio),
            "kannel" => Ok(Self::Kannel),
            _ => Err(r#"must be "twilio" or "kannel""#),
        }
    }
}

/// Method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET, with the fields in the URL.
    Get,
    /// POST, with the fields in the body.
    Post,
}

impl FromStr for Method {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "GET" => Ok(Self::Get),
            "POST" => Ok(Self::Post),
            _ => Err(r#"must be "GET" or "POST""#),
        }
    }
}

/// Encoding of the fields in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFormat {
    /// `application/x-www-form-urlencoded`.
    Form,
    /// A JSON object.
    Json,
}

impl FromStr for BodyFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "form" => Ok(Self::Form),
            "json" => Ok(Self::Json),
            _ => Err(r#"must be "form" or "json""#),
        }
    }
}

/// A field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub(super) name: String,
    /// Value, in which variables are replaced.
    pub(super) value: String,
}

impl FromStr for Field {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once('=').ok_or(r#"must be a name and a value, such as "to={to}""#)?;
        if name.is_empty() {
            return Err(r#"must be a name and a value, such as "to={to}""#);
        }
        let rest = VARIABLES.iter().fold(value.to_owned(), |rest, variable| rest.replace(variable, ""));
        if rest.contains(['{', '}']) {
            return Err("must contain no other variables than {to}, {from}, {text}, {username} and {secret}");
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

/// The URL of a gateway. Any host is allowed, with and without TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayUrl(pub(super) OutgoingUrl);

impl GatewayUrl {
    /// Parses a URL, in which the user name replaces `{username}`.
    ///
    /// # Errors
    /// Returns the requirement that the URL does not meet.
    pub fn parse(text: &str, username: &str) -> Result<Self, &'static str> {
        if !["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err("must begin with http:// or https://");
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if text.contains("{username}") && (username.is_empty() || !username.bytes().all(is_plain)) {
            return Err("needs a username of letters, digits and -._~");
        }
        let text = text.replace("{username}", username);
        OutgoingUrl::check(&text, &ReceiverPolicy::unrestricted()).map(Self)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn fields_have_known_variables() {
        let field = |text: &str| text.parse::<Field>();
        assert_eq!(field("to={to}").unwrap(), Field { name: "to".into(), value: "{to}".into() });
        assert_eq!(field("a=b=c").unwrap(), Field { name: "a".into(), value: "b=c".into() });
        for good in ["a=", "a={username}:{secret}", "a={from} {text}"] {
            assert!(field(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "={to}", "a={", "a={too}", "a={to", "a={{to}}", "a={TO}"] {
            assert!(field(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn urls_may_be_private_and_contain_the_user_name() {
        for (text, username, good) in [
            ("http://127.0.0.1:13013/cgi-bin/sendsms", "", true),
            ("http://10.0.0.1/sms?a=b", "", true),
            ("https://localhost/sms", "", true),
            (Preset::Twilio.url(), "AC123", true),
            (Preset::Twilio.url(), "", false),
            (Preset::Twilio.url(), "a/b", false),
            ("ftp://127.0.0.1/", "", false),
            ("http://user:password@127.0.0.1/", "", false),
            ("127.0.0.1:13013", "", false),
        ] {
            assert_eq!(GatewayUrl::parse(text, username).is_ok(), good, "{text}");
        }
    }
}
