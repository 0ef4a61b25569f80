//! The newest unmodified npm package `@turnkey/core`, through the authentication proxy: pages sign up, sign in and sign out
//! with passkeys, other wallets, codes and OAuth providers. Their requests use TLS and follow the CORS protocol.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use quorate_tests::installation::Installation;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::oauth2_provider::{APPLICATIONS, Oauth2Provider};
use quorate_tests::sms_gateway::{PASSWORD, SmsGateway};
use serde_json::{Value, json};

use crate::auth_proxy::{ORIGIN, Proxy};
use crate::oauth2::{self, VERIFIER};
use crate::third_party;

const NODE: [&str; 3] = ["node", "--import", "./newest/resolve.mjs"];

/// Runs a program of the package with the daemon of a proxy that uses TLS, and returns the observations.
async fn observe(proxy: &Proxy, program: &str, arguments: &[&Path]) -> Value {
    let credentials = proxy.credentials_file().await;
    let trust = format!("NODE_EXTRA_CA_CERTS={}", proxy.certificate().display());
    let command = [&["env", trust.as_str()], &NODE[..], &[program]].concat();
    third_party::observe("npm/newest", &command, &[&[credentials.as_path()], arguments].concat())
}

/// Stores the codes of this many SMS where the program expects them, as the mail server does.
async fn forward(gateway: SmsGateway, folder: PathBuf, count: usize) {
    let is_code = |word: &&str| {
        word.len() == 9 && word.chars().all(|one| one.is_ascii_digit() || one.is_ascii_uppercase())
    };
    for number in 1..=count {
        let received = gateway.until(number).await;
        let mut words = received[number - 1].text.split(|letter: char| !letter.is_ascii_alphanumeric());
        let code = words.rfind(is_code).unwrap_or_else(|| panic!("no code in {received:?}"));
        let (draft, message) = (folder.join("draft"), folder.join(format!("{number}.json")));
        std::fs::write(&draft, json!({"text": format!("    {code}\n")}).to_string()).expect("a file");
        std::fs::rename(draft, message).expect("the file can be renamed");
    }
}

#[tokio::test]
async fn the_newest_core_package_signs_in_with_x_and_discord() {
    third_party::install("npm");
    let (provider, mailbox) = (Oauth2Provider::start(), Mailbox::start(0));
    let keys = oauth2::proxy_keys(&provider).replace(ORIGIN, "https://app.example");
    let proxy = Proxy::start_secured(&keys, &mailbox).await;
    proxy.enable().await;
    let mut logins = Vec::new();
    for application in APPLICATIONS {
        oauth2::credential(&proxy.root(), &provider, application).await;
        let (name, client, _) = application;
        for _ in 0..2 {
            let (code, redirect) = provider.code(client, VERIFIER, "1270562298").await;
            logins.push(
                json!({"provider": name, "clientId": client, "authCode": code, "redirectUri": redirect,
                "codeVerifier": VERIFIER}),
            );
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("logins.json");
    std::fs::write(&path, json!(logins).to_string()).expect("a file");
    let seen = observe(&proxy, "newest/core_oauth2.mjs", &[&path]).await;
    let signed_in = signed_in("ann");
    let actions = ["SIGNUP", "LOGIN", "SIGNUP", "LOGIN"].map(|action| json!([action, signed_in]));
    assert_eq!(seen, json!({"actions": actions, "same": [true, false, true]}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_core_package_signs_in_by_sms() {
    let Some(mut gateway) = SmsGateway::start(100).await else { return };
    third_party::install("npm/newest");
    gateway.connect_centre().await;
    let (mailbox, secrets) = (Mailbox::start(0), Installation::new("file = \"root.key\""));
    secrets.write_secret("sms.secret", PASSWORD);
    let keys = format!(
        "allowed_origins = [\"https://app.example\"]\nmethods = [\"sms\"]\nrequests_per_address = 1000\n{}",
        gateway.section(&secrets.path("sms.secret"))
    );
    let proxy = Proxy::start_secured(&keys, &mailbox).await;
    proxy.enable().await;
    let feature = json!({"name": "FEATURE_NAME_SMS_AUTH"});
    proxy.root().completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    let messages = tempfile::tempdir().expect("a folder");
    let task = tokio::spawn(forward(gateway, messages.path().to_owned(), 2));
    let seen = observe(&proxy, "newest/core_phone.mjs", &[messages.path()]).await;
    task.await.expect("two SMS were sent");
    let expected = json!({
        "pinned": pinned(),
        "signedUp": signed_in("sam"),
        "found": true,
        "hidden": error(7, "a lookup by a contact needs a token that proves it"),
        "again": error(3, "Invalid OTP code"),
        "user": "+491701234567",
        "loggedIn": signed_in("sam"),
        "same": true,
    });
    assert_eq!(seen, expected);
}

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
         google_client_id = \"rsa\"\napple_client_id = \"ec\"\noauth_redirect_url = \"https://app.example/callback\"\n\
         [oidc]\nissuers = [\"http://127.0.0.1:{port}\"]\nallow_http = true\nallow_networks = [\"127.0.0.0/8\"]"
    );
    let proxy = Proxy::start_secured(&keys, &mailbox).await;
    proxy.enable().await;
    let port = port.to_string();
    let mut seen = observe(&proxy, "newest/core.mjs", &[mailbox.folder(), Path::new(&port)]).await;
    hide_seconds(&mut seen["codes"]["limited"][1]);
    let expected = json!({
        "config": {"enabledProviders": ["email", "passkey", "wallet", "google", "apple"],
            "organizationId": proxy.organization, "sessionExpirationSeconds": "3600", "otpAlphanumeric": true,
            "otpLength": "9", "oauthClientIds": {"google": "rsa", "apple": "ec"},
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

/// Replaces the number of seconds until the next code, at most the lifetime of a code.
fn hide_seconds(text: &mut Value) {
    let shown = text.as_str().expect("a text");
    let (start, rest) = shown.split_once(" after ").unwrap_or_else(|| panic!("no time: {shown}"));
    let (seconds, end) = rest.split_once(' ').expect("a unit");
    assert!((1..=300).contains(&seconds.parse().unwrap_or(0_u32)), "{shown}");
    *text = format!("{start} after N {end}").into();
}

fn passkeys() -> Value {
    json!({
        "signed": ["main", 42, 64, "string"],
        "refreshed": [true, "string"],
        "proofs": [],
        "signedUp": signed_in("pat"),
        "loggedIn": signed_in("pat"),
        "same": true,
        "listed": true,
        "ended": true,
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

/// What `verifyOtp` and `completeOtp` report: the package pins the key of the hosted service, and has no setting for it.
fn pinned() -> Value {
    let pinned =
        json!(["VERIFY_OTP_ERROR", "expected signer key <key> does not match signer key from bundle: <key>"]);
    json!([pinned, pinned])
}

fn codes() -> Value {
    let limited = "Max number of OTPs have been initiated please wait and try again: 3 codes of the \
                   contact, or of the `userIdentifier`, are still valid and unused; another one can be sent after N s \
                   at the latest";
    json!({
        "pinned": pinned(),
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
