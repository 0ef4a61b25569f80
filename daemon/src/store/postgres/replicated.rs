//! Which versions are known to be at the standby, where commits wait for one.
//!
//! A server shows a commit to others when its wait for the standby ends, also if it ended early because somebody cancelled the
//! statement or ended the session. The daemon that committed then acknowledges nothing. Another one could read the version, and answer
//! with what a failover loses. So a version of others counts once this daemon has completed a synchronous commit that began after
//! the read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::store::Register;

/// Maximum number of versions that are remembered. If there are more, all are proven again.
const MOST: usize = 1 << 16;

/// The versions that are known to be at the standby, by their registers. It belongs to the connections to one server.
#[derive(Default)]
pub(super) struct Replicated(Mutex<HashMap<Vec<u8>, u64>>);

impl Replicated {
    /// Remembers versions. Versions only rise, and each contains all earlier ones.
    pub(super) fn add<'a>(&self, versions: impl IntoIterator<Item = (&'a Vec<u8>, &'a u64)>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, version) in versions {
            if let Some(last) = known.get_mut(key) {
                *last = (*last).max(*version);
                continue;
            }
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(key.clone(), *version);
        }
    }

    /// Adds the registers that a commit of this daemon has set.
    pub(super) fn add_own(&self, set: &[Register]) {
        self.add(set.iter().map(|(key, version)| (key, version)));
    }

    /// Returns whether all of these versions are known to be at the standby.
    pub(super) fn has(&self, versions: &HashMap<Vec<u8>, u64>) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        versions.iter().all(|(key, version)| known.get(key).is_some_and(|last| last >= version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_contains_all_earlier_ones() {
        let replicated = Replicated::default();
        let has = |version: u64| replicated.has(&HashMap::from([(b"a".to_vec(), version)]));
        assert!(replicated.has(&HashMap::new()) && !has(1));
        replicated.add_own(&[(b"a".to_vec(), 2)]);
        assert!(has(1) && has(2) && !has(3));
        replicated.add_own(&[(b"a".to_vec(), 1)]);
        assert!(has(2));
        let others: Vec<Register> = (0..MOST as u64).map(|one| (one.to_be_bytes().to_vec(), 1)).collect();
        replicated.add_own(&others);
        assert!(!has(1), "the memory is bounded");
    }
}
