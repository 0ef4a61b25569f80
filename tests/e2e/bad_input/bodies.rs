//! Bodies that are not JSON, or ambiguous JSON.

use quorate_tests::caller::submit_path;
use quorate_tests::requests::CREATE_WALLET;

use super::{BAD_BODY, INVALID, check, daemon, good, state};

#[tokio::test]
async fn rejects_bodies_that_are_not_json() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let good = good(&root).to_string();
    let named = |name: &str| good.replace(r#""never created""#, name);
    let rows: Vec<(&str, Vec<u8>)> = vec![
        ("words", b"not json".to_vec()),
        ("cut short", good.as_bytes()[..good.len() - 1].to_vec()),
        ("trailing JSON", format!("{good}{good}").into_bytes()),
        ("trailing comma", good.replacen('}', ",}", 1).into_bytes()),
        ("comment", format!("/* */{good}").into_bytes()),
        ("single quotes", good.replace('"', "'").into_bytes()),
        ("byte order mark", format!("\u{feff}{good}").into_bytes()),
        ("trailing byte", [good.as_bytes(), b"\xff"].concat()),
        ("UTF-16", good.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("lone surrogate", named(r#""\ud800""#).into_bytes()),
        ("not a number", named("NaN").into_bytes()),
        ("number out of range", named("1e999").into_bytes()),
        ("not UTF-8", not_utf8(&named(r#""?""#))),
    ];
    for (name, body) in rows {
        check(&root, name, &submit_path(CREATE_WALLET), &body, &BAD_BODY).await;
        check(&root, name, "/public/v1/query/whoami", &body, &BAD_BODY).await;
    }
    assert_eq!(state(&root).await, before, "nothing has changed");
}

/// Replaces each question mark with a byte that is invalid in UTF-8.
fn not_utf8(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if byte == b'?' { 0xff } else { byte }).collect()
}

#[tokio::test]
async fn rejects_bodies_that_are_not_an_object() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let good = good(&root).to_string();
    let deep = |depth: usize| {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        good.replacen(r#""walletName""#, &format!(r#""deep":{nested},"walletName""#), 1)
    };
    for (name, body) in [
        ("empty", String::new()),
        ("spaces", "   ".to_owned()),
        ("null", "null".to_owned()),
        ("array", "[]".to_owned()),
        ("text", "\"\"".to_owned()),
        ("number", "7".to_owned()),
        ("array of a valid body", format!("[{good}]")),
        ("nested deeply", deep(65)),
        ("nested 10,000 levels", "[".repeat(10_000)),
        ("nested 10,000 levels within", deep(10_000)),
    ] {
        check(&root, name, &submit_path(CREATE_WALLET), body.as_bytes(), &INVALID).await;
    }
    assert_eq!(state(&root).await, before, "nothing has changed");
}

#[tokio::test]
async fn rejects_duplicate_members() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let good = good(&root).to_string();
    let front = |member: &str| good.replacen('{', &format!("{{{member},"), 1);
    let organization = format!(r#""organizationId":"{}""#, root.organization());
    for (name, body) in [
        ("type", front(r#""type":"ACTIVITY_TYPE_CREATE_WALLET""#)),
        ("type, by an escape", front(r#""\u0074ype":"ACTIVITY_TYPE_CREATE_WALLET""#)),
        ("organization", front(&organization)),
        ("unknown member", front(r#""other":1,"other":2"#)),
        ("within parameters", good.replacen(r#""walletName""#, r#""walletName":"o","walletName""#, 1)),
        ("within an account", good.replacen(r#""path":"#, r#""path":"m/0","path":"#, 1)),
        ("within an unknown member", front(r#""other":[{"a":{"b":1,"b":1}}]"#)),
    ] {
        check(&root, name, &submit_path(CREATE_WALLET), body.as_bytes(), &BAD_BODY).await;
    }
    assert_eq!(state(&root).await, before, "nothing has changed");
}
