//! Composes the request that sends one SMS.

use base64ct::{Base64, Encoding};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::uri::PathAndQuery;
use http::{Method as HttpMethod, Request};
use http_body_util::Full;
use quorate_core::sms::Sms;
use serde_json::{Map, Value};
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::gateway::{BodyFormat, Gateway, Method};

/// Returns the request of an SMS without the headers that all requests have; `None` if a value cannot be part of
/// one.
pub(super) fn request(gateway: &Gateway, secret: &str, sms: &Sms) -> Option<Request<Full<Bytes>>> {
    let fields = gateway.fields.iter().map(|field| {
        let value = expand(&field.value, gateway, secret, sms);
        (field.name.as_str(), value)
    });
    let target = &gateway.url.0.target;
    let mut request = Request::new(Full::default());
    *request.uri_mut() = target.clone().into();
    match gateway.method {
        Method::Get => *request.uri_mut() = with_query(target, &form(fields))?.into(),
        Method::Post => {
            *request.method_mut() = HttpMethod::POST;
            let (media_type, body) = match gateway.body {
                BodyFormat::Form => ("application/x-www-form-urlencoded", form(fields)),
                BodyFormat::Json => ("application/json", json(fields)),
            };
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
            *request.body_mut() = Full::new(Bytes::from(body));
        }
    }
    let (name, value) = match &gateway.secret_header {
        _ if secret.is_empty() => return Some(request),
        Some(name) => (name.clone(), HeaderValue::from_str(secret)),
        None if gateway.uses("{secret}") => return Some(request),
        None => {
            let login = Zeroizing::new(format!("{}:{secret}", gateway.username));
            let encoded = Zeroizing::new(Base64::encode_string(login.as_bytes()));
            (AUTHORIZATION, HeaderValue::from_str(&format!("Basic {}", encoded.as_str())))
        }
    };
    let mut value = value.ok()?;
    value.set_sensitive(true);
    request.headers_mut().insert(name, value);
    Some(request)
}

/// Replaces the variables of a field value. Values are not expanded again, so that the text of an SMS cannot
/// contain the secret.
fn expand(template: &str, gateway: &Gateway, secret: &str, sms: &Sms) -> String {
    let mut expanded = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        // A field is parsed with known variables only.
        let (variable, after) = after.split_once('}').unwrap_or((after, ""));
        expanded.push_str(before);
        expanded.push_str(match variable {
            "to" => sms.to.as_str(),
            "from" => &gateway.from,
            "text" => &sms.text,
            "username" => &gateway.username,
            "secret" => secret,
            _ => "",
        });
        rest = after;
    }
    expanded.push_str(rest);
    expanded
}

fn form<'a>(fields: impl Iterator<Item = (&'a str, String)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

fn json<'a>(fields: impl Iterator<Item = (&'a str, String)>) -> String {
    let members = fields.map(|(name, value)| (name.to_owned(), Value::String(value)));
    Value::Object(members.collect::<Map<_, _>>()).to_string()
}

/// Appends fields to the query of a target.
fn with_query(target: &PathAndQuery, fields: &str) -> Option<PathAndQuery> {
    let separator = if target.query().is_some() { '&' } else { '?' };
    format!("{target}{separator}{fields}").parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use http_body_util::BodyExt;
    use quorate_common::bounded::Phone;

    use super::super::gateway::{GatewayUrl, Preset};
    use super::*;

    fn sms(text: &str) -> Sms {
        Sms::new(Phone::parse("+4915112345678".to_owned()).unwrap(), text.to_owned(), 0)
    }

    fn gateway(preset: Preset, url: &str) -> Gateway {
        let url = GatewayUrl::parse(url, "AC1").unwrap();
        Gateway { from: "Acme".to_owned(), username: "AC1".to_owned(), ..Gateway::new(preset, url) }
    }

    /// Returns the method, the target, a header and the body of a request.
    async fn parts(gateway: &Gateway, sms: &Sms, header: &str) -> (String, String, String, String) {
        let request = request(gateway, "s&cret", sms).unwrap();
        let (method, target) = (request.method().to_string(), request.uri().to_string());
        let value = request.headers().get(header).map_or("", |value| value.to_str().unwrap()).to_owned();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        (method, target, value, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn kannel_gets_the_fields_in_the_url() {
        let gateway = gateway(Preset::Kannel, "http://127.0.0.1:13013/cgi-bin/sendsms");
        let (method, target, login, body) = parts(&gateway, &sms("Code: 1 & ü"), "authorization").await;
        assert_eq!((method.as_str(), login.as_str(), body.as_str()), ("GET", "", ""));
        let expected = "/cgi-bin/sendsms?username=AC1&password=s%26cret&from=Acme&to=%2B4915112345678&\
                        text=Code%3A+1+%26+%C3%BC&charset=UTF-8";
        assert_eq!(target, expected);
    }

    #[tokio::test]
    async fn twilio_gets_a_form_with_basic_authentication() {
        let gateway = gateway(Preset::Twilio, Preset::Twilio.url());
        let (method, target, login, body) = parts(&gateway, &sms("Code: 1"), "authorization").await;
        assert_eq!((method.as_str(), target.as_str()), ("POST", "/2010-04-01/Accounts/AC1/Messages.json"));
        // "AC1:s&cret", encoded with Python's base64.
        assert_eq!(login, "Basic QUMxOnMmY3JldA==");
        assert_eq!(body, "To=%2B4915112345678&From=Acme&Body=Code%3A+1");
    }

    #[tokio::test]
    async fn other_gateways_get_json_and_a_header() {
        let mut gateway = gateway(Preset::Twilio, "https://sms.example.org/send?a=b");
        gateway.body = BodyFormat::Json;
        gateway.fields = vec!["number={to}".parse().unwrap(), "message=<{text}> {from}".parse().unwrap()];
        gateway.secret_header = Some(http::HeaderName::from_static("x-api-key"));
        let (_, target, key, body) = parts(&gateway, &sms("\"{secret}\"\n"), "x-api-key").await;
        assert_eq!((target.as_str(), key.as_str()), ("/send?a=b", "s&cret"));
        assert_eq!(body, r#"{"message":"<\"{secret}\"\n> Acme","number":"+4915112345678"}"#);
        gateway.method = Method::Get;
        let (_, target, ..) = parts(&gateway, &sms("x"), "x-api-key").await;
        assert_eq!(target, "/send?a=b&number=%2B4915112345678&message=%3Cx%3E+Acme");
    }

    #[test]
    fn secrets_that_are_no_header_value_send_nothing() {
        let mut gateway = gateway(Preset::Twilio, "https://sms.example.org/");
        gateway.secret_header = Some(http::HeaderName::from_static("x-api-key"));
        assert!(request(&gateway, "a\r\nb", &sms("x")).is_none());
    }
}
