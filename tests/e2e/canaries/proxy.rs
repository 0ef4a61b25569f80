//! The authentication proxy, with a log of everything: codes and tokens that pass through it remain nowhere.

use hyper::Method;
use quorate_tests::http::Listener;
use quorate_tests::installation::Installation;
use quorate_tests::issuer::Issuer;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use serde_json::{Value, json};

use super::{assert_absent, files, secret};

const CONTACT: &str = "ann@example.org";

/// Sends a request to the proxy, and returns the status and the body of the answer.
async fn post(http: &Listener, organization: &str, route: &str, body: &Value) -> (u16, Value) {
    let mut connection = http.connect().await.expect("the daemon accepts connections");
    let headers = [("x-auth-proxy-config-id", organization)];
    let path = format!("/auth/v1/{route}");
    let answer = connection.call(Method::POST, &path, &headers, body.to_string().as_bytes()).await;
    let answer = answer.expect("an answer");
    (answer.status, answer.json())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

#[tokio::test]
async fn secrets_that_pass_through_the_proxy_appear_nowhere() {
    let (mailbox, issuer) = (Mailbox::start(0), Issuer::start());
    let installation = Installation::new("file = \"root.key\"");
    let root = Key::named("root");
    let organization = installation.create_organization("team", &root).await;
    let mail = format!("server = \"{}\"\nallow_plain = true\nfrom = \"team@example.org\"", mailbox.url());
    installation.configure(&format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\n[key]\n\
         file = \"root.key\"\n[log]\nlevel = \"debug\"\n[oidc]\nissuers = [\"{}\"]\nallow_http = true\nallow_networks = [\"127.0.0.0/8\"]\n\
         [mail]\n{mail}\n[auth_proxy]\norganization = \"{organization}\"\nmethods = [\"email\", \"google\"]\nrequests_per_contact = 100\n",
        issuer.url()
    ));
    let served = installation.serve().await;
    let status = served.get("/console/v1/status").await.success();
    let address = text(&status["baseUrl"]).trim_start_matches("http://").parse().expect("an address");
    let http = Listener::Tcp(address);
    let root = served.caller(&organization, root);
    let enabled = root.result("ACTIVITY_TYPE_ENABLE_AUTH_PROXY", &json!({})).await;
    let user = text(&enabled["userId"]);
    let policy = json!({"policyName": "auth proxy", "effect": "EFFECT_ALLOW", "notes": "", "condition": "true",
        "consensus": format!("approvers.any(user, user.id == '{user}')")});
    root.completed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await;
    let feature = json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"});
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;

    let success = async |route: &str, body: Value| {
        let (status, answer) = post(&http, &organization, route, &body).await;
        assert_eq!(status, 200, "{route}: {answer}");
        answer
    };
    let init = json!({"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT});
    let sent = success("otp_init", init).await;
    let code = secret(&mailbox.next());
    let wrong = json!({"otpId": sent["otpId"], "otpCode": "CANARY999"});
    assert_eq!(post(&http, &organization, "otp_verify", &wrong).await.0, 400);
    let verified = success("otp_verify", json!({"otpId": sent["otpId"], "otpCode": code})).await;
    let token = text(&verified["verificationToken"]);
    let lookup = json!({"filterType": "EMAIL", "filterValue": CONTACT, "verificationToken": token});
    success("account", lookup).await;
    let own = Key::named("own key");
    let mut sign_up = json!({"userName": "ann", "organizationName": "ann's", "userEmail": CONTACT, "authenticators": [],
        "apiKeys": [{"apiKeyName": "key", "publicKey": own.public_key(), "curveType": "API_KEY_CURVE_P256"}],
        "oauthProviders": [], "verificationToken": token});
    success("signup", sign_up.clone()).await;
    let session = Key::named("session");
    success("otp_login", json!({"verificationToken": token, "publicKey": session.public_key()})).await;
    // With tokens of an issuer.
    let identity = issuer.token("ann", "");
    for member in ["verificationToken", "userEmail"] {
        sign_up.as_object_mut().expect("an object").remove(member);
    }
    sign_up["apiKeys"][0]["publicKey"] = json!(Key::named("other key").public_key());
    sign_up["oauthProviders"] = json!([{"providerName": "own", "oidcToken": identity}]);
    success("signup_v2", sign_up).await;
    let lookup = issuer.token("ann", "");
    let found = success("account", json!({"filterType": "OIDC_TOKEN", "filterValue": lookup})).await;
    let session = Key::named("oauth session");
    let login = issuer.token("ann", session.public_key());
    let parameters = json!({"oidcToken": login, "publicKey": session.public_key(), "organizationId": found["organizationId"]});
    success("oauth_login", parameters).await;

    let mut secrets = vec!["CANARY999".to_owned(), code, token];
    // Signatures of tokens are unique; the rest is public.
    secrets
        .extend([identity, lookup, login].map(|token| token.rsplit('.').next().expect("a part").to_owned()));
    let mut shown = json!(root.activities().await).to_string();
    let child = root.on(found["organizationId"].as_str().expect("an id"));
    shown += &json!(child.activities().await).to_string();
    shown += &served.get("/metrics").await.body.iter().map(|byte| char::from(*byte)).collect::<String>();
    let log = std::fs::read_to_string(installation.path("log")).expect("a log");
    assert!(log.contains("ready"), "{log}");
    shown += &log;
    drop(served);
    assert_absent(&secrets, &shown, &files(&installation.path("data")));
}
