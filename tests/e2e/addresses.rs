//! An IP allowlist applies to both listeners, at once and across a restart. The operator can remove one that
//! locked everybody out.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use serde_json::{Value, json};

const SET: &str = "ACTIVITY_TYPE_SET_IP_ALLOWLIST";
const NOT_ALLOWED: &str = "request IP address is not in the IP allowlist";

fn blocks(blocks: &[&str]) -> Value {
    json!({"rules": blocks.iter().map(|block| json!({"cidr": block})).collect::<Vec<_>>()})
}

#[tokio::test]
async fn an_ip_allowlist_applies_to_both_listeners() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    root.completed(SET, &blocks(&["192.0.2.0/24", "127.0.0.1/32"])).await;
    let allowlist = root.fetch("get_ip_allowlist", json!({})).await;
    assert_eq!(allowlist["allowlist"]["rules"][1]["cidr"], "127.0.0.1/32");
    // A key with its own blocks is accepted from these only, and this test cannot use their addresses.
    let key = Key::named("travelling");
    let user = json!({"users": [{"userName": "traveller", "authenticators": [], "oauthProviders": [], "userTags": [],
        "apiKeys": [{"apiKeyName": "k", "publicKey": key.public_key(), "curveType": "API_KEY_CURVE_P256"}]}]});
    root.completed("ACTIVITY_TYPE_CREATE_USERS_V3", &user).await;
    root.with_key(&key).fetch("whoami", json!({})).await;
    let mut own = blocks(&["198.51.100.0/24"]);
    own["publicKey"] = json!(key.public_key());
    root.completed(SET, &own).await;
    for listener in [daemon.http(), daemon.socket()] {
        let traveller = quorate_tests::caller::Caller::new(listener, root.organization(), key.clone());
        assert_eq!(
            traveller.query("whoami", json!({})).await.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED"),
            NOT_ALLOWED
        );
    }
    root.completed(SET, &blocks(&["192.0.2.0/24"])).await;
    daemon.restart().await;
    for listener in [daemon.http(), daemon.socket()] {
        let root = quorate_tests::caller::Caller::new(listener, root.organization(), root.key().clone());
        assert_eq!(
            root.query("list_users", json!({})).await.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED"),
            NOT_ALLOWED
        );
        let reply = root.submit("ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST", &json!({})).await;
        assert_eq!(reply.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED"), NOT_ALLOWED);
        // Without a trusted proxy, forwarding headers are ignored.
        let body = json!({"organizationId": root.organization()}).to_string();
        let stamp = root.key().stamp(body.as_bytes());
        let headers = [("x-stamp", stamp.as_str()), ("x-forwarded-for", "192.0.2.1")];
        let reply =
            root.call(hyper::Method::POST, "/public/v1/query/whoami", &headers, body.as_bytes()).await;
        assert_eq!(reply.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED"), NOT_ALLOWED);
    }
}

#[tokio::test]
async fn the_operator_clears_an_allowlist_that_locked_everybody_out() {
    let installation = Installation::new("file = \"root.key\"");
    let key = Key::named("locked out");
    let organization = installation.create_organization("team", &key).await;
    {
        let served = installation.serve().await;
        let root = served.caller(&organization, key.clone());
        root.completed(SET, &blocks(&[])).await;
        assert_eq!(
            root.query("whoami", json!({})).await.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED"),
            NOT_ALLOWED
        );
        let busy = installation.run("clear-ip-allowlist", &["--organization", &organization]).await;
        assert_eq!(busy.code, 6, "{busy:#?}");
    }
    let unknown = "00000000-0000-4000-8000-000000000000";
    let wrong = installation.run("clear-ip-allowlist", &["--organization", unknown]).await;
    assert_eq!((wrong.code, wrong.stderr.contains("not found")), (1, true), "{wrong:#?}");
    for words in ["accepts requests from any address again", "has no IP allowlist"] {
        let run = installation.run("clear-ip-allowlist", &["--organization", &organization]).await;
        assert_eq!((run.code, run.output.contains(words)), (0, true), "{run:#?}");
    }
    let served = installation.serve().await;
    served.caller(&organization, key).fetch("whoami", json!({})).await;
}
