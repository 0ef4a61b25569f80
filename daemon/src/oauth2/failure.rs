//! Why an exchange with an OAuth 2.0 provider failed: a fixed reason for the client, and what helps the operator for
//! the log. Neither contains a code, a secret or a token, although the answer of a provider may quote them.

use http::StatusCode;
use quorate_common::wire::Oauth2Provider;
use serde::Deserialize;

use crate::outgoing::Outcome;

/// Maximum length of an error code that is logged. Those of RFC 6749, section 5.2, are shorter.
const ERROR_LENGTH: usize = 40;
/// What the log contains instead of an error code that quotes a secret.
const REDACTED: &str = "[redacted]";

/// An endpoint of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// It exchanges codes.
    Token,
    /// It describes the user of an access token.
    User,
}

/// Why an exchange failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    endpoint: Endpoint,
    /// Reason for the client.
    pub(super) reason: &'static str,
    /// Reason why there is no answer.
    cause: Option<&'static str>,
    status: Option<u16>,
    /// Error code of the provider.
    error: Option<String>,
}

impl Failure {
    const fn new(endpoint: Endpoint, reason: &'static str) -> Self {
        Self { endpoint, reason, cause: None, status: None, error: None }
    }

    /// Returns the failure of a request that is not sent, because what it would contain is no valid header.
    pub(super) const fn unsent(endpoint: Endpoint) -> Self {
        Self::new(endpoint, "the credential or the access token is not valid in a header")
    }

    /// Returns the failure of a request whose provider has an address that is not allowed.
    pub(super) const fn not_allowed(endpoint: Endpoint) -> Self {
        Self::new(endpoint, "the provider has an address that is not allowed")
    }

    /// Returns the failure of a request without an answer.
    pub(super) fn silent(endpoint: Endpoint, outcome: Outcome) -> Self {
        let cause = match outcome {
            Outcome::NotAllowed(_) => return Self::not_allowed(endpoint),
            Outcome::Silent(cause) => cause,
            Outcome::Delivered(_) | Outcome::Final(_) | Outcome::Failed(_) => "no answer",
        };
        Self { cause: Some(cause), ..Self::new(endpoint, "the provider does not answer") }
    }

    /// Returns the failure of a request that was answered with another status than 200. `secrets` are what the body
    /// must not reveal.
    pub(super) fn refused(endpoint: Endpoint, status: StatusCode, body: &[u8], secrets: &[&str]) -> Self {
        let error = error_code(body);
        let reason = match (endpoint, status.as_u16(), error.as_deref()) {
            (Endpoint::Token, 401, _)
            | (Endpoint::Token, 400, Some("invalid_client" | "unauthorized_client")) => {
                "the provider rejected the client id or the client secret"
            }
            (Endpoint::Token, 400, _) => "the provider rejected the authorization code",
            (Endpoint::User, 401 | 403, _) => {
                "the provider does not describe the user: the code may lack a scope"
            }
            _ => "the provider answers with an error",
        };
        let error = error.map(|error| if quotes(&error, secrets) { REDACTED.to_owned() } else { error });
        Self { status: Some(status.as_u16()), error, ..Self::new(endpoint, reason) }
    }

    /// Returns the failure of a request whose answer lacks what is expected.
    pub(super) fn incomplete(endpoint: Endpoint) -> Self {
        let reason = "the answer of the provider lacks the expected members";
        Self { status: Some(StatusCode::OK.as_u16()), ..Self::new(endpoint, reason) }
    }

    /// Logs the failure.
    pub(super) fn log(&self, provider: Oauth2Provider) {
        let Self { endpoint, reason, cause, status, error } = self;
        let endpoint = match endpoint {
            Endpoint::Token => "token",
            Endpoint::User => "user",
        };
        tracing::warn!(
            provider = provider.label(),
            endpoint,
            status,
            error = error.as_deref(),
            cause,
            reason,
            "an OAuth 2.0 exchange failed"
        );
    }
}

/// Returns the error code in an answer (RFC 6749, section 5.2), if it looks like one: lowercase words.
fn error_code(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Answer {
        error: String,
    }
    let Answer { error } = serde_json::from_slice(body).ok()?;
    let is_code = error.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    (is_code && (1..=ERROR_LENGTH).contains(&error.len())).then_some(error)
}

/// Returns whether an error code and a secret contain each other.
fn quotes(error: &str, secrets: &[&str]) -> bool {
    let secrets = secrets.iter().map(|secret| secret.to_ascii_lowercase());
    secrets
        .filter(|secret| !secret.is_empty())
        .any(|secret| secret.contains(error) || error.contains(&secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_are_logged_only_if_they_are_words_and_quote_no_secret() {
        let check = |body: &str, expected: Option<&str>| {
            let secrets = ["the_code", "Hidden_Secret", "verifier"];
            let failure =
                Failure::refused(Endpoint::Token, StatusCode::BAD_REQUEST, body.as_bytes(), &secrets);
            assert_eq!(failure.error.as_deref(), expected, "{body}");
        };
        check(r#"{"error":"invalid_grant","error_description":"the_code was used"}"#, Some("invalid_grant"));
        check(r#"{"error":"the_code"}"#, Some(REDACTED));
        check(r#"{"error":"no_the_code_here"}"#, Some(REDACTED));
        check(r#"{"error":"hidden"}"#, Some(REDACTED));
        check(r#"{"error":"secret_hidden"}"#, Some("secret_hidden"));
        check(r#"{"error":"a\nb"}"#, None);
        check(r#"{"error":"Bearer abc"}"#, None);
        check(r#"{"error":""}"#, None);
        check(&format!(r#"{{"error":"{}"}}"#, "a".repeat(ERROR_LENGTH + 1)), None);
        check(r#"{"error":{"code":1}}"#, None);
        check("<html>", None);
        check("", None);
    }

    #[test]
    fn reasons_show_the_client_what_to_change() {
        let check = |endpoint, status, body: &str, expected: &str| {
            let status = StatusCode::from_u16(status).unwrap_or_default();
            let failure = Failure::refused(endpoint, status, body.as_bytes(), &[]);
            assert!(failure.reason.contains(expected), "{status} {body}: {}", failure.reason);
        };
        check(Endpoint::Token, 400, r#"{"error":"invalid_grant"}"#, "rejected the authorization code");
        check(Endpoint::Token, 400, r#"{"error":"invalid_client"}"#, "rejected the client id");
        check(Endpoint::Token, 401, "", "rejected the client id");
        check(Endpoint::Token, 403, "", "answers with an error");
        check(Endpoint::Token, 500, "", "answers with an error");
        check(Endpoint::User, 403, "", "may lack a scope");
        check(Endpoint::User, 400, "", "answers with an error");
    }
}
