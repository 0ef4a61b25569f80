//! Sign-in with OAuth 2.0, with a log of everything: client secrets, codes, verifiers and the tokens of providers and of the
//! daemon remain nowhere, whether an exchange succeeds, fails, is denied or is interrupted.

use std::path::Path;

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::installation::{Installation, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::oauth2_provider::{APPLICATIONS, Oauth2Provider};
use quorate_tests::operator::Operator;
use quorate_tests::receiver::{Answer, Delivery, Receiver};
use quorate_tests::sign_in;
use serde_json::{Value, json};

use super::{assert_absent, assert_writes_no_core_file, files};
use crate::oauth2::{VERIFIER, credential, encryption_key, parameters};
use crate::screen::Screen;
use crate::third_party;

const AUTHENTICATE: &str = "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE";
const OTHER_VERIFIER: &str = "canary-verifier-that-is-wrong-0123456789-0123456789";

/// Returns the configuration of a daemon that logs everything. The endpoint that describes users of Discord is `receiver`.
fn configuration(provider: &Oauth2Provider, receiver: &Receiver) -> String {
    let provider = provider.configuration();
    let keys = provider.lines().filter(|line| !line.starts_with("discord_user_url"));
    let keys = keys.collect::<Vec<_>>().join("\n");
    let networks = "allow_networks = [\"127.0.0.0/8\"]\nallow_http = true";
    format!(
        "[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\n[key]\nfile = \"root.key\"\n[log]\nlevel = \"debug\"\n\
         [webhook]\n{networks}\n[oauth2]\nenabled = true\nissuer = \"https://keys.example.org\"\n{keys}\n\
         discord_user_url = \"{}\"\n",
        receiver.url("/discord/user")
    )
}

/// Returns the signature of a token. The rest of an ID token is public.
fn signature(token: &Value) -> String {
    token.as_str().and_then(|token| token.rsplit('.').next()).expect("a token").to_owned()
}

/// Exchanges codes of X in each way, and signs up and in with the token. Returns the secrets, and the sub-organization.
async fn at_x(root: &Caller, provider: &Oauth2Provider) -> (Vec<String>, String) {
    let (name, client, secret) = APPLICATIONS[0];
    let application = credential(root, provider, APPLICATIONS[0]).await;
    let session = Key::named("session of x");
    let code = provider.code(client, VERIFIER, "1270562298").await;
    let target = sign_in::target_key();
    let mut exchange = parameters(&application, &code, &session);
    exchange["bearerTokenTargetPublicKey"] = json!(target.public().hex());
    let token = root.result(AUTHENTICATE, &exchange).await["oidcToken"].clone();
    let bundle = sign_in::claims(token.as_str().expect("a token"))["encrypted_bearer_token"].clone();
    let bundle = bundle.as_str().expect("a bundle").to_owned();
    let bearer = provider.bearer_token(&bundle, &const_hex::encode(target.to_bytes())).await;
    let user = json!({"userName": "ann", "apiKeys": [], "authenticators": [],
        "oauthProviders": [{"providerName": name, "oidcToken": token}]});
    let child = json!({"subOrganizationName": name, "rootQuorumThreshold": 1, "rootUsers": [user]});
    let created = root.result("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child).await;
    let child = created["subOrganizationId"].as_str().expect("an id").to_owned();
    let login = json!({"oidcToken": token, "publicKey": session.public_key()});
    root.on(&child).completed("ACTIVITY_TYPE_OAUTH_LOGIN", &login).await;

    // The code was used, the verifier is another one, and the user may not do this.
    root.submit(AUTHENTICATE, &exchange).await.expect_error(400, 3, "");
    let rejected = provider.code(client, VERIFIER, "1270562298").await;
    let mut wrong = parameters(&application, &rejected, &session);
    wrong["codeVerifier"] = json!(OTHER_VERIFIER);
    root.submit(AUTHENTICATE, &wrong).await.expect_error(400, 3, "");
    let denied = provider.code(client, VERIFIER, "1270562298").await;
    let outsider = Key::named("outsider of x");
    let user = json!({"userName": "outsider", "authenticators": [], "oauthProviders": [], "userTags": [],
        "apiKeys": [{"apiKeyName": "key", "publicKey": outsider.public_key(), "curveType": "API_KEY_CURVE_P256"}]});
    root.completed("ACTIVITY_TYPE_CREATE_USERS_V3", &json!({"users": [user]})).await;
    let outsider = root.with_key(&outsider);
    outsider
        .submit(AUTHENTICATE, &parameters(&application, &denied, &session))
        .await
        .expect_error(403, 7, "*");

    // Another client secret, which the provider rejects.
    let envelope = provider.envelope("canary-secret-of-nobody", &encryption_key(root).await).await;
    let update = json!({"oauth2CredentialId": application, "provider": name, "clientId": client,
        "encryptedClientSecret": envelope});
    root.completed("ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL", &update).await;
    let unused = provider.code(client, VERIFIER, "1270562298").await;
    root.submit(AUTHENTICATE, &parameters(&application, &unused, &session)).await.expect_error(400, 3, "");

    let codes = [code.0, rejected.0, denied.0, unused.0];
    let texts = [secret, "canary-secret-of-nobody", VERIFIER, OTHER_VERIFIER].map(str::to_owned);
    let secrets = codes.into_iter().chain(texts).chain([bearer, bundle, signature(&token)]);
    (secrets.collect(), child)
}

/// Exchanges a code of Discord, whose description of the user is denied. Returns the secrets.
async fn at_discord(root: &Caller, provider: &Oauth2Provider, users: &Receiver) -> Vec<String> {
    users.answer(Answer::Status(403));
    let (_, client, secret) = APPLICATIONS[1];
    let application = credential(root, provider, APPLICATIONS[1]).await;
    let code = provider.code(client, VERIFIER, "80351110224678912").await;
    let exchange = parameters(&application, &code, &Key::named("session of discord"));
    root.submit(AUTHENTICATE, &exchange).await.expect_error(400, 3, "");
    let requests = users.until("a request for the user", |all| !all.is_empty()).await;
    vec![secret.to_owned(), code.0, access_token(&requests[0])]
}

/// Kills the daemon while Discord describes a user. Returns the secrets.
async fn interrupted(
    served: RunningDaemon,
    root: &Caller,
    provider: &Oauth2Provider,
    users: &Receiver,
    application: &Value,
) -> Vec<String> {
    users.answer(Answer::Never);
    let before = users.deliveries().len();
    let code = provider.code(APPLICATIONS[1].1, VERIFIER, "80351110224678912").await;
    let body = root.proposal(AUTHENTICATE, &parameters(application, &code, &Key::named("interrupted")));
    let request = tokio::spawn({
        let root = root.clone();
        async move { root.try_send(&submit_path(AUTHENTICATE), &body).await.map(|reply| reply.status).ok() }
    });
    let requests = users.until("a request for the user", |all| all.len() > before).await;
    drop(served);
    assert_eq!(request.await.expect("the task ends"), None, "no answer");
    vec![code.0, access_token(&requests[before])]
}

/// Returns the access token with which the daemon requested the description of a user.
fn access_token(request: &Delivery) -> String {
    let header = request.headers["authorization"].to_str().expect("a text");
    header.strip_prefix("Bearer ").expect("an access token").to_owned()
}

/// Returns what clients, operators and receivers of webhooks see.
async fn shown(served: &RunningDaemon, root: &Caller, child: &str, socket: &Path) -> String {
    let activities = root.activities().await;
    let mut shown = vec![json!(activities).to_string(), json!(root.on(child).activities().await).to_string()];
    shown.push(root.fetch("list_oauth2_credentials", json!({})).await.to_string());
    let metrics = served.get("/metrics").await;
    shown.push(String::from_utf8(metrics.body.to_vec()).expect("UTF-8"));
    let operator = Operator::reading(socket, root.organization());
    let is_exchange = |one: &&Value| one["type"] == AUTHENTICATE;
    let exchanged =
        activities.iter().find(is_exchange).and_then(|one| one["id"].as_str()).expect("an activity");
    for command in
        [&["org", "get"][..], &["activity", "ls"], &["activity", "get", exchanged], &["user", "ls"]]
    {
        shown.push(operator.run(command).await.with(0).output);
    }
    let mut screen = Screen::open(operator);
    shown.push(screen.shows("Approvals").await);
    screen.press("3");
    shown.push(screen.shows("OAuth 2.0").await);
    shown.concat()
}

#[tokio::test]
async fn secrets_of_oauth2_appear_nowhere() {
    third_party::install("npm");
    let (provider, users) = (Oauth2Provider::start(), Receiver::start().await);
    let receiver = Receiver::start().await;
    let installation = Installation::new("file = \"root.key\"");
    let key = Key::named("root");
    let organization = installation.create_organization("team", &key).await;
    installation.configure(&configuration(&provider, &users));
    let served = installation.serve().await;
    let root = served.caller(&organization, key);
    let hook = json!({"name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/")});
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &hook).await;

    let (mut secrets, child) = at_x(&root, &provider).await;
    secrets.extend(at_discord(&root, &provider, &users).await);
    assert_eq!(secrets.len(), 14, "{secrets:#?}");

    // The newest activity reaches the webhook last.
    let newest =
        root.completed("ACTIVITY_TYPE_CREATE_WALLET", &json!({"walletName": "last", "accounts": []})).await;
    let newest = newest["id"].as_str().expect("an id").to_owned();
    let hooks =
        receiver.until("a webhook", |all| all.iter().any(|one| one.body.to_string().contains(&newest)));
    let hooks: Vec<String> =
        hooks.await.iter().map(|one| format!("{:?} {}", one.headers, one.body)).collect();
    assert_writes_no_core_file(served.process_id());
    let mut shown = shown(&served, &root, &child, &installation.path("run/socket")).await + &hooks.concat();
    let log = |installation: &Installation| std::fs::read_to_string(installation.path("log")).expect("a log");
    shown += &log(&installation);
    assert!(shown.matches("x-client").count() > 3, "the exchanges are shown");
    // A backup is a copy of the files. They are read before and after the credentials are deleted.
    assert_absent(&secrets, &shown, &files(&installation.path("data")));
    let stored = root.fetch("list_oauth2_credentials", json!({})).await["oauth2Credentials"].clone();
    let stored = stored.as_array().expect("credentials").clone();
    let discord = stored.iter().find(|one| one["provider"] == APPLICATIONS[1].0).expect("a credential");
    secrets.extend(interrupted(served, &root, &provider, &users, &discord["oauth2CredentialId"]).await);
    assert_absent(&secrets, &log(&installation), &files(&installation.path("data")));

    let served = installation.serve().await;
    let root = served.caller(root.organization(), root.key().clone());
    for one in stored {
        let id = json!({"oauth2CredentialId": one["oauth2CredentialId"]});
        root.completed("ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL", &id).await;
    }
    drop(served);
    assert_absent(&secrets, &log(&installation), &files(&installation.path("data")));
}
