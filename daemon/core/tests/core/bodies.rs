//! How a body that was taken is known again: always by its own time, by its fingerprint alone while it is young or
//! once it waited.

use quorate_common::fault::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_core::limits::BODY_AGE_MILLIS;
use quorate_core::operator;
use quorate_core::refusal::{Missing, Refusal};
use serde_json::{Value, json};

use crate::house::{House, NOW};

const TAG: &str = "ACTIVITY_TYPE_CREATE_USER_TAG";

fn tag(house: &mut House, name: &str) -> Vec<u8> {
    house.body(house.id, TAG, &json!({"userTagName": name, "userIds": []}), NOW)
}

#[test]
fn a_body_of_an_earlier_store_runs_no_second_time() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let body = tag(&mut house, "once");
    let first = house.send(&root, "create_user_tag", &body, NOW).expect("it may");
    house.memory.forget_the_times_of_bodies();
    let before = house.memory.everything();
    for now in [NOW, NOW + 2 * BODY_AGE_MILLIS] {
        let again = house.send(&root, "create_user_tag", &body, now).expect("it is shown");
        assert_eq!(again["activity"]["id"], first["activity"]["id"]);
    }
    assert!(house.memory.everything() == before);
}

#[test]
fn a_body_is_known_for_ever() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let body = tag(&mut house, "once");
    let first = house.send(&root, "create_user_tag", &body, NOW).expect("it may");
    let again = house.send(&root, "create_user_tag", &body, NOW + 1000 * BODY_AGE_MILLIS);
    assert_eq!(again.expect("it is shown")["activity"]["id"], first["activity"]["id"]);
}

/// A vote on the body by its fingerprint.
fn vote(house: &mut House, body: &[u8], now: u64) -> Result<Value, Code> {
    let root = house.roots[0].clone();
    let target = json!({"fingerprint": Fingerprint::of(body)});
    house.submit(&root, house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, now).map_err(|fault| fault.code)
}

#[test]
fn what_ran_at_once_is_found_by_its_fingerprint_while_its_body_is_young() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let body = tag(&mut house, "at once");
    let id = house.send(&root, "create_user_tag", &body, NOW).expect("it may")["activity"]["id"].clone();
    let (young, old) = (NOW + BODY_AGE_MILLIS, NOW + BODY_AGE_MILLIS + 60_000);
    assert_eq!(vote(&mut house, &body, young).expect("it is shown")["activity"]["id"], id);
    assert_eq!(vote(&mut house, &body, old), Err(Code::NotFound));
    let fingerprint = Fingerprint::of(&body).to_string();
    let review = |reference: &str, now| operator::review(&house.memory, house.id, reference, now);
    let found = review(&fingerprint, young).expect("it is found");
    assert_eq!(json!(found.row.activity.id), id);
    assert!(matches!(review(&fingerprint, old), Err(Refusal::Missing(Missing::Activity))));
    assert!(review(id.as_str().expect("an id"), old).is_ok(), "its id finds it always");
}

#[test]
fn what_waited_is_found_by_its_fingerprint_for_ever() {
    let mut house = House::found(2);
    let roots = house.roots.clone();
    let body = tag(&mut house, "later");
    let id =
        house.send(&roots[0], "create_user_tag", &body, NOW).expect("it waits")["activity"]["id"].clone();
    let voted = vote(&mut house, &body, NOW + 30 * BODY_AGE_MILLIS).expect("it is found");
    assert_eq!(voted["activity"]["id"], id);
}
