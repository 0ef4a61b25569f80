//! The sealing keys of a store. Each seals for a term, and then another one follows: random nonces under one key repeat in
//! the end (NIST SP 800-38D, section 8.3, allows 2^32 of them).
//!
//! The key of term 0 is derived from the store key, and sealed everything in stores of version 0.1 (AES-256-GCM). The keys of
//! later terms are random (AES-256-GCM-SIV), and kept in a record that is sealed under a key of its own.

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::seal::SealKey;
use zeroize::Zeroizing;

use super::entropy::fill;
use crate::locked::Locked;
use crate::trailer::DERIVED;

/// Number of sealings after which a key is replaced.
pub const MOST_SEALINGS: u64 = 1 << 31;
/// Time after which a key is replaced, in milliseconds: 90 days.
const LONGEST: Millis = 90 * 24 * 60 * 60 * 1000;
/// Maximum number of keys that are kept.
const MOST_TERMS: usize = 64;
/// First byte of the encoding.
const FORMAT: u8 = 1;
/// Length of a key, in bytes.
const KEY: usize = 32;
/// Length of the encoding of a term, in bytes: number, begin and key.
const TERM: usize = size_of::<u32>() + size_of::<Millis>() + KEY;

/// The sealing keys of a store, by term.
pub struct Terms {
    /// Whether values of the derived key may exist.
    has_derived: bool,
    /// Terms with a key of their own, in order.
    terms: Vec<Term>,
}

/// A term, and its sealing key.
struct Term {
    number: u32,
    begun: Millis,
    secret: Locked<Zeroizing<[u8; KEY]>>,
    key: SealKey,
}

impl Term {
    fn new(number: u32, begun: Millis, secret: Box<Zeroizing<[u8; KEY]>>) -> Result<Self, Corrupt> {
        let key = SealKey::misuse_resistant(&secret)?;
        Ok(Self { number, begun, secret: Locked::new(secret), key })
    }

    fn copy(&self) -> Result<Self, Corrupt> {
        let mut secret = Box::new(Zeroizing::new([0; KEY]));
        secret.copy_from_slice(self.secret.as_slice());
        Self::new(self.number, self.begun, secret)
    }
}

impl Terms {
    /// Returns the terms of a store whose only key is derived.
    pub const fn derived() -> Self {
        Self { has_derived: true, terms: Vec::new() }
    }

    /// Returns the first term of a new store.
    ///
    /// # Errors
    /// Returns an error if the random source fails.
    pub fn first(now: Millis) -> Result<Self, Corrupt> {
        Ok(Self { has_derived: false, ..Self::derived().with_next(now)? })
    }

    /// Returns these terms and the next one, with a new key.
    ///
    /// # Errors
    /// Returns an error if the random source fails, or too many keys are kept.
    pub fn with_next(&self, now: Millis) -> Result<Self, Corrupt> {
        let number = self.newest().checked_add(1).filter(|_| self.has_room());
        let number = number.ok_or(Corrupt::Invariant("too many terms are in use"))?;
        let mut secret = Box::new(Zeroizing::new([0; KEY]));
        fill(secret.as_mut_slice()).map_err(|_| Corrupt::Invariant("the random source failed"))?;
        let mut terms = self.terms.iter().map(Term::copy).collect::<Result<Vec<_>, _>>()?;
        terms.push(Term::new(number, now, secret)?);
        Ok(Self { has_derived: self.has_derived, terms })
    }

    /// Returns the newest term only, or `None` if there are no others.
    ///
    /// # Errors
    /// Returns an error if the cryptographic library rejects its key.
    pub fn only_newest(&self) -> Result<Option<Self>, Corrupt> {
        let Some(newest) = self.terms.last().filter(|_| self.has_earlier()) else { return Ok(None) };
        Ok(Some(Self { has_derived: false, terms: vec![newest.copy()?] }))
    }

    /// Returns the number of the newest term. Its key seals.
    pub fn newest(&self) -> u32 {
        self.terms.last().map_or(DERIVED, |term| term.number)
    }

    /// Returns the number of the oldest term whose key may be needed.
    pub fn oldest(&self) -> u32 {
        if self.has_derived { DERIVED } else { self.terms.first().map_or(DERIVED, |term| term.number) }
    }

    /// Returns when the newest term began, in milliseconds since 1970. Nobody knows that of the derived key.
    pub fn begun(&self) -> Option<Millis> {
        self.terms.last().map(|term| term.begun)
    }

    /// Returns whether another key can be added.
    pub const fn has_room(&self) -> bool {
        self.terms.len() < MOST_TERMS
    }

    /// Returns whether values of earlier terms may exist.
    pub fn has_earlier(&self) -> bool {
        self.newest() != self.oldest()
    }

    /// Returns whether another term is due, after this number of sealings in the newest one.
    pub fn is_next_due(&self, sealings: u64, now: Millis) -> bool {
        let is_old = |begun: Millis| now.saturating_sub(begun) >= LONGEST;
        sealings >= MOST_SEALINGS || self.begun().is_none_or(is_old)
    }

    /// Returns the key of a term; `derived` is that of term 0. Returns `None` if there is no such term.
    pub fn key<'k>(&'k self, term: u32, derived: &'k SealKey) -> Option<&'k SealKey> {
        if term == DERIVED {
            return self.has_derived.then_some(derived);
        }
        self.terms.iter().rev().find(|one| one.number == term).map(|one| &one.key)
    }

    /// Encodes the terms: a format byte, whether there is the derived key, and each term with number, begin and key.
    pub fn encode(&self) -> Zeroizing<Vec<u8>> {
        // A buffer that grows would leave copies behind.
        let mut bytes =
            Zeroizing::new(Vec::with_capacity(self.terms.len().saturating_mul(TERM).saturating_add(2)));
        bytes.extend_from_slice(&[FORMAT, u8::from(self.has_derived)]);
        for term in &self.terms {
            bytes.extend_from_slice(&term.number.to_be_bytes());
            bytes.extend_from_slice(&term.begun.to_be_bytes());
            bytes.extend_from_slice(term.secret.as_slice());
        }
        bytes
    }

    /// Decodes the terms.
    ///
    /// # Errors
    /// Returns an error if the encoding is not one of [`Self::encode`].
    pub fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        const DAMAGED: Corrupt = Corrupt::Record("sealing keys");
        let (head, rest) = bytes.split_first_chunk::<2>().ok_or(DAMAGED)?;
        let (FORMAT, has_derived @ (0 | 1)) = (head[0], head[1]) else { return Err(DAMAGED) };
        let (chunks, []) = rest.as_chunks::<TERM>() else { return Err(DAMAGED) };
        let mut terms: Vec<Term> = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let (number, rest) = chunk.split_first_chunk().ok_or(DAMAGED)?;
            let (begun, secret) = rest.split_first_chunk().ok_or(DAMAGED)?;
            let (number, begun) = (u32::from_be_bytes(*number), Millis::from_be_bytes(*begun));
            if number <= terms.last().map_or(DERIVED, |last| last.number) {
                return Err(DAMAGED);
            }
            let mut key = Box::new(Zeroizing::new([0; KEY]));
            if secret.len() != KEY {
                return Err(DAMAGED);
            }
            key.copy_from_slice(secret);
            terms.push(Term::new(number, begun, key)?);
        }
        Ok(Self { has_derived: has_derived == 1, terms })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    fn derived() -> SealKey {
        SealKey::new(&[7; 32]).unwrap()
    }

    #[test]
    fn terms_are_read_as_they_were_written() {
        let derived = derived();
        let mut terms = Terms::derived();
        assert_eq!((terms.newest(), terms.oldest(), terms.begun(), terms.has_earlier()), (0, 0, None, false));
        for now in 1..4 {
            terms = Terms::decode(&terms.with_next(now).unwrap().encode()).unwrap();
            assert_eq!((u64::from(terms.newest()), terms.oldest(), terms.begun()), (now, 0, Some(now)));
        }
        let sealed = terms.key(2, &derived).unwrap().seal([1; 12], b"place", b"record").unwrap();
        assert_eq!(terms.key(2, &derived).unwrap().open(b"place", &sealed).unwrap(), b"record");
        for other in [0, 1, 3] {
            assert!(terms.key(other, &derived).unwrap().open(b"place", &sealed).is_err());
        }
        assert!(terms.key(4, &derived).is_none());
        let newest = terms.only_newest().unwrap().unwrap();
        assert_eq!((newest.newest(), newest.oldest(), newest.has_earlier()), (3, 3, false));
        assert!(newest.key(2, &derived).is_none() && newest.key(0, &derived).is_none());
        assert!(newest.only_newest().unwrap().is_none());
        assert_eq!(newest.with_next(9).unwrap().newest(), 4);
        let first = Terms::first(5).unwrap();
        assert_eq!((first.newest(), first.oldest(), first.begun()), (1, 1, Some(5)));
    }

    #[test]
    fn damaged_encodings_are_rejected() {
        let terms = Terms::first(1).unwrap().with_next(2).unwrap().encode();
        for length in 0..terms.len() {
            let is_shorter_list = length >= 2 && (length - 2) % TERM == 0;
            assert_eq!(Terms::decode(&terms[..length]).is_ok(), is_shorter_list, "{length}");
        }
        let mut repeated = terms.to_vec();
        repeated.extend_from_slice(&terms[2..]);
        assert!(Terms::decode(&repeated).is_err());
        for (place, value) in [(0, 2), (1, 2)] {
            let mut changed = terms.to_vec();
            changed[place] = value;
            assert!(Terms::decode(&changed).is_err());
        }
    }

    #[test]
    fn a_term_ends_by_count_and_by_age() {
        let terms = Terms::first(1000).unwrap();
        assert!(!terms.is_next_due(MOST_SEALINGS - 1, 1000 + LONGEST - 1));
        assert!(terms.is_next_due(MOST_SEALINGS, 1000));
        assert!(terms.is_next_due(0, 1000 + LONGEST));
        // Nobody counted how often the derived key was used.
        assert!(Terms::derived().is_next_due(0, 0));
    }
}
