//! Codes that users request for the steps of their own MFA policies: such a policy does not wait for its own code.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::codes::{ADMIN_EMAIL, Attested, EMAIL, PHONE};
use super::{COMPLETED, NEEDED, Scene, short};
use crate::fixture::{NOW, Person, public_key};
use crate::sign_in::attested::BY_TOKEN;
use crate::sign_in::{SentCode, TOKEN_KEY};

const INIT: &str = "ACTIVITY_TYPE_INIT_OTP";
const VERIFY: &str = "ACTIVITY_TYPE_VERIFY_OTP";

/// Requests a code, and returns the activity.
fn request(scene: &mut Scene, person: &Person, contact: &str, more: &Value) -> Value {
    request_by(INIT, scene, person, contact, more)
}

fn request_by(name: &str, scene: &mut Scene, person: &Person, contact: &str, more: &Value) -> Value {
    let otp_type = if contact.starts_with('+') { "OTP_TYPE_SMS" } else { "OTP_TYPE_EMAIL" };
    let mut parameters = json!({"otpType": otp_type, "contact": contact, "appName": "House"});
    parameters.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    scene.submit(person, name, &parameters, NOW).expect("the request is recorded")
}

/// Sends a code back, encrypted with a key, and returns the activity or the message.
fn send_sealed(scene: &mut Scene, person: &Person, code: &SentCode) -> Result<Value, (Code, String)> {
    let parameters = json!({"otpId": code.id, "encryptedOtpBundle": code.encrypted(TOKEN_KEY)});
    let answer = scene.submit(person, "ACTIVITY_TYPE_VERIFY_OTP_V2", &parameters, NOW);
    answer.map_err(|error| (error.code, error.message))
}

/// Sends a code back, and returns the activity or the message.
fn send_back(scene: &mut Scene, person: &Person, id: &str, code: &str) -> Result<Value, (Code, String)> {
    let parameters = json!({"otpId": id, "otpCode": code, "publicKey": public_key(TOKEN_KEY)});
    scene.submit(person, VERIFY, &parameters, NOW).map_err(|error| (error.code, error.message))
}

#[test]
fn users_request_and_return_the_codes_of_their_own_steps() {
    for steps in [["API_KEY", "EMAIL_OTP"], ["API_KEY", "PASSKEY|EMAIL_OTP"], ["PASSKEY", "EMAIL_OTP"]] {
        let mut scene = Scene::new(1).with_contacts();
        let owner = scene.owner.clone();
        scene.require(&owner, 0, "true", &steps);
        let name = "ACTIVITY_TYPE_INIT_OTP_V3";
        let requested = request_by(name, &mut scene, &owner, EMAIL, &json!({}));
        assert_eq!(short(&requested), COMPLETED, "{steps:?}");
        let code = SentCode::of(&scene.fixture.memory, &requested);
        let wrong = Err((Code::InvalidArgument, "Invalid OTP code".to_owned()));
        let altered = SentCode { code: code.altered(), ..code.clone() };
        assert_eq!(send_sealed(&mut scene, &owner, &altered), wrong);
        let returned = send_sealed(&mut scene, &owner, &code).expect("the code is right");
        assert_eq!(short(&returned), COMPLETED);
        let token = returned["result"]["verifyOtpResult"]["verificationToken"].as_str().expect("a token");
        let token = Attested { scheme: BY_TOKEN, token: token.to_owned(), key: TOKEN_KEY };

        // Everything else still needs the code.
        let first = if steps[0] == "PASSKEY" { scene.passkey.clone() } else { owner.clone() };
        let proposed = scene.propose(&first, "guarded");
        assert_eq!((proposed.status.as_str(), scene.has_wallet("guarded")), (NEEDED, false));
        assert_eq!(scene.attest(&token, &proposed, NOW), Ok(COMPLETED.to_owned()));
        // Used codes, and those that never existed, look like wrong ones.
        let unknown = "00000000-0000-4000-8000-000000000000";
        for id in [code.id.as_str(), unknown] {
            assert_eq!(send_back(&mut scene, &owner, id, &code.code), wrong);
        }
    }
}

#[test]
fn other_codes_still_wait_for_the_steps() {
    let denied = |answer: Result<Value, (Code, String)>| {
        assert_eq!(answer.map_err(|(code, _)| code), Err(Code::PermissionDenied));
    };
    let mut scene = Scene::new(1).with_contacts();
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    scene.require(&owner, 0, "true", &["API_KEY", "EMAIL_OTP"]);
    let digits = json!({"alphanumeric": false, "otpLength": 8});
    let link = json!({"emailCustomization": {"magicLinkTemplate": "https://evil.example/?code=%s"}});
    let logo = json!({"emailCustomization": {"logoUrl": "https://evil.example/logo.png"}});
    let sender = json!({"sendFromEmailSenderName": "Support"});
    let reply = json!({"replyToEmailAddress": "support@evil.example"});
    for (contact, more, why) in [
        (ADMIN_EMAIL, json!({}), "the address of somebody else"),
        ("new@house.example", json!({}), "an address of nobody"),
        (PHONE, json!({}), "a number that no step needs"),
        (EMAIL, digits, "a code that could be guessed"),
        (EMAIL, link, "a link of the caller, which would get the code"),
        (EMAIL, logo, "a picture of the caller"),
        (EMAIL, sender, "a sender of the caller"),
        (EMAIL, reply, "replies to the caller"),
    ] {
        assert_eq!(short(&request(&mut scene, &owner, contact, &more)), NEEDED, "{why}");
    }
    let digits = json!({"alphanumeric": false, "otpLength": 9});
    assert_eq!(short(&request(&mut scene, &owner, EMAIL, &digits)), COMPLETED, "nine digits are enough");
    let login = json!({"otpType": "OTP_TYPE_EMAIL", "contact": EMAIL, "appName": "House"});
    let login = scene.submit(&owner, "ACTIVITY_TYPE_INIT_OTP_AUTH_V3", &login, NOW).expect("recorded");
    assert_eq!(short(&login), NEEDED, "a code that opens a session is no step");

    // The code of somebody else is not sent back for a step, although the owner knows it.
    let requested = request(&mut scene, &admin, ADMIN_EMAIL, &json!({}));
    let code = SentCode::of(&scene.fixture.memory, &requested);
    denied(send_back(&mut scene, &owner, &code.id, &code.code));
    send_back(&mut scene, &admin, &code.id, &code.code).expect("nothing is required of the other user");

    // A policy without such a step applies to the request as to everything else.
    scene.require(&owner, 1, "true", &["API_KEY", "PASSKEY"]);
    assert_eq!(short(&request(&mut scene, &owner, EMAIL, &json!({}))), COMPLETED, "the first policy applies");
    let mut other = Scene::new(1).with_contacts();
    other.require(&owner, 0, "true", &["API_KEY", "PASSKEY"]);
    assert_eq!(short(&request(&mut other, &owner, EMAIL, &json!({}))), NEEDED);

    // An address that was changed is not proven.
    let mut changed = Scene::new(1).with_contacts();
    let address = json!({"userId": owner.user, "userEmail": "new@house.example"});
    let admin = changed.admin.clone();
    changed.submit(&admin, "ACTIVITY_TYPE_UPDATE_USER_EMAIL", &address, NOW).expect("it is changed");
    changed.require(&owner, 0, "true", &["API_KEY", "SMS_OTP"]);
    assert_eq!(short(&request(&mut changed, &owner, "new@house.example", &json!({}))), NEEDED);
    assert_eq!(short(&request(&mut changed, &owner, PHONE, &json!({}))), COMPLETED);
}
