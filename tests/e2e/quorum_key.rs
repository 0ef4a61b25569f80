//! The key that signs bundles: created once, and the same wherever it is shown.

use hyper::Method;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use serde_json::Value;

const DISCOVERY: &str = "/public/v1/discovery/quorum-key";

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("JSON")
}

#[tokio::test]
async fn the_quorum_key_is_the_same_in_every_output() {
    let installation = Installation::new("file = \"root.key\"");
    let key = Key::named("first root user");
    let root_user = format!("root={}", key.public_key());
    let created = json(
        installation.run("init", &["--name", "team", "--root-user", &root_user]).await.output.as_bytes(),
    );
    let [one, both] =
        ["quorumPublicKey", "quorumPublicKeys"].map(|name| created[name].as_str().expect("a key"));
    assert_eq!((one.len(), both.len()), (130, 260), "two uncompressed points: {created:#}");
    assert!(one.starts_with("04") && both.starts_with("04") && both.ends_with(one), "{created:#}");
    let expected = serde_json::json!({"quorumPublicKey": one, "quorumPublicKeys": both});

    for _ in 0..2 {
        let shown = installation.run("quorum-key", &[]).await;
        assert_eq!((shown.code, json(shown.output.as_bytes())), (0, expected.clone()));
        let served = installation.serve().await;
        let anonymous =
            served.caller(created["organizationId"].as_str().expect("an id"), Key::named("anonymous"));
        let shown = anonymous.call(Method::GET, DISCOVERY, &[], b"").await;
        assert_eq!((shown.status, json(&shown.body)), (200, expected.clone()));
        assert_ne!(anonymous.call(Method::POST, DISCOVERY, &[], b"").await.status, 200);
        let busy = installation.run("quorum-key", &[]).await;
        assert_eq!(busy.code, 6, "a store has one process: {busy:#?}");
    }
}
