//! Tests of the comparison with known checkpoints.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use ed25519_dalek::SigningKey;
use quorate_common::activity_log::{Checkpoint, LogHash, VerifierKey, origin};

use super::*;

/// Root of the tree of one entry, of two entries, and the proof between them: published by RFC 6962's reference implementation.
const ONE: &str = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
const TWO: &str = "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125";
/// Hash of the second leaf, whose data is one zero byte.
const SECOND_LEAF: &str = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";

fn stated(store: &str, seed: u8, (size, root): (u64, &str), epoch: u32) -> LogCheckpoint {
    let key = SigningKey::from_bytes(&[seed; 32]);
    let root: LogHash = const_hex::decode_to_array(root).unwrap();
    let checkpoint = Checkpoint { origin: origin(store), size, root, time: 1_780_000_000_000, epoch };
    LogCheckpoint {
        checkpoint: checkpoint.sign(&key).unwrap(),
        verifier_key: VerifierKey::new(origin(store), key.verifying_key()).to_string(),
        consistency: Vec::new(),
    }
}

fn proven(stated: LogCheckpoint) -> LogCheckpoint {
    use base64ct::{Base64, Encoding};
    let hash = Base64::encode_string(&const_hex::decode(SECOND_LEAF).unwrap());
    LogCheckpoint { consistency: vec![hash], ..stated }
}

async fn compare(witness: &Witness, stated: Option<&LogCheckpoint>) -> Result<(), WitnessError> {
    let organization = "69fa7e75-7754-4645-b9da-5e70b0f20e30".parse().unwrap();
    witness.begin(organization).await.unwrap().end(stated)
}

#[tokio::test]
async fn a_log_that_goes_back_or_changes_is_refused_also_by_the_next_console() {
    let folder = tempfile::tempdir().unwrap();
    let witness = || Witness::new(folder.path().join("checkpoints.json"));
    assert_eq!(compare(&witness(), None).await, Ok(()));
    let (one, two) = (stated("5f", 1, (1, ONE), 0), stated("5f", 1, (2, TWO), 0));
    assert_eq!(compare(&witness(), Some(&one)).await, Ok(()));
    // Nothing proves that the new log begins with the known entry.
    let unproven = compare(&witness(), Some(&two)).await;
    assert!(matches!(unproven, Err(WitnessError::Contradiction { .. })), "{unproven:?}");
    assert_eq!(compare(&witness(), Some(&proven(two.clone()))).await, Ok(()));
    let older = compare(&witness(), Some(&one)).await.unwrap_err().to_string();
    assert!(
        older.contains("a log of 1 entry, but 2 entries were known")
            || older.contains("of 1 entry, but 2 entries"),
        "{older}"
    );
    let missing = compare(&witness(), None).await;
    assert!(matches!(missing, Err(WitnessError::Missing { .. })), "{missing:?}");
    let other_root = stated("5f", 1, (2, ONE), 0);
    assert!(matches!(compare(&witness(), Some(&other_root)).await, Err(WitnessError::Contradiction { .. })));
    for other in [stated("6e", 1, (9, TWO), 0), stated("5f", 2, (9, TWO), 0)] {
        assert!(matches!(compare(&witness(), Some(&other)).await, Err(WitnessError::OtherLog { .. })));
    }
    let forged = LogCheckpoint { verifier_key: stated("5f", 2, (2, TWO), 0).verifier_key, ..two.clone() };
    assert!(matches!(compare(&witness(), Some(&forged)).await, Err(WitnessError::Invalid(_))));
    // A restore begins another epoch, and the epoch before ends.
    let restored = stated("5f", 1, (1, ONE), 1);
    assert_eq!(compare(&witness(), Some(&restored)).await, Ok(()));
    assert!(matches!(compare(&witness(), Some(&proven(two))).await, Err(WitnessError::Older { .. })));
}

#[tokio::test]
async fn what_cannot_be_read_or_written_stops_the_console() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoints.json");
    let one = stated("5f", 1, (1, ONE), 0);
    let organization = "69fa7e75-7754-4645-b9da-5e70b0f20e30".parse().unwrap();
    for content in
        ["", "{}", "{\"logs\": [], \"organizations\": {\"69fa7e75-7754-4645-b9da-5e70b0f20e30\": \"x\"}}"]
    {
        crate::files::write_private(&path, content.as_bytes()).unwrap();
        let begun = Witness::new(path.clone()).begin(organization).await.map(drop);
        assert!(matches!(begun, Err(WitnessError::File(_))), "{content}");
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(compare(&Witness::new(path.clone()), Some(&one)).await, Ok(()));
    let text = std::fs::read_to_string(&path).unwrap();
    // A checkpoint that was changed is not signed.
    crate::files::write_private(&path, text.replace("\\n1\\n", "\\n0\\n").as_bytes()).unwrap();
    assert!(Witness::new(path).begin(organization).await.is_err());
    assert_eq!(compare(&Witness::default(), Some(&one)).await, Ok(()));
}
