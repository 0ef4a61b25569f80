//! What proves the steps of an MFA policy.

use serde_json::json;

use super::{APPROVE, COMPLETED, NEEDED, REJECT, Scene, short, status};
use crate::changes::query_as_root;
use crate::fixture::{NOW, Person};

const DAY: u64 = 24 * 60 * 60 * 1000;

#[test]
fn a_proposal_waits_until_its_proposer_proves_the_second_method() {
    let mut scene = Scene::new(1);
    let (owner, passkey) = (scene.owner.clone(), scene.passkey.clone());
    let id = scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "PASSKEY"]);
    let proposed = scene.propose(&owner, "guarded");
    assert_eq!(proposed.status, NEEDED);
    assert!(!scene.has_wallet("guarded"), "nothing is executed");
    let query = json!({"activityId": proposed.id});
    let required = json!([{"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]}, {"any": [{"type": "AUTHENTICATION_TYPE_PASSKEY"}]}]);
    let expected = json!({"mfaStatuses": [{"mfaPolicyId": id, "userId": owner.user, "satisfied": false,
        "satisfiedMethods": [{"type": "AUTHENTICATION_TYPE_API_KEY"}], "requiredMethods": required}]});
    assert_eq!(query_as_root(&scene.fixture, "get_mfa_status", &query), expected);
    // Polling with the same bytes returns the activity and proves nothing.
    let again = scene.fixture.send(&owner, "create_wallet", &proposed.body, NOW + 1).expect("the activity");
    assert_eq!((&again["activity"]["id"], &again["activity"]["status"]), (&proposed.id, &status(NEEDED)));
    let again = scene.fixture.send(&passkey, "create_wallet", &proposed.body, NOW + 1).expect("the activity");
    assert_eq!(again["activity"]["status"], status(NEEDED));
    assert_eq!(scene.votes(&proposed), 1);
    // The proof executes the activity, and its answer is the activity with its result.
    let target = json!({"fingerprint": quorate_common::fingerprint::Fingerprint::of(&proposed.body)});
    let body = scene.fixture.body(scene.fixture.id, APPROVE, &target, NOW);
    let done = scene.fixture.send(&passkey, "approve_activity", &body, NOW).expect("it is executed");
    assert_eq!((&done["activity"]["id"], &done["activity"]["status"]), (&proposed.id, &status(COMPLETED)));
    assert!(done["activity"]["result"]["createWalletResult"]["walletId"].is_string());
    assert!(scene.has_wallet("guarded"));
    assert_eq!(query_as_root(&scene.fixture, "get_mfa_status", &query), json!({"mfaStatuses": []}));
    // The same stamp again changes nothing.
    let rows = scene.fixture.memory.all_rows();
    scene.fixture.send(&passkey, "approve_activity", &body, NOW + 1).expect("the activity");
    assert!(scene.fixture.memory.all_rows() == rows);
    // The stamps that authorized it are stored, and can be verified without the service.
    for vote in scene.activity(&proposed)["votes"].as_array().expect("votes") {
        let text = |name: &str| vote[name].as_str().expect("a text").to_owned();
        let scheme = quorate_common::stamp::Scheme::from_name(&text("scheme")).expect("a scheme");
        let stamp = quorate_common::stamp::Stamp {
            public_key: text("publicKey"),
            scheme,
            signature: text("signature"),
        };
        assert!(quorate_common::stamp::verify(&stamp, text("message").as_bytes()));
    }
}

#[test]
fn steps_are_proven_in_their_order_by_different_credentials() {
    let first = Scene::new(1);
    let by = |name: char| -> Person {
        match name {
            '1' => first.owner.clone(),
            '2' => first.second_key.clone(),
            _ => first.passkey.clone(),
        }
    };
    // Steps, the credentials that stamp the proposal and its approvals in their order, and the number of proven steps
    // after each; the last number equals that of the steps if the activity is executed.
    for (steps, stamps, proven) in [
        (vec!["PASSKEY"], "P", vec![1]),
        (vec!["PASSKEY"], "1P", vec![0, 1]),
        (vec!["PASSKEY"], "12P", vec![0, 0, 1]),
        (vec!["API_KEY"], "1", vec![1]),
        (vec!["API_KEY 2"], "12", vec![0, 1]),
        (vec!["API_KEY 2"], "1P2", vec![0, 0, 1]),
        (vec!["API_KEY 1|PASSKEY"], "2P", vec![0, 1]),
        (vec!["API_KEY 1|PASSKEY"], "21", vec![0, 1]),
        (vec!["API_KEY", "PASSKEY"], "1P", vec![1, 2]),
        // A later step does not count before the earlier one.
        (vec!["API_KEY", "PASSKEY"], "P1P", vec![0, 1, 2]),
        (vec!["PASSKEY", "API_KEY"], "1P1", vec![0, 1, 2]),
        // A credential proves one step.
        (vec!["API_KEY", "API_KEY"], "112", vec![1, 1, 2]),
        (vec!["API_KEY|PASSKEY", "API_KEY|PASSKEY"], "PP1", vec![1, 1, 2]),
        (vec!["API_KEY", "PASSKEY", "API_KEY"], "1P1P2", vec![1, 2, 2, 2, 3]),
        (vec!["API_KEY 2", "API_KEY 1"], "121", vec![0, 1, 2]),
    ] {
        let mut scene = Scene::new(1);
        let owner = scene.owner.clone();
        scene.require(&owner, 0, "true", &steps);
        let mut stamps = stamps.chars();
        let mut expected = proven.into_iter();
        let proposed = scene.propose(&by(stamps.next().expect("a proposal")), "guarded");
        let mut current = proposed.status.clone();
        loop {
            let proven = expected.next().expect("a number for each stamp");
            if proven == steps.len() {
                assert_eq!((current.as_str(), scene.has_wallet("guarded")), (COMPLETED, true), "{steps:?}");
                break;
            }
            assert_eq!((current.as_str(), scene.has_wallet("guarded")), (NEEDED, false), "{steps:?}");
            assert_eq!(scene.progress(&proposed, &owner), [(proven, steps.len())], "{steps:?}");
            let next = stamps.next().expect("a further stamp");
            current = scene.approve(&by(next), &proposed, NOW);
        }
        assert_eq!((stamps.next(), expected.next()), (None, None));
    }
}

#[test]
fn a_stamp_that_proves_nothing_is_not_recorded() {
    let mut scene = Scene::new(1);
    let owner = scene.owner.clone();
    scene.require(&owner, 0, "true", &["PASSKEY", "API_KEY"]);
    let proposed = scene.propose(&owner, "guarded");
    let second = scene.second_key.clone();
    assert_eq!(scene.approve(&second, &proposed, NOW), NEEDED);
    assert_eq!(scene.votes(&proposed), 1);
    // Nor does anybody else prove a method of the proposer.
    let admin = scene.admin.clone();
    assert_eq!(scene.approve(&admin, &proposed, NOW), NEEDED);
    assert_eq!(scene.progress(&proposed, &owner), [(0, 2)]);
    assert!(!scene.has_wallet("guarded"));
}

#[test]
fn sessions_prove_only_that_they_are_sessions() {
    let mut scene = Scene::new(1);
    let (owner, passkey) = (scene.owner.clone(), scene.passkey.clone());
    let profile = scene.fixture.session_profile.clone();
    let plain = scene.log_in(&passkey, 60, None);
    let signer = scene.log_in(&passkey, 61, Some(&profile));
    let sign = json!({"signWith": scene.fixture.wallet.1, "payload": "ab".repeat(32),
        "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"});
    for (method, by_plain, by_signer, by_key) in [
        ("SESSION", true, true, false),
        ("SESSION default", true, false, false),
        ("SESSION profile", false, true, false),
        ("PASSKEY", false, false, false),
        ("API_KEY", false, false, true),
    ] {
        let mut scene = Scene { fixture: scene.fixture.clone(), ..Scene::new(1) };
        scene.require(&owner, 0, "activity.action == 'SIGN'", &[method]);
        for (caller, is_proof) in [(&plain, by_plain), (&signer, by_signer), (&owner, by_key)] {
            let proposed = scene.propose_any(caller, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign);
            assert_eq!(proposed.status, if is_proof { COMPLETED } else { NEEDED }, "{method}");
        }
    }
}

#[test]
fn proofs_expire_after_a_day_and_end_with_their_credential() {
    let mut scene = Scene::new(1);
    let (owner, passkey, second) = (scene.owner.clone(), scene.passkey.clone(), scene.second_key.clone());
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "PASSKEY"]);
    // After a day the first step is open again; the late passkey is not the next step.
    let late = scene.propose(&owner, "late");
    assert_eq!(scene.approve(&passkey, &late, NOW + DAY), NEEDED);
    assert_eq!(scene.votes(&late), 1);
    assert_eq!(scene.approve(&owner, &late, NOW + DAY), NEEDED);
    assert_eq!(scene.approve(&passkey, &late, NOW + DAY + 1), COMPLETED);
    // A proof by a deleted credential does not count.
    let proposed = scene.propose(&second, "deleted");
    assert_eq!(scene.progress(&proposed, &owner), [(1, 2)]);
    let deletion = json!({"userId": owner.user, "apiKeyIds": [owner.keys[1]]});
    let admin = scene.admin.clone();
    let deleted =
        scene.submit(&admin, "ACTIVITY_TYPE_DELETE_API_KEYS", &deletion, NOW).expect("it is deleted");
    assert_eq!(short(&deleted), COMPLETED);
    assert_eq!(scene.progress(&proposed, &owner), [(0, 2)]);
    assert_eq!(scene.approve(&passkey, &proposed, NOW), NEEDED);
    assert!(!scene.has_wallet("deleted"));
    assert_eq!(scene.approve(&owner, &proposed, NOW), NEEDED);
    assert_eq!(scene.approve(&passkey, &proposed, NOW), COMPLETED);
}

#[test]
fn proofs_belong_to_one_activity() {
    let mut scene = Scene::new(1);
    let (owner, passkey) = (scene.owner.clone(), scene.passkey.clone());
    scene.require(&owner, 0, "true", &["API_KEY", "PASSKEY"]);
    let (one, other) = (scene.propose(&owner, "one"), scene.propose(&owner, "other"));
    assert_eq!(scene.approve(&passkey, &one, NOW), COMPLETED);
    assert_eq!(scene.progress(&other, &owner), [(1, 2)]);
    assert!(!scene.has_wallet("other"));
}

#[test]
fn the_proposer_and_other_voters_can_reject_without_further_proof() {
    let mut scene = Scene::new(1);
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    scene.require(&owner, 0, "true", &["PASSKEY"]);
    for person in [owner.clone(), admin] {
        let proposed = scene.propose(&owner, "rejected");
        let target = json!({"fingerprint": quorate_common::fingerprint::Fingerprint::of(&proposed.body)});
        scene.submit(&person, REJECT, &target, NOW).expect("it is rejected");
        assert_eq!(scene.activity(&proposed)["status"], status("REJECTED"));
        let passkey = scene.passkey.clone();
        assert_eq!(scene.approve(&passkey, &proposed, NOW), "REJECTED");
    }
}

#[test]
fn two_proofs_at_once_count_once() {
    let mut scene = Scene::new(1);
    let (owner, passkey, second) = (scene.owner.clone(), scene.passkey.clone(), scene.second_key.clone());
    scene.require(&owner, 0, "true", &["API_KEY 1", "PASSKEY|API_KEY 2"]);
    let proposed = scene.propose(&owner, "raced");
    let target = json!({"fingerprint": quorate_common::fingerprint::Fingerprint::of(&proposed.body)});
    let bodies = [(); 2].map(|()| scene.fixture.body(scene.fixture.id, APPROVE, &target, NOW));
    let memory = &mut scene.fixture.memory;
    let first = memory.attempt("approve_activity", &passkey.stamps(&bodies[0]), &bodies[0], NOW);
    let other = memory.attempt("approve_activity", &second.stamps(&bodies[1]), &bodies[1], NOW);
    assert!(memory.try_commit(first.commit.expect("it executes")));
    assert!(!memory.try_commit(other.commit.expect("it executes as well")), "the state has changed");
    let again = scene.fixture.send(&second, "approve_activity", &bodies[1], NOW).expect("the activity");
    assert_eq!(again["activity"]["status"], status(COMPLETED));
    assert_eq!(scene.votes(&proposed), 2);
}

#[test]
fn a_login_that_waited_shows_its_session_to_the_proposer_once() {
    let mut scene = Scene::new(1);
    let (owner, passkey) = (scene.owner.clone(), scene.passkey.clone());
    scene.require(&owner, 0, "true", &["API_KEY", "PASSKEY"]);
    let proposed = scene.propose_any(&owner, "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", &json!({}));
    assert_eq!(proposed.status, NEEDED);
    let target = json!({"fingerprint": quorate_common::fingerprint::Fingerprint::of(&proposed.body)});
    let done = scene.submit(&passkey, APPROVE, &target, NOW).expect("it is executed");
    let token = done["result"]["createReadOnlySessionResult"]["session"].as_str().expect("a token");
    assert_eq!(token.len(), 64);
    assert_eq!(scene.activity(&proposed)["result"]["createReadOnlySessionResult"]["session"], "");
    for (key, row) in scene.fixture.memory.all_rows() {
        assert!(!row.windows(token.len()).any(|window| window == token.as_bytes()), "{key:?}");
    }
}
