//! Tests of proof bundles: the golden file, that a bundle gives the same review, and hostile bundles.

use std::path::PathBuf;

use quorate_common::console::ReviewRecord;
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use serde_json::{Value, json};

use super::passkeys::{Passkey, authenticator};
use crate::ballot::Ballot;
use crate::book::Book;
use crate::known_keys::KnownKeys;
use crate::output::file_text;
use crate::proof::bundle::digest_of;
use crate::proof::{
    Bundle, BundleError, Evidence, Mark, PinnedBy, Record, Review, Siblings, Viewer, bundle_differences,
    unproven_lines,
};
use crate::testing::{Fixture, NOW, card_proposal, tag_proposal, threshold_proposal};

/// Time of the golden export.
const EXPORTED: u64 = NOW - 60_000;

/// Returns keys that were known ten days ago.
fn known(record: &ReviewRecord) -> KnownKeys {
    let mut known_keys = KnownKeys::default();
    known_keys.pin_new(&record.organization, NOW - 10 * 86_400_000);
    known_keys
}

fn review_of(record: &Record, siblings: &Siblings, known_keys: &KnownKeys) -> Review {
    Review::of(&Evidence {
        record,
        siblings,
        known_keys,
        book: &Book::EMPTY,
        viewer: &Viewer {
            organization: Some(Fixture::id()),
            user: Some(Fixture::user(0)),
            pinned_by: PinnedBy::Id,
            ..Viewer::default()
        },
        now: NOW,
        reference: None,
    })
}

/// Returns the review of a bundle with the known keys of its own organization.
fn review(bundle: &Bundle) -> Review {
    let record = bundle.record();
    let mut known_keys = KnownKeys::default();
    known_keys.pin_new(&record.organization, NOW - 10 * 86_400_000);
    review_of(&record, &bundle.siblings(), &known_keys)
}

fn exported(record: &ReviewRecord) -> Bundle {
    let known_keys = known(record);
    let review = review_of(&Record::from(record.clone()), &Siblings::default(), &known_keys);
    Bundle::of(&review, &known_keys, EXPORTED)
}

/// Returns a record with an approval by each kind of key.
fn with_each_key() -> ReviewRecord {
    let (fixture, mut record) = threshold_proposal();
    let passkey = Passkey("own");
    for (voter, curve) in [(2, None), (3, Some(ApiKeyCurve::Secp256k1)), (4, Some(ApiKeyCurve::Ed25519))] {
        fixture.approve(&mut record, voter);
        let vote = record.row.activity.votes.last_mut().unwrap();
        let user = record.organization.users.iter_mut().find(|user| user.user_id == vote.user_id).unwrap();
        if let Some(curve) = curve {
            let stamp = Stamper::new(curve, &[0x40; 32]).unwrap().stamp(vote.message.as_bytes()).unwrap();
            user.api_keys[0].credential.public_key.clone_from(&stamp.public_key);
            (vote.public_key, vote.signature) = (stamp.public_key, stamp.signature);
            stamp.scheme.name().clone_into(&mut vote.scheme);
        } else {
            user.authenticators.push(authenticator(&passkey));
            vote.public_key = passkey.public_key();
            vote.signature = passkey.header(vote.message.as_bytes());
            "SIGNATURE_SCHEME_TK_WEBAUTHN".clone_into(&mut vote.scheme);
        }
    }
    record
}

fn golden() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../assets/vectors/proof/1.json");
    if !path.exists() && std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, file_text(&exported(&with_each_key()).json())).unwrap();
    }
    std::fs::read_to_string(path).unwrap()
}

/// Returns the text of a bundle whose content was replaced by somebody who knows how bundles are made.
fn forged(content: &Value) -> String {
    let mut file: Value = serde_json::from_str(&golden()).unwrap();
    file["contentSha256"] = json!(digest_of(content));
    file["content"] = content.clone();
    file.to_string()
}

fn read(text: &str) -> Result<Bundle, BundleError> {
    Bundle::read(text.as_bytes())
}

#[test]
fn the_golden_bundle_is_read_and_written_unchanged() {
    let text = golden();
    let bundle = read(&text).unwrap();
    assert_eq!(file_text(&bundle.json()), text);
    let review = review(&bundle);
    assert!(!review.blocked());
    assert_eq!((review.tally.has(), review.votes.iter().filter(|vote| vote.counts()).count()), (4, 4));
    let marks: Vec<_> = review.checks.iter().map(|check| (check.id, check.mark)).collect();
    assert!(marks.contains(&("K7", Mark::Verified)) && marks.contains(&("K11", Mark::Stated)), "{marks:?}");
    let mut known_keys = KnownKeys::default();
    known_keys.pin_new(&bundle.record().organization, NOW);
    assert_eq!(Bundle::of(&review, &known_keys, EXPORTED), bundle);
}

#[test]
fn a_bundle_gives_the_same_review() {
    let with_records = || {
        let (fixture, mut record) = tag_proposal();
        record.organization = fixture.with_all_records();
        record
    };
    for record in
        [threshold_proposal().1, with_records(), crate::testing::wallet_proposal().1, with_each_key()]
    {
        let known_keys = known(&record);
        let id = record.row.activity.id;
        let others = (0..7u8).map(|number| crate::proof::Sibling {
            id: ActivityId::from_bytes([number; 16]),
            overriding_type: crate::proof::overriding_type("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM"),
            proposer: Some(Fixture::user(1)),
            created: NOW - 600_000 + u64::from(number),
        });
        for siblings in [Siblings::default(), others.collect()] {
            let mut live = review_of(&Record::from(record.clone()), &siblings, &known_keys);
            let bundle = read(&file_text(&Bundle::of(&live, &known_keys, NOW).json())).unwrap();
            let mut offline = review_of(&bundle.record(), &bundle.siblings(), &known_keys);
            for review in [&mut live, &mut offline] {
                review.checks.retain(|check| check.id != "K11");
            }
            assert_eq!(crate::proof::json(&live), crate::proof::json(&offline), "{id}");
        }
    }
}

#[test]
fn sensitive_members_are_withheld_and_results_left_out() {
    let fixture = Fixture::new(3, 2);
    let parameters = json!({"userId": Fixture::user(1), "walletName": "spare", "encryptedBundle": "5ec2e7".repeat(40),
        "accounts": []});
    let import = fixture.propose(1, "ACTIVITY_TYPE_IMPORT_WALLET", "importWalletIntent", &parameters);
    let mut with_session = threshold_proposal().1;
    with_session.row.activity.result = json!({"createReadOnlySessionResult": {"session": "5ec2e7"}});
    with_session.organization = Fixture::new(5, 3).with_all_records();
    with_session.organization.read_only_sessions[0].session_id = "5ec2e7".to_owned();
    with_session.organization.oauth2_credentials[0].encrypted_client_secret = "5ec2e7".to_owned();
    for record in [&import, &with_session] {
        let text = file_text(&exported(record).json());
        assert!(!text.contains("5ec2e7"), "{text}");
    }
    let bundle = exported(&import);
    assert_eq!(bundle.withheld(), ["parameters.encryptedBundle"]);
    let bundle = read(&file_text(&bundle.json())).unwrap();
    let review = review(&bundle);
    assert!(review.blocked() && review.vote_target().is_err());
    assert!(unproven_lines(&bundle, &review, true)[0].contains("parameters.encryptedBundle"));
    let card = file_text(&exported(&card_proposal().1).json());
    assert!(!card.contains("1234\"") && card.contains("(masked)"), "{card}");
}

/// A change of one member: its path, and the content with the change.
fn changes(content: &Value) -> Vec<(String, Value)> {
    let mut paths = Vec::new();
    leaves(content, String::new(), &mut paths);
    let changed = paths.into_iter().map(|path| {
        let mut content = content.clone();
        let leaf = content.pointer_mut(&path).unwrap();
        *leaf = match leaf.clone() {
            Value::String(text) => {
                let mut bytes = text.into_bytes();
                let middle = bytes.len() / 2;
                match bytes.get_mut(middle) {
                    Some(byte) => *byte ^= 1,
                    None => bytes.push(b'x'),
                }
                Value::String(String::from_utf8_lossy(&bytes).into_owned())
            }
            Value::Number(number) => json!(number.as_u64().unwrap() ^ 1),
            Value::Bool(value) => json!(!value),
            Value::Array(_) => json!(["x"]),
            _ => json!({"x": 1}),
        };
        (path, content)
    });
    changed.collect()
}

fn leaves(value: &Value, path: String, out: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, member)| leaves(member, format!("{path}/{name}"), out));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(index, item)| leaves(item, format!("{path}/{index}"), out));
        }
        _ => out.push(path),
    }
}

#[test]
fn one_changed_bit_is_refused_or_flagged() {
    let file: Value = serde_json::from_str(&golden()).unwrap();
    let original = read(&golden()).unwrap();
    let all = changes(&file["content"]);
    assert!(all.len() > 150, "{}", all.len());
    for (path, content) in all {
        // Damaged: the SHA-256 shows it.
        let mut damaged = file.clone();
        damaged["content"] = content.clone();
        assert!(matches!(read(&damaged.to_string()), Err(BundleError::Changed { .. })), "{path}");
        // Forged: what was signed shows it. What the daemon stated only shows in a comparison.
        let Ok(bundle) = read(&forged(&content)) else { continue };
        let (found, _) = bundle_differences(&original, &bundle);
        assert!(
            !found.is_empty() || path == "/exporter/exportedAtMillis" || path == "/exporter/version",
            "{path}"
        );
        let review = review(&bundle);
        if path.starts_with("/signed") && !path.contains("/stated/") {
            let bad = review.votes.iter().any(|vote| vote.error.is_some());
            assert!(review.blocked() || bad && review.tally.has() < 4, "{path}");
        }
    }
}

#[test]
fn votes_cannot_be_removed_repeated_or_moved() {
    let file: Value = serde_json::from_str(&golden()).unwrap();
    let content = &file["content"];
    let votes = content["signed"]["votes"].as_array().unwrap();
    for index in 0..votes.len() {
        let mut removed = content.clone();
        removed["signed"]["votes"].as_array_mut().unwrap().remove(index);
        assert!(review(&read(&forged(&removed)).unwrap()).blocked(), "the daemon counts vote {index}");
        let mut repeated = content.clone();
        repeated["signed"]["votes"].as_array_mut().unwrap().push(votes[index].clone());
        assert_eq!(read(&forged(&repeated)), Err(BundleError::Repeated { index: votes.len() }));
        repeated["signed"]["votes"][votes.len()]["stated"]["id"] =
            json!("00000000-0000-4000-8000-000000000000");
        assert_eq!(read(&forged(&repeated)), Err(BundleError::Repeated { index: votes.len() }));
    }
    let mut many = content.clone();
    many["signed"]["votes"] = json!(vec![votes[0].clone(); 10_001]);
    assert_eq!(read(&forged(&many)), Err(BundleError::Votes));
    // A vote that was signed for another activity.
    let other = tag_proposal().1;
    let ballot = Ballot::vote(true, Fixture::id(), other.row.activity.fingerprint, NOW - 300_000);
    let stamp = Fixture::stamper(2).stamp(ballot.message.as_bytes()).unwrap();
    let mut moved = content.clone();
    moved["signed"]["votes"][1]["message"] = json!(ballot.message);
    moved["signed"]["votes"][1]["publicKey"] = json!(stamp.public_key);
    moved["signed"]["votes"][1]["scheme"] = json!(stamp.scheme.name());
    moved["signed"]["votes"][1]["signature"] = json!(stamp.signature);
    let moved = review(&read(&forged(&moved)).unwrap());
    assert_eq!(moved.votes[1].error.as_deref(), Some("the vote was signed for another fingerprint"));
    let mut swapped = content.clone();
    swapped["signed"]["votes"].as_array_mut().unwrap().swap(1, 2);
    let (found, _) = bundle_differences(&read(&golden()).unwrap(), &read(&forged(&swapped)).unwrap());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].path.ends_with("(order)"), "{found:?}");
}

#[test]
fn another_organization_is_not_mistaken_for_the_pinned_one() {
    let bundle = read(&golden()).unwrap();
    let record = bundle.record();
    let mut known_keys = KnownKeys::default();
    known_keys.pin_new(&record.organization, NOW);
    let review = Review::of(&Evidence {
        record: &record,
        siblings: &bundle.siblings(),
        known_keys: &known_keys,
        book: &Book::EMPTY,
        viewer: &Viewer {
            organization: Some(OrganizationId::from_bytes([1; 16])),
            user: Some(Fixture::user(0)),
            pinned_by: PinnedBy::Id,
            ..Viewer::default()
        },
        now: NOW,
        reference: None,
    });
    assert!(review.blocked() && review.vote_target().is_err());
}

/// A forged organization is noticed by the known keys, however well the bundle is made.
#[test]
fn forged_keys_and_quorums_contradict_the_known_ones() {
    let file: Value = serde_json::from_str(&golden()).unwrap();
    let original = read(&golden()).unwrap().record();
    let mut known_keys = KnownKeys::default();
    known_keys.pin_new(&original.organization, NOW - 10 * 86_400_000);
    let reviewed = |content: &Value| {
        let bundle = read(&forged(content)).unwrap();
        let record = bundle.record();
        let mut known_keys = known_keys.clone();
        known_keys.pin_new(&record.organization, NOW);
        review_of(&record, &bundle.siblings(), &known_keys)
    };
    assert!(!reviewed(&file["content"]).blocked());

    let mut quorum = file["content"].clone();
    quorum["stated"]["organization"]["rootQuorum"]["threshold"] = json!(1);
    let review = reviewed(&quorum);
    assert!(review.blocked() && super::mark(&review, "K10") == Mark::Failed);

    let attacker = Stamper::new(ApiKeyCurve::P256, &[0x66; 32]).unwrap();
    let mut key = file["content"].clone();
    let message = key["signed"]["votes"][0]["message"].as_str().unwrap().to_owned();
    let stamp = attacker.stamp(message.as_bytes()).unwrap();
    let own = key["signed"]["votes"][0]["publicKey"].as_str().unwrap().to_owned();
    key["signed"]["votes"][0]["signature"] = json!(stamp.signature);
    let text = key.to_string().replace(&own, &stamp.public_key);
    let review = reviewed(&serde_json::from_str(&text).unwrap());
    assert!(review.high_flags().any(|flag| flag.name == "proposer-key-new"), "{:?}", review.flags);
    assert_eq!(super::mark(&review, "K6"), Mark::Attention);
}

#[test]
fn other_files_are_refused_with_their_reason() {
    let golden = golden();
    let file: Value = serde_json::from_str(&golden).unwrap();
    let with = |name: &str, value: Value| {
        let mut file = file.clone();
        file[name] = value;
        read(&file.to_string())
    };
    for version in [json!(2), json!(0), json!("1"), json!(1.0), json!([1]), json!({"a": "\u{1b}"})] {
        let error = with("version", version.clone()).unwrap_err();
        assert!(matches!(error, BundleError::Version(_)), "{version}: {error}");
        assert!(!error.to_string().contains('\u{1b}'));
    }
    assert_eq!(with("format", json!("other")), Err(BundleError::Format));
    assert_eq!(with("note", json!("x")), Err(BundleError::Unknown("note".to_owned())));
    for text in ["", "{}", "[]", "1", "null", "\"quorate-proof\""] {
        assert!(matches!(read(text), Err(BundleError::Format | BundleError::Unreadable)), "{text}");
    }
    let twice = golden.replacen("\"version\": 1", "\"version\": 1, \"version\": 1", 1);
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let nested = format!("{{\"format\":\"quorate-proof\",\"version\":1,\"content\":{deep}}}");
    let late = format!("{golden} x");
    for text in [&twice, &deep, &nested, &late, &"\0".repeat(100)] {
        assert_eq!(read(text), Err(BundleError::Unreadable), "{}", text.get(..60).unwrap_or(text));
    }
    for length in (0..golden.len() - 2).step_by(61) {
        assert_eq!(read(&golden[..length]), Err(BundleError::Unreadable), "cut at {length}");
    }
    // Ten megabytes are read as any other size, and more than the limit is not.
    let spaces = " ".repeat(10 * 1024 * 1024);
    assert!(read(&format!("{golden}{spaces}")).is_ok());
    assert_eq!(with("note", json!(spaces)), Err(BundleError::Unknown("note".to_owned())));
    assert_eq!(read(&format!("{golden}{spaces}{spaces}")), Err(BundleError::Size));
}

#[test]
fn unknown_members_are_refused_wherever_they_are() {
    let file: Value = serde_json::from_str(&golden()).unwrap();
    let content = &file["content"];
    let mut objects = vec![String::new()];
    let mut at = 0;
    while let Some(path) = objects.get(at).cloned() {
        at += 1;
        match content.pointer(&path).unwrap() {
            Value::Object(members) => objects.extend(members.keys().map(|name| format!("{path}/{name}"))),
            Value::Array(items) => objects.extend((0..items.len()).map(|index| format!("{path}/{index}"))),
            _ => {}
        }
    }
    let mut tried = 0;
    for path in objects {
        let mut content = content.clone();
        let Some(members) = content.pointer_mut(&path).and_then(Value::as_object_mut) else { continue };
        members.insert("extra\u{1b}".to_owned(), json!("x"));
        tried += 1;
        match read(&forged(&content)) {
            Err(error) => assert!(!error.to_string().contains('\u{1b}'), "{path}: {error}"),
            Ok(bundle) => assert!(review(&bundle).blocked(), "{path}"),
        }
    }
    assert!(tried > 30, "{tried}");
}
