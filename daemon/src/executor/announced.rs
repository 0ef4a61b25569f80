//! Announces a group to the other daemons that share the store.

use super::effects::Effects;
use super::notice::Notice;
use crate::barrier::Barrier;
use crate::store::{Announcement, BatchOutcome, StoreError};

/// Announces the effects of the batches of a group.
pub(super) struct Announced<'g> {
    /// Encrypts the notice.
    pub(super) barrier: &'g Barrier,
    /// Effects of each batch, in order.
    pub(super) effects: &'g [&'g Effects],
}

impl Announcement for Announced<'_> {
    fn notice(&self, outcomes: &[BatchOutcome]) -> Result<Option<Vec<u8>>, StoreError> {
        let mut notice = Notice::default();
        for (effects, outcome) in self.effects.iter().zip(outcomes) {
            if *outcome == BatchOutcome::Done {
                effects.add_to(&mut notice);
            }
        }
        if notice.is_empty() {
            return Ok(None);
        }
        let sealed = notice.seal(self.barrier);
        sealed.map(Some).map_err(|corrupt| StoreError::Failed {
            doing: "creating the notice of a group",
            cause: corrupt.to_string(),
        })
    }
}
