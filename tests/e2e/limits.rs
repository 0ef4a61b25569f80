//! Limits of `[limits]`: an error names its limit, and metrics count it.

use std::time::{SystemTime, UNIX_EPOCH};

use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::http::Listener;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::passkey::Passkey;
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::{Value, json};

use crate::screen::Screen;

/// Returns the configuration keys in the details of an error.
fn named(error: &Value) -> Vec<&str> {
    let details = error["details"].as_array().expect("details");
    assert!(details.iter().all(|detail| detail["@type"].is_string()), "{error:#}");
    let violations = details.iter().filter_map(|detail| detail["violations"].as_array()).flatten();
    violations.filter_map(|violation| violation["subject"].as_str()).collect()
}

#[tokio::test]
async fn limit_errors_name_their_limit_and_are_counted() {
    let installation = Installation::new("file = \"root.key\"");
    let text = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    installation.configure(&format!("{text}\n[limits]\nwallets = 1\nlong_lived_api_keys = 1\n"));
    let key = Key::named("limited");
    let organization = installation.create_organization("limited", &key).await;
    let served = installation.serve().await;
    let root = served.caller(&organization, key);
    root.completed(CREATE_WALLET, &requests::wallet("first")).await;

    let rejected = root.submit(CREATE_WALLET, &requests::wallet("second")).await;
    assert_eq!(rejected.status, 429);
    let error = rejected.json();
    // The API defines this message.
    assert_eq!(error["message"], "organization has reached its limit of 1 wallets");
    assert_eq!(named(&error), ["limits.wallets"], "{error:#}");
    root.submit(CREATE_WALLET, &requests::wallet("third")).await;

    let user = root.fetch("whoami", json!({})).await["userId"].clone();
    let more = json!({
        "userId": user,
        "apiKeys": [{ "apiKeyName": "more", "publicKey": Key::named("more").public_key(), "curveType": "API_KEY_CURVE_P256" }],
    });
    let error = root.submit("ACTIVITY_TYPE_CREATE_API_KEYS_V2", &more).await.json();
    assert_eq!(error["message"], "user has exceeded maximum long-lived api keys", "{error:#}");
    assert_eq!(named(&error), ["limits.long_lived_api_keys"], "{error:#}");

    let metrics = root.call(Method::GET, "/metrics", &[], b"").await;
    let metrics = String::from_utf8(metrics.body.to_vec()).expect("UTF-8");
    for (limit, count) in [("wallets", 2), ("long_lived_api_keys", 1)] {
        let line = format!("quorate_limits_reached_total{{limit=\"{limit}\"}} {count}\n");
        assert!(metrics.contains(&line), "{line} is missing in\n{metrics}");
    }
}

#[tokio::test]
async fn a_client_address_registers_few_organizations() {
    const CREATE: &str = "/public/v1/submit/create_organization";
    let installation = Installation::new("file = \"root.key\"");
    let text = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    let unknown = "00000000-0000-4000-8000-000000000000";
    installation.configure(&format!(
        "{text}\n[http]\nlisten = \"127.0.0.1:0\"\n[organizations]\nallow_registration = true\n\
         registrations_per_address = 3\ntrusted = [\"{unknown}\"]\n"
    ));
    let key = Key::named("registrations");
    let organization = installation.create_organization("known", &key).await;
    let served = installation.serve().await;
    let local = served.caller(&organization, key.clone());
    let log = std::fs::read_to_string(installation.path("log")).expect("a log");
    assert!(log.contains("organizations.trusted names no top-level organization"), "{log}");
    let status = served.get("/console/v1/status").await.success();
    let address = status["baseUrl"].as_str().and_then(|url| url.strip_prefix("http://")).expect("a base URL");
    let address = Listener::Tcp(address.parse().expect("an address"));
    let by_http = Caller::new(address, &organization, key);
    // Without a stamp, each of them would be refused. Beyond the limit, none is even examined.
    for _ in 0..3 {
        assert_eq!(by_http.call(Method::POST, CREATE, &[], b"{}").await.status, 401);
    }
    let refused = by_http.call(Method::POST, CREATE, &[], b"{}").await;
    let message = refused.expect_error(429, 8, "RATE_LIMIT_EXCEEDED");
    assert_eq!(
        message,
        "too many requests to register an organization from this address; try again in an hour"
    );
    // Other requests and other clients are not limited by it.
    by_http.fetch("whoami", json!({})).await;
    for _ in 0..5 {
        assert_eq!(local.call(Method::POST, CREATE, &[], b"{}").await.status, 401);
    }
}

#[tokio::test]
async fn registered_organizations_are_logged_and_listed() {
    let installation = Installation::new("file = \"root.key\"");
    let text = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    let own = installation.create_organization("known", &Key::named("root")).await;
    let configure = |more: &str| {
        installation.configure(&format!("{text}\n[organizations]\nallow_registration = true\n{more}"));
    };
    configure("");
    let served = installation.serve().await;
    let passkey = Passkey::of("registrant");
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970");
    let body = json!({"type": "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2", "timestampMs": millis.as_millis().to_string(),
        "parameters": {"organizationName": "newcomers", "rootEmail": "ann@example.org",
            "rootAuthenticator": passkey.registration()}});
    let body = body.to_string();
    let caller = served.caller(&own, Key::named("root"));
    let stamp = passkey.header(body.as_bytes());
    let mut created = String::new();
    // The same bytes register one organization, which is logged once.
    for _ in 0..2 {
        let headers = [("x-stamp-webauthn", stamp.as_str())];
        let reply = caller
            .call(Method::POST, "/public/v1/submit/create_organization", &headers, body.as_bytes())
            .await;
        created = reply.success()["activity"]["organizationId"].as_str().expect("an id").to_owned();
    }
    let log = std::fs::read_to_string(installation.path("log")).expect("a log");
    let lines: Vec<&str> =
        log.lines().filter(|line| line.contains("an organization was registered")).collect();
    assert!(
        matches!(lines.as_slice(), [line] if line.contains(&created) && line.contains("127.0.0.1")),
        "{lines:#?}"
    );
    let operator = || Operator::anywhere(&installation.path("run/socket"));
    let listed = operator().run(&["org", "ls"]).await.with(0).lines();
    let states = |lines: &[Value], id: &str| {
        let head = lines.iter().find(|head| head["organizationId"] == id).expect("it is listed");
        (head["registered"].clone(), head["trusted"].clone())
    };
    assert_eq!(states(&listed, &own), (Value::Null, Value::Null));
    assert_eq!(states(&listed, &created), (json!(true), json!(false)));
    drop(served);

    configure(&format!("trusted = [\"{created}\"]\n"));
    let _served = installation.serve().await;
    let head = operator().run(&["org", "get", &created]).await.with(0).json();
    assert_eq!((&head["registered"], &head["trusted"]), (&json!(true), &json!(true)), "{head:#}");
    let mut screen = Screen::sized(operator(), (120, 36));
    screen.shows("newcomers").await;
    screen.press("newc\r");
    screen.press("2");
    screen.shows("registered, trusted").await;
}
