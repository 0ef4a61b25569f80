//! The newest unmodified npm package `@turnkey/core`, through the authentication proxy: pages sign up, sign in and sign out
//! with passkeys, other wallets, codes and OAuth providers. Their requests use TLS and follow the CORS protocol.

use std::net::TcpListener;
use std::path::Path;

use quorate_tests::mailbox::Mailbox;
use serde_json::{Value, json};

use crate::auth_proxy::Proxy;
use crate::third_party;

const NODE: &[&str] = &["node", "--import", "./newest/resolve.mjs", "newest/core.mjs"];

#[tokio::test]
async fn the_newest_core_package_signs_in_through_the_proxy() {
    let mailbox = Mailbox::start(0);
    let reserved = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = reserved.local_addr().expect("an address").port();
    drop(reserved);
    let methods = r#"["email", "passkey", "wallet", "google", "apple"]"#;
    let keys = format!(
        "allowed_origins = [\"https://app.example\"]\nmethods = {methods}\nsession_seconds = 3600\n\
         requests_per_address = 1000\nemail_issuers = [\"http://127.0.0.1:{port}\"]\n\
         google_client_id = \"rsa\"\noauth_redirect_url = \"https://app.example/callback\"\n\
         [oidc]\nissuers = [\"http://127.0.0.1:{port}\"]\nallow_http = true\nallow_networks = [\"127.0.0.0/8\"]"
    );
    let proxy = Proxy::start_secured(&keys, &mailbox).await;
    proxy.enable().await;
    let (credentials, port) = (proxy.credentials_file().await, port.to_string());
    let trust = format!("NODE_EXTRA_CA_CERTS={}", proxy.certificate().display());
    let program = [&["env", trust.as_str()], NODE].concat();
    let arguments = [credentials.as_path(), mailbox.folder(), Path::new(&port)];
    let seen = third_party::observe("npm/newest", &program, &arguments);
    let expected = json!({
        "config": {"enabledProviders": ["email", "passkey", "wallet", "google", "apple"],
            "organizationId": proxy.organization, "sessionExpirationSeconds": "3600", "otpAlphanumeric": true,
            "otpLength": "9", "oauthClientIds": {"google": "rsa"},
            "oauthRedirectUrl": "https://app.example/callback"},
        "params": {},
        "passkeys": passkeys(),
        "ethereum": wallet("ethereum"),
        "solana": wallet("solana"),
        "codes": codes(),
        "oauth": oauth(),
        "earlier": {
            "codes": [true, signed_in("erin")],
            "stated": signed_in("erin"),
            "oauth": signed_in("mira"),
            "oauth2": error(7, "X disallowed"),
        },
    });
    for (part, seen) in seen.as_object().expect("parts") {
        assert_eq!(*seen, expected[part], "{part}");
    }
    assert_eq!(seen, expected, "all parts are present");
}

/// What is seen of a session in a sub-organization: the user, whether the organization is another than the parent, whether
/// the token verifies, and whether session and key are gone after the logout.
fn signed_in(name: &str) -> Value {
    json!([name, true, true, true, true])
}

fn error(code: i64, message: &str) -> Value {
    coded(code, code, message)
}

/// An error that the package replaces by one with its own code.
fn coded(own: impl Into<Value>, code: i64, message: &str) -> Value {
    json!([own.into(), format!("Turnkey error {code}: {message}")])
}

fn passkeys() -> Value {
    json!({
        "signed": ["main", 42, 64, "string"],
        "refreshed": [true, "string"],
        "proofs": [],
        "signedUp": signed_in("pat"),
        "loggedIn": signed_in("pat"),
        "same": true,
        "signedOut": ["NO_SESSION_FOUND", "No active session found. Please log in first."],
    })
}

fn wallet(chain: &str) -> Value {
    let signed_in = signed_in(chain);
    json!({
        "actions": ["SIGNUP", signed_in, "LOGIN", signed_in, signed_in],
        "again": coded("WALLET_SIGNUP_AUTH_ERROR", 6, "a sub-organization with this public key exists"),
        "same": true,
    })
}

fn codes() -> Value {
    // The package pins the key of the hosted service, and has no setting for it.
    let pinned = "expected signer key <key> does not match signer key from bundle: <key>";
    let pinned = json!(["VERIFY_OTP_ERROR", pinned]);
    let limited = "Max number of OTPs have been initiated please wait and try again: a contact, or a \
                   `userIdentifier`, gets 3 codes within 3 minutes, and has at most 3 valid ones";
    json!({
        "pinned": [pinned, pinned],
        "wrong": error(3, "Invalid OTP code"),
        "signedUp": signed_in("coda"),
        "found": true,
        "hidden": error(7, "a lookup by a contact needs a token that proves it"),
        "unstated": error(3, "invalid client signature: `clientSignature` is required, because the token is bound to a key"),
        "loggedIn": signed_in("coda"),
        "same": true,
        "limited": coded("MAX_OTP_INITIATED_ERROR", 3, limited),
        "method": coded("INIT_OTP_ERROR", 7, "SMS disallowed"),
    })
}

fn oauth() -> Value {
    let signed_in = signed_in("mira");
    let taken = "Account already exists with this OIDC token or claims";
    json!({
        "actions": ["SIGNUP", signed_in, "LOGIN", signed_in, "LOGIN", signed_in],
        "same": true,
        "found": true,
        "taken": ["ACCOUNT_ALREADY_EXISTS", taken],
        "removed": 1,
        "before": {},
        "updated": "string",
        "after": true,
        "other": error(3, "the token proves another contact"),
        "unverified": error(3, "the OIDC token proves no email address"),
        "forged": error(3, "invalid OIDC token"),
        "deleted": true,
    })
}
