//! Creation of top-level organizations by the holder of a new passkey.

use quorate_common::api_error::{ApiError, Code};
use quorate_core::authn::{Credentials, Header};
use quorate_core::limits::CREATE_ORGANIZATION_BYTES;
use quorate_core::model::layout;
use quorate_core::world::{Page, Records};
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person};
use crate::passkey::Passkey;
use crate::samples;

const CREATE: &str = "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2";

fn body(fixture: &mut Fixture) -> Vec<u8> {
    let parameters = samples::parameters(CREATE, fixture, &fixture.spare.clone());
    fixture.body(fixture.id, CREATE, &parameters, NOW)
}

fn create(fixture: &mut Fixture, body: &[u8]) -> Result<Value, ApiError> {
    let registrant = fixture.registrant.clone();
    fixture.send(&registrant, "create_organization", body, NOW)
}

#[test]
fn registrant_becomes_the_root_user() {
    let mut fixture = Fixture::new(1);
    let body = body(&mut fixture);
    let activity =
        create(&mut fixture, &body).expect("anybody may create an organization")["activity"].clone();
    let id = activity["result"]["createOrganizationResult"]["organizationId"].clone();
    assert_eq!(activity["organizationId"], id, "it is the first activity of the new organization");
    assert_ne!(id, json!(fixture.id));
    let organization = id.as_str().expect("an id").parse().expect("an id");
    let registrant = Person { home: organization, ..fixture.registrant.clone() };
    let run_query = |fixture: &Fixture, operation: &str| {
        let body = json!({"organizationId": id}).to_string().into_bytes();
        fixture
            .memory
            .query(operation, &registrant.stamps(&body), &body, NOW)
            .expect("the request is permitted")
    };
    let who = run_query(&fixture, "whoami");
    assert_eq!((&who["userId"], &who["organizationName"]), (&json!(registrant.user), &json!("new")));
    let users = run_query(&fixture, "list_users")["users"].clone();
    assert_eq!(users[0]["userEmail"], "registrant@new.example");
    assert_eq!(users[0]["authenticators"][0]["credentialId"], json!(Passkey::of("registrant").id()));
    assert_eq!(run_query(&fixture, "list_activities")["activities"][0]["id"], activity["id"]);
    let wallet = json!({"walletName": "first", "accounts": []});
    let answer = fixture.submit(&registrant, organization, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    assert_eq!(answer.expect("the request is permitted")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn a_body_creates_one_organization() {
    let mut fixture = Fixture::new(1);
    let body = body(&mut fixture);
    let first = create(&mut fixture, &body).expect("anybody may create an organization");
    let before = fixture.memory.all_rows();
    let again = create(&mut fixture, &body).expect("the activity is returned");
    assert_eq!(first["activity"]["id"], again["activity"]["id"]);
    assert!(fixture.memory.all_rows() == before);
    // The same passkey may create another organization.
    let other = self::body(&mut fixture);
    let other = create(&mut fixture, &other).expect("anybody may create an organization");
    assert_ne!(first["activity"]["organizationId"], other["activity"]["organizationId"]);
}

#[test]
fn creation_requires_a_stamp_by_the_registered_passkey() {
    let mut fixture = Fixture::new(1);
    let body = body(&mut fixture);
    let before = fixture.memory.all_rows();
    let registrant = Passkey::of("registrant");
    let webauthn = |header: String| Credentials { webauthn: Header::Once(header), ..Credentials::default() };
    // A forger knows the credential id, which the body contains, and has another key.
    let mut forged: Value = serde_json::from_str(&Passkey::of("forger").header(&body)).expect("JSON");
    forged["credentialId"] = json!(registrant.id());
    let other_party = Passkey { relying_party: "elsewhere.example", ..registrant };
    for (credentials, message) in [
        (Credentials::default(), "no valid authentication signature found for request"),
        (
            fixture.roots[0].stamps(&body),
            "a new organization must be stamped with the passkey that it registers",
        ),
        (
            webauthn(Passkey::of("other").header(&body)),
            "a new organization must be stamped with the passkey that it registers",
        ),
        (webauthn(registrant.header(b"{}")), "could not verify WebAuthN signature"),
        (webauthn(forged.to_string()), "could not verify WebAuthN signature"),
        (webauthn(other_party.header(&body)), "could not verify WebAuthN signature"),
        (webauthn("{}".to_owned()), "could not extract webauthn stamp"),
    ] {
        let error = fixture
            .memory
            .submit("create_organization", &credentials, &body, NOW)
            .expect_err("the request is invalid");
        assert_eq!(error.code, Code::Unauthenticated, "{}", error.message);
        assert!(error.message.starts_with(message), "{} does not begin with {message}", error.message);
    }
    assert!(fixture.memory.all_rows() == before);
}

#[test]
fn invalid_creations_change_nothing() {
    let mut fixture = Fixture::new(1);
    let before = fixture.memory.all_rows();
    let body_for = |fixture: &Fixture, organization: Value| {
        let parameters = samples::parameters(CREATE, fixture, &fixture.spare);
        let body = json!({"type": CREATE, "timestampMs": NOW.to_string(), "organizationId": organization, "parameters": parameters});
        body.to_string().into_bytes()
    };
    let (one, empty) = (body_for(&fixture, json!(fixture.id)), body_for(&fixture, json!("")));
    let error = create(&mut fixture, &one).expect_err("the body names an organization");
    assert!(error.message.starts_with("invalid request body: `organizationId`"), "{}", error.message);
    let late = {
        let registrant = fixture.registrant.clone();
        fixture.send(&registrant, "create_organization", &empty, NOW + 2 * 60 * 60 * 1000)
    };
    assert!(late.expect_err("it is too old").message.starts_with("request is too old"));
    let large = [empty.as_slice(), &vec![b' '; CREATE_ORGANIZATION_BYTES]].concat();
    let error = create(&mut fixture, &large).expect_err("the body is too large");
    assert_eq!(error.code, Code::InvalidArgument, "{}", error.message);
    fixture.memory.allows_registration = false;
    let error = create(&mut fixture, &empty).expect_err("creation is disabled");
    assert_eq!(error.code, Code::Unimplemented);
    assert!(fixture.memory.all_rows() == before);
    fixture.memory.allows_registration = true;
    create(&mut fixture, &empty).expect("an empty id counts as absent");
}

#[test]
fn number_of_organizations_is_limited() {
    let mut fixture = Fixture::new(1);
    let first = body(&mut fixture);
    let before = organizations(&fixture);
    fixture.memory.limits.organizations = before + 1;
    create(&mut fixture, &first).expect("the limit allows one more");
    assert_eq!(organizations(&fixture), before + 1);
    let (second, rows) = (body(&mut fixture), fixture.memory.all_rows());
    let error = create(&mut fixture, &second).expect_err("the limit is reached");
    assert_eq!(error.code, Code::ResourceExhausted);
    let text =
        format!("this service has reached its limit of {} organizations (`organizations`)", before + 1);
    assert_eq!(error.message, text);
    assert!(fixture.memory.all_rows() == rows);
    create(&mut fixture, &first).expect("the existing organization is shown");
}

/// Returns the number of top-level organizations.
fn organizations(fixture: &Fixture) -> usize {
    let prefix = layout::children(layout::NO_PARENT);
    fixture.memory.keys(Page::first(&prefix, usize::MAX)).expect("the store is readable").len()
}
