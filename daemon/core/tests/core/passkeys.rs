//! Requests stamped by passkeys: who they identify, from which origins they are accepted, and what they
//! permit.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::OrganizationId;
use quorate_core::authn::{Credentials, Header};
use serde_json::{Value, json};

use crate::changes::{each, query_as_root};
use crate::fixture::{AuthMethod, Fixture, NOW, Person, public_key};
use crate::passkey::{ORIGIN, Passkey};
use crate::samples;

fn stamped(passkey: &Passkey<'_>, body: &[u8]) -> Credentials {
    Credentials { webauthn: Header::Once(passkey.header(body)), ..Credentials::default() }
}

/// Runs `whoami` with this passkey in this organization.
fn whoami(fixture: &Fixture, passkey: &Passkey<'_>, organization: OrganizationId) -> Result<Value, ApiError> {
    let body = json!({"organizationId": organization}).to_string().into_bytes();
    fixture.memory.query("whoami", &stamped(passkey, &body), &body, NOW)
}

fn reason(answer: Result<Value, ApiError>) -> (Code, String) {
    let error = answer.expect_err("the request is invalid");
    (error.code, error.turnkey_error_code.unwrap_or_default())
}

fn invalid() -> (Code, String) {
    (Code::Unauthenticated, "SIGNATURE_INVALID".to_owned())
}

#[test]
fn passkeys_identify_the_caller() {
    let fixture = Fixture::new(2);
    let who = whoami(&fixture, &Passkey::of("user"), fixture.id).expect("the passkey is registered");
    assert_eq!((&who["userId"], &who["username"]), (&json!(fixture.user.user), &json!("user")));
    let error = whoami(&fixture, &Passkey::of("unregistered"), fixture.id)
        .expect_err("the passkey is not registered");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("CREDENTIAL_NOT_FOUND"));
    assert!(error.message.starts_with(&format!(
        "credential ID could not be found in organization or its parent organization: organizationId={} \
         credentialId={}",
        fixture.id,
        Passkey::of("unregistered").id()
    )));
    // Exactly one stamp.
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let mut both = fixture.user.stamps(&body);
    both.webauthn = Header::Once(Passkey::of("user").header(&body));
    assert_eq!(reason(fixture.memory.query("whoami", &both, &body, NOW)), invalid());
    // A stamp of another body.
    let other = stamped(&Passkey::of("user"), b"{}");
    assert_eq!(reason(fixture.memory.query("whoami", &other, &body, NOW)), invalid());
}

#[test]
fn passkeys_are_bound_to_relying_party_and_allowed_origins() {
    let mut fixture = Fixture::new(1);
    let whoami_as = |fixture: &Fixture, origin: &str, relying_party: &str| {
        whoami(fixture, &Passkey { origin, relying_party, ..Passkey::of("user") }, fixture.id).map(drop)
    };
    let elsewhere = "https://elsewhere.example";
    assert!(
        whoami_as(&fixture, elsewhere, "house.example").is_ok(),
        "no origin is configured, so any is accepted"
    );
    assert!(whoami_as(&fixture, ORIGIN, "elsewhere.example").is_err(), "another relying party");
    let origins = json!({"allowedOrigins": [ORIGIN]});
    fixture.execute("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &origins);
    assert!(whoami_as(&fixture, ORIGIN, "house.example").is_ok());
    for origin in [
        elsewhere,
        "https://evil-house.example",
        "http://house.example",
        "https://house.example:8443",
        "null",
    ] {
        assert!(whoami_as(&fixture, origin, "house.example").is_err(), "{origin}");
    }
    // The same applies to new passkeys.
    let register = |fixture: &mut Fixture, name: &str, origin: &str| {
        let passkey = Passkey { origin, ..Passkey::of(name) }.registration();
        let parameters = json!({"userId": fixture.user.user, "authenticators": [passkey]});
        let root = fixture.roots[0].clone();
        fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &parameters, NOW)
    };
    let error = register(&mut fixture, "second", elsewhere).expect_err("the origin is not allowed");
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::InvalidArgument, "invalid authenticator attestation")
    );
    register(&mut fixture, "second", ORIGIN).expect("the origin is allowed");
    // A comma-separated list and a single origin are both accepted.
    for value in [format!("{elsewhere}, {ORIGIN}"), ORIGIN.to_owned()] {
        let feature = json!({"name": "FEATURE_NAME_WEBAUTHN_ORIGINS", "value": value});
        fixture.execute("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature);
        assert!(whoami_as(&fixture, ORIGIN, "house.example").is_ok(), "{value}");
    }
}

#[test]
fn sub_organizations_inherit_allowed_origins() {
    let mut fixture = Fixture::new(1);
    fixture.execute("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &json!({"allowedOrigins": [ORIGIN]}));
    let parameters = samples::parameters("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION", &fixture, &fixture.spare);
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION", &parameters);
    let child = &created["result"]["createSubOrganizationResult"]["subOrganizationId"];
    let child: OrganizationId = child.as_str().expect("an id").parse().expect("an id");
    let at = |origin| Passkey { origin, ..Passkey::of("new") };
    let elsewhere = "https://elsewhere.example";
    // The parent also finds it by its credential id.
    for organization in [child, fixture.id] {
        let who = whoami(&fixture, &at(ORIGIN), organization).expect("the root user is authenticated");
        assert_eq!(who["organizationId"], json!(child));
        assert_eq!(reason(whoami(&fixture, &at(elsewhere), organization)), invalid());
    }
    let root = Person { home: child, auth: AuthMethod::Passkey("new"), ..fixture.child.clone() };
    let origins = json!({"allowedOrigins": [ORIGIN, elsewhere]});
    fixture
        .submit(&root, child, "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &origins, NOW)
        .expect("the root user is authenticated");
    assert!(whoami(&fixture, &at(elsewhere), child).is_ok());
}

/// Creates a sub-organization whose root user has this authenticator.
fn create_child_with(fixture: &mut Fixture, name: &str, authenticator: &Value) -> OrganizationId {
    let parameters = json!({"name": name, "rootAuthenticator": authenticator});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION", &parameters);
    let id = &created["result"]["createSubOrganizationResult"]["subOrganizationId"];
    id.as_str().expect("an id").parse().expect("an id")
}

#[test]
fn duplicate_credential_ids_do_not_lock_out_their_owner() {
    let mut fixture = Fixture::new(1);
    let owner = Passkey::of("owner");
    let theirs = create_child_with(&mut fixture, "theirs", &owner.registration());
    // Another sub-organization registers the owner's credential id with a key of its own.
    let forged = Passkey { known_as: "owner", ..Passkey::of("thief") };
    let stolen = create_child_with(&mut fixture, "stolen", &forged.registration());
    for (passkey, child) in [(owner, theirs), (forged, stolen)] {
        let who = whoami(&fixture, &passkey, fixture.id).expect("the passkey identifies its owner");
        assert_eq!(who["organizationId"], json!(child));
    }
    let unregistered = Passkey { known_as: "owner", ..Passkey::of("unregistered") };
    let conflict = (Code::Unauthenticated, "CREDENTIAL_CONFLICT".to_owned());
    assert_eq!(reason(whoami(&fixture, &unregistered, fixture.id)), conflict);
    // A third one registers the same passkey. Then the request must name the organization.
    create_child_with(&mut fixture, "twin", &owner.registration());
    assert_eq!(reason(whoami(&fixture, &owner, fixture.id)), conflict);
    let who = whoami(&fixture, &owner, theirs).expect("the caller is identified");
    assert_eq!(who["organizationId"], json!(theirs));
}

#[test]
fn duplicate_public_keys_do_not_lock_out_owners_who_name_their_organization() {
    let mut fixture = Fixture::new(1);
    let (owner, thief) = (fixture.child.clone(), fixture.sibling.clone());
    let whoami_as = |fixture: &Fixture, organization: OrganizationId, now: u64| {
        let body = json!({"organizationId": organization}).to_string().into_bytes();
        fixture.memory.query("whoami", &owner.stamps(&body), &body, now)
    };
    assert_eq!(
        whoami_as(&fixture, fixture.id, NOW).expect("the caller is identified")["organizationId"],
        json!(owner.home)
    );
    let key =
        json!({"apiKeyName": "stolen", "publicKey": public_key(owner.number), "expirationSeconds": "60"});
    let keys = json!({"userId": thief.user, "apiKeys": [key]});
    fixture
        .submit(&thief, thief.home, "ACTIVITY_TYPE_CREATE_API_KEYS", &keys, NOW)
        .expect("no proof is required");
    let conflict = (Code::Unauthenticated, "CREDENTIAL_CONFLICT".to_owned());
    assert_eq!(reason(whoami_as(&fixture, fixture.id, NOW)), conflict);
    assert_eq!(
        whoami_as(&fixture, owner.home, NOW).expect("the caller is identified")["userId"],
        json!(owner.user)
    );
    // An expired key belongs to nobody.
    assert_eq!(
        whoami_as(&fixture, fixture.id, NOW + 60_000).expect("the caller is identified")["userId"],
        json!(owner.user)
    );
}

#[test]
fn passkeys_can_vote() {
    let mut fixture = Fixture::new(2);
    let roots = fixture.roots.clone();
    let passkey = json!({"userId": roots[1].user, "authenticators": [samples::authenticator("root")]});
    fixture.execute("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let wallet = json!({"walletName": "voted", "accounts": []});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    fixture.send(&roots[0], "create_wallet", &body, NOW).expect("the activity waits");
    let voter = Person { auth: AuthMethod::Passkey("root"), ..roots[1].clone() };
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let answer = fixture.submit(&voter, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    let activity = answer.expect("the request is permitted")["activity"].clone();
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED");
    let vote = &activity["votes"][1];
    assert_eq!(vote["scheme"], "SIGNATURE_SCHEME_TK_WEBAUTHN");
    let registered = query_as_root(&fixture, "get_authenticators", &json!({"userId": roots[1].user}));
    assert_eq!(vote["publicKey"], registered["authenticators"][0]["credential"]["publicKey"]);
    // The vote can be verified on its own.
    let text = |name: &str| vote[name].as_str().expect("a text").to_owned();
    let stamp = quorate_common::stamp::Stamp {
        public_key: text("publicKey"),
        scheme: quorate_common::stamp::Scheme::Webauthn,
        signature: text("signature"),
    };
    assert!(quorate_common::stamp::verify(&stamp, text("message").as_bytes()));
    assert!(!quorate_common::stamp::verify(&stamp, b"another message"));
}

#[test]
fn proposers_can_add_a_passkey_that_a_policy_requires() {
    let mut fixture = Fixture::new(2);
    let user = fixture.user.clone();
    let passkey = json!({"userId": user.user, "authenticators": [samples::authenticator("touch")]});
    let home = fixture.id;
    fixture
        .submit(&user, home, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey, NOW)
        .expect("users may change their own credentials");
    let fingers = json!({"policyName": "fingers", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.kind == 'CREATE_WALLET'",
        "consensus": "credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR') \
                      && credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_P256')"});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &fingers);
    let wallet = json!({"walletName": "touched", "accounts": []});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    let waits = fixture.send(&user, "create_wallet", &body, NOW).expect("the activity waits for a passkey");
    assert_eq!(waits["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(waits["activity"]["canApprove"], false, "the same key cannot vote twice");
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let again = fixture.submit(&user, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    assert_eq!(
        each(&again.expect("the activity is returned")["activity"]["votes"], "id").len(),
        1,
        "the same key adds no vote"
    );
    let touch = Person { auth: AuthMethod::Passkey("touch"), ..user };
    let answer = fixture.submit(&touch, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    let activity = answer.expect("a new vote counts")["activity"].clone();
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(each(&activity["votes"], "userId").len(), 2);
}

#[test]
fn two_credentials_of_one_user_are_one_vote_in_the_root_quorum() {
    let mut fixture = Fixture::new(2);
    let root = fixture.roots[0].clone();
    let passkey = json!({"userId": root.user, "authenticators": [samples::authenticator("root")]});
    fixture.execute("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let wallet = json!({"walletName": "alone", "accounts": []});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    fixture.send(&root, "create_wallet", &body, NOW).expect("the activity waits");
    let touch = Person { auth: AuthMethod::Passkey("root"), ..root };
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let answer = fixture.submit(&touch, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    let activity = answer.expect("the activity is returned")["activity"].clone();
    assert_eq!(activity["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(each(&activity["votes"], "id").len(), 1);
}

#[test]
fn votes_of_deleted_passkeys_do_not_count() {
    let mut fixture = Fixture::new(2);
    let roots = fixture.roots.clone();
    let passkey = json!({"userId": roots[0].user, "authenticators": [samples::authenticator("root")]});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let id = created["result"]["createAuthenticatorsResult"]["authenticatorIds"].clone();
    let wallet = json!({"walletName": "voted", "accounts": []});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    let proposer = Person { auth: AuthMethod::Passkey("root"), ..roots[0].clone() };
    fixture.send(&proposer, "create_wallet", &body, NOW).expect("the activity waits");
    let deletion = json!({"userId": roots[0].user, "authenticatorIds": id});
    fixture.execute("ACTIVITY_TYPE_DELETE_AUTHENTICATORS", &deletion);
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let answer = fixture.submit(&roots[1], fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    assert_eq!(
        answer.expect("the request is permitted")["activity"]["status"],
        "ACTIVITY_STATUS_CONSENSUS_NEEDED"
    );
}

#[test]
fn root_users_can_have_only_a_passkey() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let passkey = json!({"userId": root.user, "authenticators": [samples::authenticator("root")]});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let id = created["result"]["createAuthenticatorsResult"]["authenticatorIds"].clone();
    let keys = json!({"userId": root.user, "apiKeyIds": root.keys});
    fixture.execute("ACTIVITY_TYPE_DELETE_API_KEYS", &keys);
    let by_passkey = Person { auth: AuthMethod::Passkey("root"), ..root.clone() };
    let deletion = json!({"userId": root.user, "authenticatorIds": id});
    let error =
        fixture.submit(&by_passkey, fixture.id, "ACTIVITY_TYPE_DELETE_AUTHENTICATORS", &deletion, NOW);
    assert_eq!(error.expect_err("it is the last credential").code, Code::InvalidArgument);
    let quorum = json!({"threshold": 1, "userIds": [root.user]});
    let answer = fixture.submit(&by_passkey, fixture.id, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum, NOW);
    assert_eq!(answer.expect("the root user has a key")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn invalid_registrations_are_rejected() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let mut register = |corrupt: &dyn Fn(&mut Value)| {
        let mut passkey = samples::authenticator("fresh");
        corrupt(&mut passkey);
        let parameters = json!({"userId": fixture.user.user, "authenticators": [passkey]});
        let answer =
            fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &parameters, NOW);
        let error = answer.expect_err("the registration is invalid");
        (error.code, error.message)
    };
    let invalid_argument = |text: &str| (Code::InvalidArgument, text.to_owned());
    let invalid = invalid_argument("invalid authenticator attestation");
    assert_eq!(register(&|one| one["challenge"] = json!("YW5vdGhlcg")), invalid);
    assert_eq!(register(&|one| one["attestation"]["credentialId"] = json!("YW5vdGhlcg")), invalid);
    assert_eq!(
        register(&|one| one["attestation"]["attestationObject"] = json!("oA")).0,
        Code::InvalidArgument
    );
    let missing = invalid_argument("missing parameter: user authenticator attestation");
    assert_eq!(register(&|one| one["attestation"]["attestationObject"] = json!("")), missing);
    // The original format contains the credential id twice.
    let mut original = Passkey::of("fresh").registration_v1(json!(fixture.user.user));
    original["attestation"]["id"] = json!("YW5vdGhlcg");
    let parameters = json!({"userId": fixture.user.user, "authenticators": [original]});
    let answer = fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS", &parameters, NOW);
    assert_eq!(answer.expect_err("the registration is invalid").message, "invalid authenticator attestation");
}
