//! Organizations that somebody founds with a passkey of their own.

use quorate_common::fault::{Code, Fault};
use quorate_core::authn::Credentials;
use quorate_core::limits::FOUNDING_BYTES;
use quorate_core::model::layout;
use quorate_core::world::{Page, Records};
use serde_json::{Value, json};

use crate::house::{House, NOW, Person};
use crate::passkey::Passkey;
use crate::samples;

const FOUND: &str = "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2";

fn body(house: &mut House) -> Vec<u8> {
    let parameters = samples::parameters(FOUND, house, &house.spare.clone());
    house.body(house.id, FOUND, &parameters, NOW)
}

fn found(house: &mut House, body: &[u8]) -> Result<Value, Fault> {
    let founder = house.founder.clone();
    house.send(&founder, "create_organization", body, NOW)
}

#[test]
fn the_founder_is_the_root_user_and_can_do_what_root_users_do() {
    let mut house = House::found(1);
    let body = body(&mut house);
    let activity = found(&mut house, &body).expect("anybody may")["activity"].clone();
    let id = activity["result"]["createOrganizationResult"]["organizationId"].clone();
    assert_eq!(activity["organizationId"], id, "it is the first activity of what it founded");
    assert_ne!(id, json!(house.id));
    let organization = id.as_str().expect("an id").parse().expect("an id");
    let founder = Person { home: organization, ..house.founder.clone() };
    let ask = |house: &House, operation: &str| {
        let body = json!({"organizationId": id}).to_string().into_bytes();
        house.memory.query(operation, &founder.stamps(&body), &body, NOW).expect("they may")
    };
    let who = ask(&house, "whoami");
    assert_eq!((&who["userId"], &who["organizationName"]), (&json!(founder.user), &json!("new")));
    let users = ask(&house, "list_users")["users"].clone();
    assert_eq!(users[0]["userEmail"], "founder@new.example");
    assert_eq!(users[0]["authenticators"][0]["credentialId"], json!(Passkey::of("founder").id()));
    assert_eq!(ask(&house, "list_activities")["activities"][0]["id"], activity["id"]);
    let wallet = json!({"walletName": "first", "accounts": []});
    let answer = house.submit(&founder, organization, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    assert_eq!(answer.expect("they may")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn a_body_founds_once() {
    let mut house = House::found(1);
    let body = body(&mut house);
    let first = found(&mut house, &body).expect("anybody may");
    let before = house.memory.everything();
    let again = found(&mut house, &body).expect("it is shown");
    assert_eq!(first["activity"]["id"], again["activity"]["id"]);
    assert!(house.memory.everything() == before);
    // The same passkey may found another one.
    let other = self::body(&mut house);
    let other = found(&mut house, &other).expect("anybody may");
    assert_ne!(first["activity"]["organizationId"], other["activity"]["organizationId"]);
}

#[test]
fn nobody_founds_without_the_passkey_that_is_registered() {
    let mut house = House::found(1);
    let body = body(&mut house);
    let before = house.memory.everything();
    let founder = Passkey::of("founder");
    let webauthn = |header: String| Credentials { webauthn: vec![header], ..Credentials::default() };
    // A forger knows the credential id, which stands in the body, and has a key of their own.
    let mut forged: Value = serde_json::from_str(&Passkey::of("forger").header(&body)).expect("JSON");
    forged["credentialId"] = json!(founder.id());
    let strange = Passkey { relying_party: "elsewhere.example", ..founder };
    for (credentials, message) in [
        (Credentials::default(), "no valid authentication signature found for request"),
        (house.roots[0].stamps(&body), "a new organization must be stamped by the passkey that it registers"),
        (
            webauthn(Passkey::of("other").header(&body)),
            "a new organization must be stamped by the passkey that it registers",
        ),
        (webauthn(founder.header(b"{}")), "could not verify WebAuthN signature"),
        (webauthn(forged.to_string()), "could not verify WebAuthN signature"),
        (webauthn(strange.header(&body)), "could not verify WebAuthN signature"),
        (webauthn("{}".to_owned()), "could not extract webauthn stamp"),
    ] {
        let fault =
            house.memory.submit("create_organization", &credentials, &body, NOW).expect_err("refused");
        assert_eq!(fault.code, Code::Unauthenticated, "{}", fault.message);
        assert!(fault.message.starts_with(message), "{} is not {message}", fault.message);
    }
    assert!(house.memory.everything() == before);
}

#[test]
fn what_is_wrong_with_it_leaves_nothing_behind() {
    let mut house = House::found(1);
    let before = house.memory.everything();
    let named = |house: &House, organization: Value| {
        let parameters = samples::parameters(FOUND, house, &house.spare);
        let body = json!({"type": FOUND, "timestampMs": NOW.to_string(), "organizationId": organization, "parameters": parameters});
        body.to_string().into_bytes()
    };
    let (one, empty) = (named(&house, json!(house.id)), named(&house, json!("")));
    let fault = found(&mut house, &one).expect_err("it names an organization");
    assert!(fault.message.starts_with("invalid request body: `organizationId`"), "{}", fault.message);
    let late = {
        let founder = house.founder.clone();
        house.send(&founder, "create_organization", &empty, NOW + 2 * 60 * 60 * 1000)
    };
    assert!(late.expect_err("it is too old").message.starts_with("request is too old"));
    let large = [empty.as_slice(), &vec![b' '; FOUNDING_BYTES]].concat();
    let fault = found(&mut house, &large).expect_err("nobody is known yet who could send so much");
    assert_eq!(fault.code, Code::InvalidArgument, "{}", fault.message);
    house.memory.takes_founders = false;
    let fault = found(&mut house, &empty).expect_err("it is switched off");
    assert_eq!(fault.code, Code::Unimplemented);
    assert!(house.memory.everything() == before);
    house.memory.takes_founders = true;
    found(&mut house, &empty).expect("an empty id is none");
}

#[test]
fn nobody_founds_more_organizations_than_the_service_takes() {
    let mut house = House::found(1);
    let first = body(&mut house);
    let before = organizations(&house);
    house.memory.limits.organizations = before + 1;
    found(&mut house, &first).expect("there is room for one");
    assert_eq!(organizations(&house), before + 1);
    let (second, everything) = (body(&mut house), house.memory.everything());
    let fault = found(&mut house, &second).expect_err("there is no room");
    assert_eq!(fault.code, Code::ResourceExhausted);
    let text =
        format!("this service has reached its limit of {} organizations (`organizations`)", before + 1);
    assert_eq!(fault.message, text);
    assert!(house.memory.everything() == everything);
    found(&mut house, &first).expect("a body that founded is shown");
}

/// How many organizations have no parent.
fn organizations(house: &House) -> usize {
    let prefix = layout::children(layout::NO_PARENT);
    house.memory.keys(Page::first(&prefix, usize::MAX)).expect("it is in memory").len()
}
