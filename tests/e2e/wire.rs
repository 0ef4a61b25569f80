//! The exact format of answers: headers, CORS preflight, and the JSON encoding.

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http2;
use hyper::{Method, Request};
use hyper_util::rt::{TokioExecutor, TokioIo};
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::{Value, json};
use tokio::task::JoinSet;

fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn assert_timestamp(value: &Value) {
    assert_eq!(members(value), ["nanos", "seconds"], "{value:#}");
    let seconds = value["seconds"].as_str().expect("seconds are a string");
    assert!(seconds.parse::<u64>().is_ok_and(|seconds| seconds > 1_700_000_000), "{value:#}");
    assert_eq!(value["nanos"], "0", "nanoseconds are a string");
}

#[tokio::test]
async fn content_types_have_no_parameters() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let unknown = root.with_key(&quorate_tests::keys::Key::named("unknown"));
    for (reply, status) in [
        (root.query("whoami", json!({})).await, 200),
        (root.submit(CREATE_WALLET, &requests::wallet("header")).await, 200),
        (unknown.query("whoami", json!({})).await, 401),
        (root.query("no_such_query", json!({})).await, 404),
        (root.call(Method::GET, "/public/v1/query/whoami", &[], b"").await, 501),
    ] {
        assert_eq!(reply.status, status, "{reply}");
        assert_eq!(reply.header("content-type"), Some("application/json"), "{reply}");
    }
}

#[tokio::test]
async fn request_content_types_are_ignored() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let body = json!({ "organizationId": root.organization() }).to_string();
    let stamp = root.key().stamp(body.as_bytes());
    for headers in [
        vec![("x-stamp", stamp.as_str())],
        vec![("x-stamp", stamp.as_str()), ("content-type", "text/plain")],
        vec![("x-stamp", stamp.as_str()), ("content-type", "application/json; charset=utf-8")],
        vec![("X-STAMP", stamp.as_str()), ("x-client-version", "anything")],
    ] {
        root.call(Method::POST, "/public/v1/query/whoami", &headers, body.as_bytes()).await.success();
    }
}

#[tokio::test]
async fn http_2_is_supported() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let stream = tokio::net::TcpStream::connect(daemon.address()).await.expect("the daemon listens");
    let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
    let (sender, connection) = handshake.expect("HTTP/2");
    tokio::spawn(connection);
    let mut streams = JoinSet::new();
    for _ in 0..16 {
        let body = json!({ "organizationId": root.organization() }).to_string();
        let request = Request::post(format!("http://{}/public/v1/query/whoami", daemon.address()))
            .header("x-stamp", root.key().stamp(body.as_bytes()))
            .body(Full::new(Bytes::from(body)))
            .expect("a request");
        let mut sender = sender.clone();
        streams.spawn(async move { sender.send_request(request).await.expect("an answer") });
    }
    for answer in streams.join_all().await {
        assert_eq!((answer.status().as_u16(), answer.version()), (200, hyper::Version::HTTP_2));
        assert_eq!(answer.headers()["content-type"], "application/json");
    }
}

#[tokio::test]
async fn all_origins_may_call() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let headers = [
        ("origin", "https://app.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type,x-client-version,x-stamp"),
    ];
    let reply = root.call(Method::OPTIONS, "/public/v1/query/whoami", &headers, b"").await;
    assert!([200, 204].contains(&reply.status), "{reply}");
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    let listed = |header: &str| reply.header(header).unwrap_or_default().to_ascii_lowercase();
    for method in ["post", "options"] {
        assert!(listed("access-control-allow-methods").contains(method), "{:?}", reply.headers);
    }
    for name in [
        "content-type",
        "x-client-version",
        "x-stamp",
        "x-stamp-webauthn",
        "x-stamp-attested",
        "x-session",
        "x-auth-proxy-config-id",
    ] {
        let allowed = listed("access-control-allow-headers");
        assert!(allowed.split(',').any(|allowed| allowed.trim() == name), "{name}: {:?}", reply.headers);
    }
    assert!(listed("access-control-max-age").parse::<u32>().is_ok(), "{:?}", reply.headers);

    let body = json!({ "organizationId": root.organization() }).to_string();
    let stamp = root.key().stamp(body.as_bytes());
    let headers = [("origin", "https://app.example"), ("x-stamp", stamp.as_str())];
    let reply = root.call(Method::POST, "/public/v1/query/whoami", &headers, body.as_bytes()).await;
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "answers may be read, too");
    let reply = root.call(Method::POST, "/public/v1/query/whoami", &headers[..1], body.as_bytes()).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (401, Some("*")), "and errors");
}

#[tokio::test]
async fn activities_always_have_all_members() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let root = daemon.root(0);
    let pending = root.waiting(CREATE_WALLET, &requests::wallet("members")).await;
    assert_eq!(pending["result"], json!({}), "an empty object until it is done");
    let completed = daemon.root(1).approved(&pending["fingerprint"]).await;
    let listed = root.activities().await;
    for activity in [&pending, &completed].into_iter().chain(&listed) {
        let expected = [
            "appProofs",
            "canApprove",
            "canReject",
            "createdAt",
            "failure",
            "fingerprint",
            "id",
            "intent",
            "organizationId",
            "result",
            "status",
            "type",
            "updatedAt",
            "votes",
        ];
        assert_eq!(members(activity), expected, "{activity:#}");
        assert_eq!(activity["failure"], Value::Null);
        assert_eq!(activity["appProofs"], json!([]));
        assert_eq!(members(&activity["intent"]).len(), 1, "one intent: {activity:#}");
        assert_eq!(activity["organizationId"], root.organization());
        assert_timestamp(&activity["createdAt"]);
        assert_timestamp(&activity["updatedAt"]);
        let id = activity["id"].as_str().expect("an id");
        assert_eq!((id.len(), &id[14..15]), (36, "7"), "ids of activities are time-ordered UUIDs: {id}");
    }
    let intent = &completed["intent"]["createWalletIntent"];
    assert_eq!(intent["walletName"], "members");
    assert_eq!(intent["accounts"][0]["path"], "m/44'/60'/0'/0/0");
    assert_eq!(intent.get("mnemonicLength"), None, "unset optional members are left out");
    assert_eq!(members(&completed["result"]), ["createWalletResult"]);
}

#[tokio::test]
async fn resources_have_all_members() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let whoami = root.fetch("whoami", json!({})).await;
    assert_eq!(members(&whoami), ["organizationId", "organizationName", "userId", "username"]);

    let user = root.fetch("get_user", json!({ "userId": daemon.root_id(0) })).await;
    let user = &user["user"];
    for (list, count) in
        [("authenticators", 0), ("apiKeys", 1), ("userTags", 0), ("oauthProviders", 0), ("mfaPolicies", 0)]
    {
        assert_eq!(user[list].as_array().map(Vec::len), Some(count), "{list}: {user:#}");
    }
    assert_timestamp(&user["createdAt"]);
    assert_timestamp(&user["updatedAt"]);
    let key = &user["apiKeys"][0];
    assert_eq!(key["credential"]["type"], "CREDENTIAL_TYPE_API_KEY_P256");
    assert_eq!(key["credential"]["publicKey"], daemon.root_key(0).public_key());
    assert_eq!(key.get("expirationSeconds"), None, "unset optional members are left out");

    let address = requests::create_wallet(&root, "stored").await;
    let accounts = root.fetch("list_wallet_accounts", json!({})).await;
    let account = &accounts["accounts"][0];
    assert_eq!(account["address"], address.as_str());
    assert_eq!(account["curve"], "CURVE_SECP256K1", "enums are names");
    let wallets = root.fetch("list_wallets", json!({})).await;
    let wallet = &wallets["wallets"][0];
    assert_eq!(
        (&wallet["exported"], &wallet["imported"]),
        (&json!(false), &json!(false)),
        "defaults are reported"
    );
    let configs = root.fetch("get_organization_configs", json!({})).await;
    assert_eq!(configs["configs"]["features"], json!([]));
    assert_eq!(configs["configs"]["quorum"], json!({ "threshold": 1, "userIds": [daemon.root_id(0)] }));
}

#[tokio::test]
async fn unknown_members_are_ignored() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let address = requests::create_wallet(&root, "ignored").await;
    let send = async |mut parameters: Value, more: Value| {
        parameters["noSuchMember"] = json!({ "deep": [1] });
        let body = root.proposal(SIGN, &parameters);
        let mut body: Value = serde_json::from_slice(&body).expect("a body of this test");
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        root.send("/public/v1/submit/sign_raw_payload", body.to_string().as_bytes())
            .await
            .activity_in("COMPLETED")
    };
    let signed =
        send(requests::sign(&address, "text"), json!({ "generateAppProofs": true, "other": null })).await;
    assert_eq!(signed["appProofs"], json!([]), "no proofs are invented");
    let mut parameters = requests::sign(&address, "nulls");
    parameters["externalSignerPubkey"] = Value::Null;
    parameters["generateAppProofs"] = json!(false);
    send(parameters, json!({ "timestampMs": quorate_tests::caller::now_millis() })).await;
    let snake = json!({
        "sign_with": address,
        "payload": "snake",
        "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
        "hash_function": "HASH_FUNCTION_SHA256",
    });
    send(snake, json!({})).await;
}

#[tokio::test]
async fn lists_are_paginated() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let address = requests::create_wallet(&root, "pages").await;
    for count in 0..12 {
        root.completed(SIGN, &requests::sign(&address, &format!("page {count}"))).await;
    }
    let ids = |page: &Value| -> Vec<String> {
        let list = page["activities"].as_array().expect("activities");
        list.iter().map(|activity| activity["id"].as_str().expect("an id").to_owned()).collect()
    };
    let page = async |members: Value| ids(&root.fetch("list_activities", members).await);
    let all = page(json!({ "paginationOptions": { "limit": "100" } })).await;
    assert_eq!(all.len(), 13);
    assert!(all.is_sorted_by(|newer, older| newer > older), "newest first, by time-ordered id");
    assert_eq!(page(json!({})).await, all[..10], "ten by default");
    assert_eq!(page(json!({ "paginationOptions": { "limit": "3", "after": all[2] } })).await, all[3..6]);
    assert_eq!(page(json!({ "paginationOptions": { "limit": "3", "before": all[6] } })).await, all[3..6]);
    assert_eq!(page(json!({ "paginationOptions": { "after": all[12] } })).await, [""; 0]);
    let wallets = page(json!({ "filterByType": [CREATE_WALLET], "filterByStatus": [] })).await;
    assert_eq!(wallets, all[12..]);
    let failed =
        page(json!({ "filterByStatus": ["ACTIVITY_STATUS_FAILED", "ACTIVITY_STATUS_PENDING"] })).await;
    assert_eq!(failed, [""; 0]);
}
