//! What was stored stays readable: fixtures of every record, of secrets and of the keys they stand under.
//! Fixtures are written once. Blessing adds what is missing and never touches what is there.

use std::fmt::Write;
use std::path::PathBuf;

use quorate_chain::curve::Curve;
use quorate_common::activity::Status;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{
    ActivityId, EndpointId, InvitationId, OrganizationId, PolicyId, PrivateKeyId, SecretId, SessionProfileId,
    SmartContractInterfaceId, TagId, UserId, WalletAccountId, WalletId,
};
use quorate_core::mail::Mail;
use quorate_core::model::layout::outbox::{self, DeliveryId, Destination};
use quorate_core::model::layout::{self, Entity, IndexKey, Lookup, SecretOf};
use quorate_core::model::organization::Head;
use quorate_core::model::record::Record;
use quorate_core::model::{
    ActivityRecord, ImportTarget, InterfaceText, Invitation, Policy, PrivateKey, Purpose, RecordDigest,
    Secret, SessionProfile, SmartContractInterface, Tag, User, Wallet, WalletAccount, WebhookEndpoint,
};
use quorate_core::notice::Notice;
use quorate_core::outbox::{Delivery, EventBody, Parked};
use quorate_core::secret;
use serde_json::Value;

use crate::golden;
use crate::house::House;

/// The fixture of a record: its JSON. The folder is the version byte before it.
fn fixture(version: u8, noun: &str) -> PathBuf {
    golden::place(&format!("vectors/records/{version}/{}.json", noun.replace(' ', "_")))
}

fn check<R: Record>(house: &House, is_it: impl Fn(&[u8]) -> bool) {
    check_as::<R>(R::NOUN, house, is_it);
}

/// Reads the fixture, adds it from a live record when blessing, and checks what a stored record promises.
fn check_as<R: Record>(name: &str, house: &House, is_it: impl Fn(&[u8]) -> bool) {
    let place = fixture(1, name);
    if golden::is_blessing() && !place.exists() {
        let letters = [b'o', b'e', b'n', b'a', b'p', b'i'];
        let rows = letters.into_iter().flat_map(|letter| house.memory.rows(letter));
        let (_, found) = rows.into_iter().find(|(key, _)| is_it(key)).expect("the house has one");
        let text = serde_json::to_string_pretty(&json::<R>(found)).expect("JSON serializes");
        std::fs::write(&place, text + "\n").expect("a fixture can be written");
    }
    let text = std::fs::read_to_string(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    let mut bytes = vec![1];
    bytes.extend_from_slice(text.as_bytes());
    let record = R::decode(&bytes).unwrap_or_else(|flaw| panic!("{}: {flaw}", R::NOUN));
    let again = record.encode().expect("it can be stored again");
    assert_eq!(again[0], R::VERSION);
    let old: Value = serde_json::from_str(&text).expect("a fixture is JSON");
    let new = json::<R>(&again);
    assert!(holds(&new, &old), "{}: something stored is lost\n  was {old}\n  now {new}", R::NOUN);
    bytes[0] = R::VERSION + 1;
    assert!(R::decode(&bytes).is_err(), "{}: a newer version is refused", R::NOUN);
    for cut in [0, 1, bytes.len() / 2] {
        assert!(R::decode(&again[..cut.min(again.len())]).is_err(), "{}: cut at {cut}", R::NOUN);
    }
}

/// What a stored record says.
fn json<R: Record>(bytes: &[u8]) -> Value {
    serde_json::to_value(R::decode(bytes).expect("it is readable")).expect("a record serializes")
}

/// Whether everything in `old` is still in `new`.
fn holds(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            old.iter().all(|(name, old)| new.get(name).is_some_and(|new| holds(new, old)) || old.is_null())
        }
        (Value::Array(new), Value::Array(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| holds(new, old))
        }
        (new, old) => new == old,
    }
}

fn entity(class: u8) -> impl Fn(&[u8]) -> bool {
    move |key| key[0] == b'e' && layout::entity_class(key) == Some(class)
}

#[test]
fn records_stay_readable() {
    let mut house = House::found(2);
    if golden::is_blessing() {
        std::fs::create_dir_all(golden::place("vectors/records/1")).expect("a folder can be made");
        house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &serde_json::json!({"policyName": "policy", "effect": "EFFECT_ALLOW",
            "condition": "activity.kind == 'CREATE_WALLET'", "consensus": "approvers.count() >= 2", "notes": "notes"}));
    }
    check::<Head>(&house, |key| key[0] == b'o');
    check_as::<Head>("organization with digest", &house, |key| key[0] == b'o');
    check::<User>(&house, entity(b'u'));
    let with_passkey = layout::entity(house.id, Entity::User(house.user.user));
    check_as::<User>("user with passkey", &house, |key| *key == *with_passkey);
    check::<Wallet>(&house, entity(b'w'));
    check::<PrivateKey>(&house, entity(b'k'));
    check::<Policy>(&house, entity(b'p'));
    check::<Tag>(&house, entity(b't'));
    check::<WalletAccount>(&house, |key| key[0] == b'n');
    check::<ActivityRecord>(&house, |key| key[0] == b'a');
    check::<Notice>(&house, |key| key[0] == b'x');
    check::<Invitation>(&house, entity(b'i'));
    check::<WebhookEndpoint>(&house, entity(b'h'));
    check::<Secret>(&house, entity(b'v'));
    check::<SessionProfile>(&house, entity(b's'));
    check::<SmartContractInterface>(&house, entity(b'c'));
    check::<InterfaceText>(&house, |key| key[0] == b'i');
    check::<Mail>(&house, |_| false);
    check::<Delivery>(&house, |key| DeliveryId::of_key(key).is_some());
    check::<EventBody>(&house, outbox::is_body);
    check::<Parked>(&house, |_| false);
}

#[test]
fn policies_limited_in_time_stay_readable() {
    let place = fixture(2, Policy::NOUN);
    let text = std::fs::read(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    let policy = Policy::decode(&[b"\x02".as_slice(), &text].concat()).expect("version 2");
    assert_eq!(policy.time.as_ref().map(|time| time.as_str().len()), Some(46));
    let stored: Value = serde_json::from_slice(&text).expect("a fixture is JSON");
    assert_eq!(json::<Policy>(&policy.encode().expect("it can be stored again")), stored);
}

#[test]
fn packed_activities_stay_readable() {
    let read = |version, noun: &str| {
        let place = fixture(version, noun);
        std::fs::read(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()))
    };
    let old =
        ActivityRecord::decode(&[b"\x01".as_slice(), &read(1, "activity")].concat()).expect("version 1");
    let place = golden::place("vectors/records/2/activity.hex");
    if golden::is_blessing() && !place.exists() {
        let packed = old.encode().expect("it can be stored again");
        std::fs::create_dir_all(golden::place("vectors/records/2")).expect("a folder can be made");
        std::fs::write(&place, const_hex::encode(&packed[1..]) + "\n").expect("a fixture can be written");
    }
    let text = std::fs::read_to_string(&place).unwrap_or_default();
    let packed = const_hex::decode(text.trim()).expect("the fixture is hex");
    let new = ActivityRecord::decode(&[b"\x02".as_slice(), &packed].concat()).expect("version 2");
    // Version 3 holds behind it what policies said at each vote: at the first one, one that it is allowed.
    let said = [&[1, 1][..], &[0x88; 16], &[0]].concat();
    let evaluated =
        ActivityRecord::decode(&[b"\x03".as_slice(), &packed, &said].concat()).expect("version 3");
    assert_eq!(evaluated.votes[0].evaluations.len(), 1);
    assert_eq!(evaluated.votes[0].evaluations[0].policy, PolicyId::from_bytes([0x88; 16]));
    let value = |record| serde_json::to_value(record).expect("a record serializes");
    assert_eq!(value(&new), value(&old));
    assert!(
        ActivityRecord::decode(&[b"\x02".as_slice(), &packed, b"\x00"].concat()).is_err(),
        "a byte too many"
    );
}

#[test]
fn index_entries_of_waiting_activities_stay_readable() {
    let read = |noun: &str| {
        let text = std::fs::read_to_string(golden::place(&format!("vectors/records/2/{noun}.hex")));
        const_hex::decode(text.expect("a fixture").trim()).expect("the fixture is hex")
    };
    // SHA-256 of the record, computed by hashlib of Python.
    let record = [b"\x02".as_slice(), &read("activity")].concat();
    let entry = RecordDigest::of_entry(&read("waiting_entry")).expect("32 bytes");
    assert_eq!(entry, RecordDigest::of(&record));
    assert_eq!(entry.as_bytes().as_slice(), read("waiting_entry"));
    for other in [&[][..], &[0; 31], &[0; 33]] {
        assert_eq!(RecordDigest::of_entry(other), None);
    }
}

#[test]
fn secrets_stay_readable() {
    let hex = |text: &str| const_hex::decode(text).expect("hex");
    // BIP-39, test vector of the all-zero entropy without a passphrase.
    let seed = "5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1\
                9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4";
    let wallet = hex(&format!("01{seed}{}", "00".repeat(16)));
    assert_eq!(const_hex::encode(secret::seed(&wallet).expect("a wallet secret").as_bytes()), seed);
    // SEC 2 §2.4.1: the point of the scalar one is the generator.
    let one = hex(&format!("02{}01", "00".repeat(31)));
    let key = secret::private_key(Curve::Secp256k1, &one).expect("a private key secret");
    let generator = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    assert_eq!(key.public().compressed_hex(), generator);
    // The first row of the vectors of BIP-39, whose passphrase is TREZOR.
    let seed = "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04";
    let with_passphrase = hex(&format!("03{seed}10{}5452455a4f52", "00".repeat(16)));
    let seed_of = secret::seed(&with_passphrase).expect("a wallet secret");
    assert_eq!(const_hex::encode(seed_of.as_bytes()), seed);
    for (record, passphrase) in [(&wallet, ""), (&with_passphrase, "TREZOR")] {
        let (mnemonic, found) = secret::mnemonic(record).expect("a wallet secret");
        assert_eq!((mnemonic.phrase().split(' ').next_back(), found.as_str()), (Some("about"), passphrase));
    }
    assert_eq!(secret::value(b"\x04value").expect("a secret value"), b"value");
    let import =
        ImportTarget::decode(Vec::new(), &hex(&format!("01{}", "11".repeat(32)))).expect("an import target");
    assert!(import.key.public().hex().starts_with("040217e617f0b6443928278f"));
    assert!(
        ImportTarget::decode(Vec::new(), &[2; 33]).is_err() && ImportTarget::decode(Vec::new(), &[]).is_err()
    );
    for bad in [&wallet[..64], &one[..32], &[][..], &[3; 33][..]] {
        assert!(
            secret::value(bad).is_err()
                && secret::seed(bad).is_err()
                && secret::private_key(Curve::Secp256k1, bad).is_err()
        );
    }
    assert!(secret::seed(&one).is_err() && secret::private_key(Curve::Secp256k1, &wallet).is_err());
}

#[test]
fn keys_of_the_store_stay() {
    const NAME: &str = "vectors/records/keys.txt";
    let mut text = "# The key of each record for the ids 11…, 22…, 33… and so on, in hex.\n".to_owned();
    for (name, key) in keys() {
        writeln!(text, "{name:<24}{}", const_hex::encode(key)).expect("a text can be written to");
    }
    let place = golden::place(NAME);
    let mut expected = std::fs::read_to_string(&place).unwrap_or_default();
    if golden::is_blessing() {
        let name = |line: &str| line.split("  ").next().map(str::to_owned);
        let known: Vec<_> = expected.lines().map(name).collect();
        for line in text.lines().filter(|line| !known.contains(&name(line))) {
            expected.extend([line, "\n"]);
        }
        std::fs::write(&place, &expected).expect("a fixture can be written");
    }
    let lost: Vec<&str> = expected.lines().filter(|line| !text.lines().any(|now| now == *line)).collect();
    assert!(
        !expected.is_empty() && lost.is_empty(),
        "keys under which things were stored are gone: {lost:#?}"
    );
}

fn keys() -> Vec<(&'static str, Vec<u8>)> {
    let index = IndexKey::new([7; 32]);
    let organization = OrganizationId::from_bytes([0x11; 16]);
    let child = OrganizationId::from_bytes([0x22; 16]);
    let activity = ActivityId::from_bytes([0x33; 16]);
    let (wallet, private_key) = (WalletId::from_bytes([0x44; 16]), PrivateKeyId::from_bytes([0x55; 16]));
    let endpoint = EndpointId::from_bytes([0xee; 16]);
    let interface = SmartContractInterfaceId::from_bytes([0x12; 16]);
    let entity = |entity: Entity| layout::entity(organization, entity);
    let at = 0x0102_0304_0506_0708;
    let delivery = |endpoint| DeliveryId {
        destination: Destination { organization, endpoint },
        cause: child,
        activity,
        votes: 3,
        size: 0x0001_0203,
    };
    vec![
        ("organization", layout::organization(organization)),
        ("user", entity(Entity::User(UserId::from_bytes([0x66; 16])))),
        ("wallet", entity(Entity::Wallet(wallet))),
        ("private key", entity(Entity::PrivateKey(private_key))),
        ("tag", entity(Entity::Tag(TagId::from_bytes([0x77; 16])))),
        ("policy", entity(Entity::Policy(PolicyId::from_bytes([0x88; 16])))),
        ("wallet secret", layout::secret(organization, SecretOf::Wallet(wallet))),
        ("private key secret", layout::secret(organization, SecretOf::PrivateKey(private_key))),
        ("account", layout::account(organization, wallet, 7)),
        ("account place", layout::account_place(organization, WalletAccountId::from_bytes([0x99; 16]))),
        (
            "account path",
            layout::account_path(&index, wallet, "CURVE_SECP256K1", "m/44'", "ADDRESS_FORMAT_ETHEREUM"),
        ),
        ("signer", layout::signer(&index, organization, "0xabc", &[0xaa; 16])),
        ("activity", layout::activity(organization, activity)),
        ("activity listed", layout::activity_listed(organization, Status::Completed, 51, activity)),
        ("fingerprint", layout::fingerprint(&Fingerprint::of(b""))),
        ("body", layout::body(at, &Fingerprint::of(b""))),
        ("denied", layout::denied(organization, &[0xbb; 16], activity)),
        ("child", layout::child(organization, at, child)),
        ("found by", layout::found_by(&index, organization, Lookup::PublicKey, "02ab", child, &[0xcc; 16])),
        ("notice", layout::notice(organization, None, activity, 3)),
        ("endpoint notice", layout::notice(organization, Some(endpoint), activity, 3)),
        ("delivery", delivery(Some(endpoint)).key()),
        ("feature delivery", delivery(None).key()),
        ("scheduled delivery", delivery(Some(endpoint)).scheduled(at)),
        ("event body", delivery(None).body()),
        ("parked deliveries", delivery(Some(endpoint)).destination.parked()),
        ("mail", layout::mail(activity, 2)),
        ("departed", layout::departed(organization, UserId::from_bytes([0x66; 16]))),
        (
            "account name",
            layout::account_name(&index, organization, "n", WalletAccountId::from_bytes([0x99; 16])),
        ),
        ("invitation", entity(Entity::Invitation(InvitationId::from_bytes([0xdd; 16])))),
        ("webhook endpoint", entity(Entity::WebhookEndpoint(endpoint))),
        ("session profile", entity(Entity::SessionProfile(SessionProfileId::from_bytes([0xff; 16])))),
        ("secret", entity(Entity::Secret(SecretId::from_bytes([0x13; 16])))),
        ("secret value", layout::secret(organization, SecretOf::Secret(SecretId::from_bytes([0x13; 16])))),
        ("contract interface", entity(Entity::SmartContractInterface(interface))),
        ("interface text", layout::interface_text(organization, interface)),
        ("leftover", layout::leftover(organization, wallet)),
        (
            "import targets",
            layout::import_targets(organization, UserId::from_bytes([0x66; 16]), Purpose::Wallet),
        ),
    ]
}
