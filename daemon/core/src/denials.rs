//! What is known about the number of denied attempts of each credential, so that they are not counted for each further one.
//!
//! It is only kept in memory, and never more favorable than the stored attempts: where nothing is known, they are counted.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_common::ids::OrganizationId;

use crate::error::Corrupt;
use crate::model::layout::Key;

/// Maximum number of credentials about which something is known. Beyond it, everything is forgotten.
const CREDENTIALS: usize = 4096;

/// A credential, as denied attempts are counted.
pub type Attempter = (OrganizationId, [u8; 16]);

/// What is known about the denied attempts of each credential.
#[derive(Default)]
pub struct Denials(Mutex<HashMap<Attempter, Known>>);

enum Known {
    /// The limit is not reached until this many more attempts are displaced.
    Room(usize),
    /// The limit is reached until this attempt is too old.
    Full(Key),
}

/// A clone belongs to other stored attempts, so it knows nothing.
impl Clone for Denials {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Denials {
    fn all(&self) -> MutexGuard<'_, HashMap<Attempter, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a credential has fewer displaced attempts than the limit that are not too old. `newest` returns that
    /// many of its displaced attempts at most, the newest first.
    ///
    /// # Errors
    /// If the attempts must be counted, and cannot be read.
    pub(crate) fn has_room(
        &self,
        attempter: Attempter,
        limit: usize,
        is_too_old: impl Fn(&[u8]) -> bool,
        newest: impl FnOnce() -> Result<Vec<Key>, Corrupt>,
    ) -> Result<bool, Corrupt> {
        match self.all().get(&attempter) {
            Some(Known::Room(room)) if *room > 0 => return Ok(true),
            Some(Known::Full(last)) if !is_too_old(last) => return Ok(false),
            _ => {}
        }
        let newest = newest()?;
        let counted = newest.iter().take_while(|attempt| !is_too_old(attempt)).count();
        let room = limit.saturating_sub(counted);
        let last = newest.into_iter().nth(limit.saturating_sub(1)).filter(|_| room == 0);
        let mut all = self.all();
        if all.len() >= CREDENTIALS {
            all.clear();
        }
        all.insert(attempter, last.map_or(Known::Room(room), Known::Full));
        Ok(room > 0)
    }

    /// Records that attempts of a credential are displaced.
    pub(crate) fn displace(&self, attempter: Attempter, count: usize) {
        if let Some(Known::Room(room)) = self.all().get_mut(&attempter) {
            *room = room.saturating_sub(count);
        }
    }
}
