//! Shares of a secret: splitting and combining (Shamir, over GF(256) with the polynomial 0x11b), the letters that
//! carry shares to their holders, and shares on their way back to a daemon.
//!
//! A letter is encrypted to the key of its holder, and a given share to the one-time key of an attempt (HPKE, see
//! [`crate::bundle`]). Both authenticate the place of the share, so that none passes for another.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use vsss_rs::Gf256;
use zeroize::Zeroizing;

use crate::bundle::{BundleError, CallerRng, Sealed, TargetKey, TargetPublicKey};

/// Fewest shares that a secret can be split to need.
pub const MIN_THRESHOLD: u8 = 2;
/// Most holders of one set of shares.
pub const MAX_HOLDERS: u8 = 16;
/// Maximum length of the name of a holder, in bytes of UTF-8.
pub const MAX_NAME: usize = 64;
/// Length in bytes of a secret that is split, and of each share.
pub const SHARE_BYTES: usize = 32;

/// HPKE `info` of letters.
const LETTER: &[u8] = b"quorate/share-letter/1";
/// HPKE `info` of given shares.
const GIVEN: &[u8] = b"quorate/given-share/1";
/// Prefix of what a commitment hashes.
const COMMITMENT: &[u8] = b"quorate/share-commitment/1";
/// Version of letters.
const VERSION: u32 = 1;
/// Number of bytes of the hash that are the checksum of a letter.
const CHECKSUM_BYTES: usize = 8;
const NOTE: &str = "Anyone who has this letter and the key that it is encrypted to has the share. Keep it where a \
                    loss of one does not mean a loss of both.";

/// Why a share, a letter or a set of shares is rejected.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ShareError {
    /// The text is not a letter.
    #[error("not a share letter, or only a part of one")]
    Letter,
    /// The letter was written by a newer version.
    #[error("the share letter has version {0}, which this program does not know")]
    Version(u32),
    /// The letter was changed.
    #[error("the share letter was changed: its checksum is {found}, and its contents have {computed}")]
    Checksum {
        /// Checksum that the letter states.
        found: String,
        /// Checksum of its contents.
        computed: String,
    },
    /// The letter cannot be decrypted with this key.
    #[error("the share letter of {0} was encrypted to another key, or was changed")]
    OtherKey(String),
    /// The share in the letter is not the one that was committed to.
    #[error("the share of {0} is not the one that was made for this set")]
    Commitment(String),
    /// The number of holders, or of shares that are needed, is not offered.
    #[error(
        "needs 2 to {MAX_HOLDERS} holders, and at least {MIN_THRESHOLD} and at most as many shares as holders to open"
    )]
    Counts,
    /// A set of shares cannot be combined.
    #[error("these shares cannot be combined")]
    Combine,
    /// A key cannot be encrypted to.
    #[error(transparent)]
    Bundle(#[from] BundleError),
}

/// The place of a share: its store, its set and its holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SharePlace {
    /// Id of the store.
    pub store_id: String,
    /// Id of the set, which is the id of the slot that the set opens.
    pub set: String,
    /// Number of the share in its set, from 1.
    pub index: u8,
    /// Number of shares that open the slot.
    pub threshold: u8,
    /// Number of holders.
    pub holders: u8,
    /// Name of the holder.
    pub holder: String,
}

impl SharePlace {
    /// Returns the bytes that are authenticated with the share.
    fn context(&self) -> Result<Vec<u8>, ShareError> {
        // The order of the members is fixed.
        serde_json::to_vec(self).map_err(|_| ShareError::Letter)
    }
}

/// A share and its place. It is wiped when dropped, and has no `Debug` implementation.
pub struct Share {
    place: SharePlace,
    /// On the heap, so that a share that is moved leaves no copy behind.
    value: Box<Zeroizing<[u8; SHARE_BYTES]>>,
}

impl Share {
    /// Creates a share.
    pub fn new(place: SharePlace, value: &[u8; SHARE_BYTES]) -> Self {
        let mut own = Box::new(Zeroizing::new([0; SHARE_BYTES]));
        own.copy_from_slice(value);
        Self { place, value: own }
    }

    fn of(place: SharePlace, plain: &[u8]) -> Option<Self> {
        Some(Self::new(place, plain.try_into().ok()?))
    }

    /// Returns the place.
    pub const fn place(&self) -> &SharePlace {
        &self.place
    }

    /// Returns the bytes of the share.
    pub fn value(&self) -> &[u8] {
        self.value.as_slice()
    }

    /// Returns the value that proves later that a share is this one: a SHA-256 hash of place and share in hexadecimal
    /// digits. It reveals nothing, since shares have 256 random bits.
    ///
    /// # Errors
    /// None that a place causes.
    pub fn commitment(&self) -> Result<String, ShareError> {
        let context = self.place.context()?;
        let hash =
            Sha256::new().chain_update(COMMITMENT).chain_update(&context).chain_update(self.value.as_slice());
        Ok(const_hex::encode(hash.finalize()))
    }

    /// Encrypts the share to its holder.
    ///
    /// # Errors
    /// [`ShareError::Bundle`] if the library rejects the key.
    pub fn letter(
        &self,
        holder: &TargetPublicKey,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<ShareLetter, ShareError> {
        let context = self.place.context()?;
        let sealed = Sealed::new_in(holder, self.value.as_slice(), LETTER, &context, fill)?;
        let letter = ShareLetter {
            version: VERSION,
            note: NOTE.to_owned(),
            place: self.place.clone(),
            public_key: holder.compressed_hex(),
            commitment: self.commitment()?,
            sealed: sealed.to_hex(),
            checksum: String::new(),
        };
        Ok(ShareLetter { checksum: letter.computed()?, ..letter })
    }

    /// Encrypts the share to the one-time key of an attempt.
    ///
    /// # Errors
    /// [`ShareError::Bundle`] if the library rejects the key.
    pub fn give(
        &self,
        attempt: &TargetPublicKey,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<GivenShare, ShareError> {
        let sealed = Sealed::new_in(attempt, self.value.as_slice(), GIVEN, &self.place.context()?, fill)?;
        Ok(GivenShare {
            attempt: attempt.compressed_hex(),
            set: self.place.set.clone(),
            index: self.place.index,
            sealed: sealed.to_hex(),
        })
    }
}

/// A share for one holder, encrypted to the key of the holder. A letter reveals nothing without that key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShareLetter {
    /// Version of the form, 1.
    pub version: u32,
    /// Advice for the holder.
    pub note: String,
    /// Place of the share.
    pub place: SharePlace,
    /// Public key of the holder: a compressed point of P-256 in hexadecimal digits.
    pub public_key: String,
    /// Commitment to the share.
    pub commitment: String,
    /// The encrypted share.
    pub sealed: String,
    /// Checksum of everything before it.
    pub checksum: String,
}

impl ShareLetter {
    /// Parses a letter and compares its checksum.
    ///
    /// # Errors
    /// [`ShareError::Letter`], [`ShareError::Version`] or [`ShareError::Checksum`].
    pub fn parse(text: &[u8]) -> Result<Self, ShareError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let Version { version } = serde_json::from_slice(text).map_err(|_| ShareError::Letter)?;
        if version != VERSION {
            return Err(ShareError::Version(version));
        }
        let letter: Self = serde_json::from_slice(text).map_err(|_| ShareError::Letter)?;
        let computed = letter.computed()?;
        if letter.checksum != computed {
            return Err(ShareError::Checksum { found: letter.checksum, computed });
        }
        Ok(letter)
    }

    /// Returns the JSON document that [`ShareLetter::parse`] reads.
    ///
    /// # Errors
    /// None that a letter causes.
    pub fn to_json(&self) -> Result<String, ShareError> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|_| ShareError::Letter)
    }

    /// Decrypts the share, and compares it with its commitment.
    ///
    /// # Errors
    /// [`ShareError::OtherKey`] or [`ShareError::Commitment`].
    pub fn open(&self, key: &TargetKey) -> Result<Share, ShareError> {
        let other = || ShareError::OtherKey(self.place.holder.clone());
        let sealed = Sealed::from_hex(&self.sealed).map_err(|_| other())?;
        let plain = key.open_in(&sealed, LETTER, &self.place.context()?).map_err(|_| other())?;
        let share = Share::of(self.place.clone(), &plain).ok_or_else(other)?;
        if share.commitment()? != self.commitment {
            return Err(ShareError::Commitment(self.place.holder.clone()));
        }
        Ok(share)
    }

    fn computed(&self) -> Result<String, ShareError> {
        let letter = Self { checksum: String::new(), ..self.clone() };
        let text = serde_json::to_vec(&letter).map_err(|_| ShareError::Letter)?;
        let hash = Sha256::digest(text);
        Ok(const_hex::encode(hash.get(..CHECKSUM_BYTES).unwrap_or_default()))
    }
}

/// A share that a holder gives to a daemon, encrypted to the one-time key of the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenShare {
    /// Public key of the attempt, which the daemon made.
    pub attempt: String,
    /// Id of the set.
    pub set: String,
    /// Number of the share in its set.
    pub index: u8,
    /// The encrypted share.
    pub sealed: String,
}

impl GivenShare {
    /// Decrypts the share at its place.
    ///
    /// # Errors
    /// [`ShareError::Commitment`] if it was given to another attempt, for another place, or was changed.
    pub fn open(&self, key: &TargetKey, place: SharePlace) -> Result<Share, ShareError> {
        let holder = place.holder.clone();
        let opened = || {
            let sealed = Sealed::from_hex(&self.sealed).ok()?;
            let plain = key.open_in(&sealed, GIVEN, &place.context().ok()?).ok()?;
            Share::of(place, &plain)
        };
        opened().ok_or(ShareError::Commitment(holder))
    }
}

/// Splits a secret into shares, of which `threshold` restore it. Share number 1 is the first. `fill` provides the
/// coefficients.
///
/// # Errors
/// [`ShareError::Counts`] if the number of shares or the threshold is not offered.
pub fn split(
    secret: &[u8; SHARE_BYTES],
    threshold: u8,
    holders: u8,
    fill: &mut dyn FnMut(&mut [u8]),
) -> Result<Vec<Zeroizing<[u8; SHARE_BYTES]>>, ShareError> {
    if !(MIN_THRESHOLD..=holders).contains(&threshold) || holders > MAX_HOLDERS {
        return Err(ShareError::Counts);
    }
    let shares = Gf256::split_array(threshold.into(), holders.into(), secret, CallerRng(fill))
        .map_err(|_| ShareError::Counts)?;
    let shares = Zeroizing::new(shares);
    let value = |(share, index): (&Vec<u8>, u8)| match share.split_first() {
        Some((x, value)) if *x == index => value.try_into().ok().map(Zeroizing::new),
        _ => None,
    };
    shares.iter().zip(1..).map(value).collect::<Option<_>>().ok_or(ShareError::Counts)
}

/// Combines shares of one set to the secret that was split. As many are needed as the threshold; fewer, or one that
/// does not belong to the set, restore another value, which is not noticed here.
///
/// # Errors
/// [`ShareError::Combine`] if fewer than two shares are given, two have the same number, or one has the number 0.
pub fn combine(shares: &[&Share]) -> Result<Zeroizing<Vec<u8>>, ShareError> {
    let mut numbers: Vec<u8> = shares.iter().map(|share| share.place.index).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() != shares.len() || numbers.first().is_none_or(|first| *first == 0) {
        return Err(ShareError::Combine);
    }
    let points = shares.iter().map(|share| [&[share.place.index], share.value.as_slice()].concat());
    let points: Zeroizing<Vec<Vec<u8>>> = Zeroizing::new(points.collect());
    Gf256::combine_array(points.as_slice()).map(Zeroizing::new).map_err(|_| ShareError::Combine)
}

#[cfg(test)]
mod tests;
