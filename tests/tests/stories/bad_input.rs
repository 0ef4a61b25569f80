//! Malformed requests: each is refused in the form of the wire with its code, and changes nothing.

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

/// Everything that a refused request must leave alone.
async fn state(root: &Caller) -> Value {
    let mut state = json!({ "activities": root.activities().await });
    for query in [
        "list_users",
        "list_wallets",
        "list_wallet_accounts",
        "list_private_keys",
        "get_organization_configs",
    ] {
        state[query] = root.ask(query, json!({})).await;
    }
    state
}

/// A daemon whose one root user decides alone, and the address of a wallet account.
async fn daemon() -> (Daemon, String) {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let address = requests::make_wallet(&daemon.root(0), "bad input").await;
    (daemon, address)
}

/// What a row expects.
struct Expected {
    status: u16,
    code: i64,
    /// As in `Reply::refusal`.
    reason: &'static str,
    /// Start of the message.
    message: &'static str,
}

/// 400 with code 3, in whatever words.
const INVALID: Expected = invalid("*", "");
/// 400 for what can not be parsed.
const BAD_BODY: Expected = invalid("", "bad request body");

const fn invalid(reason: &'static str, message: &'static str) -> Expected {
    Expected { status: 400, code: 3, reason, message }
}

/// One row: sends the body with a good stamp and looks at the refusal.
async fn check(root: &Caller, name: &str, path: &str, body: &[u8], expected: &Expected) {
    let reply = root.send(path, body).await;
    assert_eq!(reply.status, expected.status, "{name}: {reply}");
    let message = reply.refusal(expected.status, expected.code, expected.reason);
    assert!(message.starts_with(expected.message), "{name}: expected {:?}{reply}", expected.message);
}

/// Rows of text: what is wrong, the place in the parameters (RFC 6901), the value there (`-` removes it),
/// and the start of the message, which may be empty.
async fn check_rows(root: &Caller, activity_type: &str, good: &Value, rows: &'static str) {
    for row in rows.lines().filter(|row| !row.trim().is_empty()) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [name, place, value, message] = cells[..] else { panic!("a row has four cells: {row}") };
        let body = root.proposal(activity_type, &changed(good, place, value));
        let expected = invalid("*", message);
        check(root, name, &submit_path(activity_type), &body, &expected).await;
    }
}

/// A copy with one place changed.
fn changed(good: &Value, place: &str, value: &str) -> Value {
    let mut changed = good.clone();
    let (parent, member) = place.rsplit_once('/').expect("a place begins with a slash");
    let parent = changed.pointer_mut(parent).expect("the place is there");
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

/// A good submit, for rows that break it.
fn good(root: &Caller) -> Value {
    json!({
        "type": requests::CREATE_WALLET,
        "timestampMs": now_millis().to_string(),
        "organizationId": root.organization(),
        "parameters": requests::wallet("never made"),
    })
}
