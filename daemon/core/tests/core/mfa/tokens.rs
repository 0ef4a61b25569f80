//! Tokens that prove no step: of others, ended, bound to another key; races; and what ends a proof.

use quorate_common::api_error::Code;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::token::TokenEnd;
use serde_json::json;

use super::codes::{ADMIN_EMAIL, Attested, EMAIL, SUBJECT};
use super::{APPROVE, COMPLETED, NEEDED, Scene, short};
use crate::fixture::{NOW, public_key};
use crate::id_tokens::Token;
use crate::sign_in::attested::stamps;
use crate::sign_in::{Claims, TOKEN_KEY};

#[test]
fn tokens_of_others_and_ended_ones_prove_nothing() {
    let mut scene = Scene::new(1).with_contacts();
    let owner = scene.owner.clone();
    scene.require(&owner, 0, "true", &["API_KEY", "EMAIL_OTP|OAUTH"]);
    let proposed = scene.propose(&owner, "guarded");
    let (own, sibling, child) = (scene.fixture.id, scene.fixture.sibling.home, scene.fixture.child.home);
    let valid = Claims { contact: EMAIL, organization: own, ..Claims::default() };
    let identity = |subject: &str| Token::new(subject, &public_key(TOKEN_KEY));
    let (bad_code, bad_token) = ("invalid verification token", "invalid OIDC token");
    let nobody = "no user found for attested identity";
    let tokens = [
        ("another organization", Claims { organization: sibling, ..valid.clone() }, bad_code),
        ("a sub-organization", Claims { organization: child, ..valid.clone() }, bad_code),
        ("another key", Claims { key: Some(public_key(33)), ..valid.clone() }, bad_code),
        ("no key", Claims { key: None, ..valid.clone() }, bad_code),
        ("ended", Claims { exp: TokenEnd::Millis(NOW.to_string()), ..valid.clone() }, bad_code),
        ("nobody", Claims { contact: "nobody@house.example", ..valid.clone() }, nobody),
    ]
    .map(|(name, claims, expected)| (name, Attested::claims(&scene, claims), expected));
    let identities = [
        ("identity of nobody", identity("nobody"), nobody),
        ("identity for another key", Token::new(SUBJECT, &public_key(33)), bad_token),
        ("ended identity", identity(SUBJECT).claim("exp", json!(NOW / 1000)), bad_token),
        ("forged identity", Token { key: 61, ..identity(SUBJECT) }, bad_token),
        ("identity of another audience", identity(SUBJECT).claim("aud", json!("other")), nobody),
    ]
    .map(|(name, token, expected)| (name, Attested::identity(&token), expected));
    let rows = scene.fixture.memory.all_rows();
    for (name, by, expected) in tokens.into_iter().chain(identities) {
        let error = scene.attest(&by, &proposed, NOW).expect_err(name);
        assert_eq!(error.message.split(" organizationId").next(), Some(expected), "{name}");
    }
    // Another user of the organization proves nothing for the proposer.
    for by in [Attested::code(&scene, 5, ADMIN_EMAIL), Attested::identity(&identity("user"))] {
        let error = scene.attest(&by, &proposed, NOW).expect_err("another user");
        assert_eq!(error.code, Code::PermissionDenied);
    }
    // A stamp of other bytes.
    let target = json!({"fingerprint": Fingerprint::of(&proposed.body)});
    let body = scene.fixture.body(own, APPROVE, &target, NOW);
    let code = Attested::claims(&scene, valid);
    let other = stamps(code.scheme, &code.token, code.key, b"other");
    let error = scene.fixture.memory.submit("approve_activity", &other, &body, NOW).expect_err("other bytes");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("SIGNATURE_INVALID"));
    assert!(scene.fixture.memory.all_rows() == rows, "nothing is recorded");
    assert_eq!(scene.attest(&code, &proposed, NOW), Ok(COMPLETED.to_owned()));
}

#[test]
fn a_contact_of_two_users_proves_nothing() {
    let mut scene = Scene::new(1).with_contacts();
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "EMAIL_OTP"]);
    let proposed = scene.propose(&owner, "guarded");
    let proof =
        Claims { id: 80, key: None, contact: EMAIL, organization: scene.fixture.id, ..Claims::default() };
    let token = proof.sign(&scene.fixture.memory);
    let same = json!({"userId": admin.user, "userEmail": EMAIL, "verificationToken": token});
    scene.submit(&admin, "ACTIVITY_TYPE_UPDATE_USER_EMAIL", &same, NOW).expect("both have the address");
    let code = Attested::code(&scene, 1, EMAIL);
    let error = scene.attest(&code, &proposed, NOW).expect_err("it identifies no user");
    assert_eq!(error.code, Code::Unauthenticated);
}

#[test]
fn a_proof_ends_with_what_the_token_proved() {
    let off = ("ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"}));
    for (method, change) in [("EMAIL_OTP", "address"), ("EMAIL_OTP", "feature"), ("OAUTH", "identity")] {
        let mut scene = Scene::new(1).with_contacts();
        let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
        scene.require(&owner, 0, "activity.resource == 'WALLET'", &[method, "PASSKEY"]);
        let proposed = scene.propose(&owner, "guarded");
        let by = match method {
            "OAUTH" => Attested::identity(&Token::new(SUBJECT, &public_key(TOKEN_KEY))),
            _ => Attested::code(&scene, 1, EMAIL),
        };
        assert_eq!(scene.attest(&by, &proposed, NOW), Ok(NEEDED.to_owned()));
        assert_eq!(scene.progress(&proposed, &owner), [(1, 2)]);
        let stored = scene.fixture.memory.stored(scene.fixture.id);
        let providers = stored.user(owner.user).map(|user| user.oauth_providers.iter().map(|one| one.id));
        let providers: Vec<_> = providers.into_iter().flatten().collect();
        let (activity_type, parameters) = match change {
            "address" => (
                "ACTIVITY_TYPE_UPDATE_USER_EMAIL",
                json!({"userId": owner.user, "userEmail": "new@house.example"}),
            ),
            "feature" => off.clone(),
            _ => (
                "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS",
                json!({"userId": owner.user, "providerIds": providers}),
            ),
        };
        let changed = scene.submit(&admin, activity_type, &parameters, NOW).expect(change);
        assert_eq!(short(&changed), COMPLETED, "{change}");
        assert_eq!(scene.progress(&proposed, &owner), [(0, 2)], "{change}");
        let passkey = scene.passkey.clone();
        assert_eq!(scene.approve(&passkey, &proposed, NOW), NEEDED, "{change}");
        assert!(!scene.has_wallet("guarded"));
    }
}

#[test]
fn two_proofs_of_one_user_at_once_count_once() {
    let mut scene = Scene::new(1).with_contacts();
    let (owner, passkey) = (scene.owner.clone(), scene.passkey.clone());
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "PASSKEY|EMAIL_OTP"]);
    let [raced, other] = ["raced", "other"].map(|name| scene.propose(&owner, name));
    let code = Attested::code(&scene, 1, EMAIL);
    let mut body = |target: &super::Proposed| {
        let target = json!({"fingerprint": Fingerprint::of(&target.body)});
        scene.fixture.body(scene.fixture.id, APPROVE, &target, NOW)
    };
    let bodies = [body(&raced), body(&raced), body(&other)];
    let attested = |body: &[u8]| stamps(code.scheme, &code.token, code.key, body);
    let memory = &mut scene.fixture.memory;
    let attempts = [
        memory.attempt("approve_activity", &attested(&bodies[0]), &bodies[0], NOW),
        memory.attempt("approve_activity", &passkey.stamps(&bodies[1]), &bodies[1], NOW),
        memory.attempt("approve_activity", &attested(&bodies[2]), &bodies[2], NOW),
    ];
    let commits = attempts.map(|attempt| attempt.commit.expect("each would be executed"));
    let claim = |commit: &quorate_core::pipeline::Commit| commit.must_not_exist.len();
    assert_eq!(commits.each_ref().map(claim), [2, 1, 2], "a token is used once, whatever the versions are");
    let shared: Vec<_> =
        commits[0].must_not_exist.iter().filter(|key| commits[2].must_not_exist.contains(key)).collect();
    assert_eq!(shared.len(), 1);
    let done = commits.map(|commit| memory.try_commit(commit));
    assert_eq!(done, [true, false, false]);
    let again = memory.submit("approve_activity", &passkey.stamps(&bodies[1]), &bodies[1], NOW);
    assert_eq!(short(&again.expect("the activity")["activity"]), COMPLETED);
    let error = memory.submit("approve_activity", &attested(&bodies[2]), &bodies[2], NOW);
    assert_eq!(error.expect_err("the token was used").code, Code::AlreadyExists);
    assert_eq!((scene.votes(&raced), scene.votes(&other)), (2, 1));
}

#[test]
fn only_who_stamped_a_vote_sees_its_target_again() {
    let mut scene = Scene::new(1).with_contacts();
    let owner = scene.owner.clone();
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY 2", "EMAIL_OTP"]);
    let proposed = scene.propose(&owner, "guarded");
    let target = json!({"fingerprint": Fingerprint::of(&proposed.body)});
    let body = scene.fixture.body(scene.fixture.id, APPROVE, &target, NOW);
    let second = scene.second_key.clone();
    scene.fixture.send(&second, "approve_activity", &body, NOW).expect("a step");
    // The same bytes with the stamps of other keys.
    let codes = [Attested::code(&scene, 1, EMAIL), Attested::code(&scene, 2, ADMIN_EMAIL)];
    for by in codes {
        let stamps = stamps(by.scheme, &by.token, by.key, &body);
        let error = scene.fixture.memory.submit("approve_activity", &stamps, &body, NOW).expect_err("others");
        assert_eq!(error.code, Code::AlreadyExists);
    }
}
