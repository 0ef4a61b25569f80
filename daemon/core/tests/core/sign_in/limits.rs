//! How often codes are sent and tried, and when they end. None of these limits can be passed by requests at the same
//! time, or by a restart.

use std::cell::Cell;

use quorate_common::api_error::Code;
use quorate_common::ids::OtpId;
use quorate_core::cleanup;
use serde_json::json;

use super::*;

const WRONG: &str = "Invalid OTP code";
const TOO_MANY: &str = "Max number of OTPs have been initiated please wait and try again: a contact, or a `userIdentifier`, gets 3 codes within 3 minutes";

/// Returns the error for a fourth valid code, of which another one could be sent after this many seconds.
fn too_many_valid(seconds: u64) -> String {
    format!(
        "Max number of OTPs have been initiated please wait and try again: 3 codes of the contact, or of the \
         `userIdentifier`, are still valid and unused; another one can be sent after {seconds} s at the latest"
    )
}

/// Returns the number of attempts that were counted for a code.
fn attempts(fixture: &Fixture, code: &super::SentCode) -> usize {
    let id: OtpId = code.id.parse().expect("an id");
    let is_attempt = |key: &[u8]| key.get(1) == Some(&b't') && key.get(18..34) == Some(id.as_bytes());
    fixture.memory.rows(b'k').filter(|(key, _)| is_attempt(key)).count()
}

/// Returns the number of the records of sign-in flows, without the events in the delivery of messages, which are kept
/// longer, and without the schedule of import keys.
fn records(fixture: &Fixture) -> usize {
    let is_other = |key: &[u8]| {
        matches!(key, [_, b'e' | b'l', ..]) || key.get(10..12) == Some(b"ke") || key.get(10) == Some(&b'r')
    };
    fixture.memory.rows(b'k').filter(|(key, _)| !is_other(key)).count()
}

/// Returns a world that has the same store, and nothing else.
fn restarted(fixture: &Fixture) -> Fixture {
    let mut memory = Memory::default();
    for (key, row) in fixture.memory.all_rows() {
        memory.set_row(&key, Some(row));
    }
    let mut restarted = fixture.clone();
    restarted.memory = memory;
    restarted
}

#[test]
fn three_wrong_codes_lock_the_code() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    for number in 1..=3 {
        let error = verify(&mut fixture, &code.id, &code.altered(), NOW).expect_err("the code is wrong");
        assert_eq!((error.code, error.message.as_str()), (Code::InvalidArgument, WRONG));
        assert_eq!(attempts(&fixture, &code), number);
    }
    let mut restarted = restarted(&fixture);
    refused(verify(&mut restarted, &code.id, &code.code, NOW + 1), WRONG);
    refused(verify(&mut fixture, &code.id, &code.code, NOW), WRONG);
    assert_eq!(attempts(&fixture, &code), 3);
}

#[test]
fn three_wrong_encrypted_codes_lock_the_code() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP_V3", EMAIL, &json!({}), NOW).expect("a code is sent");
    let other =
        init(&mut fixture, "INIT_OTP_V3", "other@house.example", &json!({}), NOW).expect("a code is sent");
    let wrong = super::SentCode { code: code.altered(), ..code.clone() };
    // The second is encrypted to the key of another code, and the third is sent back as it is.
    refused(verify_encrypted(&mut fixture, &wrong, NOW), WRONG);
    let other_key = super::SentCode { target: other.target, ..code.clone() };
    refused(verify_encrypted(&mut fixture, &other_key, NOW), WRONG);
    refused(verify(&mut fixture, &code.id, &code.code, NOW), WRONG);
    assert_eq!(attempts(&fixture, &code), 3);
    refused(verify_encrypted(&mut fixture, &code, NOW), WRONG);
}

#[test]
fn the_code_of_another_contact_is_an_attempt() {
    let mut fixture = Fixture::new(1);
    let mut sent =
        |contact: &str| init(&mut fixture, "INIT_OTP", contact, &json!({}), NOW).expect("a code is sent");
    let (code, other) = (sent(EMAIL), sent("other@house.example"));
    for counted in 1..=3 {
        refused(verify(&mut fixture, &other.id, &code.code, NOW), WRONG);
        assert_eq!(attempts(&fixture, &other), counted);
    }
    refused(verify(&mut fixture, &other.id, &other.code, NOW), WRONG);
    verify(&mut fixture, &code.id, &code.code, NOW).expect("its own attempts are not used up");
}

#[test]
fn two_wrong_codes_lock_nothing_and_a_code_is_used_once() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    for _ in 0..2 {
        refused(verify(&mut fixture, &code.id, &code.altered(), NOW), WRONG);
    }
    verify(&mut fixture, &code.id, &code.code, NOW).expect("the third attempt");
    refused(verify(&mut fixture, &code.id, &code.code, NOW), WRONG);
}

#[test]
fn attempts_last_although_their_activities_fail() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let version = fixture.memory.stored(fixture.id).head.version;
    let root = fixture.roots[0].clone();
    let parameters = json!({"otpId": code.id, "otpCode": code.altered()});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_VERIFY_OTP", &parameters, NOW);
    refused(fixture.send(&root, "verify_otp", &body, NOW), WRONG);
    assert_eq!((attempts(&fixture, &code), fixture.memory.stored(fixture.id).head.version), (1, version));
    // The same bytes are the same attempt.
    refused(fixture.send(&root, "verify_otp", &body, NOW), WRONG);
    assert_eq!(attempts(&fixture, &code), 1);
    // An unknown code has no attempts.
    let unknown = "00000000-0000-4000-8000-000000000000";
    refused(verify(&mut fixture, unknown, &code.code, NOW), WRONG);
    assert_eq!(attempts(&fixture, &code), 1);
}

#[test]
fn the_fourth_code_to_a_contact_is_refused() {
    let mut fixture = Fixture::new(1);
    let short = json!({"expirationSeconds": "60"});
    for contact in [EMAIL, "Root1@House.Example", "ROOT1@house.example"] {
        init(&mut fixture, "INIT_OTP", contact, &short, NOW).expect("a code is sent");
    }
    let before = fixture.memory.rows(b'y').count();
    for (name, contact) in
        [("INIT_OTP", EMAIL), ("INIT_OTP_V3", "rOOT1@house.example"), ("INIT_OTP_AUTH_V3", EMAIL)]
    {
        let error = init(&mut fixture, name, contact, &short, NOW + 179_999).expect_err("three were sent");
        assert_eq!(error.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
        assert_eq!(error.message, TOO_MANY);
    }
    assert_eq!(fixture.memory.rows(b'y').count(), before, "nothing is sent");
    init(&mut fixture, "INIT_OTP", "other@house.example", &short, NOW).expect("another contact");
    init(&mut fixture, "INIT_OTP", EMAIL, &short, NOW + 180_000).expect("three minutes later");
}

#[test]
fn three_codes_to_a_contact_are_valid_at_once() {
    let mut fixture = Fixture::new(1);
    let codes: Vec<_> = (0..3)
        .map(|_| init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent"))
        .collect();
    for (later, wait) in [(0, 300), (1, 300), (1000, 299), (200_000, 100), (299_999, 1)] {
        let error =
            init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW + later).expect_err("three are valid");
        assert_eq!(error.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
        assert_eq!(error.message, too_many_valid(wait));
    }
    let mut used = fixture.clone();
    verify(&mut used, &codes[0].id, &codes[0].code, NOW).expect("the first code");
    refused(init(&mut used, "INIT_OTP", EMAIL, &json!({}), NOW + 179_999), TOO_MANY);
    init(&mut used, "INIT_OTP", EMAIL, &json!({}), NOW + 200_000).expect("two codes are valid");
    let mut locked = fixture.clone();
    for _ in 0..3 {
        refused(verify(&mut locked, &codes[1].id, &codes[1].altered(), NOW), WRONG);
    }
    init(&mut locked, "INIT_OTP", EMAIL, &json!({}), NOW + 200_000).expect("a locked code is not valid");
    init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW + 300_000).expect("all have expired");
}

#[test]
fn codes_that_end_early_count_for_three_minutes() {
    let mut fixture = Fixture::new(1);
    for (seconds, sent) in [("60", 0), ("300", 30_000), ("600", 30_000)] {
        let parameters = json!({"expirationSeconds": seconds});
        init(&mut fixture, "INIT_OTP", EMAIL, &parameters, NOW + sent).expect("a code is sent");
    }
    let mut sent = |later: u64| init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW + later);
    refused(sent(59_000), &too_many_valid(121));
    refused(sent(60_000), TOO_MANY);
    refused(sent(179_999), TOO_MANY);
    sent(180_000).expect("three minutes after the first");
    refused(sent(180_000), &too_many_valid(150));
    sent(330_000).expect("the second has expired");
}

#[test]
fn the_fourth_code_for_a_user_identifier_is_refused() {
    let mut fixture = Fixture::new(1);
    let named = json!({"userIdentifier": "hash of an address"});
    for number in 0..3 {
        let contact = format!("person{number}@house.example");
        init(&mut fixture, "INIT_OTP", &contact, &named, NOW).expect("a code is sent");
    }
    for _ in 0..3 {
        refused(init(&mut fixture, "INIT_OTP", EMAIL, &named, NOW), &too_many_valid(300));
    }
    // What was refused does not count for the contact.
    let other = json!({"userIdentifier": "another"});
    init(&mut fixture, "INIT_OTP", EMAIL, &other, NOW).expect("another user identifier");
    // An identifier that equals a contact is counted for itself.
    let alike = json!({"userIdentifier": "person0@house.example"});
    init(&mut fixture, "INIT_OTP", "alike@house.example", &alike, NOW).expect("a code is sent");
}

#[test]
fn codes_expire() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let short =
        init(&mut fixture, "INIT_OTP", EMAIL, &json!({"expirationSeconds": "60"}), NOW).expect("a code");
    refused(verify(&mut fixture.clone(), &code.id, &code.code, NOW + 300_000), WRONG);
    verify(&mut fixture.clone(), &code.id, &code.code, NOW + 299_999).expect("the last moment");
    refused(verify(&mut fixture.clone(), &short.id, &short.code, NOW + 60_000), WRONG);
    refused(
        init(&mut fixture, "INIT_OTP", EMAIL, &json!({"expirationSeconds": "601"}), NOW).map_err(
            |mut error| {
                error.message.truncate("invalid request body".len());
                error
            },
        ),
        "invalid request body",
    );
}

#[test]
fn records_of_codes_and_tokens_are_removed_when_they_end() {
    let mut fixture = Fixture::new(1);
    let id = fixture.id;
    let code =
        init(&mut fixture, "INIT_OTP", EMAIL, &json!({"userIdentifier": "user"}), NOW).expect("a code");
    refused(verify(&mut fixture, &code.id, &code.altered(), NOW), WRONG);
    let token = verify(&mut fixture, &code.id, &code.code, NOW).expect("the code is right");
    log_in(&mut fixture, id, &token, 30, NOW).expect("a session");
    let clean = |fixture: &mut Fixture, now: u64| {
        while let Some(commit) = cleanup::step(&fixture.memory, now).expect("the store is readable") {
            fixture.memory.commit(commit);
        }
    };
    let before = fixture.memory.all_rows();
    clean(&mut fixture, NOW + 179_999);
    assert!(fixture.memory.all_rows() == before);
    clean(&mut fixture, NOW + 3_599_999);
    // The use of the token, and its entry in the schedule.
    assert_eq!(records(&fixture), 2);
    refused(
        log_in(&mut fixture, id, &token, 31, NOW + 3_599_999),
        "verification token has already been used",
    );
    clean(&mut fixture, NOW + 3_600_000);
    assert_eq!(records(&fixture), 0);
    let ended = log_in(&mut fixture, id, &token, 31, NOW + 3_600_000);
    // The daemon makes the time durable, so that the token stays ended if the clock is set back.
    assert!(ended.as_ref().is_err_and(|error| error.has_expired));
    refused(ended, "invalid verification token");
}

/// Processes two requests on the same state of the store, and commits them one after the other. Returns whether each
/// was committed.
fn at_once(fixture: &mut Fixture, requests: [(&str, Value); 2]) -> [bool; 2] {
    let root = fixture.roots[0].clone();
    let commits = requests.map(|(name, parameters)| {
        let activity_type = format!("ACTIVITY_TYPE_{name}");
        let body = fixture.body(fixture.id, &activity_type, &parameters, NOW);
        let operation = crate::fixture::operation(&activity_type);
        let attempt = fixture.memory.attempt(&operation, &root.stamps(&body), &body, NOW);
        attempt.commit.expect("the request is recorded")
    });
    commits.map(|commit| fixture.memory.try_commit(commit))
}

#[test]
fn parallel_attempts_are_counted_one_by_one() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let right = || ("VERIFY_OTP", json!({"otpId": code.id, "otpCode": code.code}));
    let wrong = || ("VERIFY_OTP", json!({"otpId": code.id, "otpCode": code.altered()}));
    assert_eq!(at_once(&mut fixture.clone(), [right(), right()]), [true, false]);
    assert_eq!(at_once(&mut fixture.clone(), [right(), wrong()]), [true, false]);
    for counted in [1, 2, 3] {
        assert_eq!(at_once(&mut fixture, [wrong(), right()]), [true, false]);
        assert_eq!(attempts(&fixture, &code), counted);
    }
    refused(verify(&mut fixture, &code.id, &code.code, NOW), WRONG);
}

#[test]
fn a_code_is_used_once_at_whatever_moment_another_request_uses_it() {
    let mut fixture = Fixture::new(1);
    let (root, id) = (fixture.roots[0].clone(), fixture.id);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let right = json!({"otpId": code.id, "otpCode": code.code});
    let body = fixture.body(id, "ACTIVITY_TYPE_VERIFY_OTP", &right, NOW + 1);
    let mut after = fixture.clone();
    verify(&mut after, &code.id, &code.code, NOW).expect("the other request");
    let mut unaccepted = 0;
    for reads in 0.. {
        let mut fixture = fixture.clone();
        fixture.memory.later = Some((Cell::new(reads), after.memory.all_rows()));
        let attempt = fixture.memory.attempt("verify_otp", &root.stamps(&body), &body, NOW + 1);
        let is_unread = fixture.memory.later.is_some_and(|(reads, _)| reads.get() > 0);
        let was_accepted = attempt.answer.is_ok();
        let was_committed = attempt.commit.is_some_and(|commit| after.clone().memory.try_commit(commit));
        assert!(!(was_accepted && was_committed), "accepted again after {reads} reads");
        unaccepted += usize::from(!was_accepted);
        if is_unread {
            break;
        }
    }
    assert!(unaccepted > 0, "the other request was never seen");
}

#[test]
fn parallel_codes_and_logins_are_counted_one_by_one() {
    let mut fixture = Fixture::new(1);
    let code = |contact: &str| ("INIT_OTP", json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact}));
    assert_eq!(at_once(&mut fixture.clone(), [code(EMAIL), code("Root1@house.example")]), [true, false]);
    assert_eq!(at_once(&mut fixture.clone(), [code(EMAIL), code("other@house.example")]), [true, true]);
    let token = fixture.sign_in.tokens[0].clone();
    let login = |key: u32| ("OTP_LOGIN", json!({"verificationToken": token, "publicKey": public_key(key)}));
    assert_eq!(at_once(&mut fixture, [login(30), login(31)]), [true, false]);
}

#[test]
fn a_token_is_used_once_by_two_sub_organizations_at_once() {
    let mut fixture = Fixture::new(1);
    let other = tokens::child_with(&mut fixture, EMAIL, 60);
    let (root, child) = (fixture.roots[0].clone(), fixture.child.home);
    let login = json!({"verificationToken": fixture.sign_in.tokens[0], "publicKey": public_key(30)});
    let commits = [child, other].map(|organization| {
        let body = fixture.body(organization, "ACTIVITY_TYPE_OTP_LOGIN", &login, NOW);
        fixture.memory.attempt("otp_login", &root.stamps(&body), &body, NOW).commit.expect("a session")
    });
    // The organizations are different: only the claim of the token conflicts.
    assert_eq!(commits.map(|commit| fixture.memory.try_commit(commit)), [true, false]);
}

#[test]
fn every_refused_code_costs_as_many_records() {
    let mut fixture = Fixture::new(1);
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let mut added = |id: &str, now: u64| {
        let before = records(&fixture);
        refused(verify(&mut fixture, id, &code.altered(), now), WRONG);
        records(&fixture) - before
    };
    let wrong = [added(&code.id, NOW), added(&code.id, NOW), added(&code.id, NOW)];
    let (locked, expired) = (added(&code.id, NOW), added(&code.id, NOW + 600_000));
    let unknown = added("00000000-0000-4000-8000-000000000000", NOW);
    assert_eq!((wrong, locked, expired, unknown), ([2; 3], 2, 2, 2));
    while let Some(commit) = cleanup::step(&fixture.memory, NOW + 600_001).expect("the store is sound") {
        fixture.memory.commit(commit);
    }
    assert_eq!(records(&fixture), 0, "all of them are removed");
}

#[test]
fn users_of_a_sub_organization_have_few_messages_sent() {
    let mut fixture = Fixture::new(1);
    let (root, child) = (fixture.roots[0].clone(), fixture.child.clone());
    let mut request = |person: &Person, number: u32, more: &Value, now: u64| {
        let mut parameters =
            json!({"otpType": "OTP_TYPE_EMAIL", "contact": format!("p{number}@house.example")});
        parameters.as_object_mut().expect("members").extend(more.as_object().expect("members").clone());
        submit(&mut fixture, person, person.home, "INIT_OTP", &parameters, now)
    };
    for number in 0..16 {
        request(&child, number, &json!({}), NOW).expect("a code is sent");
    }
    let many = request(&child, 16, &json!({}), NOW + 179_999).expect_err("the seventeenth");
    assert_eq!(many.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
    for number in 0..17 {
        request(&root, number, &json!({}), NOW).expect("the parent decides whom it sends codes to");
    }
    request(&child, 17, &json!({}), NOW + 180_000).expect("the window has ended");
    // The text of an SMS is the parent's too.
    let template = json!({"otpType": "OTP_TYPE_SMS", "contact": "+12025550123",
        "smsCustomization": {"template": "https://evil.example {{.OtpCode}}"}});
    let refused = request(&child, 18, &template, NOW + 180_000).expect_err("the text is not theirs");
    assert!(refused.message.contains("`smsCustomization.template`"), "{}", refused.message);
    request(&root, 18, &template, NOW + 180_000).expect("the parent may");
}

/// Parameters of invitations to these addresses.
pub(super) fn invitations(sender: &Person, addresses: &[String]) -> Value {
    let invitation = |address: &String| {
        json!({"receiverUserName": "new", "receiverUserEmail": address, "receiverUserTags": [],
            "accessType": "ACCESS_TYPE_WEB", "senderUserId": sender.user})
    };
    json!({"invitations": addresses.iter().map(invitation).collect::<Vec<_>>()})
}

/// Addresses with numbers from `first`.
pub(super) fn addresses(first: usize, count: usize) -> Vec<String> {
    (first..first + count).map(|number| format!("p{number}@house.example")).collect()
}

const MANY: &str = "Max number of OTPs have been initiated please wait and try again: the users of a sub-organization get 16 codes, mails with a key and invitations within 3 minutes; those that its parent requests do not count";
const MANY_OF_ALL: &str = "Max number of OTPs have been initiated please wait and try again: the users of all sub-organizations of a parent get 64 codes, mails with a key and invitations within 3 minutes (`sub_organization_messages`), and the first one of each sub-organization; those that the parent requests do not count";

#[test]
fn invitations_of_a_sub_organization_count_with_its_codes() {
    let mut fixture = Fixture::new(1);
    let (root, child) = (fixture.roots[0].clone(), fixture.child.clone());
    let invite = |fixture: &mut Fixture, person: &Person, first: usize, count: usize, now: u64| {
        let parameters = invitations(person, &addresses(first, count));
        submit(fixture, person, person.home, "CREATE_INVITATIONS", &parameters, now)
    };
    let mails = |fixture: &Fixture| fixture.memory.rows(b'y').count();
    let code = |contact: &str| json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact});
    invite(&mut fixture, &child, 0, 10, NOW).expect("ten");
    for number in 0..3 {
        let contact = format!("code{number}@house.example");
        submit(&mut fixture, &child, child.home, "INIT_OTP", &code(&contact), NOW).expect("three");
    }
    let before = mails(&fixture);
    let many = invite(&mut fixture, &child, 10, 4, NOW + 179_999).expect_err("one too many");
    assert_eq!(many.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
    assert_eq!(many.message, MANY);
    assert_eq!(mails(&fixture), before, "none of them is sent");
    invite(&mut fixture, &child, 10, 3, NOW).expect("sixteen");
    let one_more = submit(&mut fixture, &child, child.home, "INIT_OTP", &code("last@house.example"), NOW);
    refused(one_more, MANY);
    for first in [100, 110, 120] {
        invite(&mut fixture, &root, first, 10, NOW).expect("the parent decides whom it invites");
    }
    // Deleting invitations gives no room.
    invite(&mut fixture, &child, 20, 10, NOW + 180_000).expect("the window has ended");
}

/// Creates sub-organizations, each with a root user of its own.
pub(super) fn children(fixture: &mut Fixture, count: u32) -> Vec<Person> {
    let root = fixture.roots[0].clone();
    (0..count)
        .map(|number| {
            let key = 200 + number;
            let parameters = json!({"subOrganizationName": format!("many {number}"), "rootQuorumThreshold": 1,
                "rootUsers": [{"userName": "root", "userEmail": EMAIL, "apiKeys": [{"apiKeyName": "key",
                    "publicKey": public_key(key), "curveType": "API_KEY_CURVE_P256"}],
                    "authenticators": [], "oauthProviders": []}]});
            let made = submit(fixture, &root, root.home, "CREATE_SUB_ORGANIZATION_V7", &parameters, NOW);
            let made = made.expect("a sub-organization");
            let result = &made["result"]["createSubOrganizationResultV7"];
            let id = |value: &Value| value.as_str().expect("an id").to_owned();
            Person {
                home: id(&result["subOrganizationId"]).parse().expect("an id"),
                user: id(&result["rootUserIds"][0]).parse().expect("an id"),
                ..with_key(&root, key)
            }
        })
        .collect()
}

#[test]
fn users_of_all_sub_organizations_have_few_messages_sent() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let many = children(&mut fixture, 9);
    let invite = |fixture: &mut Fixture, person: &Person, first: usize, count: usize, now: u64| {
        let parameters = invitations(person, &addresses(first, count));
        submit(fixture, person, person.home, "CREATE_INVITATIONS", &parameters, now)
    };
    for (number, person) in many[..8].iter().enumerate() {
        invite(&mut fixture, person, 100 * number, 9, NOW).expect("sixty-four besides the first ones");
    }
    invite(&mut fixture, &many[8], 899, 1, NOW).expect("its first message");
    let error = invite(&mut fixture, &many[8], 900, 1, NOW + 179_999).expect_err("one too many");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
    assert_eq!(error.message, MANY_OF_ALL);
    let code = json!({"otpType": "OTP_TYPE_SMS", "contact": "+4915112345678"});
    refused(submit(&mut fixture, &many[8], many[8].home, "INIT_OTP", &code, NOW), MANY_OF_ALL);
    invite(&mut fixture, &root, 0, 10, NOW).expect("the parent is not limited");
    invite(&mut fixture, &many[8], 900, 8, NOW + 180_000).expect("the window has ended");
}

#[test]
fn a_contact_gets_few_codes_from_all_sub_organizations() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let many = children(&mut fixture, 4);
    let code = json!({"otpType": "OTP_TYPE_EMAIL", "contact": "Victim@house.example"});
    let mailed =
        json!({"email": EMAIL, "targetPublicKey": target().public().hex(), "emailCustomization": {}});
    for person in &many[..3] {
        submit(&mut fixture, person, person.home, "INIT_OTP", &code, NOW).expect("a code is sent");
        submit(&mut fixture, person, person.home, "EMAIL_AUTH", &mailed, NOW).expect("a key is sent");
    }
    let last = &many[3];
    let mut other = code.clone();
    other["contact"] = json!("victim@HOUSE.example");
    refused(submit(&mut fixture, last, last.home, "INIT_OTP", &other, NOW + 179_999), TOO_MANY);
    let error = submit(&mut fixture, last, last.home, "EMAIL_AUTH", &mailed, NOW).expect_err("the fourth");
    assert!(error.message.ends_with("an address gets 3 mails with a key within 3 minutes"));
    for _ in 0..3 {
        run(&mut fixture, "INIT_OTP", &code, NOW).expect("requests of the parent are counted apart");
    }
    submit(&mut fixture, &root, last.home, "EMAIL_AUTH", &mailed, NOW).expect("also in sub-organizations");
    submit(&mut fixture, last, last.home, "INIT_OTP", &code, NOW + 180_000).expect("the window has ended");
    // Requests of two sub-organizations at the same time are counted one by one.
    let parallel = json!({"otpType": "OTP_TYPE_EMAIL", "contact": "parallel@house.example"});
    let commits = [&many[0], &many[1]].map(|person| {
        let body = fixture.body(person.home, "ACTIVITY_TYPE_INIT_OTP", &parallel, NOW + 180_000);
        let attempt = fixture.memory.attempt("init_otp", &person.stamps(&body), &body, NOW + 180_000);
        attempt.commit.expect("the request is recorded")
    });
    assert_eq!(commits.map(|commit| fixture.memory.try_commit(commit)), [true, false]);
    while let Some(commit) = cleanup::step(&fixture.memory, NOW + 1_200_000).expect("the store is sound") {
        fixture.memory.commit(commit);
    }
    assert!(fixture.memory.rows(b'k').all(|(key, _)| key.get(1) != Some(&b'm')), "the counts are removed");
}

#[test]
fn codes_of_sub_organizations_need_the_feature_in_the_parent() {
    for (feature, otp_type, contact) in [
        ("FEATURE_NAME_SMS_AUTH", "OTP_TYPE_SMS", "+4915112345678"),
        ("FEATURE_NAME_OTP_EMAIL_AUTH", "OTP_TYPE_EMAIL", "a@house.example"),
    ] {
        let mut fixture = Fixture::new(1);
        let (root, child) = (fixture.roots[0].clone(), fixture.child.clone());
        let code = json!({"otpType": otp_type, "contact": contact});
        submit(&mut fixture, &child, child.home, "INIT_OTP", &code, NOW).expect("both have it");
        fixture.execute("ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", &json!({"name": feature}));
        let text = format!("{feature} is not enabled in the parent of this organization");
        refused(submit(&mut fixture, &child, child.home, "INIT_OTP", &code, NOW), &text);
        let text = format!("{feature} is not enabled in this organization");
        refused(submit(&mut fixture, &root, root.home, "INIT_OTP", &code, NOW), &text);
    }
}
