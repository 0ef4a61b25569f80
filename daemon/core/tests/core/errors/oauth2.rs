//! Samples and expected errors of OAuth 2.0.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person, public_key, target_public_key};
use crate::id_tokens::nonce;
use crate::oauth2_provider::{CODE, ENVELOPE, VERIFIER};

/// Returns valid parameters of a type of this module.
pub(super) fn sample(name: &str, fixture: &Fixture, _: &Person) -> Option<Value> {
    let id = &fixture.oauth2_credential;
    Some(match name {
        "CREATE_OAUTH2_CREDENTIAL" => json!({"provider": "OAUTH2_PROVIDER_X", "clientId": "fresh client",
            "encryptedClientSecret": ENVELOPE}),
        "UPDATE_OAUTH2_CREDENTIAL" => json!({"oauth2CredentialId": id, "provider": "OAUTH2_PROVIDER_DISCORD",
            "clientId": "123456", "encryptedClientSecret": ENVELOPE}),
        "DELETE_OAUTH2_CREDENTIAL" => json!({"oauth2CredentialId": id}),
        "OAUTH2_AUTHENTICATE" => json!({"oauth2CredentialId": id, "authCode": CODE,
            "redirectUri": "https://app.example/callback", "codeVerifier": VERIFIER, "nonce": nonce(&public_key(30)),
            "bearerTokenTargetPublicKey": target_public_key(31)}),
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{InvalidArgument, NotFound};
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    let row = |name, sender, changes, code, reason, message: &str| -> Row {
        (name, sender, changes, code, reason, message.to_owned())
    };
    let invalid =
        |name, changes, message: &str| row(name, Sender::Root, changes, InvalidArgument, None, message);
    let mut rows = Vec::new();
    for name in ["CREATE_OAUTH2_CREDENTIAL", "UPDATE_OAUTH2_CREDENTIAL"] {
        rows.push(invalid(name, json!({"clientId": ""}), "client_id must be set"));
        let number = json!({"provider": "OAUTH2_PROVIDER_X", "clientId": "123456"});
        rows.push(invalid(name, number, "invalid client ID: X has none without letters"));
        let letters = json!({"provider": "OAUTH2_PROVIDER_DISCORD", "clientId": "client"});
        rows.push(invalid(name, letters, "invalid client ID: those of Discord are numbers"));
        let secret = "invalid encrypted client secret: encrypt it to the first half of `quorumPublicKeys`";
        let mut altered = ENVELOPE.to_owned();
        altered.replace_range(..1, "b");
        for bad in ["", "00", "not hex", &altered, &ENVELOPE[..ENVELOPE.len() - 2]] {
            rows.push(invalid(name, json!({"encryptedClientSecret": bad}), secret));
        }
    }
    let missing = format!("no oauth2 credential found with ID {unknown_id}");
    let other = format!("no oauth2 credential found with ID {}", fixture.oauth2_credential);
    let reason = Some("OAUTH2_CREDENTIAL_NOT_FOUND");
    for name in ["UPDATE_OAUTH2_CREDENTIAL", "DELETE_OAUTH2_CREDENTIAL", "OAUTH2_AUTHENTICATE"] {
        let unknown = json!({"oauth2CredentialId": unknown_id});
        rows.push(row(name, Sender::Root, unknown, NotFound, reason, &missing));
        rows.push(row(name, Sender::Child, json!({}), NotFound, reason, &other));
        rows.push(row(name, Sender::Bare, json!({}), NotFound, reason, &other));
    }
    let name = "OAUTH2_AUTHENTICATE";
    for (member, message) in [
        ("authCode", "auth_code must be set"),
        ("redirectUri", "redirect_uri must be set"),
        ("codeVerifier", "code_verifier must be set"),
        ("nonce", "nonce must be set"),
    ] {
        rows.push(invalid(name, json!({member: ""}), message));
    }
    let target = "invalid target public key: not a P-256 public key in hexadecimal digits";
    rows.push(invalid(name, json!({"bearerTokenTargetPublicKey": "04"}), target));
    rows
}
