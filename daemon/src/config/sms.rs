//! Section `[sms]`: the gateway that sends SMS. Its secret is in a separate file.

use std::path::PathBuf;
use std::str::FromStr;

use http::HeaderName;

use super::section::Section;
use crate::outbox::sms::{BodyFormat, Field, Gateway, GatewayUrl, Method, Preset, SmsPrefix};

/// SMS settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sms {
    /// Gateway.
    pub gateway: Gateway,
    /// File that contains the password or token for the gateway.
    pub secret_file: Option<PathBuf>,
    /// Prefixes of the numbers that SMS are sent to. An empty list allows all numbers.
    pub prefixes: Vec<SmsPrefix>,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Sms> {
    let is_set = section.has("preset") || section.has("url");
    let preset = section.parsed::<Preset>("preset");
    let username = section.text("username").unwrap_or_default();
    let (url, from) = (section.text("url"), section.text("from"));
    let (method, body) = (section.parsed::<Method>("method"), section.parsed::<BodyFormat>("body"));
    let fields = section.parsed_list::<Field>("fields");
    let secret_header = section.parsed::<Header>("secret_header").map(|header| header.0);
    let secret_file = section.path("secret_file");
    let accepted = section.numbers("accepted", 200..=299);
    let prefixes = section.parsed_list::<SmsPrefix>("prefixes").unwrap_or_default();
    if !is_set {
        if from.is_some() || fields.is_some() || secret_file.is_some() {
            section.report("needs preset or url");
        }
        return None;
    }
    let url = url.or_else(|| preset.map(|preset| preset.url().to_owned()))?;
    let url =
        GatewayUrl::parse(&url, &username).map_err(|reason| section.report(&format!("url {reason}"))).ok()?;
    let mut gateway = Gateway::new(preset.unwrap_or(Preset::Twilio), url);
    (gateway.username, gateway.from, gateway.secret_header) =
        (username, from.unwrap_or_default(), secret_header);
    if preset.is_none() {
        gateway.fields.clear();
    }
    gateway.method = method.unwrap_or(gateway.method);
    gateway.body = body.unwrap_or(gateway.body);
    gateway.fields = fields.unwrap_or(gateway.fields);
    gateway.accepted = accepted.unwrap_or(gateway.accepted);
    check(&gateway, secret_file.is_some(), section);
    Some(Sms { gateway, secret_file, prefixes })
}

/// Reports settings that contradict each other.
fn check(gateway: &Gateway, has_secret: bool, section: &mut Section<'_, '_>) {
    if !gateway.uses("{to}") || !gateway.uses("{text}") {
        section.report("fields must contain {to} and {text}; set preset or fields");
    }
    if gateway.uses("{from}") && gateway.from.is_empty() {
        section.report("from is required, because the fields contain {from}");
    }
    let needs_secret = gateway.uses("{secret}") || gateway.secret_header.is_some();
    if needs_secret && !has_secret {
        section.report("secret_file is required, because a field or header contains the secret");
    }
    if has_secret && !needs_secret && gateway.username.is_empty() {
        section.report("secret_file needs username, secret_header or a field that contains {secret}");
    }
    if gateway.method == Method::Get && gateway.body == BodyFormat::Json {
        section.report("body cannot be json if method is GET");
    }
    if gateway.accepted.is_empty() {
        section.report("accepted must not be empty");
    }
}

struct Header(HeaderName);

impl FromStr for Header {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| r#"must be the name of a header, such as "X-Api-Key""#)
    }
}
