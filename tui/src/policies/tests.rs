//! Tests with the policies and requests of a sample organization.
#![allow(clippy::unwrap_used, reason = "tests")]

use quorate_common::console::Signer;
use quorate_policy::decide::{Effect, PolicyProgram};
use serde_json::{json, value::to_raw_value};

use super::types::types;
use super::*;
use crate::testing::Fixture;

#[test]
fn types_have_action_and_resource() {
    let types = types();
    assert!(types.len() > 50);
    let sign = types.iter().find(|one| one.name == "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2").unwrap();
    assert_eq!((sign.action.as_str(), sign.resource.as_str()), ("SIGN", "PRIVATE_KEY"));
}

#[test]
fn each_secret_is_evaluated_by_its_properties() {
    let organization = Fixture::new(1, 1).with_all_records();
    let ids = organization.secrets.iter().map(|one| one.secret_id.to_string()).collect::<Vec<_>>();
    let [production, bare]: [String; 2] = ids.try_into().unwrap();
    let parsed = |ids: &[&str]| {
        let secrets: Vec<_> = ids.iter().map(|id| json!({"secretId": id})).collect();
        let parameters = to_raw_value(&json!({"secrets": secrets})).unwrap();
        let body =
            Body { activity_type: "ACTIVITY_TYPE_EXPORT_SECRETS".to_owned(), parameters, proposer: None };
        body.parsed(&organization, &ResolvedNames::new())
    };
    let condition = Some("secret.static_properties['env'] == 'prod'");
    let program = PolicyProgram::parse(Effect::Allow, condition, None, None).unwrap();
    let matched = |ids: &[&str]| parsed(ids).map(|parsed| parsed.is_matched(&program, 0));
    assert_eq!(matched(&[&production]), Ok(true));
    assert_eq!(matched(&[&bare]), Ok(false), "it has no such property");
    assert_eq!(matched(&[&bare, &production]), Ok(true));
    let unknown = "7f7f7f7f-7f7f-4f7f-8f7f-7f7f7f7f7f7f";
    assert_eq!(matched(&[unknown]), Err(format!("secret {unknown} does not exist")));
}

/// The generator of secp256k1 (SEC 2).
const PUBLIC_KEY: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";

#[test]
fn each_payload_is_evaluated_by_its_content() {
    let mut organization = Fixture::new(1, 1).organization();
    let mut key = organization.private_keys.remove(0);
    key.public_key = PUBLIC_KEY.to_owned();
    let resolved: ResolvedNames =
        [(PUBLIC_KEY.to_owned(), Signer { private_key: Some(key), ..Signer::default() })].into();
    let nonce = |nonce: u64| {
        json!({"address": format!("0x{}", "35".repeat(20)), "chainId": 1, "nonce": nonce}).to_string()
    };
    let parsed = |payloads: &[String], encoding: &str| {
        let parameters = json!({"signWith": PUBLIC_KEY, "payloads": payloads, "hashFunction": "HASH_FUNCTION_NO_OP",
            "encoding": format!("PAYLOAD_ENCODING_{encoding}")});
        let activity_type = "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS".to_owned();
        let parameters = to_raw_value(&parameters).unwrap();
        Body { activity_type, parameters, proposer: None }.parsed(&organization, &resolved)
    };
    let about = |nonce: u64| {
        let condition = format!("eth.eip_7702_authorization.nonce == {nonce}");
        PolicyProgram::parse(Effect::Allow, Some(&condition), None, None).unwrap()
    };
    let two = parsed(&[nonce(3), nonce(4)], "EIP7702_AUTHORIZATION").unwrap();
    let matched = [3, 4, 5].map(|nonce| two.is_matched(&about(nonce), 0));
    assert_eq!(matched, [true, true, false]);
    let bytes = parsed(&[nonce(3), "ab".repeat(32)], "HEXADECIMAL").unwrap();
    assert!(!bytes.is_matched(&about(3), 0));
    let unread = parsed(&[nonce(3), "{}".to_owned()], "EIP7702_AUTHORIZATION").err();
    assert_eq!(unread.as_deref(), Some("invalid authorization: `address` is missing"));
}
