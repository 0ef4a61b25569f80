//! Attacks on the authentication proxy, over plain HTTP: other origins, accounts of others, tokens and keys that are used
//! again, and a proxy that is disabled while requests run.

use std::collections::BTreeSet;
use std::sync::Arc;

use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::http::Reply;
use quorate_tests::issuer::Issuer;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::passkey::Passkey;
use quorate_tests::sign_in::{claims, client_signature, encrypted_code, login};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::auth_proxy::{CONTACT, ORIGIN, Proxy, code, keys, sign_up, wallet_key};

const DISABLED: &str = "the authentication proxy is not enabled in this organization";

async fn start(mailbox: &Mailbox) -> Arc<Proxy> {
    let proxy = Proxy::start(&keys(), mailbox).await;
    proxy.enable().await;
    Arc::new(proxy)
}

/// Sends these sign-ups at the same time.
fn sign_ups(proxy: &Arc<Proxy>, bodies: impl Iterator<Item = Value>) -> JoinSet<Reply> {
    let send = |body: Value| {
        let proxy = Arc::clone(proxy);
        async move { proxy.post("signup_v2", &body).await }
    };
    bodies.map(send).collect()
}

/// Proves a contact with a code, and returns the token, which is bound to the key of `holder`.
async fn token(proxy: &Proxy, mailbox: &Mailbox, contact: &str, holder: &Key) -> String {
    let init = json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact});
    let sent = proxy.post("otp_init_v2", &init).await.success();
    let bundle = encrypted_code(&sent["otpEncryptionTargetBundle"], &code(&mailbox.next()), holder);
    let verify = json!({"otpId": sent["otpId"], "encryptedOtpBundle": bundle});
    let verified = proxy.post("otp_verify_v2", &verify).await.success();
    verified["verificationToken"].as_str().expect("a token").to_owned()
}

/// Returns the body of a sign-up with a token, whose statement `signer` has signed.
fn proven_sign_up(token: &str, signer: &Key) -> Value {
    let Value::String(contact) = &claims(token)["contact"] else { panic!("a contact") };
    let user = json!({"apiKeys": [], "authenticators": [], "oauthProviders": [], "email": contact});
    let statement = json!({"signupV2": user, "tokenId": claims(token)["id"], "type": "USAGE_TYPE_SIGNUP"});
    json!({"userName": "ann", "userEmail": contact, "apiKeys": [], "authenticators": [], "oauthProviders": [],
        "verificationToken": token, "clientSignature": client_signature(&statement, signer)})
}

fn text(reply: &Reply) -> (u16, Value) {
    (reply.status, reply.json())
}

#[tokio::test]
async fn only_pages_of_listed_origins_read_answers() {
    let mailbox = Mailbox::start(0);
    let proxy = start(&mailbox).await;
    let id = ("x-auth-proxy-config-id", proxy.organization.as_str());
    let near = [
        "http://app.example.org",
        "https://app.example.org:8443",
        "https://app.example.org/",
        "https://APP.example.org",
        "https://app.example.org.evil.example",
        "https://evil.example",
        "null",
        "",
    ];
    for origin in near {
        for (method, status) in [(Method::POST, 403), (Method::OPTIONS, 204)] {
            let reply = proxy.send(method, "wallet_kit_config", &[id, ("origin", origin)], b"").await;
            assert_eq!(reply.status, status, "{origin}");
            assert_eq!(reply.header("access-control-allow-origin"), None, "{origin}");
            assert_eq!(reply.header("access-control-allow-headers"), None, "{origin}");
            assert_eq!(reply.header("vary"), Some("Origin"), "{origin}");
        }
    }
    // The page that may call the proxy can read every error.
    let large = vec![b' '; 100_000];
    for (method, route, body, status) in [
        (Method::POST, "wallet_kit_config", &b""[..], 200),
        (Method::POST, "account", b"{", 400),
        (Method::POST, "nothing", b"", 404),
        (Method::POST, "account", &large, 413),
        (Method::GET, "account", b"", 501),
    ] {
        let reply = proxy.send(method, route, &[id, ("origin", ORIGIN)], body).await;
        let origin = reply.header("access-control-allow-origin");
        assert_eq!((reply.status, origin, reply.header("vary")), (status, Some(ORIGIN), Some("Origin")));
        assert_eq!(reply.header("access-control-allow-credentials"), None);
    }
}

#[tokio::test]
async fn accounts_of_others_cannot_be_found() {
    let mailbox = Mailbox::start(0);
    let proxy = start(&mailbox).await;
    let holder = Key::named("holder");
    let own = token(&proxy, &mailbox, CONTACT, &holder).await;
    proxy.post("signup_v2", &proven_sign_up(&own, &holder)).await.success();
    let other = token(&proxy, &mailbox, "eve@example.org", &Key::named("eve")).await;
    let (known, unknown) = (CONTACT, "nobody@example.org");
    let lookup = |contact: &str| json!({"filterType": "EMAIL", "filterValue": contact});
    let strange = |contact: &str| {
        let mut lookup = lookup(contact);
        lookup["verificationToken"] = json!(other);
        lookup
    };
    for body in [&lookup as &dyn Fn(&str) -> Value, &strange] {
        let known = proxy.post("account", &body(known)).await;
        assert!([400, 403].contains(&known.status));
        assert_eq!(text(&known), text(&proxy.post("account", &body(unknown)).await));
    }
    // Codes are sent to known and to unknown contacts, and both answers have the same members.
    for route in ["otp_init", "otp_init_v2"] {
        let mut members = Vec::new();
        for contact in [known, unknown] {
            let init = json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact});
            let sent = proxy.post(route, &init).await.success();
            assert_eq!(sent["otpId"].as_str().map(str::len), Some(36));
            members.push(sent.as_object().expect("members").keys().cloned().collect::<Vec<_>>());
            mailbox.next();
        }
        assert_eq!(members[0], members[1]);
    }
    // A code that is wrong, and one that was never sent.
    let sent =
        proxy.post("otp_init", &json!({"otpType": "OTP_TYPE_EMAIL", "contact": "x@example.org"})).await;
    mailbox.next();
    let never = json!("00000000-0000-4000-8000-000000000000");
    let verify = |id: &Value| json!({"otpId": id, "otpCode": "AAAAAAAAA"});
    let wrong = proxy.post("otp_verify", &verify(&sent.success()["otpId"])).await;
    assert_eq!(text(&wrong), text(&proxy.post("otp_verify", &verify(&never)).await));
    // A token of one contact opens no session of another.
    let mut body = login(&other, &Key::named("eve"));
    let nobody = proxy.post("otp_login_v2", &body).await;
    nobody.expect_error(404, 5, "");
    let named = proxy
        .post(
            "account",
            &json!({"filterType": "EMAIL", "filterValue": CONTACT,
        "verificationToken": own}),
        )
        .await
        .success();
    body["organizationId"] = named["organizationId"].clone();
    let refused = proxy.post("otp_login_v2", &body).await;
    assert!((400..500).contains(&refused.status), "{}", refused.status);
}

#[tokio::test]
async fn tokens_and_statements_are_used_once_and_by_their_holder() {
    let mailbox = Mailbox::start(0);
    let proxy = start(&mailbox).await;
    let holder = Key::named("holder");
    let own = token(&proxy, &mailbox, CONTACT, &holder).await;
    let body = proven_sign_up(&own, &holder);
    // By another key, of another token, for another user, without a statement, and with a contact that it does not prove.
    let signed_by_other = proven_sign_up(&own, &Key::named("other"));
    let mut altered = body.clone();
    altered["authenticators"] = json!([Passkey::of("evil").registration()]);
    let mut unsigned = body.clone();
    unsigned["clientSignature"] = Value::Null;
    let mut unproven = body.clone();
    unproven["userEmail"] = json!("eve@example.org");
    let mut forged = body.clone();
    let parts: Vec<&str> = own.split('.').collect();
    forged["verificationToken"] = json!([parts[0], parts[1], "AAAA"].join("."));
    let another = token(&proxy, &mailbox, CONTACT, &Key::named("third")).await;
    let mut swapped = body.clone();
    swapped["verificationToken"] = json!(another);
    for body in [signed_by_other, altered, unsigned, unproven, forged, swapped] {
        proxy.post("signup_v2", &body).await.expect_error(400, 3, "*");
    }
    // The parent of the sub-organization is that of the proxy, whatever the body states.
    let mut elsewhere = body.clone();
    for name in ["organizationId", "parentOrganizationId", "subOrganizationName"] {
        elsewhere[name] = json!("00000000-0000-4000-8000-000000000000");
    }
    elsewhere["rootQuorumThreshold"] = json!(7);
    let created = proxy.post("signup_v2", &elsewhere).await.success();
    let children = proxy.root().fetch("list_suborgs", json!({})).await;
    assert_eq!(children["organizationIds"], json!([created["organizationId"]]));
    proxy.post("signup_v2", &body).await.expect_error(409, 6, "*");
    let session = login(&own, &holder);
    proxy.post("otp_login_v2", &login(&own, &Key::named("other"))).await.expect_error(400, 3, "*");
    let opened = proxy.post("otp_login_v2", &session).await.success();
    assert_eq!(
        claims(opened["session"].as_str().expect("a token"))["organization_id"],
        created["organizationId"]
    );
    proxy.post("otp_login_v2", &session).await.expect_error(409, 6, "*");
    for _ in 0..10 {
        let lookup = json!({"filterType": "EMAIL", "filterValue": CONTACT, "verificationToken": own});
        assert_eq!(
            proxy.post("account", &lookup).await.success()["organizationId"],
            created["organizationId"]
        );
    }
}

#[tokio::test]
async fn the_key_of_a_wallet_is_never_shared() {
    let mailbox = Mailbox::start(0);
    let proxy = start(&mailbox).await;
    let wallet = wallet_key("wallet of somebody else");
    // The public key is known to everyone. A client that signs up with it must not have another way in.
    let alone = sign_up(&wallet);
    let mut beside_key = alone.clone();
    let own = sign_up(&Key::named("attacker"))["apiKeys"][0].clone();
    beside_key["apiKeys"].as_array_mut().expect("keys").push(own);
    let mut beside_passkey = alone.clone();
    beside_passkey["authenticators"] = json!([Passkey::of("attacker").registration()]);
    let mut beside_token = alone.clone();
    let proof = token(&proxy, &mailbox, CONTACT, &Key::named("holder")).await;
    beside_token["verificationToken"] = json!(proof);
    for body in [beside_key, beside_passkey, beside_token] {
        let message = proxy.post("signup_v2", &body).await.expect_error(403, 7, "");
        assert_eq!(message, "a wallet key must be the only credential of a sign-up");
    }
    // A key that is no wallet key proves nothing.
    proxy.post("signup_v2", &sign_up(&Key::named("attacker"))).await.expect_error(403, 7, "");

    // Of several sign-ups at the same time, one succeeds, so that the wallet finds one sub-organization.
    let upper = wallet.public_key().to_ascii_uppercase();
    let mut spelled = alone.clone();
    spelled["apiKeys"][0]["publicKey"] = json!(upper);
    let bodies = [&alone, &spelled, &alone, &spelled, &alone, &alone];
    let replies = sign_ups(&proxy, bodies.into_iter().cloned()).join_all().await;
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
    proxy.post("signup", &spelled).await.expect_error(409, 6, "");
    let parent = Caller::new(proxy.http.clone(), &proxy.organization, wallet);
    let opened = parent
        .result("ACTIVITY_TYPE_STAMP_LOGIN", &json!({"publicKey": Key::named("session").public_key()}))
        .await;
    assert!(opened["session"].is_string(), "{opened}");
}

#[tokio::test]
async fn unproven_contacts_and_registered_credentials_are_refused() {
    let mailbox = Mailbox::start(0);
    let proxy = start(&mailbox).await;
    // A code to an unproven contact would be a second way into the organization of the wallet's owner.
    let wallet = sign_up(&wallet_key("wallet of somebody else"));
    let mut by_passkey = sign_up(&Key::named("session of the attacker"));
    by_passkey["authenticators"] = json!([Passkey::of("attacker").registration()]);
    let proven = token(&proxy, &mailbox, CONTACT, &Key::named("holder")).await;
    for (body, name, contact, proof) in [
        (&wallet, "userEmail", "eve@evil.example", None),
        (&wallet, "userPhoneNumber", "+12025550123", None),
        (&by_passkey, "userEmail", "eve@evil.example", None),
        (&by_passkey, "userPhoneNumber", "+12025550123", Some(&proven)),
    ] {
        let mut body = body.clone();
        (body[name], body["verificationToken"]) = (json!(contact), json!(proof));
        let message = proxy.post("signup_v2", &body).await.expect_error(403, 7, "");
        assert_eq!(message, format!("a sign-up needs a verification token that proves `{name}`"));
    }

    // What a person adds to their organization later is theirs.
    let mut body = by_passkey.clone();
    body["authenticators"] = json!([Passkey::of("ann").registration()]);
    let ann_key = Key::named("session of ann");
    body["apiKeys"] = sign_up(&ann_key)["apiKeys"].clone();
    let created = proxy.post("signup_v2", &body).await.success();
    let home = created["organizationId"].as_str().expect("an id");
    let ann = Caller::new(proxy.http.clone(), home, ann_key);
    let (second, key) = (Passkey::of("second of ann"), Key::named("second key of ann"));
    let added = json!({"userId": created["userId"], "authenticators": [second.registration()]});
    ann.completed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &added).await;
    let added = json!({"userId": created["userId"], "apiKeys": sign_up(&key)["apiKeys"]});
    ann.completed("ACTIVITY_TYPE_CREATE_API_KEYS_V2", &added).await;
    let mut padded = second.registration();
    padded["attestation"]["credentialId"] = json!(format!("{}==", second.id()));
    for passkey in [second.registration(), padded, Passkey { name: "attacker", ..second }.registration()] {
        let mut body = by_passkey.clone();
        body["authenticators"] = json!([passkey]);
        let message = proxy.post("signup_v2", &body).await.expect_error(409, 6, "");
        assert_eq!(message, "a sub-organization with this passkey exists");
    }
    let mut body = by_passkey.clone();
    body["apiKeys"] = sign_up(&key)["apiKeys"].clone();
    let message = proxy.post("signup_v2", &body).await.expect_error(409, 6, "");
    assert_eq!(message, "a sub-organization with this public key exists");
}

#[tokio::test]
async fn a_login_by_an_identity_leads_to_nobody_else() {
    let (mailbox, issuer) = (Mailbox::start(0), Issuer::start());
    let keys = format!(
        "{}\ngoogle_client_id = \"app\"\n[oidc]\nissuers = [\"{}\"]\nallow_http = true\nallow_networks = [\"127.0.0.0/8\"]",
        keys().replace("\"wallet\"]", "\"wallet\", \"google\"]"),
        issuer.url()
    );
    let proxy = Proxy::start(&keys, &mailbox).await;
    proxy.enable().await;
    // Eve runs another application of the issuer, and has tokens of its visitors.
    let eve_key = wallet_key("eve");
    let created = proxy.post("signup_v2", &sign_up(&eve_key)).await.success();
    let home = created["organizationId"].as_str().expect("an id");
    let eve = Caller::new(proxy.http.clone(), home, eve_key);
    let stolen = issuer.token_for("evil", "dan", Key::named("any").public_key());
    let claimed = json!({"iss": issuer.url(), "sub": "dan", "aud": "app"});
    let identities =
        json!([{"providerName": "a", "oidcToken": stolen}, {"providerName": "b", "oidcClaims": claimed}]);
    let registered = json!({"userId": created["userId"], "oauthProviders": identities});
    eve.completed("ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2", &registered).await;

    let session = Key::named("session of dan");
    let login = async || {
        let token = issuer.token("dan", session.public_key());
        let body = json!({"oidcToken": token, "publicKey": session.public_key()});
        proxy.post("oauth_login", &body).await
    };
    let message = login().await.expect_error(404, 5, "");
    assert_eq!(message, "no organization found for this login");
    let token = issuer.token("dan", session.public_key());
    let body = json!({"userName": "dan", "apiKeys": [], "authenticators": [],
        "oauthProviders": [{"providerName": "google", "oidcToken": token}]});
    let own = proxy.post("signup_v2", &body).await.success();
    let opened = login().await.success();
    let of_session = claims(opened["session"].as_str().expect("a token"));
    assert_eq!(of_session["organization_id"], own["organizationId"]);
}

#[tokio::test]
async fn identities_of_other_applications_are_refused() {
    let mailbox = Mailbox::start(0);
    let methods = "\"passkey\", \"google\"]\ngoogle_client_id = \"app\"";
    let keys = keys().replace("\"email\", \"passkey\", \"wallet\"]", methods);
    let proxy = Proxy::start(&keys, &mailbox).await;
    proxy.enable().await;
    let claimed = |issuer: &str, audience: &str| {
        let mut body = sign_up(&Key::named("own"));
        body["authenticators"] = json!([Passkey::of("own").registration()]);
        let claims = json!({"iss": issuer, "sub": "1", "aud": audience});
        body["oauthProviders"] = json!([{"providerName": "provider", "oidcClaims": claims}]);
        body
    };
    let google = "https://accounts.google.com";
    for body in [claimed(google, "other"), claimed(google, "APP"), claimed(google, "")] {
        let message = proxy.post("signup_v2", &body).await.expect_error(403, 7, "");
        assert_eq!(message, "OAUTH disallowed");
    }
    proxy.post("signup_v2", &claimed(google, "app")).await.success();
    // The log states what was sent and what is configured, and where.
    let token = Issuer::start().token_for("app", "1", Key::named("own").public_key());
    let lookup = json!({"filterType": "OIDC_TOKEN", "filterValue": token});
    assert_eq!(proxy.post("account", &lookup).await.expect_error(403, 7, ""), "OAUTH disallowed");
    let log = proxy.log();
    for cause in [
        r#"the audience of the identity is \"APP\"; the client ids in [auth_proxy] accept \"app\""#,
        "the issuer of the ID token is ",
        r#"; issuers in [oidc], or methods in [auth_proxy], accept \"https://accounts.google.com\""#,
    ] {
        assert!(log.contains(cause), "{cause}: {log}");
    }
}

#[tokio::test]
async fn a_proxy_that_answers_nothing_is_reported() {
    let mailbox = Mailbox::start(0);
    let proxy = Proxy::start(&keys(), &mailbox).await;
    let reason = "the authentication proxy answers nothing: ENABLE_AUTH_PROXY is not in effect in the organization of [auth_proxy]";
    assert!(proxy.log().contains(reason), "{}", proxy.log());
    let warnings = async || proxy.get("/console/v1/health").await.success()["warnings"].clone();
    assert_eq!(warnings().await, json!([reason]));
    proxy.enable().await;
    assert_eq!(warnings().await, json!([]));
}

#[tokio::test]
async fn methods_that_cannot_work_are_reported() {
    let mailbox = Mailbox::start(0);
    let proxy = Proxy::start("methods = [\"email\", \"passkey\"]", &mailbox).await;
    let warnings = async || proxy.get("/console/v1/health").await.success()["warnings"].clone();
    let root = proxy.root();
    let enabled = root.result("ACTIVITY_TYPE_ENABLE_AUTH_PROXY", &json!({})).await;
    let user = enabled["userId"].as_str().expect("an id");
    let feature = "the method email in [auth_proxy] does not work: FEATURE_NAME_OTP_EMAIL_AUTH is not enabled in the \
                   organization of [auth_proxy]";
    let denied = |kinds: &str| {
        format!("no policy allows the user of the authentication proxy ({user}) alone to submit {kinds}")
    };
    assert_eq!(warnings().await, json!([feature, denied("INIT_OTP, VERIFY_OTP, CREATE_SUB_ORGANIZATION")]));
    let name = json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"});
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &name).await;
    // A policy that needs somebody else's approval too allows nothing to the proxy.
    let policy = |kinds: &str, more: &str| {
        json!({"policyName": format!("{kinds}{more}"), "effect": "EFFECT_ALLOW", "notes": "",
            "condition": format!("activity.kind in [{kinds}]"),
            "consensus": format!("approvers.any(user, user.id == '{user}'){more}")})
    };
    for (kinds, more) in [("'VERIFY_OTP'", ""), ("'INIT_OTP'", " && approvers.count() >= 2")] {
        root.completed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy(kinds, more)).await;
    }
    assert_eq!(warnings().await, json!([denied("INIT_OTP, CREATE_SUB_ORGANIZATION")]));
    let allowed = policy("'INIT_OTP', 'CREATE_SUB_ORGANIZATION'", "");
    root.completed("ACTIVITY_TYPE_CREATE_POLICY_V3", &allowed).await;
    assert_eq!(warnings().await, json!([]));
    // Looking at the figures sends nothing.
    assert_eq!(mailbox.accepted(), 0);
}

#[tokio::test]
async fn a_key_on_another_curve_does_not_hide_a_wallet() {
    let mailbox = Mailbox::start(0);
    let proxy = start(&mailbox).await;
    // Half of the keys of wallets are also points on P-256.
    for number in 0..64 {
        let wallet = wallet_key(&format!("wallet {number}"));
        let mut squatted = sign_up(&wallet);
        squatted["apiKeys"][0]["curveType"] = json!("API_KEY_CURVE_P256");
        squatted["authenticators"] = json!([Passkey::of(&format!("passkey {number}")).registration()]);
        if proxy.post("signup_v2", &squatted).await.status != 200 {
            continue;
        }
        squatted["authenticators"] = json!([Passkey::of("another").registration()]);
        proxy.post("signup_v2", &squatted).await.expect_error(409, 6, "");
        let created = proxy.post("signup_v2", &sign_up(&wallet)).await.success();
        let lookup = json!({"filterType": "PUBLIC_KEY", "filterValue": wallet.public_key()});
        let found = proxy.post("account", &lookup).await.success();
        assert_eq!(found["organizationId"], created["organizationId"]);
        let session = json!({"publicKey": Key::named("session").public_key()});
        let parent = Caller::new(proxy.http.clone(), &proxy.organization, wallet);
        parent.result("ACTIVITY_TYPE_STAMP_LOGIN", &session).await;
        return;
    }
    panic!("no key is on both curves");
}

#[tokio::test]
async fn clients_decide_nothing_about_messages_and_lifetimes() {
    let mailbox = Mailbox::start(0);
    let proxy = start(&mailbox).await;
    for contact in
        ["ann@example.org\r\nBcc: eve@example.org", "ann@example.org,eve@example.org", "ann@example.org\n"]
    {
        let init = json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact});
        proxy.post("otp_init", &init).await.expect_error(400, 3, "*");
    }
    let customized = json!({"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT, "appName": "evil", "otpLength": 6,
        "expirationSeconds": "600", "sendFromEmailAddress": "evil@evil.example", "replyToEmailAddress": "evil@evil.example",
        "emailCustomization": {"appName": "evil", "logoUrl": "https://evil.example/logo.png",
            "magicLinkTemplate": "https://evil.example/?code=%s", "templateVariables": "{}"}});
    for route in ["otp_init", "otp_init_v2"] {
        proxy.post(route, &customized).await.success();
        let mail = mailbox.next();
        let all = format!("{mail:?}");
        assert!(!all.contains("evil"), "{all}");
        assert_eq!(code(&mail).len(), 9);
    }
    let template =
        json!({"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT, "emailCustomization": {"templateId": "t"}});
    proxy.post("otp_init", &template).await.expect_error(501, 12, "*");
    for name in ["ann\r\nx: y", "", "\u{0}"] {
        let mut body = sign_up(&wallet_key("named"));
        body["userName"] = json!(name);
        proxy.post("signup_v2", &body).await.expect_error(400, 3, "*");
    }
    // A session ends when the configuration requires it.
    let holder = Key::named("holder");
    let own = token(&proxy, &mailbox, "late@example.org", &holder).await;
    proxy.post("signup_v2", &proven_sign_up(&own, &holder)).await.success();
    let mut late = login(&own, &holder);
    late["expirationSeconds"] = json!("86400");
    let before = quorate_tests::caller::now_millis() / 1000;
    let opened = proxy.post("otp_login_v2", &late).await.success();
    let end = claims(opened["session"].as_str().expect("a token"))["exp"].as_u64().expect("a time");
    assert!((before + 890..before + 960).contains(&end), "{end} {before}");
}

#[tokio::test]
async fn a_proxy_can_be_disabled_while_requests_run() {
    let mailbox = Mailbox::start(0);
    let proxy = start(&mailbox).await;
    let bodies = (0..48).map(|number| sign_up(&wallet_key(&format!("wallet {number}"))));
    let mut names = BTreeSet::new();
    let sign_ups = sign_ups(&proxy, bodies);
    let root = proxy.root();
    root.completed("ACTIVITY_TYPE_DISABLE_AUTH_PROXY", &json!({})).await;
    for reply in sign_ups.join_all().await {
        if reply.status == 200 {
            names.insert(reply.json()["organizationId"].to_string());
        } else {
            assert_eq!(reply.expect_error(400, 9, ""), DISABLED);
        }
    }
    let children = root.fetch("list_suborgs", json!({"paginationOptions": {"limit": "100"}})).await;
    let children: BTreeSet<String> =
        children["organizationIds"].as_array().expect("ids").iter().map(Value::to_string).collect();
    assert_eq!(children, names, "an error created nothing");
    for route in ["account", "otp_init", "otp_verify", "signup_v2", "wallet_kit_config"] {
        let body = json!({"filterType": "PUBLIC_KEY", "filterValue": "02", "otpType": "OTP_TYPE_EMAIL", "contact": CONTACT,
            "otpId": "00000000-0000-4000-8000-000000000000", "otpCode": "1", "userName": "ann",
            "apiKeys": sign_up(&wallet_key("late"))["apiKeys"]});
        assert_eq!(proxy.post(route, &body).await.expect_error(400, 9, ""), DISABLED, "{route}");
    }
    // It is another user who is enabled again, and the policy of the first one does not apply.
    root.completed("ACTIVITY_TYPE_ENABLE_AUTH_PROXY", &json!({})).await;
    let late = sign_up(&wallet_key("late"));
    proxy.post("signup_v2", &late).await.expect_error(403, 7, "*");
    root.completed("ACTIVITY_TYPE_DISABLE_AUTH_PROXY", &json!({})).await;
    let user = proxy.enable().await;
    proxy.post("signup_v2", &late).await.success();
    // Without the policy, and without the user.
    let policies = root.fetch("list_policies", json!({})).await;
    for policy in policies["policies"].as_array().expect("policies") {
        root.completed("ACTIVITY_TYPE_DELETE_POLICY", &json!({"policyId": policy["policyId"]})).await;
    }
    proxy.post("signup_v2", &sign_up(&wallet_key("later"))).await.expect_error(403, 7, "*");
    root.completed("ACTIVITY_TYPE_DELETE_USERS", &json!({"userIds": [user]})).await;
    assert_eq!(proxy.post("wallet_kit_config", &json!({})).await.expect_error(400, 9, ""), DISABLED);
}

#[tokio::test]
async fn each_client_address_has_its_own_limit() {
    let mailbox = Mailbox::start(0);
    let proxy = Proxy::start_behind_proxies("requests_per_address = 3", &mailbox).await;
    proxy.enable().await;
    let id = ("x-auth-proxy-config-id", proxy.organization.as_str());
    let other = ("x-auth-proxy-config-id", "00000000-0000-4000-8000-000000000000");
    let send = async |id, route, address, body: &[u8]| {
        proxy.send(Method::POST, route, &[id, ("x-forwarded-for", address)], body).await
    };
    // Requests that are rejected count, too.
    send(other, "wallet_kit_config", "192.0.2.1", b"").await.expect_error(400, 3, "");
    send(id, "account", "192.0.2.1", b"{").await.expect_error(400, 3, "");
    assert_eq!(send(id, "wallet_kit_config", "192.0.2.1", b"").await.status, 200);
    for route in ["wallet_kit_config", "signup_v2", "otp_init_v2", "nothing"] {
        send(id, route, "192.0.2.1", b"").await.expect_error(429, 8, "RATE_LIMIT_EXCEEDED");
    }
    assert_eq!(send(id, "wallet_kit_config", "192.0.2.2", b"").await.status, 200);
    // A network of IPv6 is one client. What a client adds to the header itself has no effect.
    for (address, status) in [
        ("2001:db8::1", 200),
        ("2001:db8::2", 200),
        ("2001:db8::3", 200),
        ("2001:db8::4", 429),
        ("2001:db8:0:1::1", 200),
        ("192.0.2.9, 192.0.2.1", 429),
    ] {
        assert_eq!(send(id, "wallet_kit_config", address, b"").await.status, status, "{address}");
    }
}
