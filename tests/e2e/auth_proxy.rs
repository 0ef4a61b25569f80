//! The authentication proxy, over plain HTTP: clients without a credential sign up and sign in, within what the
//! configuration and the policies allow.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use hyper::Method;
use quorate_common::stamp::ApiKeyCurve;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::http::{Listener, Reply, TIMEOUT};
use quorate_tests::installation::{Installation, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::mailbox::{Mail, Mailbox};
use serde_json::{Value, json};

pub(crate) const ORIGIN: &str = "https://app.example.org";
pub(crate) const CONTACT: &str = "ann@example.org";

/// A daemon with the proxy of one organization.
pub(crate) struct Proxy {
    served: RunningDaemon,
    pub(crate) http: Listener,
    url: String,
    pub(crate) organization: String,
    pub(crate) root: Key,
    installation: Installation,
}

impl Proxy {
    /// Starts a daemon whose section `[auth_proxy]` has these keys besides the organization. Further sections may follow
    /// them.
    pub(crate) async fn start(keys: &str, mailbox: &Mailbox) -> Self {
        Self::start_on(Installation::new("file = \"root.key\""), "", keys, mailbox).await
    }

    /// Starts a daemon that trusts proxies on this machine to report the addresses of clients.
    pub(crate) async fn start_behind_proxies(keys: &str, mailbox: &Mailbox) -> Self {
        let installation = Installation::new("file = \"root.key\"");
        Self::start_on(installation, "trusted_proxies = [\"127.0.0.1/32\"]\n", keys, mailbox).await
    }

    /// Starts a daemon whose HTTP listener uses TLS.
    pub(crate) async fn start_secured(keys: &str, mailbox: &Mailbox) -> Self {
        let installation = Installation::new("file = \"root.key\"");
        let command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
            -addext subjectAltName=IP:127.0.0.1 -keyout tls.key -out tls.pem";
        let folder = installation.path("");
        let run = Command::new("openssl").args(command.split_whitespace()).current_dir(folder).output();
        let run = run.expect("openssl can be run");
        assert!(run.status.success(), "{run:?}");
        let tls = "tls_certificate = \"tls.pem\"\ntls_key = \"tls.key\"\n";
        Self::start_on(installation, tls, keys, mailbox).await
    }

    /// `http` are further keys of the section `[http]`.
    async fn start_on(installation: Installation, http: &str, keys: &str, mailbox: &Mailbox) -> Self {
        let root = Key::named("root");
        let organization = installation.create_organization("team", &root).await;
        let mail = format!("server = \"{}\"\nallow_plain = true\nfrom = \"team@example.org\"", mailbox.url());
        // The clients of a test have one address.
        let own = if keys.contains("sign_ups_per_address") { "" } else { "sign_ups_per_address = 100000\n" };
        installation.configure(&format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n{http}[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\n[key]\n\
             file = \"root.key\"\n[mail]\n{mail}\n[auth_proxy]\norganization = \"{organization}\"\n{own}{keys}\n"
        ));
        let served = installation.serve().await;
        let status = served.get("/console/v1/status").await.success();
        let url = status["baseUrl"].as_str().expect("a base URL").to_owned();
        let address = url.rsplit('/').next().and_then(|address| address.parse().ok()).expect("an address");
        Self { served, http: Listener::Tcp(address), url, organization, root, installation }
    }

    /// Returns the path of the certificate of a daemon that uses TLS.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.installation.path("tls.pem")
    }

    /// Writes the file that third-party clients read, and returns its path.
    pub(crate) async fn credentials_file(&self) -> PathBuf {
        let keys = self.served.get("/public/v1/discovery/quorum-key").await.success();
        let root = json!({"publicKey": self.root.public_key(), "privateKey": self.root.secret_hex()});
        let credentials = json!({"baseUrl": self.url, "organizationId": self.organization,
            "quorumPublicKey": keys["quorumPublicKey"], "rootUsers": [root]});
        self.installation.write_secret("credentials.json", &credentials.to_string());
        self.installation.path("credentials.json")
    }

    /// Returns the log of the daemon.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.installation.path("log")).expect("a log")
    }

    /// Returns the answer of the daemon to a GET request over the socket.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.served.get(path).await
    }

    pub(crate) fn root(&self) -> Caller {
        self.served.caller(&self.organization, self.root.clone())
    }

    /// Enables the proxy, with a policy for its user.
    pub(crate) async fn enable(&self) -> String {
        let root = self.root();
        let enabled = root.result("ACTIVITY_TYPE_ENABLE_AUTH_PROXY", &json!({})).await;
        let user = enabled["userId"].as_str().expect("an id").to_owned();
        let kinds = "['INIT_OTP', 'VERIFY_OTP', 'OTP_LOGIN', 'OAUTH_LOGIN', 'OAUTH2_AUTHENTICATE', \
            'CREATE_SUB_ORGANIZATION']";
        let policy = json!({"policyName": format!("auth proxy {user}"), "effect": "EFFECT_ALLOW", "notes": "",
            "condition": format!("activity.kind in {kinds}"),
            "consensus": format!("approvers.any(user, user.id == '{user}')")});
        root.completed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await;
        let feature = json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"});
        root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
        user
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        route: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut connection = self.http.connect().await.expect("the daemon accepts connections");
        connection.call(method, &format!("/auth/v1/{route}"), headers, body).await.expect("an answer")
    }

    pub(crate) async fn post(&self, route: &str, body: &Value) -> Reply {
        let headers = [("x-auth-proxy-config-id", self.organization.as_str()), ("origin", ORIGIN)];
        self.send(Method::POST, route, &headers, body.to_string().as_bytes()).await
    }
}

/// Returns the keys of a proxy that accepts codes by mail, passkeys and wallets.
pub(crate) fn keys() -> String {
    format!(
        "allowed_origins = [\"{ORIGIN}\"]\nmethods = [\"email\", \"passkey\", \"wallet\"]\n\
         requests_per_address = 1000\nrequests_per_contact = 1000\nwaiting_codes_per_address = 1000"
    )
}

pub(crate) fn wallet_key(name: &str) -> Key {
    Key::on(ApiKeyCurve::Secp256k1, name)
}

pub(crate) fn code(mail: &Mail) -> String {
    let code = mail.text.lines().find_map(|line| line.strip_prefix("    ")).expect("a code");
    code.trim_end().to_owned()
}

/// Returns the body of a sign-up with a key.
pub(crate) fn sign_up(key: &Key) -> Value {
    json!({"userName": "ann", "organizationName": "ann's", "apiKeys": [{"apiKeyName": "key",
        "publicKey": key.public_key(), "curveType": key.curve_name()}], "authenticators": [], "oauthProviders": []})
}

#[tokio::test]
async fn clients_sign_up_and_sign_in_through_the_proxy() {
    let mailbox = Mailbox::start(0);
    let proxy = Proxy::start(&keys(), &mailbox).await;
    let user = proxy.enable().await;
    let config = proxy.post("wallet_kit_config", &json!({})).await.success();
    let expected = json!({"enabledProviders": ["email", "passkey", "wallet"], "organizationId": proxy.organization,
        "sessionExpirationSeconds": "900", "otpAlphanumeric": true, "otpLength": "9"});
    assert_eq!(config, expected);
    assert_eq!(proxy.post("wallet_kit_client_params", &json!({})).await.success(), json!({}));

    // With the key of a wallet, by which the organization is found again.
    let own = wallet_key("own key");
    let created = proxy.post("signup_v2", &sign_up(&own)).await.success();
    let lookup = json!({"filterType": "PUBLIC_KEY", "filterValue": own.public_key()});
    let found = proxy.post("account", &lookup).await.success();
    assert_eq!(found["organizationId"], created["organizationId"]);
    assert_eq!(created["appProofs"], json!([]));
    let child = Caller::new(proxy.http.clone(), created["organizationId"].as_str().expect("an id"), own);
    assert_eq!(child.fetch("whoami", json!({})).await["userId"], created["userId"]);
    let unknown = json!({"filterType": "PUBLIC_KEY", "filterValue": Key::named("nobody").public_key()});
    assert_eq!(proxy.post("account", &unknown).await.success(), json!({}));

    // With a code: the same token looks up, signs up and signs in.
    let init = json!({"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT});
    let sent = proxy.post("otp_init", &init).await.success();
    let verify = json!({"otpId": sent["otpId"], "otpCode": code(&mailbox.next())});
    let token = proxy.post("otp_verify", &verify).await.success()["verificationToken"].clone();
    let mut lookup = json!({"filterType": "EMAIL", "filterValue": CONTACT});
    proxy.post("account", &lookup).await.expect_error(403, 7, "");
    lookup["verificationToken"] = token.clone();
    assert_eq!(proxy.post("account", &lookup).await.success(), json!({}));
    let mut mine = sign_up(&Key::named("second key"));
    mine["userEmail"] = json!(CONTACT);
    mine["verificationToken"] = token.clone();
    let created = proxy.post("signup", &mine).await.success();
    assert_eq!(proxy.post("account", &lookup).await.success()["organizationId"], created["organizationId"]);
    // Without a token, the answer for a known address is that for an unknown one.
    let hidden = async |contact: &str| {
        let reply = proxy.post("account", &json!({"filterType": "EMAIL", "filterValue": contact})).await;
        (reply.status, reply.body)
    };
    assert_eq!(hidden(CONTACT).await, hidden("bob@example.org").await);
    let other = json!({"filterType": "EMAIL", "filterValue": "bob@example.org", "verificationToken": token});
    proxy.post("account", &other).await.expect_error(400, 3, "");
    let session = Key::named("session");
    let mut login =
        json!({"verificationToken": token, "publicKey": session.public_key(), "expirationSeconds": "100000"});
    proxy.post("otp_login", &login).await.success()["session"].as_str().expect("a token");
    login["organizationId"] = json!(proxy.organization);
    proxy.post("otp_login", &login).await.expect_error(403, 7, "");
    let child = Caller::new(proxy.http.clone(), created["organizationId"].as_str().expect("an id"), session);
    assert_eq!(child.fetch("whoami", json!({})).await["userId"], created["userId"]);
    let encrypted = proxy.post("otp_init_v2", &init).await.success();
    assert!(encrypted["otpEncryptionTargetBundle"].is_string(), "{encrypted}");
    mailbox.next();

    // Activities are recorded in the name of the user of the proxy.
    let activities = proxy.root().activities().await;
    assert!(activities.iter().any(|one| one["votes"][0]["userId"] == json!(user)), "{activities:#?}");

    // Disabled, it does nothing.
    proxy.root().completed("ACTIVITY_TYPE_DISABLE_AUTH_PROXY", &json!({})).await;
    let message = proxy.post("wallet_kit_config", &json!({})).await.expect_error(400, 9, "");
    assert_eq!(message, "the authentication proxy is not enabled in this organization");
}

#[tokio::test]
async fn the_proxy_rejects_what_is_not_configured() {
    let mailbox = Mailbox::start(0);
    let proxy = Proxy::start(&keys(), &mailbox).await;
    let signed = sign_up(&wallet_key("own key"));
    proxy.post("signup_v2", &signed).await.expect_error(400, 9, "");
    proxy.root().completed("ACTIVITY_TYPE_ENABLE_AUTH_PROXY", &json!({})).await;
    // Without a policy, the user may do nothing.
    proxy.post("signup_v2", &signed).await.expect_error(403, 7, "*");
    for (route, body) in [
        ("otp_init", json!({"otpType": "OTP_TYPE_SMS", "contact": "+12025550123"})),
        ("oauth_login", json!({"oidcToken": "a.b.c"})),
        ("oauth2_authenticate", json!({})),
        ("account", json!({"filterType": "OIDC_TOKEN", "filterValue": "a.b.c"})),
    ] {
        let message = proxy.post(route, &body).await.expect_error(403, 7, "");
        assert!(message.ends_with(" disallowed"), "{message}");
    }
    for (route, body) in [
        ("account", json!([])),
        ("account", json!({"filterType": 1})),
        ("account", json!({"filterType": "NAME", "filterValue": "team"})),
        ("otp_init", json!({"otpType": "OTP_TYPE_PIGEON", "contact": "a"})),
        ("otp_login", json!({"verificationToken": "a.b.c"})),
    ] {
        proxy.post(route, &body).await.expect_error(400, 3, "");
    }
    assert_eq!(proxy.post("nothing", &json!({})).await.status, 404);

    let id = ("x-auth-proxy-config-id", proxy.organization.as_str());
    for body in [&b"{"[..], b"{\"a\":1,\"a\":2}", b"\xff"] {
        let reply = proxy.send(Method::POST, "account", &[id], body).await;
        reply.expect_error(400, 3, "");
    }
    let large = vec![b' '; 100_000];
    assert_eq!(proxy.send(Method::POST, "account", &[id], &large).await.status, 413);
    assert_eq!(proxy.send(Method::GET, "account", &[id], b"").await.status, 501);
    let other = ("x-auth-proxy-config-id", "00000000-0000-4000-8000-000000000000");
    for headers in [&[][..], &[other]] {
        proxy.send(Method::POST, "wallet_kit_config", headers, b"").await.expect_error(400, 3, "");
    }
    let without_body = proxy.send(Method::POST, "wallet_kit_config", &[id], b"").await;
    assert_eq!((without_body.status, without_body.header("access-control-allow-origin")), (200, None));

    let strange = ("origin", "https://evil.example");
    proxy.send(Method::POST, "wallet_kit_config", &[id, strange], b"").await.expect_error(403, 7, "");
    let preflight = proxy.send(Method::OPTIONS, "signup", &[strange], b"").await;
    assert_eq!((preflight.status, preflight.header("access-control-allow-headers")), (204, None));
    let preflight = proxy.send(Method::OPTIONS, "signup", &[("origin", ORIGIN)], b"").await;
    assert_eq!(preflight.header("access-control-allow-origin"), Some(ORIGIN));
    let allowed = preflight.header("access-control-allow-headers").expect("headers");
    assert!(allowed.contains("X-Auth-Proxy-Config-ID") && allowed.contains("X-Captcha-Token"), "{allowed}");
}

#[tokio::test]
async fn the_proxy_limits_addresses_and_contacts() {
    let mailbox = Mailbox::start(0);
    let keys =
        format!("allowed_origins = [\"{ORIGIN}\"]\nrequests_per_address = 12\nrequests_per_contact = 2");
    let proxy = Proxy::start(&keys, &mailbox).await;
    proxy.enable().await;
    // A lookup that reveals nothing does not keep the owner of the address from signing in.
    for _ in 0..4 {
        let lookup = json!({"filterType": "EMAIL", "filterValue": CONTACT});
        proxy.post("account", &lookup).await.expect_error(403, 7, "");
    }
    let init = |contact: &str| json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact});
    for contact in [CONTACT, "ANN@example.org"] {
        proxy.post("otp_init", &init(contact)).await.success();
    }
    proxy.post("otp_init", &init(CONTACT)).await.expect_error(429, 8, "RATE_LIMIT_EXCEEDED");
    proxy.post("otp_init", &init("bob@example.org")).await.success();
    let mut limited = false;
    for _ in 0..20 {
        limited |= proxy.post("wallet_kit_config", &json!({})).await.status == 429;
    }
    assert!(limited);
}

#[tokio::test]
async fn a_client_address_signs_up_few_times_per_hour() {
    let mailbox = Mailbox::start(0);
    let keys = "methods = [\"wallet\"]\nsign_ups_per_address = 2";
    let proxy = Proxy::start_behind_proxies(keys, &mailbox).await;
    let sign_up_from = async |from: &str, name: &str| {
        let body = sign_up(&wallet_key(name)).to_string();
        let headers = [("x-auth-proxy-config-id", proxy.organization.as_str()), ("x-forwarded-for", from)];
        proxy.send(Method::POST, "signup_v2", &headers, body.as_bytes()).await
    };
    proxy.enable().await;
    for name in ["one", "two"] {
        sign_up_from("192.0.2.1", name).await.success();
        // A sign-up that is refused does not count.
        sign_up_from("192.0.2.1", name).await.expect_error(409, 6, "");
    }
    let limited = sign_up_from("192.0.2.1", "three").await;
    assert!(String::from_utf8_lossy(&limited.body).contains("(`sign_ups_per_address`)"), "{limited:?}");
    limited.expect_error(429, 8, "RATE_LIMIT_EXCEEDED");
    sign_up_from("192.0.2.2", "three").await.success();
}

#[tokio::test]
async fn a_client_address_has_few_codes_waiting() {
    let mailbox = Mailbox::closed();
    let keys = "methods = [\"email\", \"sms\"]\nwaiting_codes_per_address = 2\nrequests_per_address = 100000\n\
                [sms]\nurl = \"http://127.0.0.1:9/\"\nfields = [\"to={to}\", \"text={text}\"]\nprefixes = [\"+49\"]";
    let proxy = Proxy::start_behind_proxies(keys, &mailbox).await;
    let init_from = async |from: &str, contact: &str| {
        let kind = if contact.contains('@') { "OTP_TYPE_EMAIL" } else { "OTP_TYPE_SMS" };
        let body = json!({"otpType": kind, "contact": contact}).to_string();
        let headers = [("x-auth-proxy-config-id", proxy.organization.as_str()), ("x-forwarded-for", from)];
        proxy.send(Method::POST, "otp_init", &headers, body.as_bytes()).await
    };
    proxy.enable().await;
    let feature = json!({"name": "FEATURE_NAME_SMS_AUTH"});
    proxy.root().completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    for contact in ["one@example.org", "two@example.org"] {
        init_from("192.0.2.1", contact).await.success();
    }
    // Mail and SMS count together.
    for contact in ["three@example.org", "+882131234567", "three@example.org"] {
        let full = init_from("192.0.2.1", contact).await;
        assert!(String::from_utf8_lossy(&full.body).contains("(`waiting_codes_per_address`)"), "{full:?}");
        full.expect_error(429, 8, "RATE_LIMIT_EXCEEDED");
    }
    init_from("192.0.2.2", "three@example.org").await.success();
    // Once its codes are sent, the address may request others.
    mailbox.open();
    for _ in 0..3 {
        mailbox.next();
    }
    let deadline = Instant::now() + TIMEOUT;
    for number in 0.. {
        let answer = init_from("192.0.2.1", &format!("later{number}@example.org")).await;
        if answer.status == 200 {
            break;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

#[tokio::test]
async fn codes_by_sms_have_limits_of_their_own() {
    let mailbox = Mailbox::start(0);
    // Nothing listens at the gateway: SMS are only queued.
    let sms = "[sms]\nurl = \"http://127.0.0.1:9/\"\nfields = [\"to={to}\", \"text={text}\"]";
    let keys = format!(
        "methods = [\"sms\"]\nsms_per_hour = 5\nsms_per_hour_and_address = 3\n{sms}\nprefixes = [\"+1\", \"+49\"]"
    );
    let proxy = Proxy::start_behind_proxies(&keys, &mailbox).await;
    proxy.enable().await;
    let feature = json!({"name": "FEATURE_NAME_SMS_AUTH"});
    proxy.root().completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    let request = async |from: &str, number: u32, prefix: &str| {
        let body = json!({"otpType": "OTP_TYPE_SMS", "contact": format!("{prefix}{number:07}")}).to_string();
        let headers = [("x-auth-proxy-config-id", proxy.organization.as_str()), ("x-forwarded-for", from)];
        proxy.send(Method::POST, "otp_init", &headers, body.as_bytes()).await
    };
    for number in 0..3 {
        request("192.0.2.1", number, "+1202").await.success();
    }
    let limited = request("192.0.2.1", 3, "+1202").await;
    assert!(String::from_utf8_lossy(&limited.body).contains("(`sms_per_hour_and_address`)"), "{limited:?}");
    limited.expect_error(429, 8, "RATE_LIMIT_EXCEEDED");
    // What is refused or invalid takes nothing from others.
    for (prefix, text) in [("+88213", "(`prefixes` in [sms])"), ("+0", "E.164"), ("49", "E.164")] {
        let refused = request("192.0.2.2", 0, prefix).await;
        assert!(String::from_utf8_lossy(&refused.body).contains(text), "{prefix}: {refused:?}");
        refused.expect_error(400, 3, "");
    }
    for number in 4..6 {
        request("192.0.2.2", number, "+49151").await.success();
    }
    let limited = request("192.0.2.3", 6, "+49151").await;
    assert!(String::from_utf8_lossy(&limited.body).contains("(`sms_per_hour`)"), "{limited:?}");
    limited.expect_error(429, 8, "RATE_LIMIT_EXCEEDED");
}

#[tokio::test]
async fn codes_that_are_delayed_keep_nobody_from_getting_one() {
    // The mail server delays all mail, and the proxy may have a quarter of the queue.
    let mailbox = Mailbox::closed();
    let proxy = Proxy::start(&format!("{}\n[limits]\nwaiting_messages = 400", keys()), &mailbox).await;
    proxy.enable().await;
    let root = proxy.root();
    let init =
        |number: u32| json!({"otpType": "OTP_TYPE_EMAIL", "contact": format!("p{number}@slow.example")});
    let deadline = Instant::now() + TIMEOUT;
    for number in 0..150 {
        // At most a hundred wait that were not attempted yet.
        loop {
            let answer = proxy.post("otp_init", &init(number)).await;
            if answer.status == 200 {
                break;
            }
            assert!(number >= 100 && Instant::now() < deadline, "{number}: {answer:?}");
            answer.expect_error(429, 8, "");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let own = json!({"otpType": "OTP_TYPE_EMAIL", "contact": format!("own{number}@example.org")});
        root.completed("ACTIVITY_TYPE_INIT_OTP", &own).await;
    }
    // The oldest one gave way, and its event states why.
    let events = loop {
        let listed = root.fetch("list_email_events", json!({"email": "p0@slow.example"})).await;
        let events = listed["emailEvents"].as_array().expect("a list").clone();
        if events.first().is_some_and(|newest| newest["eventType"] == "Bounce") {
            break events;
        }
        assert!(Instant::now() < deadline, "{events:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    };
    let details = &events[0]["details"];
    assert_eq!(details["bounceType"], "Transient");
    let diagnostic = details["diagnosticCode"].as_str().expect("a text");
    assert!(diagnostic.starts_with("x-quorate; its receiver delayed it"), "{diagnostic}");
    let metrics = root.call(Method::GET, "/metrics", &[], b"").await;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    assert!(metrics.contains("quorate_messages_total{channel=\"mail\",outcome=\"displaced\"}"), "{metrics}");
}
