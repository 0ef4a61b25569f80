//! Vectors from the published clients, and invalid stamps.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use super::*;

const BODY: &[u8] = br#"{"organizationId":"00000000-0000-4000-8000-000000000001"}"#;
const P256: &str = "0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6";
const P256_LOW: &str = "30450221009c380d632a415507e3e0c6497bf39ef69cc64b474ccb90129eec167ba7c58b4c02202e34da087314d4823f35e9410016a7c30400a8cd7e0504c89d1e5b452d1ef67a";
const P256_HIGH: &str = "30460221009b5ac70f30bf7934ae53a9a24b13495277de28d5356a47168852e4fa9cc327e7022100fab5052b0b7e3184a194110c274f11d1968c8354e079060f308f023951a8e3ff";
const SECP: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const SECP_PLAIN: &str = "30450221008417c91299679a79da978b51810993e7e168e856b8b82dcecd29fc4fb44310b20220775bdb39e99dae9a134cf262d55018508e30a879a440436f50b822256a195b1c";
const SECP_EIP191: &str = "3044022072a884d04308bf65497304a3af92c7438c8fb69d712e201ffab3b8e8325cee7d02200e7d13aff47ba2a168234fdaee4f0970da3e48ef7d06ee50918506fcc9299d4f";
const ED: &str = "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c";
const ED_SIGNATURE: &str = "0083dfd19c8722b8b7c718617427ae2fe341ec6043c0cc73381551989608ed51e99736e593d8f925b891a666fe2b3513111d1e9e6d91196c51d7b0f6791fed05";
const HEADER_VALUE: &str = "eyJwdWJsaWNLZXkiOiIwMzYwZmVkNGJhMjU1YTlkMzFjOTYxZWI3NGM2MzU2ZDY4YzA0OWI4OTIzYjYxZmE2Y2U2Njk2MjJlNjBmMjlmYjYiLCJzY2hlbWUiOiJTSUdOQVRVUkVfU0NIRU1FX1RLX0FQSV9QMjU2Iiwic2lnbmF0dXJlIjoiMzA0NTAyMjEwMDljMzgwZDYzMmE0MTU1MDdlM2UwYzY0OTdiZjM5ZWY2OWNjNjRiNDc0Y2NiOTAxMjllZWMxNjdiYTdjNThiNGMwMjIwMmUzNGRhMDg3MzE0ZDQ4MjNmMzVlOTQxMDAxNmE3YzMwNDAwYThjZDdlMDUwNGM4OWQxZTViNDUyZDFlZjY3YSJ9";

fn verifies(curve: ApiKeyCurve, key: &str, scheme: Scheme, body: &[u8], signature: &str) -> bool {
    StampKey::parse(curve, key).unwrap().verify(scheme, body, signature)
}

#[test]
fn published_vectors_verify() {
    for (curve, key, scheme, signature) in [
        (ApiKeyCurve::P256, P256, Scheme::P256, P256_LOW),
        (ApiKeyCurve::P256, P256, Scheme::P256, P256_HIGH),
        (ApiKeyCurve::Secp256k1, SECP, Scheme::Secp256k1, SECP_PLAIN),
        (ApiKeyCurve::Secp256k1, SECP, Scheme::Secp256k1Eip191, SECP_EIP191),
        (ApiKeyCurve::Ed25519, ED, Scheme::Ed25519, ED_SIGNATURE),
    ] {
        assert!(verifies(curve, key, scheme, BODY, signature), "{scheme:?}");
        assert!(!verifies(curve, key, scheme, &[BODY, b"\n"].concat(), signature), "{scheme:?}");
        for other in [Scheme::P256, Scheme::Secp256k1, Scheme::Ed25519, Scheme::Secp256k1Eip191] {
            assert_eq!(
                verifies(curve, key, other, BODY, signature),
                other == scheme,
                "{other:?} as {scheme:?}"
            );
        }
        for bad in ["", "00", "zz", &format!("{signature}00"), &format!("0x{signature}"), &signature[2..]] {
            assert!(!verifies(curve, key, scheme, BODY, bad), "{scheme:?} {bad}");
        }
    }
}

#[test]
fn header_accepts_every_base64_variant() {
    let expected = Stamp { public_key: P256.into(), scheme: Scheme::P256, signature: P256_LOW.into() };
    assert_eq!(Stamp::read(HEADER_VALUE), Ok(expected.clone()));
    assert_eq!(expected.header(), HEADER_VALUE);
    let json =
        br#"{"scheme":"SIGNATURE_SCHEME_TK_API_P256","publicKey":"02ff","signature":"ab","more":"~~~???"}"#;
    let url = base64ct::Base64Url::encode_string(json);
    let standard = base64ct::Base64::encode_string(json);
    assert!(url.contains('_') && standard.contains('/'));
    for text in [&url, &standard, url.trim_end_matches('='), standard.trim_end_matches('=')] {
        assert_eq!(Stamp::read(text).unwrap().public_key, "02ff");
    }
}

#[test]
fn malformed_headers_and_members_are_distinguished() {
    let check = |text: &str, error| assert_eq!(Stamp::read(text), Err(error), "{text}");
    let encode = |json: &str| base64ct::Base64UrlUnpadded::encode_string(json.as_bytes());
    for text in ["", "!", "e30 ", "====", "-_+/", &encode("[]"), &encode("{\"a\":1,\"a\":1}"), "e31"] {
        check(text, StampError::Malformed);
    }
    for json in [
        "{}",
        r#"{"publicKey":"a","signature":"b","scheme":7}"#,
        r#"{"publicKey":"a","signature":"b","scheme":"signature_scheme_tk_api_p256"}"#,
        r#"{"publicKey":"a","scheme":"SIGNATURE_SCHEME_TK_API_P256"}"#,
    ] {
        check(&encode(json), StampError::Members);
    }
}

#[test]
fn rejects_invalid_public_keys() {
    let uncompressed = "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299";
    let hybrid = format!("06{}", &uncompressed[2..]);
    let beyond = format!("02{}", "ff".repeat(32));
    let small_order = format!("01{}", "00".repeat(31));
    for (curve, key) in [
        (ApiKeyCurve::P256, uncompressed),
        (ApiKeyCurve::P256, hybrid.as_str()),
        (ApiKeyCurve::P256, beyond.as_str()),
        (ApiKeyCurve::P256, ED),
        (ApiKeyCurve::P256, "00"),
        (ApiKeyCurve::P256, ""),
        (ApiKeyCurve::Secp256k1, beyond.as_str()),
        (ApiKeyCurve::Ed25519, small_order.as_str()),
        (ApiKeyCurve::Ed25519, P256),
    ] {
        assert!(StampKey::parse(curve, key).is_err(), "{curve:?} {key}");
    }
    assert!(StampKey::parse(ApiKeyCurve::P256, &P256.to_uppercase()).is_ok());
}

#[test]
fn created_stamps_verify_on_every_curve() {
    for curve in [ApiKeyCurve::P256, ApiKeyCurve::Secp256k1, ApiKeyCurve::Ed25519] {
        let stamper = Stamper::new(curve, &[1; 32]).unwrap();
        let stamp = Stamp::read(&stamper.stamp(BODY).unwrap().header()).unwrap();
        assert!(verifies(curve, stamper.public_key(), stamp.scheme, BODY, &stamp.signature));
    }
    assert!(Stamper::new(ApiKeyCurve::P256, &[0; 32]).is_err());
    assert!(Stamper::new(ApiKeyCurve::Secp256k1, &[255; 32]).is_err());
    assert_eq!(Stamper::new(ApiKeyCurve::Ed25519, &[1; 32]).unwrap().public_key(), ED);
}
