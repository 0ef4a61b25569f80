//! Requests that passkeys stamp: whose they are, from where they are taken, and what they can do.

use quorate_common::fault::{Code, Fault};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::OrganizationId;
use quorate_core::authn::Credentials;
use serde_json::{Value, json};

use crate::changes::{asked, each};
use crate::house::{House, NOW, Person, Shown, public_key};
use crate::passkey::{ORIGIN, Passkey};
use crate::samples;

fn stamped(passkey: &Passkey<'_>, body: &[u8]) -> Credentials {
    Credentials { webauthn: vec![passkey.header(body)], ..Credentials::default() }
}

/// Who somebody with this passkey is, in this organization.
fn whoami(house: &House, passkey: &Passkey<'_>, organization: OrganizationId) -> Result<Value, Fault> {
    let body = json!({"organizationId": organization}).to_string().into_bytes();
    house.memory.query("whoami", &stamped(passkey, &body), &body, NOW)
}

fn reason(answer: Result<Value, Fault>) -> (Code, String) {
    let fault = answer.expect_err("it is refused");
    (fault.code, fault.turnkey_error_code.unwrap_or_default())
}

fn invalid() -> (Code, String) {
    (Code::Unauthenticated, "SIGNATURE_INVALID".to_owned())
}

#[test]
fn a_passkey_says_who_asks() {
    let house = House::found(2);
    let who = whoami(&house, &Passkey::of("user"), house.id).expect("it is registered");
    assert_eq!((&who["userId"], &who["username"]), (&json!(house.user.user), &json!("user")));
    let fault = whoami(&house, &Passkey::of("stranger"), house.id).expect_err("it is not");
    assert_eq!(fault.turnkey_error_code.as_deref(), Some("CREDENTIAL_NOT_FOUND"));
    assert!(fault.message.starts_with(&format!(
        "credential ID could not be found in organization or its parent organization: organizationId={} \
         credentialId={}",
        house.id,
        Passkey::of("stranger").id()
    )));
    // Exactly one stamp.
    let body = json!({"organizationId": house.id}).to_string().into_bytes();
    let mut both = house.user.stamps(&body);
    both.webauthn = vec![Passkey::of("user").header(&body)];
    assert_eq!(reason(house.memory.query("whoami", &both, &body, NOW)), invalid());
    // Of another body.
    let other = stamped(&Passkey::of("user"), b"{}");
    assert_eq!(reason(house.memory.query("whoami", &other, &body, NOW)), invalid());
}

#[test]
fn a_passkey_is_bound_to_its_relying_party_and_to_allowed_origins() {
    let mut house = House::found(1);
    let ask = |house: &House, origin: &str, relying_party: &str| {
        whoami(house, &Passkey { origin, relying_party, ..Passkey::of("user") }, house.id).map(drop)
    };
    let elsewhere = "https://elsewhere.example";
    assert!(ask(&house, elsewhere, "house.example").is_ok(), "no origin is named, so any is taken");
    assert!(ask(&house, ORIGIN, "elsewhere.example").is_err(), "another relying party");
    let origins = json!({"allowedOrigins": [ORIGIN]});
    house.agreed("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &origins);
    assert!(ask(&house, ORIGIN, "house.example").is_ok());
    for origin in [
        elsewhere,
        "https://evil-house.example",
        "http://house.example",
        "https://house.example:8443",
        "null",
    ] {
        assert!(ask(&house, origin, "house.example").is_err(), "{origin}");
    }
    // So are new ones.
    let register = |house: &mut House, name: &str, origin: &str| {
        let passkey = Passkey { origin, ..Passkey::of(name) }.registration();
        let parameters = json!({"userId": house.user.user, "authenticators": [passkey]});
        let root = house.roots[0].clone();
        house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &parameters, NOW)
    };
    let fault = register(&mut house, "second", elsewhere).expect_err("it is not from here");
    assert_eq!(
        (fault.code, fault.message.as_str()),
        (Code::InvalidArgument, "invalid authenticator attestation")
    );
    register(&mut house, "second", ORIGIN).expect("it is from here");
    // A comma list and a single origin mean the same.
    for value in [format!("{elsewhere}, {ORIGIN}"), ORIGIN.to_owned()] {
        let feature = json!({"name": "FEATURE_NAME_WEBAUTHN_ORIGINS", "value": value});
        house.agreed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature);
        assert!(ask(&house, ORIGIN, "house.example").is_ok(), "{value}");
    }
}

#[test]
fn children_take_the_origins_of_their_parent_unless_they_name_some() {
    let mut house = House::found(1);
    house.agreed("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &json!({"allowedOrigins": [ORIGIN]}));
    let made = samples::parameters("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION", &house, &house.spare);
    let made = house.agreed("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION", &made);
    let child = &made["result"]["createSubOrganizationResult"]["subOrganizationId"];
    let child: OrganizationId = child.as_str().expect("an id").parse().expect("an id");
    let at = |origin| Passkey { origin, ..Passkey::of("new") };
    let elsewhere = "https://elsewhere.example";
    // The parent finds it by its credential id, too.
    for organization in [child, house.id] {
        let who = whoami(&house, &at(ORIGIN), organization).expect("its root user");
        assert_eq!(who["organizationId"], json!(child));
        assert_eq!(reason(whoami(&house, &at(elsewhere), organization)), invalid());
    }
    let root = Person { home: child, shows: Shown::Passkey("new"), ..house.child.clone() };
    let origins = json!({"allowedOrigins": [ORIGIN, elsewhere]});
    house.submit(&root, child, "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &origins, NOW).expect("its root user");
    assert!(whoami(&house, &at(elsewhere), child).is_ok());
}

/// A sub-organization whose root user has this authenticator.
fn child_of(house: &mut House, name: &str, authenticator: &Value) -> OrganizationId {
    let parameters = json!({"name": name, "rootAuthenticator": authenticator});
    let made = house.agreed("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION", &parameters);
    let id = &made["result"]["createSubOrganizationResult"]["subOrganizationId"];
    id.as_str().expect("an id").parse().expect("an id")
}

#[test]
fn a_credential_id_that_somebody_else_registered_hides_nobody() {
    let mut house = House::found(1);
    let owner = Passkey::of("owner");
    let theirs = child_of(&mut house, "theirs", &owner.registration());
    // Another sub-organization registers the owner's credential id with a key of its own.
    let forged = Passkey { known_as: "owner", ..Passkey::of("thief") };
    let stolen = child_of(&mut house, "stolen", &forged.registration());
    for (passkey, child) in [(owner, theirs), (forged, stolen)] {
        let who = whoami(&house, &passkey, house.id).expect("one of them is theirs");
        assert_eq!(who["organizationId"], json!(child));
    }
    let stranger = Passkey { known_as: "owner", ..Passkey::of("stranger") };
    let conflict = (Code::Unauthenticated, "CREDENTIAL_CONFLICT".to_owned());
    assert_eq!(reason(whoami(&house, &stranger, house.id)), conflict);
    // A third one registers the very passkey: then it must be said which one is meant.
    child_of(&mut house, "twin", &owner.registration());
    assert_eq!(reason(whoami(&house, &owner, house.id)), conflict);
    let who = whoami(&house, &owner, theirs).expect("their own organization");
    assert_eq!(who["organizationId"], json!(theirs));
}

#[test]
fn a_public_key_that_somebody_else_registered_hides_nobody_who_names_their_organization() {
    let mut house = House::found(1);
    let (owner, thief) = (house.child.clone(), house.sibling.clone());
    let ask = |house: &House, organization: OrganizationId, now: u64| {
        let body = json!({"organizationId": organization}).to_string().into_bytes();
        house.memory.query("whoami", &owner.stamps(&body), &body, now)
    };
    assert_eq!(ask(&house, house.id, NOW).expect("found")["organizationId"], json!(owner.home));
    let key =
        json!({"apiKeyName": "stolen", "publicKey": public_key(owner.number), "expirationSeconds": "60"});
    let keys = json!({"userId": thief.user, "apiKeys": [key]});
    house
        .submit(&thief, thief.home, "ACTIVITY_TYPE_CREATE_API_KEYS", &keys, NOW)
        .expect("no proof is asked for");
    let conflict = (Code::Unauthenticated, "CREDENTIAL_CONFLICT".to_owned());
    assert_eq!(reason(ask(&house, house.id, NOW)), conflict);
    assert_eq!(ask(&house, owner.home, NOW).expect("theirs")["userId"], json!(owner.user));
    // A key that has expired is nobody's.
    assert_eq!(ask(&house, house.id, NOW + 60_000).expect("found")["userId"], json!(owner.user));
}

#[test]
fn passkeys_vote() {
    let mut house = House::found(2);
    let roots = house.roots.clone();
    let passkey = json!({"userId": roots[1].user, "authenticators": [samples::authenticator("root")]});
    house.agreed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let wallet = json!({"walletName": "voted", "accounts": []});
    let body = house.body(house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    house.send(&roots[0], "create_wallet", &body, NOW).expect("it waits");
    let voter = Person { shows: Shown::Passkey("root"), ..roots[1].clone() };
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let answer = house.submit(&voter, house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    let activity = answer.expect("they may")["activity"].clone();
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED");
    let vote = &activity["votes"][1];
    assert_eq!(vote["scheme"], "SIGNATURE_SCHEME_TK_WEBAUTHN");
    let registered = asked(&house, "get_authenticators", &json!({"userId": roots[1].user}));
    assert_eq!(vote["publicKey"], registered["authenticators"][0]["credential"]["publicKey"]);
    // The vote can be checked by itself.
    let text = |name: &str| vote[name].as_str().expect("a text").to_owned();
    let stamp = quorate_common::stamp::Stamp {
        public_key: text("publicKey"),
        scheme: quorate_common::stamp::Scheme::Webauthn,
        signature: text("signature"),
    };
    assert!(quorate_common::stamp::fits(&stamp, text("message").as_bytes()));
    assert!(!quorate_common::stamp::fits(&stamp, b"another message"));
}

#[test]
fn whoever_asked_with_a_key_may_add_the_passkey_that_a_policy_asks_for() {
    let mut house = House::found(2);
    let user = house.user.clone();
    let passkey = json!({"userId": user.user, "authenticators": [samples::authenticator("touch")]});
    let home = house.id;
    house.submit(&user, home, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey, NOW).expect("their own");
    let fingers = json!({"policyName": "fingers", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.kind == 'CREATE_WALLET'",
        "consensus": "credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR') \
                      && credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_P256')"});
    house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &fingers);
    let wallet = json!({"walletName": "touched", "accounts": []});
    let body = house.body(house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    let waits = house.send(&user, "create_wallet", &body, NOW).expect("it waits for a passkey");
    assert_eq!(waits["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(waits["activity"]["canApprove"], false, "with the same key once more");
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let again = house.submit(&user, house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    assert_eq!(each(&again.expect("it is shown")["activity"]["votes"], "id").len(), 1, "it says nothing new");
    let touch = Person { shows: Shown::Passkey("touch"), ..user };
    let answer = house.submit(&touch, house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    let activity = answer.expect("it is new")["activity"].clone();
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(each(&activity["votes"], "userId").len(), 2);
}

#[test]
fn one_person_is_never_two_of_a_root_quorum() {
    let mut house = House::found(2);
    let root = house.roots[0].clone();
    let passkey = json!({"userId": root.user, "authenticators": [samples::authenticator("root")]});
    house.agreed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let wallet = json!({"walletName": "alone", "accounts": []});
    let body = house.body(house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    house.send(&root, "create_wallet", &body, NOW).expect("it waits");
    let touch = Person { shows: Shown::Passkey("root"), ..root };
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let answer = house.submit(&touch, house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    let activity = answer.expect("it is shown")["activity"].clone();
    assert_eq!(activity["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(each(&activity["votes"], "id").len(), 1);
}

#[test]
fn a_vote_counts_no_more_when_its_passkey_is_gone() {
    let mut house = House::found(2);
    let roots = house.roots.clone();
    let passkey = json!({"userId": roots[0].user, "authenticators": [samples::authenticator("root")]});
    let made = house.agreed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let id = made["result"]["createAuthenticatorsResult"]["authenticatorIds"].clone();
    let wallet = json!({"walletName": "voted", "accounts": []});
    let body = house.body(house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    let proposer = Person { shows: Shown::Passkey("root"), ..roots[0].clone() };
    house.send(&proposer, "create_wallet", &body, NOW).expect("it waits");
    let gone = json!({"userId": roots[0].user, "authenticatorIds": id});
    house.agreed("ACTIVITY_TYPE_DELETE_AUTHENTICATORS", &gone);
    let target = json!({"fingerprint": Fingerprint::of(&body)});
    let answer = house.submit(&roots[1], house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    assert_eq!(answer.expect("they may")["activity"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
}

#[test]
fn a_root_user_may_live_by_a_passkey_alone() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let passkey = json!({"userId": root.user, "authenticators": [samples::authenticator("root")]});
    let made = house.agreed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey);
    let id = made["result"]["createAuthenticatorsResult"]["authenticatorIds"].clone();
    let keys = json!({"userId": root.user, "apiKeyIds": root.keys});
    house.agreed("ACTIVITY_TYPE_DELETE_API_KEYS", &keys);
    let by_passkey = Person { shows: Shown::Passkey("root"), ..root.clone() };
    let gone = json!({"userId": root.user, "authenticatorIds": id});
    let fault = house.submit(&by_passkey, house.id, "ACTIVITY_TYPE_DELETE_AUTHENTICATORS", &gone, NOW);
    assert_eq!(fault.expect_err("it is the last one").code, Code::InvalidArgument);
    let quorum = json!({"threshold": 1, "userIds": [root.user]});
    let answer = house.submit(&by_passkey, house.id, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum, NOW);
    assert_eq!(answer.expect("they hold a key")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn registrations_that_do_not_hold_are_refused() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let mut refused = |spoil: &dyn Fn(&mut Value)| {
        let mut passkey = samples::authenticator("fresh");
        spoil(&mut passkey);
        let parameters = json!({"userId": house.user.user, "authenticators": [passkey]});
        let answer =
            house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &parameters, NOW);
        let fault = answer.expect_err("it does not hold");
        (fault.code, fault.message)
    };
    let says = |text: &str| (Code::InvalidArgument, text.to_owned());
    let invalid = says("invalid authenticator attestation");
    assert_eq!(refused(&|one| one["challenge"] = json!("YW5vdGhlcg")), invalid);
    assert_eq!(refused(&|one| one["attestation"]["credentialId"] = json!("YW5vdGhlcg")), invalid);
    assert_eq!(
        refused(&|one| one["attestation"]["attestationObject"] = json!("oA")).0,
        Code::InvalidArgument
    );
    let missing = says("missing parameter: user authenticator attestation");
    assert_eq!(refused(&|one| one["attestation"]["attestationObject"] = json!("")), missing);
    // The older form says twice which credential it is.
    let mut older = Passkey::of("fresh").registration_v1(json!(house.user.user));
    older["attestation"]["id"] = json!("YW5vdGhlcg");
    let parameters = json!({"userId": house.user.user, "authenticators": [older]});
    let answer = house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS", &parameters, NOW);
    assert_eq!(answer.expect_err("it does not hold").message, "invalid authenticator attestation");
}
