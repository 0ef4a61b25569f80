//! Codes that are sent back for a token, and the token for a session.

use quorate_common::api_error::Code;
use serde_json::json;

use super::*;

#[test]
fn a_code_a_token_and_a_session_lead_to_a_stamped_request() {
    let mut fixture = Fixture::new(1);
    let [_, user] = fixture.roots.clone();
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    assert_eq!((code.code.len(), &code.target), (9, &Value::Null));
    let token = verify(&mut fixture, &code.id, &code.code, NOW + 1).expect("the code is right");
    let expected = json!({"id": claims_of(&token)["id"], "verification_type": "OTP_TYPE_EMAIL", "contact": EMAIL,
        "organization_id": fixture.id, "exp": NOW / 1000 + 3600});
    assert_eq!(claims_of(&token), expected);
    assert!(!fixture.memory.stored(fixture.id).user(user.user).expect("a user").email_verified);
    let id = fixture.id;
    let claims = log_in(&mut fixture, id, &token, 30, NOW + 2).expect("a session");
    let expected = json!({"exp": NOW / 1000 + 900, "public_key": public_key(30), "user_id": user.user,
        "session_type": "SESSION_TYPE_READ_WRITE", "organization_id": id});
    assert_eq!(claims, expected);
    assert!(fixture.memory.stored(id).user(user.user).expect("a user").email_verified);
    let session = with_key(&user, 30);
    assert_eq!(whoami(&fixture, &session, id, NOW + 3), Ok(json!(user.user)));
    let tag = json!({"userTagName": "fresh", "userIds": []});
    let done = submit(&mut fixture, &session, id, "CREATE_USER_TAG", &tag, NOW + 3).expect("a root user");
    assert_eq!(done["status"], "ACTIVITY_STATUS_COMPLETED");
    whoami(&fixture, &session, id, NOW + 902_000).expect_err("the session has ended");
}

#[test]
fn an_encrypted_code_is_bound_to_the_key_of_the_client() {
    let mut fixture = Fixture::new(1);
    let (user, id) = (fixture.roots[1].clone(), fixture.id);
    let code = init(&mut fixture, "INIT_OTP_V3", EMAIL, &json!({}), NOW).expect("a code is sent");
    let token = verify_encrypted(&mut fixture, &code, NOW).expect("the code is right");
    let expected = json!({"id": claims_of(&token)["id"], "verification_type": "OTP_TYPE_EMAIL", "contact": EMAIL,
        "organization_id": id, "public_key": public_key(TOKEN_KEY), "exp": (NOW + 3_600_000).to_string()});
    assert_eq!(claims_of(&token), expected);
    log_in(&mut fixture, id, &token, 30, NOW).expect("a session");
    assert_eq!(whoami(&fixture, &with_key(&user, 30), id, NOW), Ok(json!(user.user)));
    // The token's own key may be the key of the session.
    let code = init(&mut fixture, "INIT_OTP_V3", EMAIL, &json!({}), NOW).expect("a code is sent");
    let token = verify_encrypted(&mut fixture, &code, NOW).expect("the code is right");
    log_in(&mut fixture, id, &token, TOKEN_KEY, NOW).expect("a session");
}

#[test]
fn a_code_by_sms_proves_a_phone_number() {
    let mut fixture = Fixture::new(1);
    let (user, id) = (fixture.user.clone(), fixture.id);
    let phone = json!({"userId": user.user, "userPhoneNumber": "+12025550123"});
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER", &phone);
    let digits = json!({"otpLength": 6, "alphanumeric": false});
    let code = init(&mut fixture, "INIT_OTP_V2", "+12025550123", &digits, NOW).expect("a code is sent");
    assert!(code.code.len() == 6 && code.code.bytes().all(|letter| letter.is_ascii_digit()), "{}", code.code);
    let token = verify(&mut fixture, &code.id, &code.code, NOW).expect("the code is right");
    assert_eq!(claims_of(&token)["verification_type"], "OTP_TYPE_SMS");
    log_in(&mut fixture, id, &token, 30, NOW).expect("a session");
    assert_eq!(whoami(&fixture, &with_key(&user, 30), id, NOW), Ok(json!(user.user)));
    let stored = fixture.memory.stored(id);
    let stored = stored.user(user.user).expect("a user");
    assert!(stored.phone_verified && !stored.email_verified);
}

#[test]
fn codes_are_read_as_people_write_them() {
    let mut fixture = Fixture::new(1);
    for number in 0..3 {
        let contact = format!("person{number}@house.example");
        let code = init(&mut fixture, "INIT_OTP", &contact, &json!({}), NOW).expect("a code is sent");
        let written = code.code.to_lowercase().replace('0', "o").replacen('1', "l", 1).replace('1', "I");
        verify(&mut fixture, &code.id, &written, NOW).expect("the code is right");
    }
}

#[test]
fn a_token_of_the_parent_opens_a_session_in_a_sub_organization() {
    let mut fixture = Fixture::new(1);
    let (child, sibling) = (fixture.child.clone(), fixture.sibling.clone());
    let code = init(&mut fixture, "INIT_OTP_V3", EMAIL, &json!({}), NOW).expect("a code is sent");
    let token = verify_encrypted(&mut fixture, &code, NOW).expect("the code is right");
    let error = log_in(&mut fixture, sibling.home, &token, 30, NOW).expect_err("nobody has the contact");
    assert_eq!((error.code, error.message.as_str()), (Code::NotFound, "no user found with this email"));
    let claims = log_in(&mut fixture, child.home, &token, 30, NOW).expect("a session");
    assert_eq!((&claims["user_id"], &claims["organization_id"]), (&json!(child.user), &json!(child.home)));
    assert_eq!(whoami(&fixture, &with_key(&child, 30), child.home, NOW), Ok(json!(child.user)));
    // A query at the parent finds the key in the sub-organization.
    let at_parent = whoami(&fixture, &with_key(&child, 30), fixture.id, NOW);
    assert_eq!(at_parent, Ok(json!(child.user)));
}

#[test]
fn a_sub_organization_sends_its_own_codes() {
    let mut fixture = Fixture::new(1);
    let child = fixture.child.clone();
    let parameters = json!({"otpType": "OTP_TYPE_EMAIL", "contact": EMAIL});
    let sent =
        submit(&mut fixture, &child, child.home, "INIT_OTP", &parameters, NOW).expect("a code is sent");
    let code = super::SentCode::of(&fixture.memory, &sent);
    let back = json!({"otpId": code.id, "otpCode": code.code});
    refused(run(&mut fixture, "VERIFY_OTP", &back, NOW), "Invalid OTP code");
    let token =
        submit(&mut fixture, &child, child.home, "VERIFY_OTP", &back, NOW).expect("the code is right");
    let token = token_of(&token);
    let (id, sibling) = (fixture.id, fixture.sibling.home);
    for organization in [id, sibling] {
        refused(log_in(&mut fixture, organization, &token, 30, NOW), "invalid verification token");
    }
    log_in(&mut fixture, child.home, &token, 30, NOW).expect("a session");
}

#[test]
fn several_users_with_a_contact_are_distinguished_by_their_proof() {
    let mut fixture = Fixture::new(1);
    let (id, first, second) = (fixture.id, fixture.user.clone(), fixture.spare.clone());
    let email = |user: &Person| json!({"userId": user.user, "userEmail": "shared@house.example"});
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &email(&first));
    let token = |fixture: &mut Fixture| {
        let code =
            init(fixture, "INIT_OTP", "shared@house.example", &json!({}), NOW).expect("a code is sent");
        verify(fixture, &code.id, &code.code, NOW).expect("the code is right")
    };
    let one = token(&mut fixture);
    let other = token(&mut fixture);
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &email(&second));
    refused(log_in(&mut fixture, id, &one, 30, NOW), "several users have this contact");
    let auth = json!({"otpType": "OTP_TYPE_EMAIL", "contact": "shared@house.example"});
    refused(run(&mut fixture, "INIT_OTP_AUTH", &auth, NOW), "several users have this contact");
    // While one user has it, that user proves it.
    fixture.execute(
        "ACTIVITY_TYPE_UPDATE_USER_EMAIL",
        &json!({"userId": second.user, "userEmail": "b@house.example"}),
    );
    log_in(&mut fixture, id, &one, 30, NOW).expect("a session");
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &email(&second));
    let claims = log_in(&mut fixture, id, &other, 31, NOW).expect("a session");
    assert_eq!(claims["user_id"], json!(first.user));
}

#[test]
fn the_case_of_an_address_makes_no_difference() {
    let mut fixture = Fixture::new(1);
    let (id, first, second) = (fixture.id, fixture.user.clone(), fixture.spare.clone());
    let email = |user: &Person, text: &str| json!({"userId": user.user, "userEmail": text});
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &email(&first, "Bob@house.example"));
    let token = |fixture: &mut Fixture, contact: &str| {
        let code = init(fixture, "INIT_OTP", contact, &json!({}), NOW).expect("a code is sent");
        verify(fixture, &code.id, &code.code, NOW).expect("the code is right")
    };
    let one = token(&mut fixture, "bob@house.example");
    log_in(&mut fixture, id, &one, 30, NOW).expect("the address is that of the user");
    // Another user takes the same address in another spelling. The user who proved it gets the session.
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &email(&second, "BOB@house.example"));
    let other = token(&mut fixture, "BOB@house.example");
    let claims = log_in(&mut fixture, id, &other, 31, NOW).expect("a session");
    assert_eq!(claims["user_id"], json!(first.user));
}

#[test]
fn disabled_features_and_channels_are_refused() {
    let mut fixture = Fixture::new(1);
    let id = fixture.id;
    let code = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let token = verify(&mut fixture, &code.id, &code.code, NOW).expect("the code is right");
    let open = init(&mut fixture, "INIT_OTP", EMAIL, &json!({}), NOW).expect("a code is sent");
    let contact = |contact: &str| {
        let otp_type = if contact.starts_with('+') { "OTP_TYPE_SMS" } else { "OTP_TYPE_EMAIL" };
        json!({"otpType": otp_type, "contact": contact})
    };
    let (email, phone) = (contact(EMAIL), contact("+12025550123"));
    let before = fixture.clone();
    fixture.memory.sends_mail = false;
    fixture.memory.sends_sms = false;
    let error = run(&mut fixture, "INIT_OTP", &email, NOW).expect_err("no mail");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("EMAIL_SENDING_DISABLED"));
    refused(run(&mut fixture, "INIT_OTP", &phone, NOW), "this service is not configured to send SMS");
    fixture = before;
    for (feature, contact) in [("FEATURE_NAME_OTP_EMAIL_AUTH", &email), ("FEATURE_NAME_SMS_AUTH", &phone)] {
        fixture.execute("ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", &json!({"name": feature}));
        let text = format!("{feature} is not enabled in this organization");
        for name in ["INIT_OTP", "INIT_OTP_AUTH"] {
            refused(run(&mut fixture, name, contact, NOW), &text);
        }
    }
    let text = "FEATURE_NAME_OTP_EMAIL_AUTH is not enabled in this organization";
    refused(log_in(&mut fixture, id, &token, 30, NOW), text);
    let error = verify(&mut fixture, &open.id, &open.code, NOW).expect_err("codes prove nothing anymore");
    assert_eq!(error.message, text);
    let auth = json!({"otpId": fixture.sign_in.auth[0], "otpCode": fixture.sign_in.auth[1],
        "targetPublicKey": target().public().hex()});
    refused(run(&mut fixture, "OTP_AUTH", &auth, NOW), text);
}

#[test]
fn a_user_without_rights_does_not_learn_whether_a_contact_is_shared() {
    let mut fixture = Fixture::new(1);
    let (id, first, second) = (fixture.id, fixture.user.clone(), fixture.spare.clone());
    for user in [&first, &second] {
        let shared = json!({"userId": user.user, "userEmail": "shared@house.example"});
        fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &shared);
    }
    for contact in ["shared@house.example", EMAIL, "nobody@house.example"] {
        let auth = json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact});
        let error =
            submit(&mut fixture, &first, id, "INIT_OTP_AUTH", &auth, NOW).expect_err("no policy allows it");
        assert_eq!(error.code, Code::PermissionDenied, "{contact}: {}", error.message);
    }
}

#[test]
fn similar_letters_belong_to_another_mailbox() {
    let mut fixture = Fixture::new(1);
    let (id, user) = (fixture.id, fixture.user.clone());
    fixture.execute(
        "ACTIVITY_TYPE_UPDATE_USER_EMAIL",
        &json!({"userId": user.user, "userEmail": "kevin@house.example"}),
    );
    for (contact, is_same) in [("\u{212a}evin@house.example", false), ("KEVIN@House.example", true)] {
        let code = init(&mut fixture, "INIT_OTP", contact, &json!({}), NOW).expect("a code is sent");
        let token = verify(&mut fixture, &code.id, &code.code, NOW).expect("the code is right");
        assert_eq!(log_in(&mut fixture, id, &token, 30, NOW).is_ok(), is_same, "{contact}");
    }
}
