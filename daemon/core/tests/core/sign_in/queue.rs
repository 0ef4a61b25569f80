//! Messages that wait to be sent: when they end, how many may wait, and who may customize them.

use quorate_common::api_error::Code;
use quorate_core::message_end;
use serde_json::json;

use super::*;
use crate::samples;

/// Activities that send a message, with their lifetime in milliseconds.
const SENDERS: [(&str, &str, u64); 6] = [
    ("INIT_OTP", "OTP_TYPE_EMAIL", 300_000),
    ("INIT_OTP_V3", "OTP_TYPE_EMAIL", 60_000),
    ("INIT_OTP_AUTH", "OTP_TYPE_EMAIL", 300_000),
    ("INIT_OTP", "OTP_TYPE_SMS", 60_000),
    ("EMAIL_AUTH", "", 60_000),
    ("INIT_USER_EMAIL_RECOVERY", "", 900_000),
];

fn mailed(email: &str) -> Value {
    json!({"email": email, "targetPublicKey": target().public().hex(), "emailCustomization": {"appName": "House"}})
}

fn code(contact: &str) -> Value {
    let is_phone = contact.starts_with('+');
    let otp_type = if is_phone { "OTP_TYPE_SMS" } else { "OTP_TYPE_EMAIL" };
    json!({"otpType": otp_type, "contact": contact, "appName": "House"})
}

#[test]
fn messages_end_with_their_secrets() {
    for (name, otp_type, life) in SENDERS {
        let mut fixture = Fixture::new(1);
        let contact = if otp_type == "OTP_TYPE_SMS" { "+4915112345678" } else { EMAIL };
        let mut parameters = if otp_type.is_empty() { mailed(EMAIL) } else { code(contact) };
        if life == 60_000 {
            parameters["expirationSeconds"] = json!("60");
        }
        let sent = run(&mut fixture, name, &parameters, NOW).expect(name);
        let mail = mail(&fixture.memory, &sent).map(|mail| mail.expires);
        let ends = mail.or_else(|| sms(&fixture.memory, &sent).map(|sms| sms.expires)).expect("a message");
        assert_eq!(ends, Some(NOW + life), "{name}");
    }
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let invitations = samples::parameters("ACTIVITY_TYPE_CREATE_INVITATIONS", &fixture, &root);
    let sent = run(&mut fixture, "CREATE_INVITATIONS", &invitations, NOW).expect("an invitation");
    let week = 7 * 24 * 60 * 60 * 1000;
    assert_eq!(mail(&fixture.memory, &sent).expect("a mail").expires, Some(NOW + week));
}

/// Returns the numbers of stored messages, codes, counted receivers and activities.
fn stored(fixture: &Fixture) -> [usize; 4] {
    let count = |letter: u8, class: Option<u8>| {
        let is_of = |key: &[u8]| class.is_none_or(|class| key.get(1) == Some(&class));
        fixture.memory.rows(letter).filter(|(key, _)| is_of(key)).count()
    };
    [
        count(b'y', None) + count(b'p', Some(b'm')),
        count(b'k', Some(b'c')),
        count(b'k', Some(b's')),
        count(b'a', None),
    ]
}

/// Returns how many mails of the fixture wait.
fn waiting(fixture: &Fixture) -> usize {
    fixture.memory.rows(b'y').count()
}

#[test]
fn a_tenant_has_a_limit_of_waiting_messages() {
    let mut fixture = Fixture::new(1);
    let (root, child, sibling) = (fixture.roots[0].clone(), fixture.child.clone(), fixture.sibling.clone());
    // The organization and its sub-organizations share five; each sub-organization has at most one of them.
    fixture.memory.limits.waiting_messages = waiting(&fixture) + 5;
    let most = fixture.memory.limits.waiting_messages;
    let part = most / 4;
    for number in 0..part {
        let parameters = code(&format!("person{number}@child.example"));
        submit(&mut fixture, &child, child.home, "INIT_OTP", &parameters, NOW).expect("there is room");
    }
    let before = stored(&fixture);
    let refused = |answer: Result<Value, ApiError>, most: usize| {
        let error = answer.expect_err("the limit is reached");
        let text = format!(
            "organization has reached its limit of {most} mails waiting to be sent (`waiting_messages`)"
        );
        assert_eq!((error.code, error.code.http_status()), (Code::ResourceExhausted, 429));
        assert!(error.message.starts_with(&text), "{}", error.message);
        assert!(json!(error).to_string().contains("waiting_messages"), "the key is in the details");
    };
    for (name, parameters) in [("INIT_OTP", code("next@child.example")), ("EMAIL_AUTH", mailed(EMAIL))] {
        refused(submit(&mut fixture, &child, child.home, name, &parameters, NOW), part);
    }
    refused(submit(&mut fixture, &root, child.home, "EMAIL_AUTH", &mailed(EMAIL), NOW), part);
    assert_eq!(stored(&fixture), before, "nothing is made");
    // SMS have a queue of their own.
    submit(&mut fixture, &child, child.home, "INIT_OTP", &code("+4915112345678"), NOW).expect("an SMS");
    let mut number = 0;
    while waiting(&fixture) < most {
        number += 1;
        run(&mut fixture, "INIT_OTP", &code(&format!("person{number}@parent.example")), NOW)
            .expect("there is room");
    }
    refused(run(&mut fixture, "INIT_OTP", &code("next@parent.example"), NOW), most);
    refused(submit(&mut fixture, &sibling, sibling.home, "INIT_OTP", &code("a@sibling.example"), NOW), most);
    let invitations = samples::parameters("ACTIVITY_TYPE_CREATE_INVITATIONS", &fixture, &root);
    refused(run(&mut fixture, "CREATE_INVITATIONS", &invitations, NOW), most);
    // Once the messages are sent, there is room.
    let keys: Vec<_> = fixture.memory.rows(b'y').map(|(key, _)| key.to_vec()).collect();
    for key in &keys {
        fixture.memory.set_row(key, None);
    }
    run(&mut fixture, "INIT_OTP", &code("next@parent.example"), NOW).expect("there is room");
}

#[test]
fn invitations_of_sub_organizations_are_counted_as_their_codes() {
    let mut fixture = Fixture::new(1);
    let child = fixture.child.clone();
    let invitations = |from: usize, count: usize| {
        let invitation = |number: usize| {
            json!({"receiverUserName": "guest", "receiverUserEmail": format!("guest{number}@example.org"),
                "receiverUserTags": [], "accessType": "ACCESS_TYPE_ALL", "senderUserId": child.user})
        };
        json!({"invitations": (from..from + count).map(invitation).collect::<Vec<_>>()})
    };
    let mut invite = |from, count, now| {
        submit(&mut fixture, &child, child.home, "CREATE_INVITATIONS", &invitations(from, count), now)
    };
    invite(0, 10, NOW).expect("ten of sixteen");
    let error = invite(10, 7, NOW + 1).expect_err("seventeen");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
    invite(20, 6, NOW + 2).expect("all or none were counted");
    invite(30, 1, NOW + 3).expect_err("sixteen were sent");
    invite(40, 1, NOW + 180_001).expect("three minutes later");
}

#[test]
fn a_tenant_has_a_limit_of_bytes_of_waiting_messages() {
    let mut fixture = Fixture::new(1);
    let bytes: usize = fixture.memory.rows(b'y').map(|(_, mail)| mail.len()).sum();
    fixture.memory.limits.waiting_message_bytes = bytes + 100;
    let error =
        run(&mut fixture, "INIT_OTP", &code("a@parent.example"), NOW).expect_err("the limit is reached");
    assert_eq!(error.code, Code::ResourceExhausted);
    assert!(
        error.message.contains("bytes of mails waiting to be sent (`waiting_message_bytes`)"),
        "{}",
        error.message
    );
    run(&mut fixture, "INIT_OTP", &code("+4915112345678"), NOW).expect("SMS count for themselves");
}

#[test]
fn approvals_wait_until_there_is_room() {
    let mut fixture = Fixture::new(2);
    let (id, second) = (fixture.id, fixture.roots[1].clone());
    let waits = run(&mut fixture, "EMAIL_AUTH", &mailed(EMAIL), NOW).expect("it waits");
    let vote = json!({"fingerprint": waits["fingerprint"]});
    let limits = fixture.memory.limits.clone();
    fixture.memory.limits.waiting_messages = 0;
    let error = submit(&mut fixture, &second, id, "APPROVE_ACTIVITY", &vote, NOW).expect_err("no room");
    assert_eq!(error.code, Code::ResourceExhausted);
    fixture.memory.limits = limits;
    let done = submit(&mut fixture, &second, id, "APPROVE_ACTIVITY", &vote, NOW + 1).expect("there is room");
    assert_eq!(done["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn users_of_sub_organizations_do_not_present_themselves_as_the_service() {
    let fixture = Fixture::new(1);
    let (root, child) = (fixture.roots[0].clone(), fixture.child.clone());
    let members = [
        ("/sendFromEmailAddress", "security@allowed.example"),
        ("/sendFromEmailSenderName", "Bank security"),
        ("/replyToEmailAddress", "attacker@evil.example"),
        ("/emailCustomization/logoUrl", "https://evil.example/bank.png"),
        ("/emailCustomization/magicLinkTemplate", "https://evil.example/bank?%s"),
    ];
    for (name, parameters) in [
        ("INIT_OTP", code(EMAIL)),
        ("INIT_OTP_V2", code(EMAIL)),
        ("INIT_OTP_V3", code(EMAIL)),
        ("INIT_OTP_AUTH_V2", code(EMAIL)),
        ("EMAIL_AUTH", mailed(EMAIL)),
        ("EMAIL_AUTH_V3", mailed(EMAIL)),
        ("INIT_USER_EMAIL_RECOVERY", mailed(EMAIL)),
        ("INIT_USER_EMAIL_RECOVERY_V2", mailed(EMAIL)),
    ] {
        for (member, value) in members {
            let mut parameters = parameters.clone();
            if parameters.get("emailCustomization").is_none() {
                parameters["emailCustomization"] = json!({});
            }
            let (parent, own) = member.rsplit_once('/').expect("a path");
            parameters.pointer_mut(parent).expect("a member")[own] = json!(value);
            let sent = |fixture: &mut Fixture, caller: &Person| {
                submit(fixture, caller, child.home, name, &parameters, NOW)
            };
            let before = stored(&fixture);
            let error = sent(&mut fixture.clone(), &child).expect_err(member);
            assert_eq!(error.code, Code::InvalidArgument, "{name}: {member}");
            let path = member.trim_start_matches('/').replace('/', ".");
            let text = format!(
                "invalid request body: `{path}`: users of a sub-organization must not set it; its parent can"
            );
            assert_eq!(error.message, text, "{name}");
            assert_eq!(stored(&fixture)[..3], before[..3]);
            // Parents request codes at their own organization.
            if !name.starts_with("INIT_OTP_V") && name != "INIT_OTP" {
                sent(&mut fixture.clone(), &root)
                    .unwrap_or_else(|error| panic!("{name}, {member}: {error:?}"));
            }
            run(&mut fixture.clone(), name, &parameters, NOW)
                .unwrap_or_else(|error| panic!("{name}, {member}: {error:?}"));
            let mut allowing = fixture.clone();
            allowing.memory.allows_child_branding = true;
            sent(&mut allowing, &child).unwrap_or_else(|error| panic!("{name}, {member}: {error:?}"));
        }
        // The name of the application is required by many clients.
        submit(&mut fixture.clone(), &child, child.home, name, &parameters, NOW).expect("unbranded");
    }
}

#[test]
fn a_receiver_is_counted_once_whatever_the_spelling_of_its_domain() {
    let fixture = Fixture::new(1);
    // UTS #46: full-width letters are those of ASCII; RFC 5890: A-labels.
    for spellings in [
        ["a@house.example", "a@\u{ff48}ouse.example", "A@HOUSE.ex\u{ff41}mple", "a@house.\u{ff45}xample"],
        [
            "a@b\u{fc}cher.example",
            "a@xn--bcher-kva.example",
            "a@B\u{dc}CHER.example",
            "a@XN--BCHER-KVA.Example",
        ],
    ] {
        let mut codes = fixture.clone();
        for spelling in &spellings[..3] {
            run(&mut codes, "INIT_OTP", &code(spelling), NOW).expect(spelling);
        }
        let error = run(&mut codes, "INIT_OTP", &code(spellings[3]), NOW).expect_err("three were sent");
        assert_eq!(error.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"), "{}", spellings[3]);
    }
    let mut other = fixture;
    for contact in ["a@house.example", "b@house.example", "a@house2.example", "\u{e4}@house.example"] {
        run(&mut other, "INIT_OTP", &code(contact), NOW).expect(contact);
    }
}

#[test]
fn mailed_keys_end_no_other_session() {
    let mut fixture = Fixture::new(1);
    let (id, user) = (fixture.id, fixture.roots[1].clone());
    let limit = fixture.memory.limits.expiring_api_keys;
    let sessions: Vec<Person> = (0..u32::try_from(limit).expect("a small limit"))
        .map(|number| {
            let login = json!({"publicKey": public_key(100 + number), "expirationSeconds": "86400"});
            submit(&mut fixture, &user, id, "STAMP_LOGIN", &login, NOW).expect("a session");
            with_key(&user, 100 + number)
        })
        .collect();
    // Anybody can type the address of the user, three times in three minutes.
    let mut keys = Vec::new();
    for step in 0..60 {
        let now = NOW + step * 61_000;
        let name = if step % 2 == 0 { "EMAIL_AUTH" } else { "INIT_USER_EMAIL_RECOVERY" };
        let mut parameters = mailed(EMAIL);
        parameters["expirationSeconds"] = json!("86400");
        let sent = run(&mut fixture, name, &parameters, now).expect("a mail is sent");
        let text = mail(&fixture.memory, &sent).expect("a mail").text.clone();
        let bundle = text.lines().find_map(|line| line.strip_prefix("    ")).expect("a bundle").to_owned();
        keys.push(with_bundle(&user, &bundle));
    }
    for session in &sessions {
        whoami(&fixture, session, id, NOW + 3_700_000).expect("the session lives");
    }
    let live = keys.iter().filter(|key| whoami(&fixture, key, id, NOW + 3_700_000).is_ok()).count();
    assert_eq!(live, 2 * limit, "the newest keys of each flow");
    whoami(&fixture, keys.last().expect("a key"), id, NOW + 3_700_000).expect("the newest key");
    // Logins evict each other, and no mailed key counts for them.
    let login = json!({"publicKey": public_key(150), "expirationSeconds": "86400"});
    submit(&mut fixture, &user, id, "STAMP_LOGIN", &login, NOW + 3_700_000).expect("a session");
    whoami(&fixture, &sessions[0], id, NOW + 3_700_000).expect_err("the oldest session");
    whoami(&fixture, &sessions[1], id, NOW + 3_700_000).expect("the next one");
}

/// Moves the mails that wait from one organization to another of the same tenant.
fn moved(fixture: &mut Fixture, from: OrganizationId, to: OrganizationId) {
    let rows: Vec<_> = fixture.memory.rows(b'y').map(|(key, row)| (key.to_vec(), row.to_vec())).collect();
    for (key, row) in rows {
        let mut mail = Mail::decode(&row).expect("a mail");
        if let Some(origin) = mail.origin.as_mut().filter(|origin| origin.organization == from) {
            origin.organization = to;
            fixture.memory.set_row(&key, Some(mail.encode().expect("a mail")));
        }
    }
}

#[test]
fn sub_organizations_leave_half_of_the_queue_to_their_parent() {
    let mut fixture = Fixture::new(1);
    let (root, child, sibling) = (fixture.roots[0].clone(), fixture.child.clone(), fixture.sibling.clone());
    let clear: Vec<_> = fixture.memory.rows(b'y').map(|(key, _)| key.to_vec()).collect();
    for key in &clear {
        fixture.memory.set_row(key, None);
    }
    fixture.memory.limits.waiting_messages = 8;
    let mut number = 0;
    let mut send = |fixture: &mut Fixture, person: &Person| {
        number += 1;
        let contact = format!("person{number}@house.example");
        submit(fixture, person, person.home, "INIT_OTP", &code(&contact), NOW)
    };
    for _ in 0..2 {
        send(&mut fixture, &child).expect("a quarter");
        send(&mut fixture, &sibling).expect("a quarter");
    }
    // Their mails become those of two others.
    let [third, fourth] = [81, 82].map(|byte| OrganizationId::from_bytes([byte; 16]));
    moved(&mut fixture, child.home, third);
    moved(&mut fixture, sibling.home, fourth);
    for person in [&child, &sibling] {
        let error = send(&mut fixture, person).expect_err("half is used");
        assert_eq!(error.code, Code::ResourceExhausted);
        let text = "organization has reached its limit of 4 mails waiting to be sent (`waiting_messages`)";
        assert!(error.message.starts_with(text), "{}", error.message);
    }
    let mailed = submit(&mut fixture, &root, child.home, "EMAIL_AUTH", &mailed(EMAIL), NOW);
    mailed.expect("the parent may, also in a sub-organization");
    for _ in 0..3 {
        send(&mut fixture, &root).expect("the rest is that of the parent");
    }
    send(&mut fixture, &root).expect_err("all is used");
    assert_eq!(waiting(&fixture), 8);
    // What the parent has sent takes nothing from the half.
    let bytes: usize = fixture.memory.rows(b'y').map(|(_, mail)| mail.len()).sum();
    fixture.memory.limits.waiting_messages = 1000;
    fixture.memory.limits.waiting_message_bytes = bytes + 2000;
    let error = send(&mut fixture, &child).expect_err("half of the bytes are used");
    assert!(error.message.contains("(`waiting_message_bytes`)"), "{}", error.message);
    send(&mut fixture, &root).expect("the parent has room");
}

#[test]
fn messages_are_useless_once_what_they_are_for_has_ended() {
    let mut fixture = Fixture::new(1);
    let (root, id) = (fixture.roots[0].clone(), fixture.id);
    let is_useless = |fixture: &Fixture, activity: &Value, now: u64| {
        let mail = mail(&fixture.memory, activity).expect("a mail");
        message_end::is_useless(&mail, &fixture.memory, now).expect("the store is readable")
    };
    // A code that was used, and one that is locked.
    let codes = ["used@house.example", "locked@house.example"]
        .map(|contact| run(&mut fixture, "INIT_OTP", &code(contact), NOW).expect("a code"));
    let [used, locked] = codes.each_ref().map(|activity| SentCode::of(&fixture.memory, activity));
    assert!(codes.iter().all(|activity| !is_useless(&fixture, activity, NOW)));
    verify(&mut fixture, &used.id, &used.code, NOW).expect("the code is right");
    assert!(is_useless(&fixture, &codes[0], NOW) && !is_useless(&fixture, &codes[1], NOW));
    for number in 0..3 {
        assert!(!is_useless(&fixture, &codes[1], NOW), "{number}");
        verify(&mut fixture, &locked.id, &locked.altered(), NOW).expect_err("the code is wrong");
    }
    assert!(is_useless(&fixture, &codes[1], NOW));
    // A key that is replaced.
    let key = run(&mut fixture, "EMAIL_AUTH", &mailed(EMAIL), NOW).expect("a key");
    assert!(!is_useless(&fixture, &key, NOW));
    let mut replacing = mailed(EMAIL);
    replacing["invalidateExisting"] = json!(true);
    let next = run(&mut fixture, "EMAIL_AUTH", &replacing, NOW).expect("another key");
    assert!(is_useless(&fixture, &key, NOW) && !is_useless(&fixture, &next, NOW));
    // An invitation that is withdrawn, and one that ended.
    let invitations = samples::parameters("ACTIVITY_TYPE_CREATE_INVITATIONS", &fixture, &root);
    let sent = run(&mut fixture, "CREATE_INVITATIONS", &invitations, NOW).expect("an invitation");
    assert!(!is_useless(&fixture, &sent, NOW));
    assert!(is_useless(&fixture, &sent, NOW + 7 * 24 * 60 * 60 * 1000));
    let invitation = sent["result"]["createInvitationsResult"]["invitationIds"][0].clone();
    run(&mut fixture, "DELETE_INVITATION", &json!({"invitationId": invitation}), NOW).expect("it is deleted");
    assert!(is_useless(&fixture, &sent, NOW));
    // A damaged record decides nothing.
    let of_user = layout::entity(id, layout::Class::USER, fixture.roots[1].user.as_bytes());
    fixture.memory.set_row(&of_user, Some(vec![0]));
    assert!(!is_useless(&fixture, &next, NOW));
}
