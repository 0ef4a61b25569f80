//! Authentication by stamps: every scheme, invalid stamps, expiry, and keys of parent and child
//! organizations.

use std::time::Instant;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use hyper::Method;
use k256::ecdsa::signature::hazmat::PrehashSigner;
use p256::ecdsa::signature::Signer;
use quorate_common::stamp::ApiKeyCurve;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options, POLL_INTERVAL};
use quorate_tests::http::{Reply, TIMEOUT};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_API_KEYS, CREATE_WALLET};
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};

const WHOAMI: &str = "/public/v1/query/whoami";

const P256: &str = "SIGNATURE_SCHEME_TK_API_P256";
const SECP256K1: &str = "SIGNATURE_SCHEME_TK_API_SECP256K1";
const EIP191: &str = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191";
const ED25519: &str = "SIGNATURE_SCHEME_TK_API_ED25519";

/// Returns a sample key of the wire's test vectors: RFC 6979 A.2.5, scalar 1, and 32 bytes of 1.
fn sample(curve: ApiKeyCurve) -> Key {
    let mut one = [0; 32];
    one[31] = 1;
    match curve {
        ApiKeyCurve::P256 => Key::of_hex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"),
        ApiKeyCurve::Secp256k1 => Key::of_secret(curve, one),
        ApiKeyCurve::Ed25519 => Key::of_secret(curve, [1; 32]),
    }
}

/// Starts a daemon with one root user, who also has the sample keys.
async fn daemon() -> Daemon {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let keys = [ApiKeyCurve::P256, ApiKeyCurve::Secp256k1, ApiKeyCurve::Ed25519]
        .map(|curve| requests::api_key(&format!("{curve:?}"), &sample(curve)));
    let parameters = requests::api_keys(daemon.root_id(0), &keys);
    daemon.root(0).completed(CREATE_API_KEYS, &parameters).await;
    daemon
}

fn body(caller: &Caller) -> Vec<u8> {
    json!({ "organizationId": caller.organization() }).to_string().into_bytes()
}

fn members(public_key: &str, scheme: &str, signature: &str) -> Value {
    json!({ "publicKey": public_key, "scheme": scheme, "signature": signature })
}

fn header(members: &Value) -> String {
    Base64UrlUnpadded::encode_string(members.to_string().as_bytes())
}

/// Sends a `whoami` query with these headers.
async fn whoami(caller: &Caller, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    caller.call(Method::POST, WHOAMI, headers, body).await
}

/// Returns the members of a valid stamp.
fn decoded(stamp: &str) -> Value {
    serde_json::from_slice(&Base64UrlUnpadded::decode_vec(stamp).expect("base64")).expect("JSON")
}

fn eip191_digest(body: &[u8]) -> [u8; 32] {
    let mut hash = Keccak256::new();
    hash.update(b"\x19Ethereum Signed Message:\n");
    hash.update(body.len().to_string());
    hash.update(body);
    hash.finalize().into()
}

fn secp256k1_der(digest: &[u8]) -> String {
    let mut one = [0; 32];
    one[31] = 1;
    let key = k256::ecdsa::SigningKey::from_slice(&one).expect("a secret");
    let signature: k256::ecdsa::Signature = key.sign_prehash(digest).expect("a signature");
    const_hex::encode(signature.to_der())
}

fn p256_pair(body: &[u8]) -> (p256::ecdsa::Signature, p256::ecdsa::Signature) {
    let secret: [u8; 32] = const_hex::decode_to_array(sample(ApiKeyCurve::P256).secret_hex()).expect("hex");
    let key = p256::ecdsa::SigningKey::from_slice(&secret).expect("a secret");
    let signature: p256::ecdsa::Signature = key.sign(body);
    let (r, s) = signature.split_scalars();
    let mirrored = p256::ecdsa::Signature::from_scalars(r, -s).expect("a signature");
    (signature, mirrored)
}

#[tokio::test]
async fn accepts_every_signature_scheme() {
    let daemon = daemon().await;
    let root = daemon.root(0);
    let body = body(&root);
    let (signature, mirrored) = p256_pair(&body);
    let ed25519 = sample(ApiKeyCurve::Ed25519);
    let good = decoded(&ed25519.stamp(&body));
    let p256 = sample(ApiKeyCurve::P256).public_key().to_owned();
    let secp256k1 = sample(ApiKeyCurve::Secp256k1).public_key().to_owned();
    let sha256 = <sha2::Sha256 as sha2::Digest>::digest(&body);
    let rows = [
        ("P-256", members(&p256, P256, &const_hex::encode(signature.to_der()))),
        ("P-256, s mirrored", members(&p256, P256, &const_hex::encode(mirrored.to_der()))),
        (
            "P-256, key in upper case",
            members(&p256.to_uppercase(), P256, &const_hex::encode(signature.to_der())),
        ),
        ("secp256k1", members(&secp256k1, SECP256K1, &secp256k1_der(&sha256))),
        ("secp256k1, personal message", members(&secp256k1, EIP191, &secp256k1_der(&eip191_digest(&body)))),
        ("Ed25519", members(ed25519.public_key(), ED25519, good["signature"].as_str().expect("a text"))),
    ];
    assert_eq!(p256, "0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6");
    assert_eq!(secp256k1, "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
    assert_eq!(ed25519.public_key(), "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c");
    for (name, stamp) in rows {
        let reply = whoami(&root, &[("x-stamp", &header(&stamp))], &body).await;
        assert_eq!(reply.success()["userId"], daemon.root_id(0), "{name}");
    }
}

#[tokio::test]
async fn accepts_every_base64_alphabet() {
    let daemon = daemon().await;
    let root = daemon.root(0);
    let body = body(&root);
    let mut stamp = decoded(&root.key().stamp(&body));
    // Makes the alphabets differ, and covers all lengths of padding.
    for filler in ["~~~", "~~~?", "~~~??"] {
        stamp["ignored"] = json!(filler);
        let text = stamp.to_string();
        for header in [
            Base64UrlUnpadded::encode_string(text.as_bytes()),
            base64ct::Base64Url::encode_string(text.as_bytes()),
            Base64::encode_string(text.as_bytes()),
            base64ct::Base64Unpadded::encode_string(text.as_bytes()),
        ] {
            whoami(&root, &[("x-stamp", &header)], &body).await.success();
        }
    }
}

#[tokio::test]
async fn invalid_stamp_headers_have_distinct_errors() {
    let daemon = daemon().await;
    let root = daemon.root(0);
    let body = body(&root);
    let good = root.key().stamp(&body);
    let json = decoded(&good);
    let without = |member: &str| {
        let mut stamp = json.clone();
        stamp.as_object_mut().expect("an object").remove(member);
        header(&stamp)
    };
    let with = |member: &str, value: Value| {
        let mut stamp = json.clone();
        stamp[member] = value;
        header(&stamp)
    };
    let malformed = "malformed activity stamp";
    let extract = "could not extract api key stamp";
    let twice = json.to_string().replacen('{', &format!("{{\"scheme\":\"{P256}\","), 1);
    for (name, header, message) in [
        ("not base64", "!!!".to_owned(), malformed),
        ("spaces within", format!("{} {}", &good[..8], &good[8..]), malformed),
        ("not JSON", Base64UrlUnpadded::encode_string(b"stamp"), malformed),
        ("an array", Base64UrlUnpadded::encode_string(b"[]"), malformed),
        ("empty", String::new(), ""),
        ("duplicate member", Base64UrlUnpadded::encode_string(twice.as_bytes()), ""),
        ("no scheme", without("scheme"), extract),
        ("no key", without("publicKey"), extract),
        ("no signature", without("signature"), extract),
        ("unknown scheme", with("scheme", json!("SIGNATURE_SCHEME_TK_API_P521")), extract),
        ("scheme in lower case", with("scheme", json!(P256.to_lowercase())), extract),
        ("scheme as a number", with("scheme", json!(1)), extract),
        ("signature as a list", with("signature", json!([])), extract),
    ] {
        let reply = whoami(&root, &[("x-stamp", &header)], &body).await;
        let error = reply.expect_error(401, 16, "*");
        assert!(error.starts_with(message), "{name}: {reply}");
    }
    let message = whoami(&root, &[], &body).await.expect_error(401, 16, "SIGNATURE_MISSING");
    assert_eq!(message, "no valid authentication signature found for request");
    for more in [("x-stamp", good.as_str()), ("x-stamp-webauthn", "{}"), ("x-stamp-attested", "{}")] {
        whoami(&root, &[("x-stamp", &good), more], &body).await.expect_error(401, 16, "*");
    }
}

#[tokio::test]
async fn rejects_invalid_signatures() {
    let daemon = daemon().await;
    let root = daemon.root(0);
    let body = body(&root);
    let (signature, _) = p256_pair(&body);
    let der = const_hex::encode(signature.to_der());
    let p256 = sample(ApiKeyCurve::P256).public_key().to_owned();
    let secp256k1 = sample(ApiKeyCurve::Secp256k1).public_key().to_owned();
    let ed25519 = sample(ApiKeyCurve::Ed25519).public_key().to_owned();
    let sha256 = <sha2::Sha256 as sha2::Digest>::digest(&body);
    let zero = "3006020100020100";
    for (name, stamp) in [
        ("DER with a trailing byte", members(&p256, P256, &format!("{der}00"))),
        ("raw instead of DER", members(&p256, P256, &const_hex::encode(signature.to_bytes()))),
        ("r and s zero", members(&p256, P256, zero)),
        ("empty", members(&p256, P256, "")),
        ("odd hex", members(&p256, P256, &der[1..])),
        ("with 0x", members(&p256, P256, &format!("0x{der}"))),
        ("digest of the wrong scheme", members(&secp256k1, EIP191, &secp256k1_der(&sha256))),
        ("DER for Ed25519", members(&ed25519, ED25519, &der)),
        ("another's signature", members(root.key().public_key(), P256, &der)),
    ] {
        let reply = whoami(&root, &[("x-stamp", &header(&stamp))], &body).await;
        let message = reply.expect_error(401, 16, "SIGNATURE_INVALID");
        assert_eq!(message, "could not verify api key signature", "{name}");
    }
    for (name, stamp) in [
        ("scheme of another curve", members(&p256, SECP256K1, &der)),
        ("scheme of another curve, 2", members(&secp256k1, P256, &secp256k1_der(&sha256))),
        ("uncompressed key", members(&format!("04{}", "11".repeat(64)), P256, &der)),
        ("hybrid key", members(&format!("06{}", "11".repeat(32)), P256, &der)),
        ("weak key", members(&format!("01{}", "00".repeat(31)), ED25519, &"00".repeat(64))),
    ] {
        let reply = whoami(&root, &[("x-stamp", &header(&stamp))], &body).await;
        assert_eq!(reply.status, 401, "{name}: {reply}");
        reply.expect_error(401, 16, "*");
    }
    for changed in [[&body[..], b"\n"].concat(), [b" ", &body[..]].concat()] {
        let stamp = root.key().stamp(&body);
        whoami(&root, &[("x-stamp", &stamp)], &changed).await.expect_error(401, 16, "SIGNATURE_INVALID");
    }
}

#[tokio::test]
async fn rejects_unknown_keys_and_organizations() {
    let daemon = daemon().await;
    let root = daemon.root(0);
    let unknown = root.with_key(&Key::named("unknown"));
    let reply = unknown.query("whoami", json!({})).await;
    let message = reply.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
    assert!(message.starts_with("could not find public key in organization"), "{reply}");

    let nowhere = root.on("00000000-0000-4000-8000-000000000001");
    let message = nowhere.query("whoami", json!({})).await.expect_error(404, 5, "ORGANIZATION_NOT_FOUND");
    assert_eq!(message, "no organization found with the given ID");
    let message = root.on("not-a-uuid").query("whoami", json!({})).await.expect_error(
        400,
        3,
        "INVALID_ORGANIZATION_ID",
    );
    assert_eq!(message, "malformed organization ID provided");
}

#[tokio::test]
async fn sessions_cannot_submit() {
    let daemon = daemon().await;
    let root = daemon.root(0);
    let body = root.proposal(CREATE_WALLET, &requests::wallet("session"));
    let path = quorate_tests::caller::submit_path(CREATE_WALLET);
    let reply = root.call(Method::POST, &path, &[("x-session", "anything")], &body).await;
    reply.expect_error(401, 16, "SIGNATURE_MISSING");
    let reply = whoami(&root, &[("x-session", "anything")], &self::body(&root)).await;
    reply.expect_error(401, 16, "*");
}

#[tokio::test]
async fn rejects_expired_keys() {
    let daemon = daemon().await;
    let root = daemon.root(0);
    let key = Key::named("expiring");
    let mut parameters = requests::api_keys(daemon.root_id(0), &[requests::api_key("expiring", &key)]);
    parameters["apiKeys"][0]["expirationSeconds"] = json!("2");
    root.completed(CREATE_API_KEYS, &parameters).await;
    let deadline = Instant::now() + TIMEOUT;
    let expiring = root.with_key(&key);
    let expired = loop {
        let reply = expiring.query("whoami", json!({})).await;
        if reply.status != 200 {
            break reply;
        }
        assert!(Instant::now() < deadline, "the key does not expire");
        tokio::time::sleep(POLL_INTERVAL).await;
    };
    assert_eq!(expired.expect_error(401, 16, "API_KEY_EXPIRED"), "expired api key");
}

#[tokio::test]
async fn rejects_invalid_public_keys() {
    let daemon = daemon().await;
    let root = daemon.root(0);
    let off_curve = format!("02{}", "00".repeat(31)) + "05";
    for (name, public_key, curve) in [
        ("too short", "0360fed4", "API_KEY_CURVE_P256"),
        ("uncompressed", &format!("04{}", "11".repeat(64))[..], "API_KEY_CURVE_P256"),
        ("off the curve", &off_curve, "API_KEY_CURVE_SECP256K1"),
        ("of another curve", sample(ApiKeyCurve::Ed25519).public_key(), "API_KEY_CURVE_P256"),
        ("weak", &format!("01{}", "00".repeat(31)), "API_KEY_CURVE_ED25519"),
        ("not hex", &"zz".repeat(33), "API_KEY_CURVE_P256"),
        ("unknown curve", sample(ApiKeyCurve::P256).public_key(), "API_KEY_CURVE_P521"),
    ] {
        let key = json!({ "apiKeyName": name, "publicKey": public_key, "curveType": curve });
        root.submit(CREATE_API_KEYS, &requests::api_keys(daemon.root_id(0), &[key]))
            .await
            .expect_error(400, 3, "*");
    }
    let known = requests::api_key("again", &sample(ApiKeyCurve::P256));
    let reply = root.submit(CREATE_API_KEYS, &requests::api_keys(daemon.root_id(0), &[known])).await;
    assert!([400, 409].contains(&reply.status), "a key belongs to one user: {reply}");
}

#[tokio::test]
async fn parents_read_children_and_children_are_isolated() {
    let daemon = daemon().await;
    let parent = daemon.root(0);
    let (first, second) = (Key::named("first child"), Key::named("second child"));
    let users = |key: &Key| [requests::root_user("child root", key)];
    let child = requests::create_sub_organization(&parent, "first", &users(&first), 1).await;
    let sibling = requests::create_sub_organization(&parent, "second", &users(&second), 1).await;

    // The parent reads its child and cannot change it.
    let seen = parent.on(&child).fetch("whoami", json!({})).await;
    assert_eq!(seen["userId"], daemon.root_id(0));
    parent.on(&child).fetch("list_users", json!({})).await;
    let reply = parent.on(&child).submit(CREATE_WALLET, &requests::wallet("by the parent")).await;
    let message = reply.expect_error(400, 3, "ORGANIZATION_MISMATCH");
    assert!(message.starts_with("organization mismatch: request is targeting organization"), "{reply}");

    // The child acts in its own organization, and a query to the parent returns that organization.
    let in_child = parent.on(&child).with_key(&first);
    in_child.completed(CREATE_WALLET, &requests::wallet("by the child")).await;
    let located = in_child.on(parent.organization()).fetch("whoami", json!({})).await;
    assert_eq!(located["organizationId"], child.as_str());
    let above = in_child.on(parent.organization());
    above.query("list_users", json!({})).await.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
    above.submit(CREATE_WALLET, &requests::wallet("above")).await.expect_error(
        401,
        16,
        "PUBLIC_KEY_NOT_FOUND",
    );
    let beside = in_child.on(&sibling);
    beside.query("list_users", json!({})).await.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
    let grandchild = requests::sub_organization("third", &users(&Key::named("third child")), 1);
    let reply = in_child.submit(requests::CREATE_SUB_ORGANIZATION, &grandchild).await;
    reply.expect_error(400, 3, "INVALID_ACTIVITY_CALLER");

    // With one key in two children, the parent cannot decide which one is meant.
    requests::create_sub_organization(&parent, "twin", &users(&first), 1).await;
    above.query("whoami", json!({})).await.expect_error(401, 16, "CREDENTIAL_CONFLICT");
    in_child.fetch("whoami", json!({})).await;
}
