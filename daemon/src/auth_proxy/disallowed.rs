//! Why the authentication proxy does not accept an identity. Clients learn only that it does not, and the log why.

use std::fmt::Write as _;

use quorate_common::api_error::{ApiError, Code};
use quorate_core::id_token::IdToken;

use super::settings::Settings;

/// Characters of a value that are logged. Anybody may send it.
const SHOWN_CHARS: usize = 100;
/// Values of a list that are logged.
const SHOWN_VALUES: usize = 4;

/// Returns the error for an identity, with the cause for the log.
fn error(cause: String) -> ApiError {
    ApiError::new(Code::PermissionDenied, "OAUTH disallowed").logged(cause)
}

/// Returns the error if no OAuth provider is configured.
pub(super) fn unconfigured() -> ApiError {
    error("methods in [auth_proxy] names no OAuth provider".to_owned())
}

/// Checks that an ID token has a configured issuer and client.
///
/// # Errors
/// If it has another one.
pub(super) fn check(
    settings: &Settings,
    token: &IdToken<'_>,
    own_clients: &[String],
) -> Result<(), ApiError> {
    let issuer = token.issuer();
    if !settings.issuers.iter().any(|one| one == issuer) {
        let accepted = settings.issuers.iter().map(String::as_str);
        return Err(error(format!(
            "the issuer of the ID token is {}; issuers in [oidc], or methods in [auth_proxy], accept {}",
            shown([issuer]),
            shown(accepted)
        )));
    }
    check_client(settings, issuer, token.audiences(), own_clients)
}

/// Checks that one of these audiences is the client id that is configured for an issuer.
///
/// # Errors
/// If none is.
pub(super) fn check_client(
    settings: &Settings,
    issuer: &str,
    audiences: &[String],
    own_clients: &[String],
) -> Result<(), ApiError> {
    if audiences.iter().any(|audience| settings.has_client(issuer, audience, own_clients)) {
        return Ok(());
    }
    let expected = settings.clients(issuer, own_clients).unwrap_or_default();
    let place = if settings.own_issuer.as_deref() == Some(issuer) {
        "the OAuth 2.0 credentials of the organization"
    } else {
        "the client ids in [auth_proxy]"
    };
    Err(error(format!(
        "the audience of the identity is {}; {place} accept {}",
        shown(audiences.iter().map(String::as_str)),
        shown(expected)
    )))
}

/// Returns values in quotes, without control characters, and cut.
fn shown<'v>(values: impl IntoIterator<Item = &'v str>) -> String {
    let mut text = String::new();
    let mut values = values.into_iter();
    for value in values.by_ref().take(SHOWN_VALUES) {
        let cut: String = value.chars().take(SHOWN_CHARS).collect();
        let more = if cut.len() < value.len() { "…" } else { "" };
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{cut:?}{more}");
    }
    match values.count() {
        _ if text.is_empty() => "none".to_owned(),
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use base64ct::{Base64UrlUnpadded, Encoding};
    use quorate_common::ids::OrganizationId;
    use serde_json::json;

    use super::*;
    use crate::auth_proxy::settings::Method;

    const GOOGLE: &str = "https://accounts.google.com";

    #[test]
    fn values_are_bounded_and_stay_on_their_line() {
        assert_eq!(shown([]), "none");
        assert_eq!(shown(["a\nb\u{202e}", "c\"d"]), r#""a\nb\u{202e}", "c\"d""#);
        assert_eq!(shown([&*"é".repeat(101)]), format!("\"{}\"…", "é".repeat(100)));
        assert_eq!(shown(["a"; 6]), r#""a", "a", "a", "a" and 2 more"#);
    }

    #[test]
    fn causes_name_what_was_sent_and_what_is_configured() {
        let mut settings = Settings::of(OrganizationId::from_bytes([1; 16]));
        settings.methods = vec![Method::Google];
        settings.issuers = vec![GOOGLE.to_owned(), "https://own.example".to_owned()];
        settings.own_issuer = Some("https://own.example".to_owned());
        settings.client_ids = vec![(Method::Google, "app".to_owned())];
        let check = |issuer, audience: &str, expected: Option<&str>| {
            let checked = check_client(&settings, issuer, &[audience.to_owned()], &["x1".to_owned()]);
            let error = checked.err();
            let cause = error.as_ref().map(|error| error.cause.as_deref().unwrap());
            assert_eq!(cause, expected, "{issuer} {audience}");
            assert!(error.is_none_or(|error| error.message == "OAUTH disallowed"));
        };
        check(GOOGLE, "app", None);
        check(
            GOOGLE,
            "other",
            Some(r#"the audience of the identity is "other"; the client ids in [auth_proxy] accept "app""#),
        );
        check("https://own.example", "x1", None);
        check(
            "https://own.example",
            "app",
            Some(
                r#"the audience of the identity is "app"; the OAuth 2.0 credentials of the organization accept "x1""#,
            ),
        );
    }

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
            let token = IdToken::read(&token).unwrap();
            check(settings, &token, &["own".to_owned()]).is_ok()
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
