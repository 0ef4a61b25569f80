//! Limits hold under races: a decision based on a count that has changed since is made again.

use quorate_common::api_error::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_core::model::layout;
use quorate_core::world::{Page, Records};
use serde_json::json;

use crate::fixture::{Fixture, NOW};
use crate::samples;

fn tag(fixture: &mut Fixture, name: &str) -> Vec<u8> {
    let tag = json!({"userTagName": name, "userIds": []});
    fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW)
}

fn creation_body(fixture: &mut Fixture) -> Vec<u8> {
    let activity_type = "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2";
    let parameters = samples::parameters(activity_type, fixture, &fixture.spare.clone());
    fixture.body(fixture.id, activity_type, &parameters, NOW)
}

#[test]
fn concurrent_proposals_do_not_exceed_the_limit_of_waiting_activities() {
    let mut fixture = Fixture::new(2);
    let proposer = fixture.roots[0].clone();
    // One waits already.
    fixture.memory.limits.waiting_activities = 2;
    let bodies = [tag(&mut fixture, "one"), tag(&mut fixture, "two")];
    let mut decide = |body: &Vec<u8>| {
        let attempt = fixture.memory.attempt("create_user_tag", &proposer.stamps(body), body, NOW);
        attempt.commit.expect("the limit allows one more")
    };
    let [first, second] = bodies.each_ref().map(&mut decide);
    assert!(fixture.memory.try_commit(first), "it is the first attempt");
    assert!(!fixture.memory.try_commit(second), "the other attempt reached the limit");
    let error =
        fixture.send(&proposer, "create_user_tag", &bodies[1], NOW).expect_err("the limit is reached");
    assert_eq!(error.code, Code::ResourceExhausted);
    assert!(error.message.contains("`waiting_activities`"), "{}", error.message);
    // Votes on waiting activities are still possible.
    let waiting = json!({"fingerprint": Fingerprint::of(&bodies[0])});
    let second = fixture.roots[1].clone();
    fixture
        .submit(&second, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &waiting, NOW)
        .expect("the vote counts");
    fixture.send(&proposer, "create_user_tag", &bodies[1], NOW).expect("the limit allows one more");
}

#[test]
fn concurrent_creations_do_not_exceed_the_limit_of_organizations() {
    let mut fixture = Fixture::new(1);
    fixture.memory.limits.organizations = {
        let prefix = layout::children(layout::NO_PARENT);
        fixture.memory.keys(Page::first(&prefix, usize::MAX)).expect("the store is readable").len() + 1
    };
    let bodies = [creation_body(&mut fixture), creation_body(&mut fixture)];
    let registrant = fixture.registrant.clone();
    let mut decide =
        |body: &Vec<u8>| fixture.memory.attempt("create_organization", &registrant.stamps(body), body, NOW);
    let [first, second] =
        bodies.each_ref().map(|body| decide(body).commit.expect("the limit allows one more"));
    assert!(fixture.memory.try_commit(first), "it is the first attempt");
    assert!(!fixture.memory.try_commit(second), "the other attempt reached the limit");
    let error =
        fixture.send(&registrant, "create_organization", &bodies[1], NOW).expect_err("the limit is reached");
    assert_eq!(error.code, Code::ResourceExhausted);
    assert!(error.message.contains("`organizations`"), "{}", error.message);
}
