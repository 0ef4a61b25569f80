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
    assert_eq!(compare_for(witness, organization, stated).await?, Compared::Done);
    Ok(())
}

async fn compare_for(
    witness: &Witness,
    organization: OrganizationId,
    stated: Option<&LogCheckpoint>,
) -> Result<Compared, WitnessError> {
    witness.begin(organization).await.unwrap().compare(stated)
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
    // A pipe would wait, and a link that leads nowhere is no missing file.
    for arguments in [["mkfifo", "-m", "600"].as_slice(), &["mkdir"], &["ln", "-s", "nowhere"]] {
        let made = std::process::Command::new(arguments[0]).args(&arguments[1..]).arg(&path).status();
        assert!(made.unwrap().success(), "{arguments:?}");
        let begun = Witness::new(path.clone()).begin(organization).await.map(drop);
        assert!(matches!(begun, Err(WitnessError::File(_))), "{arguments:?}");
        let removed = if path.is_dir() { std::fs::remove_dir(&path) } else { std::fs::remove_file(&path) };
        removed.unwrap();
    }
    assert_eq!(compare(&Witness::new(path.clone()), Some(&one)).await, Ok(()));
    let text = std::fs::read_to_string(&path).unwrap();
    // A checkpoint that was changed is not signed.
    crate::files::write_private(&path, text.replace("\\n1\\n", "\\n0\\n").as_bytes()).unwrap();
    assert!(Witness::new(path).begin(organization).await.is_err());
    assert_eq!(compare(&Witness::default(), Some(&one)).await, Ok(()));
}

/// Who controls a daemon can state organizations that nobody saw before.
#[tokio::test]
async fn an_unknown_organization_changes_nothing_about_a_known_log() {
    let folder = tempfile::tempdir().unwrap();
    let witness = || Witness::new(folder.path().join("checkpoints.json"));
    let two = stated("5f", 1, (2, TWO), 0);
    assert_eq!(compare(&witness(), Some(&two)).await, Ok(()));
    let unknown = OrganizationId::from_bytes([1; 16]);
    let known = std::fs::read(folder.path().join("checkpoints.json")).unwrap();
    for forged in
        [stated("5f", 2, (9, TWO), u32::MAX), stated("5f", 1, (1, ONE), 0), stated("5f", 1, (3, TWO), 0)]
    {
        assert!(compare_for(&witness(), unknown, Some(&forged)).await.is_err());
        assert_eq!(std::fs::read(folder.path().join("checkpoints.json")).unwrap(), known);
    }
    assert_eq!(compare_for(&witness(), unknown, None).await, Ok(Compared::Done));
    // Another store is another log. The one that was stated last is expected for the next unknown organization.
    let other = OrganizationId::from_bytes([2; 16]);
    assert_eq!(compare_for(&witness(), other, Some(&stated("6e", 3, (1, ONE), 0))).await, Ok(Compared::Done));
    let repeated = witness();
    let mut comparison = repeated.begin(unknown).await.unwrap();
    assert_eq!(comparison.compare(Some(&two)), Ok(Compared::Repeat));
    assert_eq!(comparison.known_size(), 2);
    assert_eq!(comparison.compare(Some(&two)), Ok(Compared::Done));
    drop(comparison);
    let mut comparison = repeated.begin(OrganizationId::from_bytes([3; 16])).await.unwrap();
    assert_eq!(comparison.compare(Some(&two)), Ok(Compared::Repeat));
    let again = comparison.compare(Some(&stated("6e", 3, (1, ONE), 0)));
    assert!(again.is_err(), "the requests do not go on without end");
    assert_eq!(compare(&witness(), Some(&two)).await, Ok(()));
}

/// Two consoles at once, each at another daemon: nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn consoles_that_run_at_once_keep_all_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoints.json");
    let mut consoles = tokio::task::JoinSet::new();
    for number in 0..16_u8 {
        let path = path.clone();
        consoles.spawn(async move {
            let stated = stated(&format!("{number:02x}"), 1, (1, ONE), 0);
            let organization = OrganizationId::from_bytes([number; 16]);
            assert_eq!(
                compare_for(&Witness::new(path), organization, Some(&stated)).await,
                Ok(Compared::Done)
            );
        });
    }
    consoles.join_all().await;
    let logs = KnownLogs::load(&path).unwrap();
    assert!((0..16).all(|number| logs.of(OrganizationId::from_bytes([number; 16])).is_some()));
}

/// What another console stored while an answer was on its way is compared, too.
#[tokio::test]
async fn an_organization_that_became_known_meanwhile_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (path, organization) = (folder.path().join("checkpoints.json"), OrganizationId::from_bytes([1; 16]));
    let (late, other) = (Witness::new(path.clone()), Witness::new(path.clone()));
    let mut comparison = late.begin(organization).await.unwrap();
    let honest = stated("5f", 1, (1, ONE), 0);
    assert_eq!(compare_for(&other, organization, Some(&honest)).await, Ok(Compared::Done));
    let forged = stated("ffff", 2, (99, TWO), 0);
    assert_eq!(comparison.compare(Some(&forged)), Ok(Compared::Repeat));
    assert!(matches!(comparison.compare(Some(&forged)), Err(WitnessError::OtherLog { .. })));
    assert_eq!(KnownLogs::load(&path).unwrap().of(organization).unwrap().note, honest.checkpoint);
}

#[test]
fn with_too_many_organizations_their_logs_are_still_compared() {
    let known = |stated: &LogCheckpoint| {
        let (checkpoint, key) = stated.open().unwrap();
        KnownLog { checkpoint, key, note: stated.checkpoint.clone(), seen_millis: 1, before: None }
    };
    let (one, two) = (known(&stated("5f", 1, (1, ONE), 0)), known(&stated("5f", 1, (2, TWO), 0)));
    let id = |number: u32| {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        OrganizationId::from_bytes(bytes)
    };
    let mut logs = KnownLogs::default();
    assert!((0..20_000).all(|number| logs.keep(id(number), one.clone())));
    assert!(!logs.keep(id(20_000), one.clone()));
    assert!(logs.keep(id(20_000), two.clone()), "the log is known");
    assert!(!logs.keep(id(20_000), known(&stated("6e", 1, (1, ONE), 0))));
    assert_eq!((logs.of(id(7)), logs.of(id(20_000))), (Some(&two), None));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoints.json");
    logs.replace(id(20_001), one.clone());
    logs.save(&path).unwrap();
    assert_eq!(KnownLogs::load(&path).unwrap().of(id(20_001)), Some(&one));
}
