//! How a submitted body is recognized: always by its own timestamp, and by its fingerprint alone while it is
//! recent or if its activity waited for votes.

use quorate_common::api_error::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_core::error::{Missing, RequestError};
use quorate_core::limits::BODY_AGE_MILLIS;
use quorate_core::operator;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

const TAG: &str = "ACTIVITY_TYPE_CREATE_USER_TAG";

fn tag(fixture: &mut Fixture, name: &str) -> Vec<u8> {
    fixture.body(fixture.id, TAG, &json!({"userTagName": name, "userIds": []}), NOW)
}

#[test]
fn bodies_in_a_store_of_an_earlier_version_do_not_run_twice() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let body = tag(&mut fixture, "once");
    let first = fixture.send(&root, "create_user_tag", &body, NOW).expect("the request is permitted");
    fixture.memory.remove_body_times();
    let before = fixture.memory.all_rows();
    for now in [NOW, NOW + 2 * BODY_AGE_MILLIS] {
        let again = fixture.send(&root, "create_user_tag", &body, now).expect("the activity is returned");
        assert_eq!(again["activity"]["id"], first["activity"]["id"]);
    }
    assert!(fixture.memory.all_rows() == before);
}

#[test]
fn bodies_never_run_twice() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let body = tag(&mut fixture, "once");
    let first = fixture.send(&root, "create_user_tag", &body, NOW).expect("the request is permitted");
    let again = fixture.send(&root, "create_user_tag", &body, NOW + 1000 * BODY_AGE_MILLIS);
    assert_eq!(again.expect("the activity is returned")["activity"]["id"], first["activity"]["id"]);
}

/// Votes on the body by its fingerprint.
fn vote(fixture: &mut Fixture, body: &[u8], now: u64) -> Result<Value, Code> {
    let root = fixture.roots[0].clone();
    let target = json!({"fingerprint": Fingerprint::of(body)});
    fixture
        .submit(&root, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, now)
        .map_err(|error| error.code)
}

#[test]
fn activities_that_ran_at_once_are_found_by_fingerprint_while_their_body_is_recent() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let body = tag(&mut fixture, "at once");
    let id = fixture.send(&root, "create_user_tag", &body, NOW).expect("the request is permitted")["activity"]["id"].clone();
    let (recent, old) = (NOW + BODY_AGE_MILLIS, NOW + BODY_AGE_MILLIS + 60_000);
    assert_eq!(vote(&mut fixture, &body, recent).expect("the activity is returned")["activity"]["id"], id);
    assert_eq!(vote(&mut fixture, &body, old), Err(Code::NotFound));
    let fingerprint = Fingerprint::of(&body).to_string();
    let review = |reference: &str, now| operator::review(&fixture.memory, fixture.id, reference, None, now);
    let found = review(&fingerprint, recent).expect("the record exists");
    assert_eq!(json!(found.row.activity.id), id);
    assert!(matches!(review(&fingerprint, old), Err(RequestError::Missing(Missing::Activity))));
    assert!(review(id.as_str().expect("an id"), old).is_ok(), "it is always found by id");
}

#[test]
fn activities_that_waited_are_always_found_by_fingerprint() {
    let mut fixture = Fixture::new(2);
    let roots = fixture.roots.clone();
    let body = tag(&mut fixture, "later");
    let id = fixture.send(&roots[0], "create_user_tag", &body, NOW).expect("the activity waits")["activity"]
        ["id"]
        .clone();
    let voted = vote(&mut fixture, &body, NOW + 30 * BODY_AGE_MILLIS).expect("the record exists");
    assert_eq!(voted["activity"]["id"], id);
}
