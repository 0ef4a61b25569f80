//! An IP allowlist holds at both doors, at once and across a restart, and whoever runs the service can lift one that
//! locked everybody out.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use serde_json::{Value, json};

const SET: &str = "ACTIVITY_TYPE_SET_IP_ALLOWLIST";
const REFUSED: &str = "request IP address is not in the IP allowlist";

fn blocks(blocks: &[&str]) -> Value {
    json!({"rules": blocks.iter().map(|block| json!({"cidr": block})).collect::<Vec<_>>()})
}

#[tokio::test]
async fn both_doors_ask_where_a_request_comes_from() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    root.completed(SET, &blocks(&["192.0.2.0/24", "127.0.0.1/32"])).await;
    let everybody = root.ask("get_ip_allowlist", json!({})).await;
    assert_eq!(everybody["allowlist"]["rules"][1]["cidr"], "127.0.0.1/32");
    // A key with blocks of its own is taken from there only: here, from nowhere that this test can be.
    let key = Key::named("travelling");
    let user = json!({"users": [{"userName": "traveller", "authenticators": [], "oauthProviders": [], "userTags": [],
        "apiKeys": [{"apiKeyName": "k", "publicKey": key.public_key(), "curveType": "API_KEY_CURVE_P256"}]}]});
    root.completed("ACTIVITY_TYPE_CREATE_USERS_V3", &user).await;
    root.with_key(&key).ask("whoami", json!({})).await;
    let mut own = blocks(&["198.51.100.0/24"]);
    own["publicKey"] = json!(key.public_key());
    root.completed(SET, &own).await;
    for door in [daemon.http(), daemon.socket()] {
        let traveller = quorate_tests::caller::Caller::new(door, root.organization(), key.clone());
        assert_eq!(
            traveller.query("whoami", json!({})).await.refusal(403, 7, "REQUEST_NOT_AUTHORIZED"),
            REFUSED
        );
    }
    root.completed(SET, &blocks(&["192.0.2.0/24"])).await;
    daemon.restart().await;
    for door in [daemon.http(), daemon.socket()] {
        let root = quorate_tests::caller::Caller::new(door, root.organization(), root.key().clone());
        assert_eq!(
            root.query("list_users", json!({})).await.refusal(403, 7, "REQUEST_NOT_AUTHORIZED"),
            REFUSED
        );
        let reply = root.submit("ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST", &json!({})).await;
        assert_eq!(reply.refusal(403, 7, "REQUEST_NOT_AUTHORIZED"), REFUSED);
        // Without a trusted proxy nobody is believed to be somewhere else.
        let body = json!({"organizationId": root.organization()}).to_string();
        let stamp = root.key().stamp(body.as_bytes());
        let headers = [("x-stamp", stamp.as_str()), ("x-forwarded-for", "192.0.2.1")];
        let reply =
            root.call(hyper::Method::POST, "/public/v1/query/whoami", &headers, body.as_bytes()).await;
        assert_eq!(reply.refusal(403, 7, "REQUEST_NOT_AUTHORIZED"), REFUSED);
    }
}

#[tokio::test]
async fn a_team_that_locked_itself_out_is_let_in_again() {
    let installation = Installation::new("file = \"root.key\"");
    let key = Key::named("locked out");
    let organization = installation.found("team", &key).await;
    {
        let served = installation.serve().await;
        let root = served.caller(&organization, key.clone());
        root.completed(SET, &blocks(&[])).await;
        assert_eq!(root.query("whoami", json!({})).await.refusal(403, 7, "REQUEST_NOT_AUTHORIZED"), REFUSED);
        let busy = installation.run("clear-ip-allowlist", &["--organization", &organization]).await;
        assert_eq!(busy.code, 6, "{busy:#?}");
    }
    let unknown = "00000000-0000-4000-8000-000000000000";
    let wrong = installation.run("clear-ip-allowlist", &["--organization", unknown]).await;
    assert_eq!((wrong.code, wrong.complaint.contains("there is no organization")), (1, true), "{wrong:#?}");
    for says in ["takes requests from any address again", "has no IP allowlist"] {
        let run = installation.run("clear-ip-allowlist", &["--organization", &organization]).await;
        assert_eq!((run.code, run.output.contains(says)), (0, true), "{run:#?}");
    }
    let served = installation.serve().await;
    served.caller(&organization, key).ask("whoami", json!({})).await;
}
