//! What was signed once: it is never taken as fresh consent, as leave to read, or as what was denied before.

use quorate_common::fault::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::stamp::{Scheme, Stamp};
use quorate_core::authn::Credentials;
use quorate_core::queries;
use serde_json::{Value, json};

use crate::house::{House, NOW, Person, header, public_key};

const MINUTE: u64 = 60 * 1000;
const HOUR: u64 = 60 * MINUTE;

/// A house in which three of these four members must agree: both root users, the user and the spare user.
fn three_of_four() -> (House, [Person; 4]) {
    let mut house = House::found(2);
    let members = [house.roots[0].clone(), house.roots[1].clone(), house.user.clone(), house.spare.clone()];
    let ids = members.each_ref().map(|member| member.user);
    house.agreed("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &json!({"threshold": 3, "userIds": ids}));
    (house, members)
}

fn wallet(house: &mut House) -> Vec<u8> {
    house.body(house.id, "ACTIVITY_TYPE_CREATE_WALLET", &json!({"walletName": "cold", "accounts": []}), NOW)
}

fn send(house: &mut House, person: &Person, body: &[u8], now: u64) -> Value {
    house.send(person, "create_wallet", body, now).expect("it is shown")["activity"]["status"].clone()
}

fn approve(house: &mut House, person: &Person, body: &[u8], now: u64) -> Value {
    let target = json!({"fingerprint": Fingerprint::of(body)});
    let answer = house.submit(person, house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, now);
    answer.expect("they may vote")["activity"]["status"].clone()
}

#[test]
fn a_body_that_was_a_vote_once_never_renews_it() {
    let (mut house, [proposer, second, third, _]) = three_of_four();
    let body = wallet(&mut house);
    assert_eq!(send(&mut house, &proposer, &body, NOW), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(send(&mut house, &second, &body, NOW + 1), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    // A day later both approvals have expired, and two members approve anew.
    let later = NOW + 25 * HOUR;
    assert_eq!(approve(&mut house, &proposer, &body, later), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(approve(&mut house, &third, &body, later), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    // The stored vote of the second member shows body and stamp: anyone can send both again.
    let before = house.memory.everything();
    for sender in [&second, &proposer] {
        assert_eq!(send(&mut house, sender, &body, later), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    }
    assert!(house.memory.everything() == before, "a vote was renewed by what was signed a day before");
    assert_eq!(approve(&mut house, &second, &body, later), "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn a_ballot_that_was_cast_once_never_renews_it() {
    let (mut house, [proposer, second, third, _]) = three_of_four();
    let body = wallet(&mut house);
    send(&mut house, &proposer, &body, NOW);
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let ballot = house.body(house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    house.send(&second, "approve_activity", &ballot, NOW).expect("it counts");
    let later = NOW + 25 * HOUR;
    approve(&mut house, &proposer, &body, later);
    approve(&mut house, &third, &body, later);
    let before = house.memory.everything();
    for sender in [&second, &proposer] {
        let answer = house.send(sender, "approve_activity", &ballot, later).expect("the target is shown");
        assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    }
    assert!(house.memory.everything() == before);
}

#[test]
fn the_body_of_a_proposal_is_a_vote_only_while_it_is_in_time() {
    let (mut house, [proposer, second, third, _]) = three_of_four();
    let body = wallet(&mut house);
    send(&mut house, &proposer, &body, NOW);
    send(&mut house, &second, &body, NOW + HOUR);
    let before = house.memory.everything();
    let late = NOW + HOUR + 1;
    let fault = house.send(&third, "create_wallet", &body, late).expect_err("it is too old to be a vote");
    assert_eq!(fault.turnkey_error_code.as_deref(), Some("INVALID_TIME"), "{}", fault.message);
    // Those who voted by it, and those who cannot vote, are shown the activity at any time.
    let expiring = house.expiring.clone();
    for (person, now) in [(&proposer, late), (&second, late), (&expiring, NOW)] {
        assert_eq!(send(&mut house, person, &body, now), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    }
    assert!(house.memory.everything() == before);
    assert_eq!(approve(&mut house, &third, &body, late), "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn a_key_that_changes_hands_takes_no_vote_along() {
    let (mut house, [proposer, second, user, spare]) = three_of_four();
    let body = wallet(&mut house);
    send(&mut house, &proposer, &body, NOW);
    send(&mut house, &user, &body, NOW);
    // The user gives up the key that voted, and the spare user registers it.
    let gone = json!({"userId": user.user, "apiKeyIds": [user.keys[0]]});
    house.submit(&user, house.id, "ACTIVITY_TYPE_DELETE_API_KEYS", &gone, NOW).expect("their own key");
    let key = json!({"apiKeyName": "taken up", "publicKey": public_key(user.number)});
    let new = json!({"userId": spare.user, "apiKeys": [key]});
    house.submit(&spare, house.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &new, NOW).expect("their own key");
    send(&mut house, &second, &body, NOW);
    let before = house.memory.everything();
    // The same stamp is a stamp of the spare user now.
    assert_eq!(send(&mut house, &user, &body, NOW + MINUTE), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert!(house.memory.everything() == before, "one stamp was a vote of two users");
}

#[test]
fn no_key_gives_two_votes_of_one_user_by_one_body() {
    let (mut house, [proposer, _, user, _]) = three_of_four();
    let body = wallet(&mut house);
    send(&mut house, &proposer, &body, NOW);
    send(&mut house, &user, &body, NOW);
    let before = house.memory.everything();
    let other_key = Person { number: 11, ..user };
    for now in [NOW, NOW + HOUR, NOW + 25 * HOUR] {
        assert_eq!(send(&mut house, &other_key, &body, now), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    }
    assert!(house.memory.everything() == before);
}

#[test]
fn a_recorded_vote_is_no_leave_to_read() {
    let (mut house, [proposer, ..]) = three_of_four();
    let body = wallet(&mut house);
    send(&mut house, &proposer, &body, NOW);
    let list = json!({"organizationId": house.id}).to_string().into_bytes();
    let answer = house.memory.query("list_activities", &proposer.stamps(&list), &list, NOW);
    let vote = answer.expect("a root user may read")["activities"][0]["votes"][0].clone();
    let text = |member: &str| vote[member].as_str().expect("a text").to_owned();
    let stamp = Stamp {
        public_key: text("publicKey"),
        scheme: Scheme::of_name(&text("scheme")).expect("a scheme"),
        signature: text("signature"),
    };
    let credentials = Credentials { stamps: vec![header(&stamp)], ..Credentials::default() };
    let message = text("message").into_bytes();
    for name in queries::names() {
        let fault = house.memory.query(name, &credentials, &message, NOW).expect_err("it is an activity");
        assert_eq!(fault.code, Code::InvalidArgument, "{name}: {}", fault.message);
        assert!(fault.message.contains("a query has none"), "{name}: {}", fault.message);
    }
    // Each of the members alone gives it away, however it is spelled.
    for member in ["type", "timestampMs", "timestamp_ms", "parameters"] {
        let body = json!({"organizationId": house.id, member: "1"}).to_string().into_bytes();
        let fault = house.memory.query("whoami", &proposer.stamps(&body), &body, NOW).expect_err("no query");
        assert_eq!(fault.code, Code::InvalidArgument, "{member}");
    }
    // What clients send beside them is ignored as before.
    let body =
        json!({"organizationId": house.id, "type": null, "generateAppProofs": true, "filter": {"type": "a"}});
    let body = body.to_string().into_bytes();
    house.memory.query("whoami", &proposer.stamps(&body), &body, NOW).expect("a query");
}

/// A body that nobody but root users may send.
fn tag(house: &mut House, number: usize) -> Vec<u8> {
    let tag = json!({"userTagName": format!("tag {number}"), "userIds": []});
    house.body(house.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW)
}

/// The user sends bodies that they may not send, all at one time.
fn denied(house: &mut House, bodies: &[Vec<u8>], now: u64) {
    let user = house.user.clone();
    for body in bodies {
        let fault = house.send(&user, "create_user_tag", body, now).expect_err("they may not");
        assert_eq!(fault.code, Code::PermissionDenied, "{}", fault.message);
    }
}

/// How many bodies, activities, denied attempts and displaced ones are stored.
fn counts(house: &House) -> [usize; 4] {
    [b'h', b'a', b'd', b'u'].map(|letter| house.memory.rows(letter).count())
}

#[test]
fn what_was_denied_never_runs_however_many_denials_follow() {
    let mut house = House::found(1);
    let limit = house.memory.limits.denied_activities;
    let bodies: Vec<_> = (0..3 * limit).map(|number| tag(&mut house, number)).collect();
    let [empty_bodies, empty_activities, ..] = counts(&house);
    denied(&mut house, &bodies, NOW);
    // Activities are kept of some only.
    let expected = [empty_bodies + 3 * limit, empty_activities + limit, limit, 2 * limit];
    assert_eq!(counts(&house), expected);
    let everything = json!({"policyName": "all", "effect": "EFFECT_ALLOW", "notes": "",
        "consensus": format!("approvers.any(user, user.id == '{}')", house.user.user)});
    house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &everything);
    let before = house.memory.everything();
    denied(&mut house, &bodies, NOW + HOUR);
    assert!(house.memory.everything() == before);
    let (user, body) = (house.user.clone(), tag(&mut house, 3 * limit));
    house.send(&user, "create_user_tag", &body, NOW + HOUR).expect("a new body may run");
}

#[test]
fn denied_attempts_are_forgotten_when_their_bodies_are_too_old() {
    let mut house = House::found(1);
    let limit = house.memory.limits.denied_activities;
    let bodies: Vec<_> = (0..2 * limit).map(|number| tag(&mut house, number)).collect();
    let [empty_bodies, empty_activities, ..] = counts(&house);
    denied(&mut house, &bodies, NOW);
    // A body may be five minutes ahead of its time.
    let later = NOW + HOUR + 5 * MINUTE + 1;
    let more: Vec<_> = (0..limit)
        .map(|number| {
            let tag = json!({"userTagName": format!("late {number}"), "userIds": []});
            house.body(house.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, later)
        })
        .collect();
    denied(&mut house, &more, later);
    // The last that was displaced is forgotten with the next one.
    assert_eq!(counts(&house), [empty_bodies + limit + 1, empty_activities + limit, limit, 1]);
}

#[test]
fn who_is_denied_too_often_is_told_so_and_nothing_is_recorded() {
    let mut house = House::found(1);
    house.memory.limits.denials_per_hour = 20;
    let bodies: Vec<_> = (0..121).map(|number| tag(&mut house, number)).collect();
    denied(&mut house, &bodies[..120], NOW);
    let (user, spare, before) = (house.user.clone(), house.spare.clone(), house.memory.everything());
    for now in [NOW, NOW + HOUR] {
        let fault = house.send(&user, "create_user_tag", &bodies[120], now).expect_err("there is no room");
        assert_eq!(fault.code, Code::ResourceExhausted);
        assert!(fault.message.contains("`denials_per_hour`"), "{}", fault.message);
    }
    assert!(house.memory.everything() == before);
    // Others are not held up, and what the user may do is done.
    let fault = house.send(&spare, "create_user_tag", &bodies[120], NOW).expect_err("they may not");
    assert_eq!(fault.code, Code::PermissionDenied);
    let own = json!({"userId": user.user, "apiKeys": [{"apiKeyName": "own", "publicKey": public_key(31)}]});
    house.submit(&user, house.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &own, NOW).expect("their own key");
    let later = NOW + HOUR + 5 * MINUTE + 1;
    let tag = json!({"userTagName": "late", "userIds": []});
    let fault = house.submit(&user, house.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, later);
    assert_eq!(fault.expect_err("they may not").code, Code::PermissionDenied);
}
