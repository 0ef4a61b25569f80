//! Sign-in with OAuth 2.0: a certified authorization server in place of X and Discord, client secrets that the
//! unmodified package encrypts, and ID tokens of the daemon.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64ct::{Base64UrlUnpadded, Encoding};
use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::http::Reply;
use quorate_tests::installation::{Installation, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::oauth2_provider::{APPLICATIONS, Application, Oauth2Provider};
use quorate_tests::receiver::{Answer, Receiver};
use quorate_tests::sign_in;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::auth_proxy::{ORIGIN, Proxy};
use crate::canaries::files;
use crate::third_party;

const AUTHENTICATE: &str = "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE";
const PATH: &str = "/public/v1/submit/oauth2_authenticate";
const ISSUER: &str = "https://keys.example.org";
pub(crate) const VERIFIER: &str = "canary-verifier-of-at-least-43-characters-0123456789";

/// What the same request leads to after a kill.
#[derive(Debug, Clone, Copy)]
enum AfterKill {
    /// Nothing was recorded, and nothing was sent: the code is exchanged.
    Exchanges,
    /// The code is claimed. It is not sent again, and there is no token.
    Refuses,
    /// The activity is recorded. Its token is not shown again.
    IsRecorded,
}

#[tokio::test]
async fn a_kill_never_leaves_an_exchange_half_recorded() {
    third_party::install("npm");
    let provider = Oauth2Provider::start();
    let mut service = Service::start(&provider.configuration()).await;
    let application = APPLICATIONS[0];
    let credential = credential(&service.root, &provider, application).await;
    let mut completed = 0;
    for (point, after) in [
        ("exchange.claim", AfterKill::Exchanges),
        ("exchange.claimed", AfterKill::Refuses),
        ("exchange.made", AfterKill::Refuses),
        ("attempt.committed", AfterKill::IsRecorded),
    ] {
        let code = provider.code(application.1, VERIFIER, "42").await;
        let session = Key::named(point);
        let parameters = parameters(&credential, &code, &session);
        let body = service.root.proposal(AUTHENTICATE, &parameters);
        drop(service.served);
        let dies = [("FAIL_POINTS", format!("{point}=return"))];
        let dies = dies.each_ref().map(|(name, value)| (*name, value.as_str()));
        service.served = service.installation.serve_with(&dies).await;
        let root = service.served.caller(service.root.organization(), service.root.key().clone());
        let reply = root.try_send(PATH, &body).await;
        assert!(
            reply.is_err(),
            "{point} is not passed: is the daemon built without fail points (--all-targets)?"
        );
        drop(service.served);
        service.served = service.installation.serve().await;
        let root = service.served.caller(service.root.organization(), service.root.key().clone());
        for repeated in [false, true] {
            let reply = root.send(PATH, &body).await;
            let token = |reply: &Reply| {
                let result = reply.activity()["result"]["oauth2AuthenticateResult"].clone();
                result["oidcToken"].as_str().expect("a text").to_owned()
            };
            match after {
                AfterKill::Exchanges => assert_eq!(token(&reply).is_empty(), repeated, "{point}: {reply}"),
                AfterKill::IsRecorded => assert_eq!(token(&reply), "", "{point}: {reply}"),
                AfterKill::Refuses => {
                    let message = reply.expect_error(400, 3, "");
                    assert!(message.contains("its exchange was interrupted"), "{point}: {message}");
                }
            }
        }
        // Another request does not get the code either.
        let message = root.submit(AUTHENTICATE, &parameters).await.expect_error(400, 3, "");
        assert!(
            message.contains("was used before") || message.contains("was interrupted"),
            "{point}: {message}"
        );
        completed += usize::from(!matches!(after, AfterKill::Refuses));
        let statuses: Vec<Value> = root
            .activities()
            .await
            .into_iter()
            .filter(|activity| activity["type"] == AUTHENTICATE)
            .map(|activity| activity["status"].clone())
            .collect();
        let count = |status: &str| statuses.iter().filter(|one| **one == json!(status)).count();
        let [done, failed] = ["ACTIVITY_STATUS_COMPLETED", "ACTIVITY_STATUS_FAILED"].map(count);
        assert_eq!((done, done + failed), (completed, statuses.len()), "{point}: {statuses:?}");
        service.root = root;
    }
}

/// A daemon that is configured for OAuth 2.0.
struct Service {
    served: RunningDaemon,
    root: Caller,
    installation: Installation,
}

impl Service {
    async fn start(keys: &str) -> Self {
        let installation = Installation::new("file = \"root.key\"");
        let key = Key::named("root");
        let organization = installation.create_organization("team", &key).await;
        configure(&installation, keys);
        let served = installation.serve().await;
        let root = served.caller(&organization, key);
        Self { served, root, installation }
    }
}

/// Returns the encryption half of the quorum keys.
pub(crate) async fn encryption_key(root: &Caller) -> String {
    let keys = root.call(Method::GET, "/public/v1/discovery/quorum-key", &[], b"").await.success();
    keys["quorumPublicKeys"].as_str().expect("two keys")[..130].to_owned()
}

/// Stores the credential of an application, and returns its id.
pub(crate) async fn credential(root: &Caller, provider: &Oauth2Provider, application: Application) -> Value {
    let (name, client, secret) = application;
    let envelope = provider.envelope(secret, &encryption_key(root).await).await;
    let parameters = json!({"provider": name, "clientId": client, "encryptedClientSecret": envelope});
    let created = root.result("ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL", &parameters).await;
    created["oauth2CredentialId"].clone()
}

fn configure(installation: &Installation, keys: &str) {
    installation.configure(&format!(
        "[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\n[key]\nfile = \"root.key\"\n[oauth2]\n\
         enabled = true\nissuer = \"{ISSUER}\"\n{keys}"
    ));
}

/// Returns the parameters that exchange a code, for a session of this key.
pub(crate) fn parameters(credential: &Value, (code, redirect): &(String, String), session: &Key) -> Value {
    let nonce = const_hex::encode(Sha256::digest(session.public_key()));
    json!({"oauth2CredentialId": credential, "authCode": code, "redirectUri": redirect, "codeVerifier": VERIFIER,
        "nonce": nonce})
}

/// Verifies a token with the documents by which anybody can find the key of its issuer.
async fn verify(service: &Service, token: &str) {
    let configuration = service.served.get("/.well-known/openid-configuration").await.success();
    assert_eq!(configuration["issuer"], ISSUER);
    let path =
        configuration["jwks_uri"].as_str().expect("a URL").strip_prefix(ISSUER).expect("of the issuer");
    let keys = service.served.get(path).await.success();
    let key = &keys["keys"][0];
    let (input, signature) = token.rsplit_once('.').expect("three parts");
    let decode = |text: &str| Base64UrlUnpadded::decode_vec(text).expect("base64url");
    let header: Value =
        serde_json::from_slice(&decode(input.split('.').next().expect("a header"))).expect("JSON");
    assert_eq!(header, json!({"alg": "ES256", "typ": "JWT", "kid": key["kid"]}));
    let coordinate = |name: &str| decode(key[name].as_str().expect("a coordinate"));
    let point = [vec![4], coordinate("x"), coordinate("y")].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(input.as_bytes(), &decode(signature)).expect("the signature is valid");
}

#[tokio::test]
async fn users_of_each_provider_sign_up_and_sign_in() {
    third_party::install("npm");
    let provider = Oauth2Provider::start();
    let service = Service::start(&provider.configuration()).await;
    let root = &service.root;
    let mut secrets = vec![VERIFIER.to_owned()];
    for application in APPLICATIONS {
        let (name, client, secret) = application;
        let credential = credential(&service.root, &provider, application).await;
        let session = Key::named(&format!("session of {name}"));
        let code = provider.code(client, VERIFIER, "1270562298").await;
        let target = sign_in::target_key();
        let mut exchange = parameters(&credential, &code, &session);
        exchange["bearerTokenTargetPublicKey"] = json!(target.public().hex());
        let issued = root.result(AUTHENTICATE, &exchange).await;
        let token = issued["oidcToken"].as_str().expect("a token").to_owned();
        verify(&service, &token).await;
        let claims = sign_in::claims(&token);
        let provider_name = if name.ends_with("_X") { "x" } else { "discord" };
        let subject = format!("{provider_name}:1270562298");
        assert_eq!((&claims["iss"], &claims["sub"]), (&json!(ISSUER), &json!(subject)));
        assert_eq!(claims["aud"], client);
        let bundle = claims["encrypted_bearer_token"].as_str().expect("a bundle");
        let bearer = provider.bearer_token(bundle, &const_hex::encode(target.to_bytes())).await;
        assert!(bearer.len() > 20, "{bearer}");

        // A sub-organization whose root user has this identity, and a login with the key of the token.
        let user = json!({"userName": "ann", "apiKeys": [], "authenticators": [],
            "oauthProviders": [{"providerName": name, "oidcToken": token}]});
        let child = json!({"subOrganizationName": name, "rootQuorumThreshold": 1, "rootUsers": [user]});
        let created = root.result("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child).await;
        let child = root.on(created["subOrganizationId"].as_str().expect("an id"));
        let login = json!({"oidcToken": token, "publicKey": session.public_key()});
        child.completed("ACTIVITY_TYPE_OAUTH_LOGIN", &login).await;
        let ann = child.with_key(&session);
        assert_eq!(ann.fetch("whoami", json!({})).await["userId"], created["rootUserIds"][0]);
        // The credential belongs to the parent.
        let other = ann.submit(AUTHENTICATE, &exchange).await;
        other.expect_error(404, 5, "OAUTH2_CREDENTIAL_NOT_FOUND");

        // Without the application, nobody signs in.
        let id = json!({"oauth2CredentialId": credential});
        assert_eq!(
            root.fetch("get_oauth2_credential", id.clone()).await["oauth2Credential"]["clientId"],
            client
        );
        root.completed("ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL", &id).await;
        root.submit(AUTHENTICATE, &exchange).await.expect_error(404, 5, "OAUTH2_CREDENTIAL_NOT_FOUND");
        secrets.extend([secret.to_owned(), code.0, token, bearer]);
    }
    let log = std::fs::read_to_string(service.installation.path("log")).expect("a log");
    let shown = json!(root.activities().await).to_string() + &log;
    drop(service.served);
    let stored = files(&service.installation.path("data"));
    for secret in secrets {
        assert!(!shown.contains(&secret), "{secret} is shown");
        assert!(!stored.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "{secret} is stored");
    }
}

/// Returns the keys of a proxy for users of the providers, and of the daemon that serves it.
pub(crate) fn proxy_keys(provider: &Oauth2Provider) -> String {
    format!(
        "allowed_origins = [\"{ORIGIN}\"]\nmethods = [\"x\", \"discord\"]\nrequests_per_address = 1000\n\
         x_client_id = \"x-client\"\n[oauth2]\nenabled = true\nissuer = \"{ISSUER}\"\n{}",
        provider.configuration()
    )
}

#[tokio::test]
async fn users_of_each_provider_sign_up_and_sign_in_through_the_proxy() {
    third_party::install("npm");
    let (provider, mailbox) = (Oauth2Provider::start(), Mailbox::start(0));
    let proxy = Proxy::start(&proxy_keys(&provider), &mailbox).await;
    proxy.enable().await;
    let root = proxy.root();
    for application in APPLICATIONS {
        let (name, client, _) = application;
        let stored = credential(&root, &provider, application).await;
        // Returns the body that exchanges a new code, for a session of this key.
        let exchange = async |key: &Key| {
            let code = provider.code(client, VERIFIER, "1270562298").await;
            let mut body = parameters(&stored, &code, key);
            (body["provider"], body["clientId"]) = (json!(name), json!(client));
            body
        };
        let first = Key::named(&format!("first session of {name}"));
        let body = exchange(&first).await;
        let token = proxy.post("oauth2_authenticate", &body).await.success()["oidcToken"].clone();
        let again = proxy.post("oauth2_authenticate", &body).await.expect_error(400, 3, "");
        assert!(again.contains("was used before"), "{again}");
        let lookup = json!({"filterType": "OIDC_TOKEN", "filterValue": token});
        assert_eq!(proxy.post("account", &lookup).await.success(), json!({}));
        let sign_up = json!({"userName": "ann", "apiKeys": [], "authenticators": [],
            "oauthProviders": [{"providerName": name, "oidcToken": token}]});
        let created = proxy.post("signup_v2", &sign_up).await.success();
        let found = proxy.post("account", &lookup).await.success();
        assert_eq!(found, json!({"organizationId": created["organizationId"]}));
        // The token of the sign-up opens the first session, and another one opens the second.
        let second = Key::named(&format!("second session of {name}"));
        let body = exchange(&second).await;
        let other = proxy.post("oauth2_authenticate", &body).await.success()["oidcToken"].clone();
        for (key, token) in [(&first, &token), (&second, &other)] {
            let login = json!({"oidcToken": token, "publicKey": key.public_key()});
            assert!(proxy.post("oauth_login", &login).await.success()["session"].is_string());
            let organization = created["organizationId"].as_str().expect("an id");
            let ann = Caller::new(proxy.http.clone(), organization, key.clone());
            assert_eq!(ann.fetch("whoami", json!({})).await["userId"], created["userId"]);
            let wallet = json!({"walletName": key.public_key(), "accounts": []});
            ann.completed("ACTIVITY_TYPE_CREATE_WALLET", &wallet).await;
        }
        let stolen = json!({"oidcToken": token, "publicKey": Key::named("thief").public_key()});
        proxy.post("oauth_login", &stolen).await.expect_error(400, 3, "INVALID_OIDC_TOKEN");
        let mut unknown = exchange(&first).await;
        unknown["clientId"] = json!("another client");
        proxy.post("oauth2_authenticate", &unknown).await.expect_error(404, 5, "OAUTH2_CREDENTIAL_NOT_FOUND");
    }
}

#[tokio::test]
async fn codes_are_valid_once_for_their_verifier_and_their_application() {
    third_party::install("npm");
    let provider = Oauth2Provider::start();
    let service = Service::start(&provider.configuration()).await;
    let root = &service.root;
    let [x, discord] = APPLICATIONS;
    let credential = credential(&service.root, &provider, x).await;
    let session = Key::named("session");
    let rejected = "OAuth 2.0 authentication failed: the provider rejected the authorization code";
    let code = || provider.code(x.1, VERIFIER, "42");
    let changed = |mut parameters: Value, member: &str, value: &str| {
        parameters[member] = json!(value);
        parameters
    };
    for (member, value) in [
        ("codeVerifier", "another-verifier-of-at-least-43-characters-0123456789"),
        ("redirectUri", "https://app.example/elsewhere"),
        ("authCode", "invented"),
    ] {
        let wrong = changed(parameters(&credential, &code().await, &session), member, value);
        assert_eq!(root.submit(AUTHENTICATE, &wrong).await.expect_error(400, 3, ""), rejected, "{member}");
    }
    // A code of another application.
    let other = provider.code(discord.1, VERIFIER, "42").await;
    let wrong = parameters(&credential, &other, &session);
    assert_eq!(root.submit(AUTHENTICATE, &wrong).await.expect_error(400, 3, ""), rejected);

    // Several requests with one code at the same time, and one of them twice: the code is exchanged once.
    let valid = parameters(&credential, &code().await, &session);
    let bodies: Vec<_> = (0..6).map(|_| root.proposal(AUTHENTICATE, &valid)).collect();
    let mut requests = tokio::task::JoinSet::new();
    for body in bodies.iter().chain([&bodies[0]]) {
        let (root, body) = (root.clone(), body.clone());
        requests.spawn(async move { root.send(PATH, &body).await });
    }
    let replies = requests.join_all().await;
    let (accepted, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    assert!((1..=2).contains(&accepted.len()), "{replies:#?}");
    let ids: Vec<_> = accepted.iter().map(|reply| reply.activity()["id"].clone()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "one activity: {ids:?}");
    for reply in refused {
        assert!(reply.expect_error(400, 3, "").contains("was used before"), "{reply:#?}");
    }

    // The client secret must be that of the application.
    let envelope = provider.envelope("another secret", &encryption_key(root).await).await;
    let update = json!({"oauth2CredentialId": credential, "provider": x.0, "clientId": x.1,
        "encryptedClientSecret": envelope});
    root.completed("ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL", &update).await;
    let reply = root.submit(AUTHENTICATE, &parameters(&credential, &code().await, &session)).await;
    let client = "OAuth 2.0 authentication failed: the provider rejected the client id or the client secret";
    assert_eq!(reply.expect_error(400, 3, ""), client);

    // The operator finds each failure in the log.
    let log = std::fs::read_to_string(service.installation.path("log")).expect("a log");
    let warnings: Vec<&str> =
        log.lines().filter(|line| line.contains("an OAuth 2.0 exchange failed")).collect();
    assert_eq!(warnings.len(), 5, "{warnings:#?}");
    for (warning, status, error) in
        [(warnings[0], 400, "invalid_grant"), (warnings[4], 401, "invalid_client")]
    {
        for named in [
            "WARN",
            "provider=\"X\"",
            "endpoint=\"token\"",
            &format!("status={status}"),
            &format!("error=\"{error}\""),
        ] {
            assert!(warning.contains(named), "{named} is missing in {warning}");
        }
    }
}

#[tokio::test]
async fn an_exchange_that_a_kill_interrupts_is_not_repeated() {
    third_party::install("npm");
    let (provider, silent) = (Oauth2Provider::start(), Receiver::start().await);
    silent.answer(Answer::Never);
    let keys = format!(
        "x_token_url = \"{}\"\nallow_networks = [\"127.0.0.0/8\"]\nallow_http = true\n",
        silent.url("/token")
    );
    let mut service = Service::start(&keys).await;
    let credential = credential(&service.root, &provider, APPLICATIONS[0]).await;
    let code = ("a-code".to_owned(), "https://app.example/callback".to_owned());
    let body = service.root.proposal(AUTHENTICATE, &parameters(&credential, &code, &Key::named("session")));
    let request = tokio::spawn({
        let (root, body) = (service.root.clone(), body.clone());
        async move { root.try_send(PATH, &body).await.map(|reply| reply.status).ok() }
    });
    silent.until("an exchange", |deliveries| !deliveries.is_empty()).await;
    drop(service.served);
    assert_eq!(request.await.expect("the task ends"), None, "no answer");
    service.served = service.installation.serve().await;
    let root = service.served.caller(service.root.organization(), service.root.key().clone());
    for _ in 0..2 {
        let message = root.send(PATH, &body).await.expect_error(400, 3, "");
        assert!(message.contains("its exchange was interrupted"), "{message}");
    }
    assert_eq!(silent.deliveries().len(), 1, "the code was sent once");
}

#[tokio::test]
async fn without_configuration_nothing_is_issued() {
    let service = Service::start("key_generation = 2\n").await;
    let before = service.served.get("/public/v1/discovery/oidc/jwks").await.success();
    let Service { served, installation, .. } = service;
    drop(served);
    // Another generation is another key; a generation that is used again is the same key.
    let mut seen = Vec::new();
    for generation in ["key_generation = 1\n", "key_generation = 2\n"] {
        configure(&installation, generation);
        let served = installation.serve().await;
        seen.push(served.get("/public/v1/discovery/oidc/jwks").await.success());
    }
    assert!(seen[0] != before && seen[1] == before);
    installation
        .configure("[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\n[key]\nfile = \"root.key\"\n");
    let served = installation.serve().await;
    for path in ["/.well-known/openid-configuration", "/public/v1/discovery/oidc/jwks"] {
        assert_eq!(served.get(path).await.status, 404);
    }
}
