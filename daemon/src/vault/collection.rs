//! Collection of shares: an attempt to open a slot by the shares of enough holders.

use quorate_common::bundle::TargetKey;
use quorate_common::share::{self, GivenShare, Share, SharePlace};

use super::error::VaultError;
use super::header::Header;
use super::rekey::Random;
use super::slot::{ShareHolder, ShareSet, Slot, SlotState};
use super::store_key::StoreKey;

/// An attempt to open one of the slots in a state. Shares are encrypted to its one-time key and wiped with it.
pub struct Collection {
    key: TargetKey,
    state: SlotState,
    shares: Vec<Share>,
}

/// What a share brought about.
pub enum Given {
    /// More shares are needed.
    Incomplete,
    /// The slot with this id is open.
    Open(String, StoreKey),
}

/// Why a share is rejected. It counts for nothing.
#[derive(Debug, thiserror::Error)]
pub enum GiveError {
    /// The share was encrypted for another attempt.
    #[error("this attempt has ended, and a new one has begun; give the share again")]
    OtherAttempt,
    /// No slot that waits for shares has this set.
    #[error(
        "no slot that waits for shares has the set {0}; the letter is of an earlier set, or of another store"
    )]
    UnknownSet(String),
    /// The set has no share with this number.
    #[error("the set has no share {0}")]
    UnknownShare(u8),
    /// The share is not the one that the holder was given.
    #[error("the share of {0} is wrong: it is not the one that was made for this set")]
    Wrong(String),
    /// The holder gave the share before.
    #[error("the share of {0} was given already")]
    Repeated(String),
    /// The slot cannot be opened although its shares are right.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl Collection {
    /// Begins an attempt to open one of the slots in this state.
    ///
    /// # Errors
    /// Returns an error if the random source fails.
    pub fn begin(state: SlotState) -> Result<Self, VaultError> {
        let mut random = Random::default();
        let key = TargetKey::generate(&mut random.filler());
        random.result?;
        Ok(Self { key, state, shares: Vec::new() })
    }

    /// Returns the public key of the attempt, in hexadecimal digits.
    pub fn attempt(&self) -> String {
        self.key.public().compressed_hex()
    }

    /// Returns the numbers of the shares of a set that were given.
    pub fn given(&self, set: &str) -> impl Iterator<Item = u8> {
        self.shares.iter().map(Share::place).filter(move |place| place.set == set).map(|place| place.index)
    }

    /// Returns whether no share was given.
    pub const fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// Takes a share. Each share is compared with its commitment, so that a wrong one is noticed before any are
    /// combined.
    ///
    /// # Errors
    /// Returns [`GiveError`] if the share is rejected.
    pub fn give(&mut self, header: &Header, given: &GivenShare) -> Result<Given, GiveError> {
        if given.attempt != self.attempt() {
            return Err(GiveError::OtherAttempt);
        }
        let slot = header.slots(self.state).find(|slot| slot.id() == given.set);
        let slot = slot.ok_or_else(|| GiveError::UnknownSet(given.set.clone()))?;
        let set = slot.shares().ok_or_else(|| GiveError::UnknownSet(given.set.clone()))?;
        let holder = set.holders.iter().find(|holder| holder.index == given.index);
        let holder = holder.ok_or(GiveError::UnknownShare(given.index))?;
        let wrong = || GiveError::Wrong(holder.name.clone());
        let place = place(header, slot, set, holder).ok_or_else(wrong)?;
        let share = given.open(&self.key, place).map_err(|_| wrong())?;
        if share.commitment().ok().as_ref() != Some(&holder.commitment) {
            return Err(wrong());
        }
        if self.given(&given.set).any(|index| index == given.index) {
            return Err(GiveError::Repeated(holder.name.clone()));
        }
        self.shares.push(share);
        if self.given(&given.set).count() < usize::from(set.threshold) {
            return Ok(Given::Incomplete);
        }
        let own = self.shares.iter().filter(|share| share.place().set == given.set);
        let combined = share::combine(&own.collect::<Vec<_>>());
        // The shares of other sets are not needed anymore.
        self.shares.clear();
        let opened = combined.ok().and_then(|key| slot.unwrap(&key, header.store_id()));
        let key = opened.filter(|key| header.is_opened_by(key));
        key.map(|key| Given::Open(slot.id().to_owned(), key))
            .ok_or_else(|| VaultError::Slot(slot.id().to_owned()).into())
    }
}

fn place(header: &Header, slot: &Slot, set: &ShareSet, holder: &ShareHolder) -> Option<SharePlace> {
    Some(SharePlace {
        store_id: header.store_id().to_owned(),
        set: slot.id().to_owned(),
        index: holder.index,
        threshold: set.threshold,
        holders: u8::try_from(set.holders.len()).ok()?,
        holder: holder.name.clone(),
    })
}
