//! Stored data stays readable: test vectors of every record, of secrets, and of their keys. Vectors are
//! written once: blessing adds missing ones and never changes existing ones.

use std::fmt::Write;
use std::path::PathBuf;

use quorate_chain::curve::Curve;
use quorate_common::activity::Status;
use quorate_common::bounded::{Email, Phone};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{
    ActivityId, EndpointId, MessageEventId, OrganizationId, PolicyId, PrivateKeyId, ProviderId, SecretId,
    SmartContractInterfaceId, UserId, WalletAccountId, WalletId,
};
use quorate_common::stamp::Scheme;
use quorate_core::error::Corrupt;
use quorate_core::mail::Mail;
use quorate_core::model::last_use::LastUses;
use quorate_core::model::layout::outbox::{self, DeliveryId, Destination};
use quorate_core::model::layout::{self, Class, IndexKey, Lookup, SecretOf, sign_in};
use quorate_core::model::message_event::MessageEvent;
use quorate_core::model::one_time_code::{Contact, OneTimeCode};
use quorate_core::model::organization::Head;
use quorate_core::model::record::Record;
use quorate_core::model::{
    ActivityRecord, AttestedProof, ImportTarget, InterfaceText, Invitation, Policy, ProvenIdentity, Purpose,
    RECORDS, RecordClass, RecordDigest, SessionProfile, SmartContractInterface, SnapshotRecord, Tag, User,
    VoteRecord, WalletAccount, WebhookEndpoint,
};
use quorate_core::outbox::StoredDelivery;
use quorate_core::outbox::{Delivery, EventBody, Parked};
use quorate_core::secret;
use quorate_core::sms::Sms;
use serde_json::Value;

use crate::fixture::{Fixture, NOW};
use crate::golden;
use crate::samples;

/// Returns the path of the test vector of a record: its JSON, in a folder named after the version byte.
fn vector_path(version: u8, noun: &str) -> PathBuf {
    golden::path(&format!("vectors/records/{version}/{}.json", noun.replace(' ', "_")))
}

type Again<'a> = dyn Fn(&[u8]) -> Result<Vec<u8>, Corrupt> + 'a;

/// How the records of one noun are stored.
struct Format<'a> {
    noun: &'a str,
    version: u8,
    /// Decodes a record and encodes it again.
    again: &'a Again<'a>,
    json: &'a dyn Fn(&[u8]) -> Value,
}

fn check<R: Record>(fixture: &Fixture, is_match: impl Fn(&[u8]) -> bool) {
    check_as::<R>(R::NOUN, fixture, is_match);
}

fn check_as<R: Record>(name: &str, fixture: &Fixture, is_match: impl Fn(&[u8]) -> bool) {
    let again = |bytes: &[u8]| R::decode(bytes)?.encode();
    let format = Format { noun: R::NOUN, version: R::VERSION, again: &again, json: &json::<R> };
    check_format(name, &format, fixture, is_match);
}

/// Checks a class of the table of records, which are all JSON.
fn check_class(class: &RecordClass, fixture: &Fixture) {
    let again = |bytes: &[u8]| (class.decode)(bytes)?.encoded();
    let json = |bytes: &[u8]| serde_json::from_slice(&bytes[1..]).expect("a record is JSON");
    let format = Format { noun: class.noun, version: class.version, again: &again, json: &json };
    check_format(class.noun, &format, fixture, |key| class.class.is_of(key));
}

/// Reads the test vector, which blessing creates from a record if it is missing, and checks the guarantees of
/// stored records.
fn check_format(name: &str, format: &Format<'_>, fixture: &Fixture, is_match: impl Fn(&[u8]) -> bool) {
    let Format { noun, version, again, json } = format;
    let path = vector_path(1, name);
    if golden::is_blessing() && !path.exists() {
        let letters = [b'o', b'e', b'n', b'a', b'p', b'i'];
        let rows = letters.into_iter().flat_map(|letter| fixture.memory.rows(letter));
        let (_, stored) =
            rows.into_iter().find(|(key, _)| is_match(key)).expect("the test organization has one");
        let text = serde_json::to_string_pretty(&json(stored)).expect("JSON serializes");
        std::fs::write(&path, text + "\n").expect("the file is written");
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = vec![1];
    bytes.extend_from_slice(text.as_bytes());
    let encoded = again(&bytes).unwrap_or_else(|error| panic!("{noun}: {error}"));
    assert_eq!(encoded[0], *version);
    let old: Value = serde_json::from_str(&text).expect("a fixture is JSON");
    let new = json(&encoded);
    assert!(holds(&new, &old), "{noun}: stored data is lost\n  before {old}\n  after  {new}");
    bytes[0] = version + 1;
    assert!(again(&bytes).is_err(), "{noun}: a newer version is rejected");
    for cut in [0, 1, bytes.len() / 2] {
        assert!(again(&encoded[..cut.min(encoded.len())]).is_err(), "{noun}: cut at {cut}");
    }
}

/// Creates a record of each class that the test organization does not have, from the sample parameters.
fn create_missing(fixture: &mut Fixture) {
    for class in RECORDS {
        if !fixture.memory.rows(b'e').any(|(key, _)| class.class.is_of(key)) {
            let activity_type =
                format!("ACTIVITY_TYPE_CREATE_{}", class.noun.to_uppercase().replace(' ', "_"));
            let parameters = samples::parameters(&activity_type, fixture, &fixture.spare);
            fixture.execute(&activity_type, &parameters);
        }
    }
}

/// Decodes a stored record as JSON.
fn json<R: Record>(bytes: &[u8]) -> Value {
    serde_json::to_value(R::decode(bytes).expect("the store is readable")).expect("a record serializes")
}

/// Returns whether everything in `old` is still in `new`.
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

fn entity(class: Class) -> impl Fn(&[u8]) -> bool {
    move |key| class.is_of(key)
}

#[test]
fn records_stay_readable() {
    let mut fixture = Fixture::new(2);
    if golden::is_blessing() {
        std::fs::create_dir_all(golden::path("vectors/records/1")).expect("the folder is created");
        fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &serde_json::json!({"policyName": "policy", "effect": "EFFECT_ALLOW",
            "condition": "activity.kind == 'CREATE_WALLET'", "consensus": "approvers.count() >= 2", "notes": "notes"}));
        create_missing(&mut fixture);
        let mfa = samples::parameters("ACTIVITY_TYPE_CREATE_MFA_POLICY", &fixture, &fixture.spare);
        fixture.execute("ACTIVITY_TYPE_CREATE_MFA_POLICY", &mfa);
        let spare = fixture.spare.clone();
        for name in ["STAMP_LOGIN", "CREATE_READ_WRITE_SESSION_V2", "CREATE_READ_ONLY_SESSION"] {
            let activity_type = format!("ACTIVITY_TYPE_{name}");
            let parameters = samples::parameters(&activity_type, &fixture, &spare);
            let opened = fixture.submit(&spare, fixture.id, &activity_type, &parameters, NOW);
            opened.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        }
    }
    check::<Head>(&fixture, |key| key[0] == b'o');
    check_as::<Head>("organization with digest", &fixture, |key| key[0] == b'o');
    check_as::<Head>("organization with auth proxy", &fixture, |_| false);
    check_as::<Head>("organization that was registered", &fixture, |_| false);
    check_as::<Head>("organization with times of features", &fixture, |_| false);
    check::<OneTimeCode>(&fixture, |_| false);
    check_as::<OneTimeCode>("one-time code that is strong", &fixture, |_| false);
    check::<User>(&fixture, entity(Class::USER));
    let with_passkey = layout::entity(fixture.id, Class::USER, fixture.user.user.as_bytes());
    check_as::<User>("user with passkey", &fixture, |key| *key == *with_passkey);
    let with_sessions = layout::entity(fixture.id, Class::USER, fixture.spare.user.as_bytes());
    check_as::<User>("user with sessions", &fixture, |key| *key == *with_sessions);
    check_as::<User>("user with mfa policies", &fixture, |key| *key == *with_sessions);
    check::<Policy>(&fixture, entity(Class::POLICY));
    for class in RECORDS {
        check_class(class, &fixture);
    }
    check::<WalletAccount>(&fixture, |key| key[0] == b'n');
    check::<ActivityRecord>(&fixture, |key| key[0] == b'a');
    check_as::<StoredDelivery>("notice", &fixture, |key| key[0] == b'x');
    check::<InterfaceText>(&fixture, |key| key[0] == b'i');
    check::<Mail>(&fixture, |_| false);
    check_as::<Mail>("mail with html", &fixture, |_| false);
    check_as::<Mail>("mail with origin", &fixture, |_| false);
    check_as::<Mail>("mail with end", &fixture, |_| false);
    check_as::<Mail>("mail with secret", &fixture, |_| false);
    check_as::<Mail>("mail with purpose", &fixture, |_| false);
    check_as::<Mail>("mail with group", &fixture, |_| false);
    check_as::<Sms>("sms", &fixture, |_| false);
    check_as::<Sms>("sms with end", &fixture, |_| false);
    check_as::<Sms>("sms with purpose", &fixture, |_| false);
    check_as::<Sms>("sms with group", &fixture, |_| false);
    check::<MessageEvent>(&fixture, |_| false);
    check::<LastUses>(&fixture, |_| false);
    check_as::<LastUses>("last uses with counters", &fixture, |_| false);
    check_as::<MessageEvent>("message event of expiry", &fixture, |_| false);
    check_as::<MessageEvent>("message event of displacement", &fixture, |_| false);
    check::<Delivery>(&fixture, |key| DeliveryId::of_key(key).is_some());
    check::<EventBody>(&fixture, outbox::is_body);
    check::<Parked>(&fixture, |_| false);
}

#[test]
fn policies_with_time_stay_readable() {
    let path = vector_path(2, Policy::NOUN);
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let policy = Policy::decode(&[b"\x02".as_slice(), &text].concat()).expect("version 2");
    assert_eq!(policy.time.as_ref().map(|time| time.as_str().len()), Some(46));
    let stored: Value = serde_json::from_slice(&text).expect("a fixture is JSON");
    assert_eq!(json::<Policy>(&policy.encode().expect("encoding succeeds")), stored);
}

#[test]
fn packed_activities_stay_readable() {
    let read = |version, noun: &str| {
        let path = vector_path(version, noun);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let old =
        ActivityRecord::decode(&[b"\x01".as_slice(), &read(1, "activity")].concat()).expect("version 1");
    let path = golden::path("vectors/records/2/activity.hex");
    if golden::is_blessing() && !path.exists() {
        let packed = old.encode().expect("encoding succeeds");
        std::fs::create_dir_all(golden::path("vectors/records/2")).expect("the folder is created");
        std::fs::write(&path, const_hex::encode(&packed[1..]) + "\n").expect("the file is written");
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let packed = const_hex::decode(text.trim()).expect("the fixture is hex");
    let new = ActivityRecord::decode(&[b"\x02".as_slice(), &packed].concat()).expect("version 2");
    // Version 3 appends the policy evaluations of each vote: here one, of the first vote, with the outcome
    // allow.
    let evaluations = [&[1, 1][..], &[0x88; 16], &[0]].concat();
    let evaluated =
        ActivityRecord::decode(&[b"\x03".as_slice(), &packed, &evaluations].concat()).expect("version 3");
    assert_eq!(evaluated.votes[0].evaluations.len(), 1);
    assert_eq!(evaluated.votes[0].evaluations[0].policy, PolicyId::from_bytes([0x88; 16]));
    let value = |record| serde_json::to_value(record).expect("a record serializes");
    assert_eq!(value(&new), value(&old));
    assert!(
        ActivityRecord::decode(&[b"\x02".as_slice(), &packed, b"\x00"].concat()).is_err(),
        "one byte too many"
    );
}

#[test]
fn activities_with_attested_votes_stay_readable() {
    let contact = |text: &str| {
        AttestedProof::Contact(Contact::Email(Email::parse(text.to_owned()).expect("an address")))
    };
    let identity = AttestedProof::Identity(ProvenIdentity {
        provider: ProviderId::from_bytes([0x77; 16]),
        issuer: "https://issuer.example".to_owned(),
        audience: "audience".to_owned(),
        subject: "subject".to_owned(),
    });
    let phone =
        AttestedProof::Contact(Contact::Phone(Phone::parse("+14155550100".to_owned()).expect("a number")));
    let proofs = [None, Some(contact("owner@house.example")), Some(phone), Some(identity)];
    let schemes = [
        Scheme::P256,
        Scheme::AttestedVerificationToken,
        Scheme::AttestedVerificationToken,
        Scheme::AttestedIdToken,
    ];
    let path = golden::path("vectors/records/4/activity_with_attested_votes.hex");
    if golden::is_blessing() && !path.exists() {
        let text = std::fs::read_to_string(vector_path(1, "activity")).expect("a fixture");
        let mut record =
            ActivityRecord::decode(&[b"\x01".as_slice(), text.as_bytes()].concat()).expect("version 1");
        let first = record.votes.first().expect("a vote").clone();
        let votes = proofs.iter().zip(schemes);
        let votes =
            votes.map(|(proof, scheme)| VoteRecord { attestation: proof.clone(), scheme, ..first.clone() });
        record.votes = votes.collect();
        let packed = record.encode().expect("encoding succeeds");
        std::fs::create_dir_all(golden::path("vectors/records/4")).expect("the folder is created");
        std::fs::write(&path, const_hex::encode(&packed[1..]) + "\n").expect("the file is written");
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let packed = [b"\x04".to_vec(), const_hex::decode(text.trim()).expect("the fixture is hex")].concat();
    let record = ActivityRecord::decode(&packed).expect("version 4");
    let stored: Vec<_> = record.votes.iter().map(|vote| (vote.attestation.clone(), vote.scheme)).collect();
    assert_eq!(stored, proofs.into_iter().zip(schemes).collect::<Vec<_>>());
    assert_eq!(record.encode().expect("encoding succeeds"), packed);
    // A version without the list has other bytes at its end, and one that names a vote that is not there is damaged.
    assert!(ActivityRecord::decode(&[b"\x03".as_slice(), &packed[1..]].concat()).is_err());
    for end in 1..40 {
        assert!(ActivityRecord::decode(&packed[..packed.len() - end]).is_err(), "without {end} bytes");
    }
}

#[test]
fn index_entries_of_waiting_activities_stay_readable() {
    let read = |noun: &str| {
        let text = std::fs::read_to_string(golden::path(&format!("vectors/records/2/{noun}.hex")));
        const_hex::decode(text.expect("a fixture").trim()).expect("the fixture is hex")
    };
    // SHA-256 of the record, computed with Python's hashlib.
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
    // BIP-39: seed of the all-zero entropy without a passphrase.
    let seed = "5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1\
                9a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4";
    let wallet = hex(&format!("01{seed}{}", "00".repeat(16)));
    assert_eq!(const_hex::encode(secret::seed(&wallet).expect("a wallet secret").as_bytes()), seed);
    // SEC 2 §2.4.1: the point of the scalar one is the generator.
    let one = hex(&format!("02{}01", "00".repeat(31)));
    let key = secret::private_key(Curve::Secp256k1, &one).expect("a private key secret");
    let generator = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    assert_eq!(key.public().compressed_hex(), generator);
    // The first BIP-39 test vector, whose passphrase is TREZOR.
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
fn store_keys_stay_the_same() {
    const NAME: &str = "vectors/records/keys.txt";
    let mut text = "# The key of each record for the ids 11…, 22…, 33… and so on, in hex.\n".to_owned();
    for (name, key) in keys() {
        writeln!(text, "{name:<24}{}", const_hex::encode(key)).expect("writing to a string succeeds");
    }
    let path = golden::path(NAME);
    let mut expected = std::fs::read_to_string(&path).unwrap_or_default();
    if golden::is_blessing() {
        let name = |line: &str| line.split("  ").next().map(str::to_owned);
        let known: Vec<_> = expected.lines().map(name).collect();
        for line in text.lines().filter(|line| !known.contains(&name(line))) {
            expected.extend([line, "\n"]);
        }
        std::fs::write(&path, &expected).expect("the file is written");
    }
    let missing: Vec<&str> = expected.lines().filter(|line| !text.lines().any(|now| now == *line)).collect();
    assert!(!expected.is_empty() && missing.is_empty(), "keys of stored records are missing: {missing:#?}");
}

fn keys() -> Vec<(&'static str, Vec<u8>)> {
    let index = IndexKey::new([7; 32]);
    let organization = OrganizationId::from_bytes([0x11; 16]);
    let child = OrganizationId::from_bytes([0x22; 16]);
    let activity = ActivityId::from_bytes([0x33; 16]);
    let (wallet, private_key) = (WalletId::from_bytes([0x44; 16]), PrivateKeyId::from_bytes([0x55; 16]));
    let endpoint = EndpointId::from_bytes([0xee; 16]);
    let interface = SmartContractInterfaceId::from_bytes([0x12; 16]);
    let entity = |class: Class, id: &[u8; 16]| layout::entity(organization, class, id);
    let at = 0x0102_0304_0506_0708;
    let delivery = |endpoint| DeliveryId {
        destination: Destination { organization, endpoint },
        cause: child,
        activity,
        votes: 3,
        size: 0x0001_0203,
    };
    let events = sign_in::events(&index, organization, "Ann@example.org");
    let message_event = sign_in::event(&events, MessageEventId::from_bytes([0x14; 16]));
    let mut keys = vec![
        ("organization", layout::organization(organization)),
        ("user", entity(Class::USER, &[0x66; 16])),
        ("wallet", entity(Class::WALLET, wallet.as_bytes())),
        ("private key", entity(Class::PRIVATE_KEY, private_key.as_bytes())),
        ("tag", entity(Tag::CLASS, &[0x77; 16])),
        ("policy", entity(Class::POLICY, &[0x88; 16])),
        ("wallet secret", layout::secret(organization, SecretOf::Wallet(wallet))),
        ("private key secret", layout::secret(organization, SecretOf::PrivateKey(private_key))),
        ("account", layout::account(organization, wallet, 7)),
        ("account index", layout::account_index(organization, WalletAccountId::from_bytes([0x99; 16]))),
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
        (
            "found by",
            layout::lookup_entry(&index, organization, Lookup::PublicKey, "02ab", child, &[0xcc; 16]),
        ),
        ("notice", layout::event_key(organization, None, activity, 3)),
        ("endpoint notice", layout::event_key(organization, Some(endpoint), activity, 3)),
        ("delivery", delivery(Some(endpoint)).key()),
        ("feature delivery", delivery(None).key()),
        ("scheduled delivery", delivery(Some(endpoint)).scheduled(at)),
        ("event body", delivery(None).body()),
        ("parked deliveries", delivery(Some(endpoint)).destination.parked()),
        ("mail", layout::mail(activity, 2)),
        ("sms", outbox::sms(activity, 2)),
        ("message event", message_event.clone()),
        ("message event listed", sign_in::listing(&message_event).expect("an event").0),
        ("message event due", sign_in::due(at, &message_event)),
        ("message by children", sign_in::message_by_children(&index, organization, &["contact", "a"], 3)),
        ("last uses", sign_in::last_uses(organization, UserId::from_bytes([0x66; 16]))),
        ("deleted user", layout::deleted_user(organization, UserId::from_bytes([0x66; 16]))),
        (
            "account name",
            layout::account_name(&index, organization, "n", WalletAccountId::from_bytes([0x99; 16])),
        ),
        ("invitation", entity(Invitation::CLASS, &[0xdd; 16])),
        ("webhook endpoint", entity(WebhookEndpoint::CLASS, endpoint.as_bytes())),
        ("session profile", entity(SessionProfile::CLASS, &[0xff; 16])),
        ("secret", entity(Class::SECRET, &[0x13; 16])),
        ("secret value", layout::secret(organization, SecretOf::Secret(SecretId::from_bytes([0x13; 16])))),
        ("contract interface", entity(SmartContractInterface::CLASS, interface.as_bytes())),
        ("interface text", layout::interface_text(organization, interface)),
        ("tombstone", layout::tombstone(organization, wallet)),
        (
            "import targets",
            layout::import_targets(organization, UserId::from_bytes([0x66; 16]), Purpose::Wallet),
        ),
        ("auth proxy key", layout::secret(organization, SecretOf::AuthProxy(UserId::from_bytes([0x66; 16])))),
    ];
    for class in RECORDS {
        if !keys.iter().any(|(_, key)| class.class.is_of(key)) {
            keys.push((class.noun, entity(class.class, &[class.class.0; 16])));
        }
    }
    keys
}

#[test]
fn classes_of_records_have_different_letters() {
    let mut letters: Vec<u8> = RECORDS.iter().map(|class| class.class.0).collect();
    letters.extend([Class::USER.0, Class::POLICY.0]);
    let all = letters.len();
    letters.sort_unstable();
    letters.dedup();
    assert_eq!(letters.len(), all);
}
