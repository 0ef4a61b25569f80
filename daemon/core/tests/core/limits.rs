//! Limits that hold under races: what was decided on a number that has changed since is decided again.

use quorate_common::fault::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_core::model::layout;
use quorate_core::world::{Page, Records};
use serde_json::json;

use crate::house::{House, NOW};
use crate::samples;

fn tag(house: &mut House, name: &str) -> Vec<u8> {
    let tag = json!({"userTagName": name, "userIds": []});
    house.body(house.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW)
}

fn founding(house: &mut House) -> Vec<u8> {
    let activity_type = "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2";
    let parameters = samples::parameters(activity_type, house, &house.spare.clone());
    house.body(house.id, activity_type, &parameters, NOW)
}

#[test]
fn two_that_come_to_wait_at_once_do_not_both_take_the_last_room() {
    let mut house = House::found(2);
    let proposer = house.roots[0].clone();
    // One waits already.
    house.memory.limits.waiting_activities = 2;
    let bodies = [tag(&mut house, "one"), tag(&mut house, "two")];
    let mut decide = |body: &Vec<u8>| {
        let turn = house.memory.turn("create_user_tag", &proposer.stamps(body), body, NOW);
        turn.commit.expect("there is room for one")
    };
    let [first, second] = bodies.each_ref().map(&mut decide);
    assert!(house.memory.offer(first), "it is the first");
    assert!(!house.memory.offer(second), "it counted on the room that the other took");
    let fault = house.send(&proposer, "create_user_tag", &bodies[1], NOW).expect_err("there is no room");
    assert_eq!(fault.code, Code::ResourceExhausted);
    assert!(fault.message.contains("`waiting_activities`"), "{}", fault.message);
    // A vote on what waits is not held up.
    let waiting = json!({"fingerprint": Fingerprint::of(&bodies[0])});
    let second = house.roots[1].clone();
    house.submit(&second, house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &waiting, NOW).expect("it counts");
    house.send(&proposer, "create_user_tag", &bodies[1], NOW).expect("there is room again");
}

#[test]
fn two_who_found_at_once_do_not_both_take_the_last_room() {
    let mut house = House::found(1);
    house.memory.limits.organizations = {
        let prefix = layout::children(layout::NO_PARENT);
        house.memory.keys(Page::first(&prefix, usize::MAX)).expect("it is in memory").len() + 1
    };
    let bodies = [founding(&mut house), founding(&mut house)];
    let founder = house.founder.clone();
    let mut decide =
        |body: &Vec<u8>| house.memory.turn("create_organization", &founder.stamps(body), body, NOW);
    let [first, second] = bodies.each_ref().map(|body| decide(body).commit.expect("there is room for one"));
    assert!(house.memory.offer(first), "it is the first");
    assert!(!house.memory.offer(second), "it counted on the room that the other took");
    let fault = house.send(&founder, "create_organization", &bodies[1], NOW).expect_err("there is no room");
    assert_eq!(fault.code, Code::ResourceExhausted);
    assert!(fault.message.contains("`organizations`"), "{}", fault.message);
}
