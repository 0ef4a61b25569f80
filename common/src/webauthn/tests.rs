//! Challenges and base64 limits.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

mod signatures;

/// Vector A.3 of the wire documentation: the challenge that the published clients derive from this body.
#[test]
fn challenge_matches_the_published_clients() {
    let body = br#"{"organizationId":"00000000-0000-4000-8000-000000000001"}"#;
    let expected = "ZDJkNWMzNzkyMGJmZGU2OGM4Yjg0ZDUyNzIxYjc3NjRhOTlmZDg4MDU2ZmQ4NGE5N2Q2YTJiMDJmYWJhYjcwNA";
    assert_eq!(challenge_of(body), expected);
    assert_eq!(challenge_of(b"").len(), 86);
}

#[test]
fn decodes_base64_up_to_the_limit() {
    for (text, limit, expected) in [
        ("", 0, Some(vec![])),
        ("AA", 0, None),
        ("AA", 1, Some(vec![0])),
        ("AA==", 1, Some(vec![0])),
        ("AAA", 1, None),
        ("AAAA", 3, Some(vec![0; 3])),
        ("AAAAAA", 3, None),
        ("-_-_", 3, Some(vec![0xfb, 0xff, 0xbf])),
        ("+/+/", 3, Some(vec![0xfb, 0xff, 0xbf])),
        ("-_+/", 3, None),
        ("AB", 1, None),
    ] {
        assert_eq!(decoded(text, limit), expected, "{text}");
    }
}
