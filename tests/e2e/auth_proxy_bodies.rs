//! The bodies that the book shows for the routes of the authentication proxy are accepted, and sign a person up and in.

use std::collections::BTreeMap;

use quorate_tests::book;
use quorate_tests::caller::Caller;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::oauth2_provider::{APPLICATIONS, Oauth2Provider};
use quorate_tests::sign_in;
use serde_json::{Map, Value, json};

use crate::auth_proxy::{CONTACT, ORIGIN, Proxy, code};
use crate::oauth2::{VERIFIER, credential, parameters};
use crate::third_party;

const PAGE: &str = "docs/src/guides/auth-proxy.md";

/// The bodies of the page, by route.
fn bodies() -> BTreeMap<String, Value> {
    let body = |block: &book::Block| {
        let route =
            block.comment.as_deref()?.strip_prefix("<!-- Body of /v1/")?.split(' ').next()?.to_owned();
        Some((route, serde_json::from_str(&block.text).expect("JSON")))
    };
    book::Page::read(PAGE).blocks.iter().filter_map(body).collect()
}

/// Replaces the texts that describe a value by the value. A text that has none fails the test.
fn filled(template: &Value, values: &[(&str, Value)]) -> Value {
    match template {
        Value::String(text) if text.starts_with("the ") => {
            let value = values.iter().find(|(name, _)| name == text).map(|(_, value)| value.clone());
            value.unwrap_or_else(|| panic!("no value: {text}"))
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), filled(value, values)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| filled(item, values)).collect(),
        other => other.clone(),
    }
}

/// Returns the values of a client signature of a statement.
fn signed<'a>(name: &'a str, statement: &Value, holder: &Key) -> Vec<(&'a str, Value)> {
    let signature = sign_in::client_signature(statement, holder);
    vec![
        ("the public key that the token is bound to", signature["publicKey"].clone()),
        (name, signature["message"].clone()),
        ("the signature of the statement", signature["signature"].clone()),
    ]
}

/// A proxy, and the bodies of the page.
struct Book {
    proxy: Proxy,
    bodies: BTreeMap<String, Value>,
}

impl Book {
    /// Posts the body that the page shows for a route, and returns the answer.
    async fn post(&self, route: &str, values: &[(&str, Value)]) -> Value {
        self.post_to(route, route, values).await
    }

    /// Posts the body of a route to another one.
    async fn post_to(&self, shown: &str, route: &str, values: &[(&str, Value)]) -> Value {
        self.proxy.post(route, &filled(&self.bodies[shown], values)).await.success()
    }

    /// Asserts that a key acts as a user in a sub-organization.
    async fn expect_session(&self, key: &Key, organization: &Value, user: &Value) {
        let organization = organization.as_str().expect("an id");
        let ann = Caller::new(self.proxy.http.clone(), organization, key.clone());
        assert_eq!(ann.fetch("whoami", json!({})).await["userId"], *user);
    }
}

#[tokio::test]
async fn the_bodies_of_the_book_are_accepted() {
    third_party::install("npm");
    let (provider, mailbox) = (Oauth2Provider::start(), Mailbox::start(0));
    let keys = format!(
        "allowed_origins = [\"{ORIGIN}\"]\nmethods = [\"email\", \"x\"]\nrequests_per_address = 1000\n[oauth2]\n\
         enabled = true\nissuer = \"https://keys.example.org\"\n{}",
        provider.configuration()
    );
    let book = Book { proxy: Proxy::start(&keys, &mailbox).await, bodies: bodies() };
    book.proxy.enable().await;

    // By a code.
    let sent = book.post("otp_init_v2", &[]).await;
    let holder = Key::named("holder");
    let bundle = sign_in::encrypted_code(&sent["otpEncryptionTargetBundle"], &code(&mailbox.next()), &holder);
    let verify = [("the id of the code", sent["otpId"].clone()), ("the encrypted code", json!(bundle))];
    let token = book.post("otp_verify_v2", &verify).await["verificationToken"].clone();
    let proof = ("the verification token", token.clone());
    assert_eq!(book.post("account", std::slice::from_ref(&proof)).await, json!({}));
    let id = sign_in::claims(token.as_str().expect("a token"))["id"].clone();
    let lists = json!({"email": CONTACT, "apiKeys": [], "authenticators": [], "oauthProviders": []});
    let statement = json!({"signupV2": lists, "tokenId": id, "type": "USAGE_TYPE_SIGNUP"});
    let mut values = signed("the statement of the sign-up", &statement, &holder);
    values.push(proof.clone());
    let created = book.post("signup_v2", &values).await;
    assert!(created["wallet"]["addresses"][0].is_string() && created["appProofs"] == json!([]), "{created}");
    let found = book.post("account", std::slice::from_ref(&proof)).await;
    assert_eq!(found, json!({"organizationId": created["organizationId"]}));
    let organization = ("the id of the sub-organization", created["organizationId"].clone());
    let session = ("the public key of the session", json!(holder.public_key()));
    let statement =
        json!({"login": {"publicKey": holder.public_key()}, "tokenId": id, "type": "USAGE_TYPE_LOGIN"});
    let mut values = signed("the statement of the login", &statement, &holder);
    values.extend([proof, organization.clone(), session]);
    assert!(book.post("otp_login_v2", &values).await["session"].is_string());
    book.expect_session(&holder, &created["organizationId"], &created["userId"]).await;

    // By the routes of earlier versions, without a key in the token.
    let sent = book.post_to("otp_init_v2", "otp_init", &[]).await;
    let verify = [("the id of the code", sent["otpId"].clone()), ("the code", json!(code(&mailbox.next())))];
    let token = book.post("otp_verify", &verify).await["verificationToken"].clone();
    let second = Key::named("second session");
    let mut login = book.bodies["otp_login_v2"].clone();
    login.as_object_mut().expect("an object").remove("clientSignature");
    let values = [
        ("the verification token", token),
        organization,
        ("the public key of the session", json!(second.public_key())),
    ];
    assert!(book.proxy.post("otp_login", &filled(&login, &values)).await.success()["session"].is_string());
    book.expect_session(&second, &created["organizationId"], &created["userId"]).await;
    by_x(&book, &provider).await;
    assert_eq!(book.bodies.len(), 8, "all bodies are used");
}

/// Signs up and in with an account at X.
async fn by_x(book: &Book, provider: &Oauth2Provider) {
    let (_, client, _) = APPLICATIONS[0];
    let stored = credential(&book.proxy.root(), provider, APPLICATIONS[0]).await;
    let key = Key::named("session of x");
    let exchange = parameters(&stored, &provider.code(client, VERIFIER, "2244994945").await, &key);
    let mut body = book.bodies["oauth2_authenticate"].clone();
    body["redirectUri"] = exchange["redirectUri"].clone();
    let values = [
        ("the client id", json!(client)),
        ("the authorization code", exchange["authCode"].clone()),
        ("the code verifier", json!(VERIFIER)),
        ("the SHA-256 digest of the public key of the session", exchange["nonce"].clone()),
    ];
    let issued = book.proxy.post("oauth2_authenticate", &filled(&body, &values)).await.success();
    let mut sign_up = book.bodies["signup_v2"].clone();
    let members = sign_up.as_object_mut().expect("an object");
    members.retain(|name, _| !["userEmail", "verificationToken", "clientSignature"].contains(&name.as_str()));
    members.insert(
        "oauthProviders".to_owned(),
        json!([{"providerName": "x", "oidcToken": issued["oidcToken"]}]),
    );
    let created = book.proxy.post("signup_v2", &sign_up).await.success();
    let values = [
        ("the id of the sub-organization", created["organizationId"].clone()),
        ("the ID token", issued["oidcToken"].clone()),
        ("the public key of the session", json!(key.public_key())),
    ];
    assert!(book.post("oauth_login", &values).await["session"].is_string());
    book.expect_session(&key, &created["organizationId"], &created["userId"]).await;
}
