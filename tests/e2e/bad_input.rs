//! Malformed requests: each is rejected in the wire format with its code, and changes nothing.

mod bodies;
mod envelopes;
mod http;
mod mutations;
mod parameters;
mod queries;

use quorate_tests::caller::{Caller, now_millis, submit_path};
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::requests;
use serde_json::{Value, json};

/// Queries everything that a rejected request must leave unchanged.
async fn state(root: &Caller) -> Value {
    let mut state = json!({ "activities": root.activities().await });
    for query in [
        "list_users",
        "list_wallets",
        "list_wallet_accounts",
        "list_private_keys",
        "get_organization_configs",
    ] {
        state[query] = root.fetch(query, json!({})).await;
    }
    state
}

/// Starts a daemon with one root user who decides alone, and returns the address of a wallet account.
async fn daemon() -> (Daemon, String) {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let address = requests::create_wallet(&daemon.root(0), "bad input").await;
    (daemon, address)
}

/// Expected error of a row.
struct Expected {
    status: u16,
    code: i64,
    /// As in `Reply::expect_error`.
    reason: &'static str,
    /// Start of the message.
    message: &'static str,
}

/// 400 with code 3 and any message.
const INVALID: Expected = invalid("*", "");
/// 400 for a body that cannot be parsed.
const BAD_BODY: Expected = invalid("", "bad request body");

const fn invalid(reason: &'static str, message: &'static str) -> Expected {
    Expected { status: 400, code: 3, reason, message }
}

/// Checks one row: sends the body with a valid stamp and compares the error.
async fn check(root: &Caller, name: &str, path: &str, body: &[u8], expected: &Expected) {
    let reply = root.send(path, body).await;
    assert_eq!(reply.status, expected.status, "{name}: {reply}");
    let message = reply.expect_error(expected.status, expected.code, expected.reason);
    assert!(message.starts_with(expected.message), "{name}: expected {:?}{reply}", expected.message);
}

/// Checks rows of text: name, JSON pointer into the parameters (RFC 6901), value there (`-` removes it), and
/// start of the message, which may be empty.
async fn check_rows(root: &Caller, activity_type: &str, good: &Value, rows: &'static str) {
    for row in rows.lines().filter(|row| !row.trim().is_empty()) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [name, pointer, value, message] = cells[..] else { panic!("a row has four cells: {row}") };
        let body = root.proposal(activity_type, &changed(good, pointer, value));
        let expected = invalid("*", message);
        check(root, name, &submit_path(activity_type), &body, &expected).await;
    }
}

/// Returns a copy with one value changed.
fn changed(good: &Value, pointer: &str, value: &str) -> Value {
    let mut changed = good.clone();
    let (parent, member) = pointer.rsplit_once('/').expect("a pointer starts with a slash");
    let parent = changed.pointer_mut(parent).expect("the parent exists");
    if value == "-" {
        parent.as_object_mut().expect("an object").remove(member);
    } else {
        let value = serde_json::from_str(value).expect("the value is JSON");
        match parent {
            Value::Array(list) => list[member.parse::<usize>().expect("an index")] = value,
            other => other[member] = value,
        }
    }
    changed
}

/// Returns a valid submit body, which rows then break.
fn good(root: &Caller) -> Value {
    json!({
        "type": requests::CREATE_WALLET,
        "timestampMs": now_millis().to_string(),
        "organizationId": root.organization(),
        "parameters": requests::wallet("never created"),
    })
}
