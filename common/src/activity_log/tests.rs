//! Tests of entries and checkpoints.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use ed25519_dalek::SigningKey;

use super::*;

fn state() -> ActivityState {
    ActivityState {
        organization: "69fa7e75-7754-4645-b9da-5e70b0f20e30".parse().unwrap(),
        activity: "0194f4c8-5a10-7000-8000-000000000001".parse().unwrap(),
        fingerprint: Fingerprint::from_bytes([0xab; 32]),
        status: Status::Completed,
        votes: 2,
    }
}

fn keys(store: &str) -> (SigningKey, VerifierKey) {
    let signing = SigningKey::from_bytes(&[7; 32]);
    let verifier = VerifierKey::new(origin(store), signing.verifying_key());
    (signing, verifier)
}

fn checkpoint(size: u64, root: LogHash) -> Checkpoint {
    Checkpoint { origin: origin("5f5f"), size, root, time: 1_780_000_000_000, epoch: 1 }
}

#[test]
fn an_entry_has_one_text_and_one_hash() {
    let text = "quorate/activity/1\n69fa7e75-7754-4645-b9da-5e70b0f20e30\n0194f4c8-5a10-7000-8000-000000000001\n\
                sha256:abababababababababababababababababababababababababababababababab\n\
                ACTIVITY_STATUS_COMPLETED\n2\n";
    assert_eq!(state().text(), text);
    // Computed with Python's hashlib.
    let leaf = "d05571ddc8b631e5da001e8aff2b1f57142ce27c369df5a1acb6a86c0a8af440";
    assert_eq!(const_hex::encode(state().leaf()), leaf);
}

#[test]
fn a_checkpoint_is_opened_with_its_key_only() {
    let (signing, verifier) = keys("5f5f");
    let signed = checkpoint(3, [9; 32]).sign(&signing).unwrap();
    assert_eq!(Checkpoint::open(&signed, &verifier), Ok(checkpoint(3, [9; 32])));
    let text = "quorate/5f5f\n3\nCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=\ntime 1780000000000\nepoch 1\n\n— quorate/5f5f ";
    assert!(signed.starts_with(text), "{signed}");
    let (_, of_another_store) = keys("6e6e");
    assert_eq!(Checkpoint::open(&signed, &of_another_store), Err(LogError::Signature));
    let other = VerifierKey::new(origin("5f5f"), SigningKey::from_bytes(&[8; 32]).verifying_key());
    assert_eq!(Checkpoint::open(&signed, &other), Err(LogError::Signature));
    for place in 0..signed.len() {
        let mut changed = signed.clone().into_bytes();
        changed[place] ^= 1;
        if let Ok(changed) = String::from_utf8(changed) {
            assert!(Checkpoint::open(&changed, &verifier).is_err(), "byte {place}");
        }
        if signed.is_char_boundary(place) {
            assert!(Checkpoint::open(&signed[..place], &verifier).is_err(), "cut at {place}");
        }
    }
    let huge = checkpoint(u64::MAX, [9; 32]).sign(&signing).unwrap();
    assert_eq!(Checkpoint::open(&huge, &verifier), Err(LogError::Malformed));
}

#[test]
fn a_verifier_key_has_one_form() {
    let (_, verifier) = keys("5f5f");
    let text = verifier.to_string();
    assert_eq!(text.parse(), Ok(verifier));
    for place in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[place] ^= 1;
        let changed = String::from_utf8(changed).unwrap();
        assert!(changed.parse::<VerifierKey>().is_err(), "{changed}");
        assert!(text[..place].parse::<VerifierKey>().is_err());
    }
}

#[test]
fn the_only_entry_is_its_own_root_and_nothing_else_is_proven() {
    let newest = checkpoint(1, state().leaf());
    assert_eq!(state().check_included(0, &[], &newest), Ok(()));
    assert_eq!(state().check_included(1, &[], &newest), Err(LogError::NotIncluded));
    let other = ActivityState { votes: 3, ..state() };
    assert_eq!(other.check_included(0, &[], &newest), Err(LogError::NotIncluded));
    let hash = |length| vec!["CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=".to_owned(); length];
    for size in [1, 2, 3, 7, 8, 1 << 47, (1 << 48) - 1] {
        for index in [0, 1, size / 2, size - 1, size] {
            for length in [0, 1, 2, 46, 47, 48, 96] {
                let newest = checkpoint(size, [9; 32]);
                let is_included = state().check_included(index, &hash(length), &newest);
                assert_eq!(is_included, Err(LogError::NotIncluded), "{size} {index} {length}");
                let known = checkpoint(index.max(1), [8; 32]);
                assert!(known.check_successor(&newest, &hash(length)).is_err(), "{size} {index} {length}");
            }
        }
    }
    assert_eq!(state().check_included(0, &hash(97), &newest), Err(LogError::Malformed));
    assert_eq!(state().check_included(0, &["?".to_owned()], &newest), Err(LogError::Malformed));
}

#[test]
fn a_checkpoint_that_goes_back_is_refused_within_an_epoch() {
    let known = checkpoint(5, [9; 32]);
    assert_eq!(known.check_successor(&known, &[]), Ok(()));
    assert_eq!(known.check_successor(&checkpoint(4, [9; 32]), &[]), Err(LogError::Older));
    assert_eq!(known.check_successor(&checkpoint(5, [8; 32]), &[]), Err(LogError::Contradiction));
    assert_eq!(known.check_successor(&checkpoint(6, [9; 32]), &[]), Err(LogError::Contradiction));
    assert_eq!(checkpoint(0, [0; 32]).check_successor(&known, &[]), Ok(()));
    let restored = Checkpoint { epoch: 2, ..checkpoint(4, [7; 32]) };
    assert_eq!(known.check_successor(&restored, &[]), Ok(()));
    assert_eq!(restored.check_successor(&known, &[]), Err(LogError::Older));
}
