//! Submit requests with valid parameters and an invalid envelope.

use quorate_tests::caller::{now_millis, submit_path};
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::{Value, json};

use super::{Expected, INVALID, changed, check, daemon, good, invalid, state};

const QUERY: &str = "/public/v1/query/whoami";

const UNKNOWN: Expected = Expected {
    status: 404,
    code: 5,
    reason: "ORGANIZATION_NOT_FOUND",
    message: "no organization found with the given ID",
};

const MALFORMED: Expected = invalid("INVALID_ORGANIZATION_ID", "malformed organization ID provided");

#[tokio::test]
async fn rejects_invalid_organization_ids() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let bare = format!("\"{}\"", root.organization().replace('-', ""));
    let braced = format!("\"{{{}}}\"", root.organization());
    for (name, organization, expected) in [
        ("absent", "-", &INVALID),
        ("null", "null", &INVALID),
        ("number", "7", &INVALID),
        ("empty", r#""""#, &MALFORMED),
        ("words", r#""organization""#, &MALFORMED),
        ("without dashes", &bare, &MALFORMED),
        ("in braces", &braced, &MALFORMED),
        ("unknown", r#""00000000-0000-4000-8000-000000000001""#, &UNKNOWN),
    ] {
        let submit = changed(&good(&root), "/organizationId", organization).to_string();
        check(&root, name, &submit_path(CREATE_WALLET), submit.as_bytes(), expected).await;
        let query = changed(&json!({"organizationId": ""}), "/organizationId", organization).to_string();
        check(&root, name, QUERY, query.as_bytes(), expected).await;
    }
    // A signed submit body is not accepted as a query.
    let activity = good(&root).to_string();
    let message = "invalid request body: `type`: not allowed in a query";
    check(&root, "an activity", QUERY, activity.as_bytes(), &invalid("", message)).await;
    assert_eq!(state(&root).await, before, "nothing has changed");
}

/// Columns: name, member, value.
const ROWS: &str = r#"
type absent         | type        | -
type null           | type        | null
type a number       | type        | 45
type empty          | type        | ""
type unknown        | type        | "ACTIVITY_TYPE_NO_SUCH"
type in lower case  | type        | "activity_type_create_wallet"
version unknown     | type        | "ACTIVITY_TYPE_CREATE_WALLET_V9"
type of another path| type        | "ACTIVITY_TYPE_CREATE_USERS_V4"
parameters absent   | parameters  | -
parameters null     | parameters  | null
parameters empty    | parameters  | {}
parameters a text   | parameters  | "walletName"
parameters a list   | parameters  | []
time absent         | timestampMs | -
time null           | timestampMs | null
time empty          | timestampMs | ""
time in words       | timestampMs | "now"
time with a space   | timestampMs | " 1795253055120"
time with a sign    | timestampMs | "+1795253055120"
time with a zero    | timestampMs | "01795253055120"
time negative       | timestampMs | -1
time a fraction     | timestampMs | 1.5
time beyond 64 bits | timestampMs | "18446744073709551616"
time an object      | timestampMs | {}
"#;

#[tokio::test]
async fn rejects_invalid_envelopes() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let path = submit_path(CREATE_WALLET);
    for row in ROWS.lines().filter(|row| !row.is_empty()) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [name, member, value] = cells[..] else { panic!("a row has three cells: {row}") };
        let body = changed(&good(&root), &format!("/{member}"), value).to_string();
        check(&root, name, &path, body.as_bytes(), &INVALID).await;
    }
    let wrong_path = good(&root).to_string();
    check(&root, "another path", "/public/v1/submit/create_users", wrong_path.as_bytes(), &INVALID).await;

    let wrong_time = invalid("INVALID_TIME", "");
    for (name, millis) in [
        ("an hour and a minute old", now_millis() - 61 * 60 * 1000),
        ("six minutes ahead", now_millis() + 6 * 60 * 1000),
        ("zero", 0),
        ("the maximum", u64::MAX),
    ] {
        let body = changed(&good(&root), "/timestampMs", &format!("\"{millis}\"")).to_string();
        check(&root, name, &path, body.as_bytes(), &wrong_time).await;
    }
    assert_eq!(state(&root).await, before, "nothing has changed");
}

#[tokio::test]
async fn unsupported_types_are_reported_as_not_implemented() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    for activity_type in ["ACTIVITY_TYPE_ETH_SEND_TRANSACTION", "ACTIVITY_TYPE_EARN_DEPOSIT"] {
        root.submit(activity_type, &json!({})).await.expect_error(501, 12, "*");
    }
}

#[tokio::test]
async fn accepts_tolerated_timestamps_and_replays_known_bodies() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let old = now_millis() - 59 * 60 * 1000;
    let ahead = now_millis() + 4 * 60 * 1000;
    for millis in [old, ahead] {
        let name = millis.to_string();
        let body = root.proposal_at(&name, CREATE_WALLET, &requests::wallet(&name));
        let send = async || root.send(&submit_path(CREATE_WALLET), &body).await;
        let first: Value = send().await.activity_in("COMPLETED");
        assert_eq!(send().await.activity_in("COMPLETED"), first);
    }
}
