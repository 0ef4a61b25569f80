//! A signed request counts once: it is never fresh consent, permission to read, or a second chance after a
//! denial.

use quorate_common::api_error::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::stamp::{Scheme, Stamp};
use quorate_core::authn::{Credentials, Header};
use quorate_core::queries;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person, header, public_key};

const MINUTE: u64 = 60 * 1000;
const HOUR: u64 = 60 * MINUTE;

/// Creates a fixture with a root quorum of four and a threshold of 3: both root users, the user and the spare
/// user.
fn three_of_four() -> (Fixture, [Person; 4]) {
    let mut fixture = Fixture::new(2);
    let members =
        [fixture.roots[0].clone(), fixture.roots[1].clone(), fixture.user.clone(), fixture.spare.clone()];
    let ids = members.each_ref().map(|member| member.user);
    fixture.execute("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &json!({"threshold": 3, "userIds": ids}));
    (fixture, members)
}

fn wallet(fixture: &mut Fixture) -> Vec<u8> {
    fixture.body(
        fixture.id,
        "ACTIVITY_TYPE_CREATE_WALLET",
        &json!({"walletName": "cold", "accounts": []}),
        NOW,
    )
}

fn send(fixture: &mut Fixture, person: &Person, body: &[u8], now: u64) -> Value {
    fixture.send(person, "create_wallet", body, now).expect("the activity is returned")["activity"]["status"]
        .clone()
}

fn approve(fixture: &mut Fixture, person: &Person, body: &[u8], now: u64) -> Value {
    let target = json!({"fingerprint": Fingerprint::of(body)});
    let answer = fixture.submit(person, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, now);
    answer.expect("the vote is permitted")["activity"]["status"].clone()
}

#[test]
fn repeating_a_body_does_not_renew_its_vote() {
    let (mut fixture, [proposer, second, third, _]) = three_of_four();
    let body = wallet(&mut fixture);
    assert_eq!(send(&mut fixture, &proposer, &body, NOW), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(send(&mut fixture, &second, &body, NOW + 1), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    // A day later both approvals have expired, and two members approve again.
    let later = NOW + 25 * HOUR;
    assert_eq!(approve(&mut fixture, &proposer, &body, later), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(approve(&mut fixture, &third, &body, later), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    // The stored vote of the second member shows body and stamp: anyone can send both again.
    let before = fixture.memory.all_rows();
    for sender in [&second, &proposer] {
        assert_eq!(send(&mut fixture, sender, &body, later), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    }
    assert!(fixture.memory.all_rows() == before, "a vote was renewed by a day-old signature");
    assert_eq!(approve(&mut fixture, &second, &body, later), "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn repeating_an_approval_does_not_renew_it() {
    let (mut fixture, [proposer, second, third, _]) = three_of_four();
    let body = wallet(&mut fixture);
    send(&mut fixture, &proposer, &body, NOW);
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let ballot = fixture.body(fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    fixture.send(&second, "approve_activity", &ballot, NOW).expect("the vote counts");
    let later = NOW + 25 * HOUR;
    approve(&mut fixture, &proposer, &body, later);
    approve(&mut fixture, &third, &body, later);
    let before = fixture.memory.all_rows();
    for sender in [&second, &proposer] {
        let answer =
            fixture.send(sender, "approve_activity", &ballot, later).expect("the target is returned");
        assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    }
    assert!(fixture.memory.all_rows() == before);
}

#[test]
fn proposal_bodies_count_as_votes_only_while_recent() {
    let (mut fixture, [proposer, second, third, _]) = three_of_four();
    let body = wallet(&mut fixture);
    send(&mut fixture, &proposer, &body, NOW);
    send(&mut fixture, &second, &body, NOW + HOUR);
    let before = fixture.memory.all_rows();
    let late = NOW + HOUR + 1;
    let error = fixture.send(&third, "create_wallet", &body, late).expect_err("it is too old to be a vote");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("INVALID_TIME"), "{}", error.message);
    // Those who voted with the body, and those who cannot vote, see the activity at any time.
    let expiring = fixture.expiring.clone();
    for (person, now) in [(&proposer, late), (&second, late), (&expiring, NOW)] {
        assert_eq!(send(&mut fixture, person, &body, now), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    }
    assert!(fixture.memory.all_rows() == before);
    assert_eq!(approve(&mut fixture, &third, &body, late), "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn votes_do_not_move_with_a_key_to_another_user() {
    let (mut fixture, [proposer, second, user, spare]) = three_of_four();
    let body = wallet(&mut fixture);
    send(&mut fixture, &proposer, &body, NOW);
    send(&mut fixture, &user, &body, NOW);
    // The user deletes the key that voted, and the spare user registers it.
    let deletion = json!({"userId": user.user, "apiKeyIds": [user.keys[0]]});
    fixture
        .submit(&user, fixture.id, "ACTIVITY_TYPE_DELETE_API_KEYS", &deletion, NOW)
        .expect("users may change their own keys");
    let key = json!({"apiKeyName": "adopted", "publicKey": public_key(user.number)});
    let new = json!({"userId": spare.user, "apiKeys": [key]});
    fixture
        .submit(&spare, fixture.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &new, NOW)
        .expect("users may change their own keys");
    send(&mut fixture, &second, &body, NOW);
    let before = fixture.memory.all_rows();
    // The same stamp now belongs to the spare user.
    assert_eq!(send(&mut fixture, &user, &body, NOW + MINUTE), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert!(fixture.memory.all_rows() == before, "one stamp counted as votes of two users");
}

#[test]
fn second_key_of_a_user_adds_no_vote_with_the_same_body() {
    let (mut fixture, [proposer, _, user, _]) = three_of_four();
    let body = wallet(&mut fixture);
    send(&mut fixture, &proposer, &body, NOW);
    send(&mut fixture, &user, &body, NOW);
    let before = fixture.memory.all_rows();
    let other_key = Person { number: 11, ..user };
    for now in [NOW, NOW + HOUR, NOW + 25 * HOUR] {
        assert_eq!(send(&mut fixture, &other_key, &body, now), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    }
    assert!(fixture.memory.all_rows() == before);
}

#[test]
fn recorded_votes_cannot_be_replayed_as_queries() {
    let (mut fixture, [proposer, ..]) = three_of_four();
    let body = wallet(&mut fixture);
    send(&mut fixture, &proposer, &body, NOW);
    let list = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let answer = fixture.memory.query("list_activities", &proposer.stamps(&list), &list, NOW);
    let vote = answer.expect("a root user may read")["activities"][0]["votes"][0].clone();
    let text = |member: &str| vote[member].as_str().expect("a text").to_owned();
    let stamp = Stamp {
        public_key: text("publicKey"),
        scheme: Scheme::from_name(&text("scheme")).expect("a scheme"),
        signature: text("signature"),
    };
    let credentials = Credentials { stamp: Header::Once(header(&stamp)), ..Credentials::default() };
    let message = text("message").into_bytes();
    // The key of an invitation is necessary for this one, and accepts nothing but its invitation.
    let of_users = queries::all().into_iter().map(|entry| entry.name);
    for name in of_users.filter(|name| *name != "get_invitation_status") {
        let error =
            fixture.memory.query(name, &credentials, &message, NOW).expect_err("the body is an activity");
        assert_eq!(error.code, Code::InvalidArgument, "{name}: {}", error.message);
        assert!(error.message.contains("not allowed in a query"), "{name}: {}", error.message);
    }
    // Each of these members alone marks an activity, in either spelling.
    for member in ["type", "timestampMs", "timestamp_ms", "parameters"] {
        let body = json!({"organizationId": fixture.id, member: "1"}).to_string().into_bytes();
        let error = fixture
            .memory
            .query("whoami", &proposer.stamps(&body), &body, NOW)
            .expect_err("the body is not a query");
        assert_eq!(error.code, Code::InvalidArgument, "{member}");
    }
    // Other additional members are ignored.
    let body = json!({"organizationId": fixture.id, "type": null, "generateAppProofs": true, "filter": {"type": "a"}});
    let body = body.to_string().into_bytes();
    fixture.memory.query("whoami", &proposer.stamps(&body), &body, NOW).expect("a query");
}

/// Returns a body that only root users may send.
fn tag(fixture: &mut Fixture, number: usize) -> Vec<u8> {
    let tag = json!({"userTagName": format!("tag {number}"), "userIds": []});
    fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW)
}

/// Sends bodies as the user, who may not send them, all at one time.
fn denied(fixture: &mut Fixture, bodies: &[Vec<u8>], now: u64) {
    let user = fixture.user.clone();
    for body in bodies {
        let error = fixture.send(&user, "create_user_tag", body, now).expect_err("the request is denied");
        assert_eq!(error.code, Code::PermissionDenied, "{}", error.message);
    }
}

/// Returns the numbers of stored bodies, activities, denied attempts and displaced attempts.
fn counts(fixture: &Fixture) -> [usize; 4] {
    [b'h', b'a', b'd', b'u'].map(|letter| fixture.memory.rows(letter).count())
}

#[test]
fn denied_bodies_never_run_even_after_many_denials() {
    let mut fixture = Fixture::new(1);
    let limit = fixture.memory.limits.denied_activities;
    let bodies: Vec<_> = (0..3 * limit).map(|number| tag(&mut fixture, number)).collect();
    let [empty_bodies, empty_activities, ..] = counts(&fixture);
    denied(&mut fixture, &bodies, NOW);
    // Only some of them are recorded as activities.
    let expected = [empty_bodies + 3 * limit, empty_activities + limit, limit, 2 * limit];
    assert_eq!(counts(&fixture), expected);
    let allow_all = json!({"policyName": "all", "effect": "EFFECT_ALLOW", "notes": "",
        "consensus": format!("approvers.any(user, user.id == '{}')", fixture.user.user)});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &allow_all);
    let before = fixture.memory.all_rows();
    denied(&mut fixture, &bodies, NOW + HOUR);
    assert!(fixture.memory.all_rows() == before);
    let (user, body) = (fixture.user.clone(), tag(&mut fixture, 3 * limit));
    fixture.send(&user, "create_user_tag", &body, NOW + HOUR).expect("a new body may run");
}

#[test]
fn denied_attempts_are_removed_when_their_bodies_are_too_old() {
    let mut fixture = Fixture::new(1);
    let limit = fixture.memory.limits.denied_activities;
    let bodies: Vec<_> = (0..2 * limit).map(|number| tag(&mut fixture, number)).collect();
    let [empty_bodies, empty_activities, ..] = counts(&fixture);
    denied(&mut fixture, &bodies, NOW);
    // A timestamp may be five minutes ahead.
    let later = NOW + HOUR + 5 * MINUTE + 1;
    let more: Vec<_> = (0..limit)
        .map(|number| {
            let tag = json!({"userTagName": format!("late {number}"), "userIds": []});
            fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, later)
        })
        .collect();
    denied(&mut fixture, &more, later);
    // The last displaced attempt is removed with the next one.
    assert_eq!(counts(&fixture), [empty_bodies + limit + 1, empty_activities + limit, limit, 1]);
}

#[test]
fn a_denial_reads_as_much_after_many_denials() {
    let mut fixture = Fixture::new(1);
    fixture.memory.limits.denied_activities = 5;
    fixture.memory.limits.denials_per_hour = 400;
    let mut rows = |count: usize| -> Vec<usize> {
        (0..count)
            .map(|_| {
                let number = fixture.memory.rows(b'h').count();
                let body = tag(&mut fixture, number);
                let before = fixture.memory.budget.rows_taken();
                denied(&mut fixture, &[body], NOW);
                fixture.memory.budget.rows_taken() - before
            })
            .collect()
    };
    let first = rows(20);
    let last = rows(350);
    assert_eq!(first.iter().max(), last.iter().max());
}

#[test]
fn denials_beyond_the_limit_are_not_recorded() {
    let mut fixture = Fixture::new(1);
    fixture.memory.limits.denials_per_hour = 20;
    let bodies: Vec<_> = (0..121).map(|number| tag(&mut fixture, number)).collect();
    denied(&mut fixture, &bodies[..120], NOW);
    let (user, spare, before) = (fixture.user.clone(), fixture.spare.clone(), fixture.memory.all_rows());
    for now in [NOW, NOW + HOUR] {
        let error =
            fixture.send(&user, "create_user_tag", &bodies[120], now).expect_err("the limit is reached");
        assert_eq!(error.code, Code::ResourceExhausted);
        assert!(error.message.contains("`denials_per_hour`"), "{}", error.message);
    }
    assert!(fixture.memory.all_rows() == before);
    // Other users are not affected, and permitted activities still run.
    let error =
        fixture.send(&spare, "create_user_tag", &bodies[120], NOW).expect_err("the request is denied");
    assert_eq!(error.code, Code::PermissionDenied);
    let own = json!({"userId": user.user, "apiKeys": [{"apiKeyName": "own", "publicKey": public_key(31)}]});
    fixture
        .submit(&user, fixture.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &own, NOW)
        .expect("users may change their own keys");
    let later = NOW + HOUR + 5 * MINUTE + 1;
    let tag = json!({"userTagName": "late", "userIds": []});
    let error = fixture.submit(&user, fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, later);
    assert_eq!(error.expect_err("the request is denied").code, Code::PermissionDenied);
}

/// Somebody who sees a query that expires, such as a proxy, sends no other ones with it.
#[test]
fn a_body_of_a_query_that_expires_is_no_other_query() {
    let fixture = Fixture::new(1);
    let root = &fixture.roots[0];
    let body = json!({"organizationId": fixture.id, "path": "", "validUntilMs": NOW + 60_000}).to_string();
    let stamps = root.stamps(body.as_bytes());
    // The key of an invitation is necessary for this one.
    for entry in queries::all().into_iter().filter(|entry| entry.name != "get_invitation_status") {
        let answer = fixture.memory.query(entry.name, &stamps, body.as_bytes(), NOW);
        if entry.name == "get_console_view" {
            answer.expect("it is answered");
        } else {
            let error = answer.expect_err(entry.name);
            let text = "invalid request body: `validUntilMs`: not allowed in a query";
            assert_eq!((error.code, error.message.as_str()), (Code::InvalidArgument, text), "{}", entry.name);
        }
    }
}
