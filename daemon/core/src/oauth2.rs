//! The exchange of an authorization code with an OAuth 2.0 provider (RFC 6749, section 4.1.3, with PKCE, RFC 7636), as
//! data: what is sent, and what the answers mean. Nothing here uses the network.

use quorate_common::wire::Oauth2Provider;
use serde::Deserialize;
use zeroize::{Zeroize, Zeroizing};

use crate::model::Millis;
use crate::model::layout::Key;

/// Maximum length of an access token, in bytes.
const BEARER_TOKEN_BYTES: usize = 4096;
/// Maximum length of the id of a user, in digits.
const SUBJECT_DIGITS: usize = 32;

/// The exchange of one authorization code, which can be made once.
#[derive(Clone)]
pub struct Exchange {
    /// Provider that issued the code.
    pub provider: Oauth2Provider,
    /// Client id of the application.
    pub client_id: String,
    /// Client secret of the application.
    pub client_secret: Zeroizing<String>,
    /// Authorization code.
    pub code: Zeroizing<String>,
    /// URL to which the provider sent the code.
    pub redirect_uri: String,
    /// Secret whose digest the code was requested with.
    pub code_verifier: Zeroizing<String>,
    /// Key of the record that claims the code.
    pub claim: Key,
    /// Time until which the claim is kept.
    pub claim_ends: Millis,
}

impl Exchange {
    /// Returns whether an outcome of the other exchange is one of this exchange: whether both use the same code for the
    /// same application.
    pub fn is_same(&self, other: &Self) -> bool {
        let identity = |one: &Self| (one.claim.clone(), one.provider, one.client_id.clone());
        identity(self) == identity(other)
    }
}

/// The user whom an exchange identified.
pub struct Oauth2User {
    /// Provider and id of the user there: `x:42`. The ids of different providers are numbers of the same ranges, and
    /// the tokens about all of them have one issuer.
    pub subject: String,
    /// Access token.
    pub bearer_token: Zeroizing<String>,
}

/// Parses the access token in the answer to an exchange (RFC 6749, section 5.1).
pub fn bearer_token(answer: &[u8]) -> Option<Zeroizing<String>> {
    #[derive(Deserialize)]
    struct Answer {
        access_token: String,
        token_type: String,
    }
    let Answer { access_token: mut token, token_type } = serde_json::from_slice(answer).ok()?;
    let kept = Zeroizing::new(token.clone());
    token.zeroize();
    let is_plain = kept.bytes().all(|byte| byte.is_ascii_graphic());
    let is_bounded = (1..=BEARER_TOKEN_BYTES).contains(&kept.len());
    (is_plain && is_bounded && token_type.eq_ignore_ascii_case("bearer")).then_some(kept)
}

/// Parses the id in the description of the user that a provider returns for an access token, and returns it with the
/// provider.
pub fn subject(provider: Oauth2Provider, answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct User {
        id: String,
    }
    #[derive(Deserialize)]
    struct Enclosed {
        data: User,
    }
    let user: User = match provider {
        Oauth2Provider::X => serde_json::from_slice::<Enclosed>(answer).ok()?.data,
        Oauth2Provider::Discord => serde_json::from_slice(answer).ok()?,
    };
    let is_id = (1..=SUBJECT_DIGITS).contains(&user.id.len()) && user.id.bytes().all(|b| b.is_ascii_digit());
    let provider = match provider {
        Oauth2Provider::X => "x",
        Oauth2Provider::Discord => "discord",
    };
    is_id.then(|| format!("{provider}:{}", user.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_tokens_are_read_from_complete_answers_only() {
        let token = |answer: &str| bearer_token(answer.as_bytes()).map(|token| token.to_string());
        let valid = r#"{"token_type":"bearer","expires_in":7200,"access_token":"abc","scope":"users.read"}"#;
        assert_eq!(token(valid).as_deref(), Some("abc"));
        assert_eq!(token(&valid.replace("bearer", "Bearer")).as_deref(), Some("abc"));
        let long = "a".repeat(BEARER_TOKEN_BYTES + 1);
        for (from, to) in [
            ("bearer", "mac"),
            ("abc", ""),
            ("abc", "a b"),
            ("abc", "a\\r\\nb"),
            ("abc", long.as_str()),
            ("access_token", "token"),
            ("{", "<html>{"),
        ] {
            assert_eq!(token(&valid.replace(from, to)), None, "{from} {to}");
        }
        assert_eq!(token(""), None);
    }

    #[test]
    fn users_are_identified_by_the_id_of_their_provider() {
        let (x, discord) = (r#"{"data":{"id":"12","name":"a"}}"#, r#"{"id":"12","username":"a"}"#);
        let read = |provider, answer: &str| subject(provider, answer.as_bytes());
        assert_eq!(read(Oauth2Provider::X, x).as_deref(), Some("x:12"));
        assert_eq!(read(Oauth2Provider::Discord, discord).as_deref(), Some("discord:12"));
        assert_eq!(read(Oauth2Provider::X, discord), None);
        assert_eq!(read(Oauth2Provider::Discord, x), None);
        for id in ["", "-1", "1a", " 1", &"1".repeat(SUBJECT_DIGITS + 1)] {
            assert_eq!(read(Oauth2Provider::Discord, &discord.replace("12", id)), None, "{id}");
        }
        assert_eq!(read(Oauth2Provider::Discord, r#"{"id":12}"#), None);
    }
}
